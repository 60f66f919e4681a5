/* The checkout page: one form, three methods, one payment. Begin reading here.
   page.js: what the server wrote · masks.js, card.js, checks.js, fields.js: the form · attempt.js: sending it · sale.js, views.js: what
   comes of it · follow.js: its state as it changes · remember.js: a reload · copy.js, which all services share: buttons that copy. */

import { askOnce, finish, followUp, outcomeOf, pay, reuse } from "./attempt.js";
import { cardMembers, setUpCard, showInstallments } from "./card.js";
import "./copy.js";
import { checkAll, hideSummary, showProblem, showRefusal, showSummary, watchFields } from "./fields.js";
import { cents, decimal, keepMask, postalCode, taxId } from "./masks.js";
import { announce, duration, form, money, order, root, say, wait } from "./page.js";
import { forgetAttempt, openAttempt, recall, takeEnded } from "./remember.js";
import { fitsOrder, leaveSale, resumeSale, saleOf, showSale } from "./sale.js";
import { show, showForm } from "./views.js";

const button = form.querySelector("#pay");
const patience = document.querySelector("#patience");
let busy = false;

const ADDRESS = ["first_name", "last_name", "zip_code", "street_name", "street_number", "neighborhood", "city", "federal_unit"];

const method = () => form.elements.payment_method?.value;
const amount = () => cents(form.elements.transaction_amount.value);
const text = (name) => form.elements[name].value.trim();

function request() {
  const asked = order ? {} : { transaction_amount: decimal(amount()), description: text("description") };
  const members = {
    payment_method: method(),
    ...asked,
    email: text("email"),
    identification_number: text("identification_number").replace(/[^0-9A-Z]/g, ""),
  };
  if (method() === "card") return { ...members, ...cardMembers() };
  if (method() === "pix") return members;
  return { ...members, ...Object.fromEntries(ADDRESS.map((name) => [name, text(name)])) };
}

/** Shows the chosen method's fields and takes the others out of the form. */
function showMethod() {
  for (const group of form.querySelectorAll("fieldset[data-methods]")) {
    const active = group.dataset.methods.split(" ").includes(method());
    group.hidden = !active;
    group.disabled = !active;
  }
  showButton();
  hideSummary();
}

/** The button says what it does: a card is charged, a code or a boleto is made. */
function showButton() {
  const total = amount();
  const name = { card: "pay", pix: "pay_pix", boleto: "pay_boleto" }[method()];
  const text = total ? say(`${name}_amount`, { amount: money(total) }) : say(name);
  button.querySelector("span").textContent = text;
}

function showAmount() {
  const total = amount();
  const written = total ? money(total) : "";
  showButton();
  document.querySelector("#summary-amount").textContent = written || money(0);
  const about = document.querySelector("#summary-description");
  about.textContent = text("description") || about.dataset.empty || "";
  showInstallments(total);
}

async function submit(event) {
  event.preventDefault();
  if (busy || !checkAll()) return;
  const sent = request();
  work(true);
  try {
    await settle(await patiently(sent), sent);
  } finally {
    work(false);
  }
}

/** While a request is out: the button says so, the fields keep still, and leaving the page asks first. */
function work(now) {
  busy = now;
  root.dataset.busy = String(now);
  button.setAttribute("aria-disabled", String(now));
  button.setAttribute("aria-busy", String(now));
  form.querySelector("#payment-fields").inert = now;
  if (now) window.addEventListener("beforeunload", ask);
  else window.removeEventListener("beforeunload", ask);
}

const ask = (event) => event.preventDefault();

async function patiently(sent) {
  const stop = new AbortController();
  const stopButton = patience.querySelector("#stop");
  stopButton.onclick = () => stop.abort();
  let ticking;
  const onWait = ({ seconds, attempt, most, isBusy }) => {
    clearInterval(ticking);
    const first = patience.hidden;
    patience.hidden = false;
    const line = patience.querySelector("#patience-text");
    const bar = patience.querySelector("progress");
    let left = seconds;
    const write = () => {
      const text = left <= 0 ? "retry_now" : isBusy ? "retry_busy" : "retry_in";
      line.textContent = say(text, { seconds: left, attempt, most });
      bar.max = seconds;
      bar.value = seconds - left;
    };
    write();
    announce(line.textContent);
    if (first) stopButton.focus();
    ticking = setInterval(() => {
      left -= 1;
      write();
      if (left <= 0) clearInterval(ticking);
    }, 1000);
  };
  try {
    return await pay(sent, { signal: stop.signal, onWait });
  } finally {
    clearInterval(ticking);
    patience.hidden = true;
    announce("");
  }
}

async function settle(outcome, sent) {
  if (outcome.kind === "created") return created(outcome, sent);
  if (outcome.kind === "refused") return refused(outcome);
  if (outcome.kind === "over" || (order && outcome.kind === "taken")) return lookAgain();
  if (outcome.kind === "taken") return confirmByKey(openAttempt(({ key }) => key === outcome.key), 0);
  if (outcome.charged === "maybe") return outcome.kind === "stopped" ? unconfirmed(sent) : confirm(sent, 5);
  button.focus();
  if (outcome.kind === "stopped") return showSummary(say("stopped"), [], say("nothing_charged"));
  if (!outcome.retryAfter) return showSummary(say("unreachable"), [], say("nothing_charged"));
  const again = { wait: duration(outcome.retryAfter) };
  return outcome.isPaused ? showSummary(say("paused"), [], say("paused_until", again)) : showSummary(say("busy"), [], say("busy_until", again));
}

/** The order knows better than this page: it is loaded again. */
function lookAgain() {
  work(false);
  location.reload();
}

