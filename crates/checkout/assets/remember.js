/* What outlives a reload of this tab: which payment is on the page. Its id and its token, nothing else; never what was typed. */

const NAME = "balcao.payment";

export function remember({ id, token }) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify({ id, token, order: location.search }));
  } catch {
    // A browser that keeps nothing: a reload then shows an empty form.
  }
}

/** The remembered payment, if it belongs to the order in the address. */
export function recall() {
  try {
    const known = JSON.parse(sessionStorage.getItem(NAME));
    return known?.order === location.search ? known : null;
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
