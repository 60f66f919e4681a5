/* How what is typed or pasted is written: groups of digits, punctuation of tax ids and postal codes, amounts. Pure functions, and
   one that ties them to a field without moving the cursor under the reader's hand. */

const digitsOf = (text) => text.replace(/\D/g, "");

/** Card digits in the groups of their network. */
export function cardNumber(text, longest = 19, groups = [4, 4, 4, 4, 3]) {
  const digits = digitsOf(text).slice(0, longest);
  const parts = [];
  let from = 0;
  for (const size of groups) {
    if (from >= digits.length) break;
    parts.push(digits.slice(from, from + size));
    from += size;
  }
  return parts.join(" ");
}

/** `1229`, `12/2029`, `12 / 29` and `2029-12` (as browsers fill it) all become `12/29`. */
export function expiry(text) {
  const iso = /^\s*(\d{4})-(\d{1,2})\s*$/.exec(text);
  if (iso) return `${iso[2].padStart(2, "0")}/${iso[1].slice(2)}`;
  const [, month, year] = /^\s*(\d{1,2})\s*[/.-]\s*(\d*)/.exec(text) ?? [];
  let digits = month === undefined ? digitsOf(text) : month.padStart(2, "0") + year;
  if (month === undefined && /^[2-9]/.test(digits)) digits = `0${digits}`;
  if (digits.length > 4 && digits.slice(2, 4) === "20") digits = digits.slice(0, 2) + digits.slice(4);
  digits = digits.slice(0, 4);
  const open = digits.length === 2 && month !== undefined;
  return digits.length > 2 || open ? `${digits.slice(0, 2)}/${digits.slice(2)}` : digits;
}

/** A CPF while it can be one, else a CNPJ, whose first twelve places may be letters. */
export function taxId(text) {
  const places = text.toUpperCase().replace(/[^0-9A-Z]/g, "").slice(0, 14);
  return places.length <= 11 && !/[A-Z]/.test(places)
    ? punctuate(places, [3, 3, 3, 2], [".", ".", "-"])
    : punctuate(places, [2, 3, 3, 4, 2], [".", ".", "/", "-"]);
}

export function postalCode(text) {
  return punctuate(digitsOf(text).slice(0, 8), [5, 3], ["-"]);
}

export function onlyDigits(longest) {
  return (text) => digitsOf(text).slice(0, longest);
}

function punctuate(places, sizes, marks) {
  let written = "";
  let from = 0;
  sizes.forEach((size, index) => {
    const part = places.slice(from, from + size);
    if (part && index > 0) written += marks[index - 1];
    written += part;
    from += size;
  });
  return written;
}

/**
 * Whole cents of an amount as people type it in either language (`1.234,56`, `1,234.56`, `19.9`), or null. Thousands have one separator
 * and cents the other. `1.234` is null: it may mean three decimals.
 */
export function cents(text) {
  const written = text.replace(/^\s*R\$/, "").replace(/[\s\u00a0]/g, "");
  const plain = /^(\d+)(?:[.,](\d{1,2}))?$/.exec(written);
  const grouped = /^([1-9]\d{0,2}([.,])\d{3}(?:\2\d{3})*)(?:(?!\2)[.,](\d{1,2}))?$/.exec(written);
  const whole = digitsOf((plain ?? grouped)?.[1] ?? "");
  const fraction = plain ? plain[2] : grouped?.[3];
  const isAmbiguous = !plain && !fraction && whole.length <= 6;
  if (isAmbiguous || whole.length > 12) return null;
  return Number(whole) * 100 + Number((fraction ?? "").padEnd(2, "0"));
}

/** Whole cents as the number that the interface takes: `1990` is `19.90`. Up to 14 digits, which a double holds exactly. */
export function decimal(cents) {
  return Number(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`);
}

/** Keeps a field in its written form, and the cursor behind the same character, whatever is typed, deleted or pasted. */
export function keepMask(input, write, counts = /[0-9A-Za-z]/) {
  const significant = (text) => [...text].filter((character) => counts.test(character)).length;
  input.addEventListener("input", (event) => {
    if (event.isComposing) return;
    const caret = input.selectionStart ?? input.value.length;
    const atEnd = caret === input.value.length;
    const before = significant(input.value.slice(0, caret));
    const deleting = event.inputType?.startsWith("delete");
    const written = write(deleting ? input.value.replace(/[/.-]$/, "") : input.value);
    if (written === input.value) return;
    input.value = written;
    if (document.activeElement !== input) return;
    let place = atEnd ? written.length : 0;
    if (!atEnd) {
      for (let seen = 0; place < written.length && seen < before; place += 1) {
        if (counts.test(written[place])) seen += 1;
      }
    }
    input.setSelectionRange(place, place);
  });
}
