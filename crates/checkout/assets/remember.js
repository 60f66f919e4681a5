/* What outlives a reload of this tab: which payment is on the page, by its id and its token, and which attempts are open, by their key, method,
   amount and description, and that one ended unpaid. Nothing that was typed about the card or its holder. */

const PAYMENT = "balcao.payment";
const ATTEMPTS = "balcao.attempts";
const ENDED = "balcao.ended";

export function remember({ id, token }) {
  write(PAYMENT, { id, token });
}

/** The remembered payment, or null. */
export function recall() {
  return read(PAYMENT);
}

export function forget() {
  write(PAYMENT, null);
}

/** Remembers the method of a payment of the order at `path` that ended unpaid. */
export function rememberEnded(path, method) {
  write(ENDED, { path, method });
}

/** The method that was remembered for the order at `path`, once. */
export function takeEnded(path) {
  const ended = read(ENDED);
  write(ENDED, null);
  return ended?.path === path ? ended.method : null;
}

/** Remembers an attempt whose request is about to be sent. */
export function rememberAttempt(attempt) {
  write(ATTEMPTS, [...without(attempt.key), attempt]);
}

/** The newest open attempt for which `fits` is true. */
export function openAttempt(fits) {
  return (read(ATTEMPTS) ?? []).findLast(fits);
}

export function forgetAttempt(key) {
  const rest = without(key);
  write(ATTEMPTS, rest.length ? rest : null);
}

const without = (key) => (read(ATTEMPTS) ?? []).filter((attempt) => attempt.key !== key);

function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

function write(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing: a reload then shows an empty form.
  }
}
