/* One attempt to pay: the request, its idempotency key, and patience with a provider that does not answer.
   Waits of 2, 4 and 8 seconds, as the service's documentation asks, always with the same key: the service continues the same attempt and
   never charges twice. The key is remembered before anything is sent, so that a page that is loaded again asks for the outcome by it. */

import { form, keepTime, language, order, wait } from "./page.js";
import { forgetAttempt, rememberAttempt } from "./remember.js";

const WAITS = [2, 4, 8];
const FOLLOW_UPS = [10, 15, 20, 30, 30, 60, 60, 60, 60, 60];
const LONGEST_WAIT = 60;
const OTHER_REQUEST = "Validation error: Idempotency-Key: was used for another request";

let current = null;
let spareKey = null;

/** The attempt of this very request: a repetition has the same key, another request another. */
function attemptOf(request) {
  const body = JSON.stringify(request);
  if (current?.body !== body) {
    finish();
    current = { key: spareKey ?? newKey(), body };
    spareKey = null;
  }
  // What became of an order's attempt is known by the order, in every tab.
  if (!order) rememberAttempt({
    key: current.key,
    method: request.payment_method,
    cents: Math.round(request.transaction_amount * 100),
    description: request.description,
  });
  return current;
}

/* A random UUID, which the service takes from any address. `randomUUID` is only there over HTTPS and on this machine; a shop that lifts that
   check still needs keys. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The next attempt is a new one: the last one came to its end. */
export function finish() {
  if (current) forgetAttempt(current.key);
  current = null;
}

/** The next attempt has the key of one whose request never arrived: should it arrive late, the service takes only one of the two. */
export function reuse(key) {
  spareKey = key;
}

/**
 * Sends the request until it is answered for good, at most three more times.
 * Gives `{ kind }`: `created` with `payment` and `token`; `refused` with `status`, `detail`, `field`; `over` when the order is;
 * `unanswered` with `charged` ("no" or "maybe"), `retryAfter` and `isPaused` after too many declines; `stopped`, likewise; `taken` with `key` when another request came with it.
 * `onWait({ seconds, attempt, most, isBusy })` is told of every wait.
 */
export async function pay(request, { signal, onWait }) {
  let charged = "no";
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await send(attemptOf(request));
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
  return repeatedly([first, ...FOLLOW_UPS], () => send(attemptOf(request)));
}

/**
 * Keeps asking how an attempt came out whose request this page no longer has. Gives `{ kind }`: `created` with `payment` and `token`,
 * `not_charged`, `absent` when no request with the key has arrived, `unanswered`.
 */
export async function outcomeOf(key, first) {
  let isAbsent = false;
  return repeatedly([first, ...WAITS, ...FOLLOW_UPS], async () => {
    const outcome = await askOnce(key);
    // The request may have left just before the page was loaded again: the second answer is believed.
    if (outcome.kind !== "absent" || isAbsent) return outcome;
    isAbsent = true;
    return { kind: "unanswered" };
  });
}

async function repeatedly(waits, tell) {
  for (const seconds of waits) {
    if (seconds) await Promise.race([wait(seconds * 1000), backOnline()]);
    const outcome = await tell();
    if (outcome.kind !== "unanswered") return outcome;
  }
  return { kind: "unanswered", charged: "maybe" };
}

/** Asks once, by the key alone. */
export async function askOnce(key) {
  try {
    const response = await fetch("/payments/outcome", {
      headers: { "Idempotency-Key": key },
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    if (response.status === 404) return { kind: "absent" };
    if (!response.ok) return { kind: "unanswered" };
    const { outcome, ...payment } = await response.json();
    if (outcome === "created") return { kind: outcome, payment, token: response.headers.get("X-Payment-Status-Token") };
    return { kind: outcome === "not_charged" ? outcome : "unanswered" };
  } catch {
    return { kind: "unanswered" };
  }
}

function backOnline() {
  return new Promise((resolve) => {
    if (!navigator.onLine) window.addEventListener("online", resolve, { once: true });
  });
}

async function send({ key, body }) {
  let response;
  let answer;
  try {
    response = await fetch(form.getAttribute("action"), {
      method: "POST",
      // Without cookies the language of the receipt is the browser's, unless this header names the page's.
      headers: { "Content-Type": "application/json", "Idempotency-Key": key, "Accept-Language": language },
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    keepTime(response);
    answer = await response.json();
  } catch {
    return { kind: "unanswered", charged: "maybe" };
  }
  if (response.ok) return { kind: "created", payment: answer, token: response.headers.get("X-Payment-Status-Token") };
  if (isOver(response, answer)) return { kind: "over" };
  if (response.status === 422 && answer.detail === OTHER_REQUEST) return { kind: "taken", key };
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  if (mayChange(response, answer)) {
    const isCertain = response.status === 429 || answer.outcome === "not_charged";
    const isPaused = response.status === 429 && answer.outcome === "not_charged";
    return { kind: "unanswered", charged: isCertain ? "no" : "maybe", retryAfter, isPaused };
  }
  return { kind: "refused", status: response.status, detail: answer.detail, field: answer.field };
}

/* The order has ended, or another payment of it is being confirmed: its page says which. */
function isOver({ status }, { detail }) {
  return status === 410 || (status === 409 && Boolean(order) && !detail.includes("Idempotency-Key"));
}

/* 409: the same attempt is still running. 429: too many requests, this one was not looked at. A refusal for good is the provider's 400, or one that the service says it only repeats. */
function mayChange({ status, headers }, { detail }) {
  const isFinal = detail === "Erro PROVIDER 400" || headers.get("Idempotent-Replayed") === "true";
  return status === 409 || status === 429 || (status >= 500 && !isFinal);
}
