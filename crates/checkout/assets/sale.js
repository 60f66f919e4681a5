/* One payment as the page shows it, whether the creation just answered it or a reload asked for it again, and which view its
   state calls for. */

import { follow, look } from "./follow.js";
import { day, form, moment, money, now, order, reason, root, say, wait } from "./page.js";
import { forget, remember, rememberEnded } from "./remember.js";
import { countDown, show } from "./views.js";

let following = new AbortController();
let stopCounting = () => {};

/** The answer of a creation, with what the request knew. */
export function saleOf(payment, token, request) {
  const pix = payment.point_of_interaction?.transaction_data;
  return {
    id: payment.id,
    token,
    method: request.payment_method,
    cents: Math.round(payment.transaction_amount * 100),
    description: form.elements.description.value.trim(),
    status: payment.status,
    detail: payment.status_detail,
    date: payment.date_approved ?? payment.date_created,
    card: payment.card && { network: payment.payment_method_id, last: payment.card.last_four_digits, installments: request.installments },
    code: pix?.qr_code,
    image: pix?.qr_code_base64,
    document: payment.transaction_details?.external_resource_url ?? pix?.ticket_url,
  };
}

/** Adds what the payment's own address knows: the digitable line, due dates, the time of approval; after a reload everything. */
async function complete(sale) {
  const found = await look(sale, "artefacts").catch(() => null);
  if (!found) return sale;
  return {
    ...sale,
    method: found.payment_method ?? sale.method,
    cents: found.transaction_amount === undefined ? sale.cents : Math.round(found.transaction_amount * 100),
    description: found.description ?? sale.description,
    date: found.date_approved ?? found.date_created ?? sale.date,
    code: found.qr_code ?? sale.code,
    image: found.qr_code_base64 ?? sale.image,
    document: found.external_resource_url ?? found.ticket_url ?? sale.document,
    line: found.digitable_line ?? sale.line,
    expires: found.date_of_expiration ?? sale.expires,
  };
}

/** Shows a new payment and stays with it. `actions` are the ways back to the form. */
export async function showSale(sale, actions) {
  if (sale.token && sale.status !== "rejected" && !order) remember(sale);
  const isWhole = sale.date && sale.status !== "pending";
  stay(sale.token && !isWhole ? await complete(sale) : sale, actions);
}

/** Shows the payment that a reload of the page left behind; false when there is none to show. */
export async function resumeSale(known, actions) {
  const state = await look(known);
  if (!state || state.status === "rejected") {
    forget();
    return false;
  }
  const sale = await complete({ ...known, status: state.status, detail: state.status_detail });
  if (!sale.method || !fitsOrder(sale)) return false;
  stay(sale, actions);
  return true;
}

/** Is this what the page's address asks for? It may ask for another order than the one that was paid for in this tab. */
export function fitsOrder({ cents, description: text }) {
  const { transaction_amount: amount, description } = form.elements;
  const fits = (field, value) => field.type !== "hidden" || field.value === value;
  return fits(amount, (cents / 100).toFixed(2)) && fits(description, text);
}

/** Leaves the payment that is on the page: no more questions about it, and a reload no longer brings it back. */
export function leaveSale() {
  following.abort();
  stopCounting();
  forget();
}

function stay(sale, actions) {
  following.abort();
  following = new AbortController();
  let shown = sale;
  present(shown, actions);
  if (!sale.token || !isOpen(sale)) return;
  const { signal } = following;
  follow(sale, async ({ status, status_detail: detail }) => {
    if (status === shown.status) return;
    shown = { ...shown, status, detail };
    if (status === "approved") shown = await complete({ ...shown, date: new Date(now()).toISOString() });
    if (!signal.aborted) present(shown, actions);
  }, signal);
}

const isOpen = ({ status }) => status === "pending" || status === "in_process";

function present(sale, actions) {
  stopCounting();
  stopCounting = () => {};
  if (sale.status === "approved") return showReceipt(sale, actions);
  if (sale.status === "rejected") return showDeclined(sale, actions);
  // Only the server knows whether the order can still be paid. Another payment may be about to replace this one.
  if (sale.status === "cancelled" && order) {
    rememberEnded(location.pathname, sale.method);
    return wait(1000).then(() => location.reload());
  }
  if (sale.status === "cancelled") return show(sale.method === "card" ? "cancelled" : "expired", facts(sale), actions);
  if (!isOpen(sale)) return show("returned", facts(sale), actions);
  // A buyer who has paid a pix or a boleto must not see its code again.
  if (sale.status === "in_process" || sale.method === "card") return show("review", facts(sale), actions);
  return sale.method === "pix" ? showPix(sale, actions) : showBoleto(sale, actions);
}

function facts(sale) {
  const date = sale.date && new Date(sale.date);
  return {
    id: sale.id,
    amount: sale.cents === undefined ? "" : money(sale.cents),
    description: sale.description,
    method: methodName(sale),
    date: date && [date.toISOString(), moment(date)],
    document: sale.document,
    due: sale.expires && day(sale.expires),
  };
}

function methodName({ method, card }) {
  if (method !== "card" || !card) return say(`method_${method}`);
  const name = say("method_card_ending", { network: say(`network_${card.network}`), last: card.last });
  return card.installments > 1 ? `${name} · ${say("times", { count: card.installments })}` : name;
}

function showReceipt(sale, actions) {
  show("paid", facts(sale), { ...actions, print: () => window.print() });
}

function showDeclined(sale, actions) {
  forget();
  const { text, todo, field } = reason(sale);
  show("declined", { reason: text, todo, amount: money(sale.cents) }, { ...actions, again: () => actions.again(field) });
}

function showPix(sale, actions) {
  const image = sale.image && `data:image/png;base64,${sale.image}`;
  // The service cancels the pix of an order that ends.
  const ends = [sale.expires, root.dataset.expiresAt].filter(Boolean).map((text) => new Date(text).getTime());
  const end = ends.length > 0 && new Date(Math.min(...ends));
  const until = end && moment(end);
  const view = show("pix", { ...facts(sale), code: sale.code, image, until }, actions);
  if (!end) return;
  const clock = view.querySelector("#countdown");
  clock.closest("[hidden]")?.removeAttribute("hidden");
  stopCounting = countDown(clock, end, () => {
    view.querySelector("#expiry-note").textContent = say("pix_just_expired");
  });
}

function showBoleto(sale, actions) {
  const view = show("boleto", { ...facts(sale), line: sale.line && inGroups(sale.line) }, actions);
  // Groups are for the eye: what is copied is the number.
  if (sale.line) view.querySelector("#boleto-line").dataset.text = sale.line.replace(/\D/g, "");
}

/* AAAAA.AAAAA BBBBB.BBBBBB CCCCC.CCCCCC D EEEEEEEEEEEEEE, as banks print it; each group stays in one piece. */
function inGroups(line) {
  const parts = /^(\d{5})(\d{5})(\d{5})(\d{6})(\d{5})(\d{6})(\d)(\d{14})$/.exec(line.replace(/\D/g, ""));
  if (!parts) return line;
  const [, a, b, c, d, e, f, check, rest] = parts;
  return [`${a}.${b}`, `${c}.${d}`, `${e}.${f}`, check, rest];
}
