/* The card fields: which network it is as soon as the digits say so, its grouping, security code and installments. */

import { cardNumber, expiry, keepMask, onlyDigits } from "./masks.js";
import { form, money, networks, root, say } from "./page.js";

const GROUPS = { amex: [4, 6, 5], diners: [4, 6, 4, 5] };

/** The network of these digits, or null while they are too few to tell: a longer prefix of another network may still follow. */
export function networkOf(digits) {
  let best = null;
  let bestLength = 0;
  let openLength = 0;
  for (const network of networks) {
    for (const [first, last] of network.prefixes) {
      const length = first.length;
      if (digits.length >= length) {
        const start = digits.slice(0, length);
        if (first <= start && start <= last && length > bestLength) [best, bestLength] = [network, length];
      } else if (first.slice(0, digits.length) <= digits && digits <= last.slice(0, digits.length)) {
        openLength = Math.max(openLength, length);
      }
    }
  }
  return openLength > bestLength ? null : best;
}

export function passesLuhn(digits) {
  let sum = 0;
  [...digits].reverse().forEach((character, index) => {
    const digit = Number(character) * (index % 2 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  });
  return sum % 10 === 0;
}

const number = form.elements.card_number;
const code = form.elements.security_code;
const installments = form.elements.installments;
const badge = form.querySelector("#network");
let shown;

export const digits = () => number.value.replace(/\D/g, "");
export const network = () => networkOf(digits());
export const codeLength = () => network()?.security_code_length;

/** Ties the card's fields together. `amount` gives the whole cents to pay, or null. */
export function setUpCard(amount) {
  keepMask(number, (text) => {
    const found = networkOf(text.replace(/\D/g, ""));
    return cardNumber(text, found ? Math.max(...found.lengths) : 19, GROUPS[found?.network]);
  }, /\d/);
  keepMask(form.elements.expiry, expiry, /\d/);
  keepMask(code, (text) => onlyDigits(codeLength() ?? 4)(text), /\d/);
  number.addEventListener("input", () => showNetwork(amount));
  showNetwork(amount);
}

/** Installments that the network allows, each with its amount. Called again when the amount changes. */
export function showInstallments(total) {
  const ofNetwork = network()?.max_installments ?? Math.max(...networks.map((each) => each.max_installments));
  const most = Math.min(ofNetwork, Number(root.dataset.maxInstallments ?? ofNetwork));
  const chosen = Math.min(Number(installments.value) || 1, most);
  installments.replaceChildren(...Array.from({ length: most }, (_, index) => {
    const count = index + 1;
    const each = total ? money(Math.round(total / count)) : "";
    const name = count === 1 ? "installments_one" : total ? "installments_many" : "installments_count";
    return new Option(say(name, { count, amount: each }), String(count), count === 1, count === chosen);
  }));
}

function showNetwork(amount) {
  const found = network();
  if (found === shown) return;
  shown = found;
  badge.textContent = found?.name ?? "";
  badge.hidden = !found;
  code.placeholder = "0".repeat(found?.security_code_length ?? 3);
  const hint = form.querySelector("#security_code-hint");
  hint.textContent = say(found?.security_code_length === 4 ? "security_code_front" : "security_code_back");
  showInstallments(amount());
}

/** The card's members of the request. */
export function cardMembers() {
  const [month, year] = form.elements.expiry.value.split("/");
  return {
    card_number: digits(),
    expiration_month: month,
    expiration_year: `20${year}`,
    security_code: code.value,
    // As it is shown, and as it stands on cards.
    cardholder_name: form.elements.cardholder_name.value.trim().toUpperCase(),
    installments: Number(installments.value),
  };
}
