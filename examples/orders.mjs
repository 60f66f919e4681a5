#!/usr/bin/env node
// Orders of a Balcão checkout, with Node's own modules only. README.md beside this file explains each step.
//
//   orders.mjs create REFERENCE AMOUNT DESCRIPTION
//   orders.mjs verify ID TIMESTAMP SIGNATURES < BODY
//   orders.mjs refund NUMBER PAYMENT [AMOUNT]

import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Makes the order of this reference; its buyer pays at the `url` of the answer. */
export function createOrder(reference, amount, description) {
  return post("/orders/", `order-${reference}`, { reference, amount: Number(amount), description });
}

/** Gives back an amount of a payment, or all that is left. `number` is the shop's own for this refund. */
export function refund(number, payment, amount) {
  const part = amount === undefined ? {} : { amount: Number(amount) };
  return post(`/payments/${payment}/refunds`, `refund-${number}`, part);
}

/** Asks again when no final answer comes. The key is the same, so that nothing is done twice. */
async function post(path, key, body) {
  const address = setting("CHECKOUT_URL") + path;
  const request = {
    method: "POST",
    headers: {
      "Authorization": `Bearer ${setting("CHECKOUT_KEY")}`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify(body),
  };
  let problem;
  for (const wait of [0, 2, 4, 8]) {
    await sleep(wait * 1000);
    let status, text;
    try {
      const answer = await fetch(address, { ...request, signal: AbortSignal.timeout(60_000) });
      [status, text] = [answer.status, await answer.text()];
    } catch (error) {
      problem = `no answer: ${error.cause?.message ?? error.message}`;
      continue;
    }
    if (status < 300) return JSON.parse(text);
    problem = text;
    const running = status === 409 && text.includes("Idempotency-Key");
    if (status < 500 && status !== 429 && !running) break;
  }
  throw new Error(problem);
}

/** The event in the bytes of `body`, if one of the signatures is the checkout's. The others come from its headers. */
export function verifyEvent(id, timestamp, signatures, body) {
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) {
    throw new Error("the timestamp is not of the last five minutes");
  }
  const key = Buffer.from(setting("CHECKOUT_WEBHOOK_SECRET").replace(/^whsec_/, ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const expected = Buffer.from(`v1,${digest}`);
  // A new secret is valid beside the old one for a while: then there are two signatures.
  const isOurs = signatures.split(" ").some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) throw new Error("no signature is the checkout's");
  return JSON.parse(body);
}

function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

function main([command, ...given]) {
  if (command === "create" && given.length === 3) return createOrder(...given);
  if (command === "verify" && given.length === 3) return verifyEvent(...given, readFileSync(0));
  if (command === "refund" && [2, 3].includes(given.length)) return refund(...given);
  throw new Error("create REFERENCE AMOUNT DESCRIPTION | verify ID TIMESTAMP SIGNATURES | refund NUMBER PAYMENT [AMOUNT]");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    console.log(JSON.stringify(await main(process.argv.slice(2))));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
