/* The state of a payment as it changes: server-sent events, or a question every few seconds where they do not come through. */

import { keepTime, wait } from "./page.js";

const FINAL = new Set(["approved", "rejected", "cancelled", "refunded", "charged_back"]);
const PAUSE = 4000;
/* The stream begins with the state as it is: one that stays silent is held back by something on the way. */
const SILENCE = 8000;

const address = ({ id, token }, what) => `/payments/${encodeURIComponent(id)}/${what}?token=${encodeURIComponent(token)}`;

/**
 * What the service knows of a payment: its `status`, or the `artefacts` to pay it with and what a receipt says. Null when there is no
 * such payment (any more) for this token. Throws when the service cannot be reached.
 */
export async function look(known, what = "status") {
  const response = await fetch(address(known, what), { cache: "no-store", credentials: "omit" });
  keepTime(response);
  if (response.status === 404 || response.status === 401) return null;
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

/** Calls `onState` with every state until a final one. */
export async function follow(known, onState, signal) {
  try {
    await listen(known, onState, signal);
  } catch {
    if (!signal.aborted) await ask(known, onState, signal);
  }
}

function listen(known, onState, signal) {
  return new Promise((resolve, reject) => {
    const source = new EventSource(address(known, "events"));
    const silent = setTimeout(() => close(reject, new Error("a silent event stream")), SILENCE);
    const close = (settle, value) => {
      clearTimeout(silent);
      source.close();
      settle(value);
    };
    signal.addEventListener("abort", () => close(resolve), { once: true });
    const take = ({ data }) => {
      clearTimeout(silent);
      const state = JSON.parse(data);
      onState(state);
      if (FINAL.has(state.status)) close(resolve);
    };
    source.addEventListener("message", take);
    source.addEventListener("status", take);
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) close(reject, new Error("no event stream"));
    });
  });
}

async function ask(known, onState, signal) {
  while (!signal.aborted) {
    try {
      const state = await look(known);
      if (!state) return;
      onState(state);
      if (FINAL.has(state.status)) return;
    } catch {
      // The next question may come through.
    }
    await wait(PAUSE, signal).catch(() => {});
  }
}
