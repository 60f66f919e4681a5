"""The provider's official client for Python, as it is but for the address, does with the sandbox what a shop does."""

import sys

import mercadopago
from mercadopago.config.config import Config

address, secret, card_number = sys.argv[1:]
Config._Config__api_base_url = address
sdk = mercadopago.SDK(secret)


def done(answer, status=200):
    assert answer["status"] == status, answer
    return answer["response"]


payer = {"email": "ana@example.com", "identification": {"type": "CPF", "number": "12345678909"}}
kinds = done(sdk.identification_type().list_all())
assert [kind["id"] for kind in kinds] == ["CPF", "CNPJ"], kinds
assert "pix" in [method["id"] for method in done(sdk.payment_methods().list_all())]
assert done(sdk.user().get())["site_id"] == "MLB"

token = done(sdk.card_token().create({
    "card_number": card_number, "expiration_month": "11", "expiration_year": "2039", "security_code": "123",
    "cardholder": {"name": "APRO", "identification": payer["identification"]},
}), 201)
assert done(sdk.card_token().get(token["id"]))["status"] == "active"
order = {"transaction_amount": 19.99, "description": "Two coffees", "external_reference": "python-1", "payer": payer}
paid = done(sdk.payment().create({**order, "token": token["id"], "payment_method_id": "visa", "installments": 1}), 201)
assert (paid["status"], paid["status_detail"]) == ("approved", "accredited"), paid
assert done(sdk.payment().get(paid["id"])) == paid
pix = done(sdk.payment().create({**order, "payment_method_id": "pix"}), 201)
assert pix["point_of_interaction"]["transaction_data"]["qr_code"], pix

found = done(sdk.payment().search({"external_reference": "python-1", "sort": "date_created", "criteria": "asc"}))
assert [one["id"] for one in found["results"]] == [paid["id"], pix["id"]], found
pages = sdk.payment().search_auto_paging_iter({"external_reference": "python-1"}, limit=1)
assert len(list(pages)) == 2
assert done(sdk.payment().update(pix["id"], {"status": "cancelled"}))["status"] == "cancelled"

part = done(sdk.refund().create(paid["id"], {"amount": 9.99}), 201)
assert done(sdk.refund().get(paid["id"], part["id"])) == part
done(sdk.refund().create(paid["id"]), 201)
assert [refund["amount"] for refund in done(sdk.refund().list_all(paid["id"]))] == [9.99, 10]
assert done(sdk.payment().get(paid["id"]))["status"] == "refunded"

refused = sdk.payment().create({**order, "payment_method_id": "no such"})
assert refused["status"] == 400 and not refused.is_success, refused
