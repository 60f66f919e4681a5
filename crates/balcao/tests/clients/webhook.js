// The public library of Standard Webhooks for JavaScript takes what was posted, and nothing else.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const [secret, file] = process.argv.slice(2);
const posts = JSON.parse(readFileSync(file, "utf8"));
assert(posts.length > 0);
const webhook = new Webhook(secret);
for (const { headers, body } of posts) {
  const event = webhook.verify(body, headers);
  assert(event.type.startsWith("payment."), event.type);
  assert.throws(() => webhook.verify(`${body} `, headers));
}
