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
  if (keyed !== body) [key, keyed] = [crypto.randomUUID(), body];
  return key;
}

/** The next attempt is a new one: the last one came to its end. */
export function finish() {
  [key, keyed] = [null, null];
}

/**
 * Sends the request until it is answered for good, at most three more times.
 * Gives `{ kind }`: `created` with `payment` and `token`; `refused` with `status`, `detail`, `field`, `retryAfter`;
 * `unanswered` with `charged` ("no" or "maybe"); `stopped`, likewise.
 * `onWait(seconds, attempt, most)` is told of every wait.
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
      onWait(seconds, attempt + 1, WAITS.length);
      await wait(seconds * 1000, signal);
    } catch {
      return { kind: "stopped", charged };
    }
  }
}

/** Keeps asking, ever less often, how an attempt came out whose answer was lost: the same request with the same key. */
export async function followUp(request, signal) {
  const body = JSON.stringify(request);
  for (const seconds of FOLLOW_UPS) {
    await Promise.race([wait(seconds * 1000, signal), backOnline(signal)]);
    const outcome = await send(body);
    if (outcome.kind !== "unanswered") return outcome;
  }
  return { kind: "unanswered", charged: "maybe" };
}

function backOnline(signal) {
  return new Promise((resolve) => {
    if (!navigator.onLine) window.addEventListener("online", resolve, { once: true, signal });
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
    return { kind: "unanswered", charged: answer.outcome === "not_charged" ? "no" : "maybe", retryAfter, status: response.status };
  }
  return { kind: "refused", status: response.status, detail: answer.detail, field: answer.field, retryAfter };
}

/* 409: the same attempt is still running. A refusal for good is the provider's 400, or one that the service says it only repeats. */
function mayChange({ status, headers }, { detail }) {
  const isFinal = detail === "Erro PROVIDER 400" || headers.get("Idempotent-Replayed") === "true";
  return status === 409 || (status >= 500 && !isFinal);
}