/** Another tab, or this one before it was loaded again, has a payment of unknown outcome: the page asks until the order knows. */
async function confirmOrder() {
  show("confirming");
  for (;;) {
    await wait(4000);
    try {
      const response = await fetch(location.href, { cache: "no-store", headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const now = page.querySelector("#checkout")?.dataset.order;
      if (response.ok && now && now !== order) return lookAgain();
    } catch {
      // The next question may come through.
    }
  }
}

/** The fields that the shop knows of its customer. */
function fillIn() {
  const known = JSON.parse(root.dataset.customer ?? "{}");
  for (const [name, value] of Object.entries(known)) {
    const field = form.elements[name];
    if (!value || !field || field.value) continue;
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function created({ payment, token }, sent) {
  finish();
  if (payment.status !== "rejected") forgetCard();
  return showSale(saleOf(payment, token, sent), ways);
}

function forgetCard() {
  for (const name of ["card_number", "expiry", "security_code"]) form.elements[name].value = "";
}

function refused({ status, detail, field }) {
  finish();
  if (field && showRefusal(field, say(refusalOf(field, detail)))) return;
  // An order's amount is not the buyer's to change.
  const text = status === 502 ? "provider_refused" : order && field === "transaction_amount" ? "amount_refused" : "refused";
  showSummary(say(text), [], say(`${text}_text`));
}

function refusalOf(field, detail) {
  if (detail === "Missing required field") return `${field}_missing`;
  return detail.endsWith("must not contain a card number") ? "holds_card_number" : `${field}_refused`;
}

/** A card charge may exist and its answer was lost: the page finds out, and offers nothing that could charge again. */
async function confirm(sent, firstWait) {
  show("confirming");
  window.addEventListener("beforeunload", ask);
  const outcome = await followUp(sent, firstWait);
  window.removeEventListener("beforeunload", ask);
  if (outcome.kind === "unanswered") return unconfirmed(sent);
  if (outcome.kind === "refused") showForm();
  return settle(outcome, sent);
}

function unconfirmed(sent) {
  show("unconfirmed", {}, { check: () => confirm(sent, 0) });
}

/**
 * An attempt that was under way when the page was loaded again: its request is gone, so the page asks by its key, and offers no card
 * payment until the outcome is known. Pix and boleto charge nothing by being made: one question, and the form.
 */
async function resumeAttempt(attempt) {
  const outcome = await askOnce(attempt.key);
  if (outcome.kind === "created" || outcome.kind === "not_charged") return known(outcome, attempt);
  if (attempt.method !== "card") return forgetAttempt(attempt.key);
  // Not awaited: the page is ready while it asks on.
  confirmByKey(attempt, 2);
}

async function confirmByKey(attempt, firstWait) {
  show("confirming");
  const outcome = await outcomeOf(attempt.key, firstWait);
  if (outcome.kind === "unanswered") return show("unconfirmed", {}, { check: () => confirmByKey(attempt, 0) });
  return known(outcome, attempt);
}

/** What the service knows of an attempt whose request this page no longer has. */
function known(outcome, attempt) {
  finish();
  forgetAttempt(attempt.key);
  if (outcome.kind === "created") {
    const { payment: { id, status, status_detail: detail }, token } = outcome;
    return showSale({ ...attempt, id, token, status, detail }, ways);
  }
  if (outcome.kind === "absent") reuse(attempt.key);
  showForm();
  return showSummary(say("not_paid"), [], say("not_paid_text"));
}

/* The ways from a result back to the form. */
const ways = {
  again(field) {
    leaveSale();
    showForm();
    form.elements.security_code.value = "";
    (form.elements[field] ?? form.elements.security_code).focus();
  },
  other() {
    leaveSale();
    showForm();
    form.elements.security_code.value = "";
    form.querySelector("[name=payment_method]:checked").focus();
  },
  new() {
    leaveSale();
    location.reload();
  },
};

async function start() {
  setUpCard(amount);
  keepMask(form.elements.identification_number, taxId);
  keepMask(form.elements.zip_code, postalCode, /\d/);
  watchFields();
  form.addEventListener("submit", submit);
  form.addEventListener("input", ({ target }) => {
    if (["transaction_amount", "description"].includes(target.name)) showAmount();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name === "payment_method") showMethod();
    if (target.name === "transaction_amount") tidyAmount(target);
  });
  fillIn();
  showMethod();
  showAmount();
  await resume();
  button.disabled = false;
  root.dataset.ready = "true";
}

/** What a reload left behind: an attempt of unknown outcome before a payment that is known. */
async function resume() {
  if (order === "confirming") confirmOrder();
  else if (root.dataset.payment) await resumeSale(JSON.parse(root.dataset.payment), ways).catch(() => {});
  if (order) return tellEnded();
  const attempt = openAttempt(fitsOrder);
  if (attempt) await resumeAttempt(attempt);
  const payment = recall();
  if (payment && !root.dataset.view) await resumeSale(payment, ways).catch(() => {});
}

/** After a payment of this order ended unpaid and the page was loaded again: why the form is back, with the same method chosen. */
function tellEnded() {
  const ended = takeEnded(location.pathname);
  if (!ended || root.dataset.view) return;
  const choice = [...form.querySelectorAll("[name=payment_method]")].find(({ value }) => value === ended);
  if (choice) choice.checked = true;
  showMethod();
  showSummary(say("not_paid"), [], say("not_paid_text"));
}

function tidyAmount(field) {
  const total = cents(field.value);
  if (total === null) return;
  field.value = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 2 }).format(total / 100);
  showProblem(field.name, null);
}

start();
