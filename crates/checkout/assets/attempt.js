/* One attempt to pay: the request, its idempotency key, and patience with a provider that does not answer.
   Waits of 2, 4 and 8 seconds, as the service's documentation asks, always with the same key: the service continues the same attempt and
   never charges twice. */

import { wait } from "./page.js";

const WAITS = [2, 4, 8];
const FOLLOW_UPS = [10, 15, 20, 30, 30, 60, 60, 60, 60, 60];
const LONGEST_WAIT = 60;

let key = null;
let keyed = null;

/** The key of this very request: a repetition has the same, another request another. */
function keyFor(body) {
  if (keyed !== body) [key, keyed] = [newKey(), body];
  return key;
}

/* `randomUUID` is only there over HTTPS and on this machine; a shop that lifts that check still needs keys. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The next attempt is a new one: the last one came to its end. */
export function finish() {
  [key, keyed] = [null, null];
}

/**
 * Sends the request until it is answered for good, at most three more times.
 * Gives `{ kind }`: `created` with `payment` and `token`; `refused` with `status`, `detail`, `field`;
 * `unanswered` with `charged` ("no" or "maybe") and `retryAfter`; `stopped`, likewise.
 * `onWait({ seconds, attempt, most, isBusy })` is told of every wait.
 */
export async function pay(request, { signal, onWait }) {
  const body = JSON.stringify(request);
  let charged = "no";
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await send(body);
    if (outcome.kind !== "unanswered") return outcome;
    if (outcome.charged === "maybe" && request.payment_method === "card") charged = "maybe";
    const seconds = Math.max(WAITS[attempt] ?? 0, outcome.retryAfter ?? 0);
    if (attempt >= WAITS.length || seconds > LONGEST_WAIT) return { ...outcome, charged };
    try {
      onWait({ seconds, attempt: attempt + 1, most: WAITS.length, isBusy: Boolean(outcome.retryAfter) });
      await wait(seconds * 1000, signal);
    } catch {
      return { kind: "stopped", charged };
    }
  }
}

/** Keeps asking, ever less often, how an attempt came out whose answer was lost: the same request with the same key. `first` is the first wait. */
export async function followUp(request, first) {
  const body = JSON.stringify(request);
  for (const seconds of [first, ...FOLLOW_UPS]) {
    await Promise.race([wait(seconds * 1000), backOnline()]);
    const outcome = await send(body);
    if (outcome.kind !== "unanswered") return outcome;
  }
  return { kind: "unanswered", charged: "maybe" };
}

function backOnline() {
  return new Promise((resolve) => {
    if (!navigator.onLine) window.addEventListener("online", resolve, { once: true });
  });
}

async function send(body) {
  let response;
  let answer;
  try {
    response = await fetch("/create_payment", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": keyFor(body) },
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    answer = await response.json();
  } catch {
    return { kind: "unanswered", charged: "maybe" };
  }
  if (response.ok) return { kind: "created", payment: answer, token: response.headers.get("X-Payment-Status-Token") };
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  if (mayChange(response, answer)) {
    const isCertain = response.status === 429 || answer.outcome === "not_charged";
    return { kind: "unanswered", charged: isCertain ? "no" : "maybe", retryAfter };
  }
  return { kind: "refused", status: response.status, detail: answer.detail, field: answer.field };
}

/* 409: the same attempt is still running. 429: too many requests, this one was not looked at. A refusal for good is the provider's 400, or one that the service says it only repeats. */
function mayChange({ status, headers }, { detail }) {
  const isFinal = detail === "Erro PROVIDER 400" || headers.get("Idempotent-Replayed") === "true";
  return status === 409 || status === 429 || (status >= 500 && !isFinal);
}
