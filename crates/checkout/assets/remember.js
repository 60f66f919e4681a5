/* What outlives a reload of this tab: which payment is on the page. Its id and its token, nothing else; never what was typed. */

const NAME = "balcao.payment";

export function remember({ id, token }) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify({ id, token }));
  } catch {
    // A browser that keeps nothing: a reload then shows an empty form.
  }
}

/** The remembered payment, or null. */
export function recall() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME));
  } catch {
    return null;
  }
}

export function forget() {
  try {
    sessionStorage.removeItem(NAME);
  } catch {
    // Nothing was kept.
  }
}
