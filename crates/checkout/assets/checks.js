/* What can be told wrong about a field before anything is sent; a check gives the name of a text. The service checks all of it again and
   has the last word; this only spares people the round trip. */

import { codeLength, digits, network, passesLuhn } from "./card.js";
import { cents } from "./masks.js";
import { form, limits, now, say } from "./page.js";

const MOST_CENTS = 99_999_999_999_999;

const value = (name) => form.elements[name].value.trim();

const CHECKS = {
  transaction_amount() {
    const amount = cents(value("transaction_amount"));
    if (amount === null || amount > MOST_CENTS) return "amount_invalid";
    return amount === 0 ? "amount_zero" : null;
  },
  card_number() {
    const number = digits();
    const found = network();
    if (number.length < 13) return "card_number_short";
    if (!found) return "card_number_network";
    return found.lengths.includes(number.length) && passesLuhn(number) ? null : "card_number_invalid";
  },
  expiry() {
    const [, month, year] = /^(\d{2})\/(\d{2})$/.exec(value("expiry")) ?? [];
    if (!month || Number(month) < 1 || Number(month) > 12) return "expiry_invalid";
    const [thisYear, thisMonth] = new Intl.DateTimeFormat("en-CA", { timeZone: "America/Sao_Paulo", year: "numeric", month: "2-digit" })
      .format(now()).split("-");
    if (2000 + Number(year) > limits.expiration_year) return "expiry_far";
    return `20${year}-${month}` < `${thisYear}-${thisMonth}` ? "expiry_past" : null;
  },
  security_code() {
    const expected = codeLength();
    const length = value("security_code").length;
    if (expected) return length === expected ? null : expected === 4 ? "security_code_four" : "security_code_three";
    return length === 3 || length === 4 ? null : "security_code_three";
  },
  email() {
    return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value("email")) ? null : "email_invalid";
  },
  identification_number() {
    return isTaxId(value("identification_number")) ? null : "tax_id_invalid";
  },
  zip_code() {
    return /^\d{5}-\d{3}$/.test(value("zip_code")) ? null : "postal_code_invalid";
  },
};

/** What is wrong with a field, or null. */
export function problemOf(name) {
  if (value(name) === "") return say(`${name}_missing`);
  const problem = CHECKS[name]?.();
  if (problem) return say(problem);
  if (KEPT.has(name) && holdsCardNumber(value(name))) return say("holds_card_number");
  return isTooLong(name) ? say("too_long", { most: limits[name] }) : null;
}

/* What is kept of a payment and shown again: a browser that fills in the wrong field must not put the card's number there. */
const KEPT = new Set(["cardholder_name", "description", "email"]);

function holdsCardNumber(text) {
  const number = digits();
  return number.length >= 13 && !form.elements.card_number.matches(":disabled") && text.replace(/\D/g, "").includes(number);
}

/* Characters are counted as the service counts them: an emoji is one, where `length` and `maxlength` have two. */
function isTooLong(name) {
  return [...value(name)].length > limits[name];
}

/** Whether the check digits of a CPF or a CNPJ, letters included, are right. */
export function isTaxId(text) {
  const places = text.toUpperCase().replace(/[.\/\s-]/g, "");
  if (/^\d{11}$/.test(places)) {
    return !/^(\d)\1+$/.test(places)
      && places.endsWith(checkDigits(places.slice(0, 9), [10, 9, 8, 7, 6, 5, 4, 3, 2], [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]));
  }
  if (/^[0-9A-Z]{12}\d{2}$/.test(places)) {
    const weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
    return !/^(.)\1+$/.test(places) && places.endsWith(checkDigits(places.slice(0, 12), weights.slice(1), weights));
  }
  return false;
}

function checkDigits(base, firstWeights, secondWeights) {
  const digit = (places, weights) => {
    const sum = [...places].reduce((total, place, index) => total + (place.charCodeAt(0) - 48) * weights[index], 0);
    return sum % 11 < 2 ? 0 : 11 - (sum % 11);
  };
  const first = digit(base, firstWeights);
  return `${first}${digit(base + first, secondWeights)}`;
}
