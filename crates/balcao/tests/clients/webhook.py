"""The public library of Standard Webhooks for Python takes what was posted, and nothing else."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

secret, file = sys.argv[1:]
with open(file, encoding="utf-8") as posts:
    posts = json.load(posts)
assert posts
webhook = Webhook(secret)
for post in posts:
    event = webhook.verify(post["body"], post["headers"])
    assert event["type"].startswith("payment."), event
    try:
        webhook.verify(post["body"] + " ", post["headers"])
    except WebhookVerificationError:
        continue
    raise AssertionError("a changed body was taken")
