#!/usr/bin/env python3
"""Orders of a Balcão checkout, with Python's standard library only. README.md beside this file explains each step.

    orders.py create REFERENCE AMOUNT DESCRIPTION
    orders.py verify ID TIMESTAMP SIGNATURES < BODY
    orders.py refund NUMBER PAYMENT [AMOUNT]
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request


class Refused(Exception):
    """The checkout refused a request, or gave no final answer."""


class Forged(Exception):
    """An event that the checkout did not sign, or not within the last five minutes."""


def create_order(reference, amount, description):
    """Makes the order of this reference; its buyer pays at the `url` of the answer."""
    order = {"reference": reference, "amount": float(amount), "description": description}
    return post("/orders/", f"order-{reference}", order)


def refund(number, payment, amount=None):
    """Gives back an amount of a payment, or all that is left. `number` is the shop's own for this refund."""
    part = {} if amount is None else {"amount": float(amount)}
    return post(f"/payments/{payment}/refunds", f"refund-{number}", part)


def post(path, key, body):
    """Asks again when no final answer comes. The key is the same, so that nothing is done twice."""
    request = urllib.request.Request(
        setting("CHECKOUT_URL") + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {setting('CHECKOUT_KEY')}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        },
    )
    for wait in (2, 4, 8, None):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            problem = error.read().decode(errors="replace")
            running = error.code == 409 and "Idempotency-Key" in problem
            is_final = error.code < 500 and error.code != 429 and not running
        except OSError as error:
            problem, is_final = str(error), False
        if is_final or wait is None:
            raise Refused(problem)
        time.sleep(wait)


def verify_event(identifier, timestamp, signatures, body):
    """The event in the bytes of `body`, if one of the signatures is the checkout's. The others come from its headers."""
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        raise Forged("the timestamp is not of the last five minutes")
    key = base64.b64decode(setting("CHECKOUT_WEBHOOK_SECRET").removeprefix("whsec_"))
    digest = hmac.digest(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    # A new secret is valid beside the old one for a while: then there are two signatures.
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")):
        raise Forged("no signature is the checkout's")
    return json.loads(body)


def setting(name):
    return os.environ.get(name) or sys.exit(f"{name} is not set")


def main(arguments):
    match arguments:
        case ["create", reference, amount, description]:
            answer = create_order(reference, amount, description)
        case ["verify", identifier, timestamp, signatures]:
            answer = verify_event(identifier, timestamp, signatures, sys.stdin.buffer.read())
        case ["refund", number, payment, *amount] if len(amount) <= 1:
            answer = refund(number, payment, *amount)
        case _:
            sys.exit(__doc__)
    print(json.dumps(answer))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Refused, Forged) as error:
        sys.exit(str(error))
