/* What the server wrote into the page for this script: texts in the reader's language, the table of card networks, how long texts and how late an expiry may
   be, reasons of refused payments. Nothing of it is repeated by hand here. */

export const root = document.querySelector("#checkout");
export const form = document.querySelector("#payment");
export const networks = JSON.parse(root.dataset.networks);
export const limits = JSON.parse(root.dataset.limits);
/** How the shop's order stood when the server wrote the page: open, followed or confirming; undefined on the open page. */
export const order = root.dataset.order;

const texts = JSON.parse(root.dataset.texts);
/** The language of the page: the visitor's choice, else the browser's. */
export const language = document.documentElement.lang.replace(/^en$/, "en-GB");

/** The text of this name, with `{names}` replaced by the given values. */
export function say(name, values = {}) {
  return (texts[name] ?? name).replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

/** The reason of a refused payment in plain words: a card's by the provider's `status_detail`. */
export function reason({ method, detail }) {
  const reasons = texts.reasons;
  return reasons[method] ?? reasons[detail] ?? reasons.other;
}

/** An amount in whole cents as the reader writes it, like the server does: `R$ 19,90`. */
export function money(cents) {
  const number = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `R$\u00a0${number.format(cents / 100)}`;
}

/** A wait as error pages write it: minutes from two minutes on, hours from two hours on. */
export function duration(seconds) {
  let [count, unit] = [seconds, "second"];
  if (seconds >= 7200) [count, unit] = [Math.ceil(seconds / 3600), "hour"];
  else if (seconds >= 120) [count, unit] = [Math.ceil(seconds / 60), "minute"];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(count);
}

let ahead = 0;

/** Takes the time from an answer of the service: the device's clock may be wrong by more than a minute. */
export function keepTime(response) {
  const difference = Date.now() - Date.parse(response.headers.get("date"));
  ahead = Math.abs(difference) > 60_000 ? difference : 0;
}

/** The service's time, in milliseconds. */
export const now = () => Date.now() - ahead;

/** A moment as the reader writes it, in Brasília, as reloaded pages and mails tell it. */
export function moment(date) {
  return new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "America/Sao_Paulo" }).format(date);
}

/** A day (`2026-11-23`, or a moment, which counts in Brasília) as the reader writes it. */
export function day(text) {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T12:00:00-03:00`) : new Date(text);
  return new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "America/Sao_Paulo" }).format(date);
}

/** Says something to screen readers without moving the focus. */
export function announce(text) {
  document.querySelector("#announcer").textContent = text;
}

/** Resolves after a while; rejects at once when the signal is given, before or meanwhile. */
export function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
