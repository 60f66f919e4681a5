/* A count that a scanner fills in: a code counts one more of its line, wherever the cursor is, and Enter goes from line to line. What is
   counted is stored as it is typed, so that a lost connection or another device loses nothing. */

const form = document.getElementById("count");
const said = document.getElementById("last");
const kept = document.getElementById("kept");
const rows = [...form.querySelectorAll("#lines tbody tr")];
const fieldOf = (row) => row.querySelector(".line-quantity");
const shownOf = (row) => row.querySelector("[name^=shown_]");
const fields = rows.map(fieldOf);
const byCode = new Map(rows.filter((row) => row.dataset.code).map((row) => [row.dataset.code, row]));
const byProduct = new Map(rows.map((row) => [row.dataset.product, row]));

/* More digits than any quantity has are a code. */
const isQuantity = (text) => /^[\d.,\s]*$/.test(text) && text.replace(/\D/g, "").length <= 7;
const WAIT = 700;
let timer;
let storing = Promise.resolve();

const changed = () => rows.filter((row) => fieldOf(row).value.trim() !== shownOf(row).value);

function progress() {
  const counted = fields.filter((field) => field.value.trim() !== "").length;
  const text = document.getElementById("progress");
  text.textContent = text.textContent.replace(/^\d+/, counted);
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(store, WAIT);
}

/* One after the other, so that an older number never comes last. */
function store() {
  clearTimeout(timer);
  storing = storing.then(send);
}

async function send() {
  const lines = changed().map((row) => [row, fieldOf(row), fieldOf(row).value.trim()]);
  if (lines.length === 0) return;
  const body = new URLSearchParams({ csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value, do: "keep" });
  for (const [row, field, value] of lines) {
    body.set(field.name, value);
    body.set(shownOf(row).name, shownOf(row).value);
  }
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: true });
    if (answer.status !== 204) throw new Error(answer.statusText);
    for (const [row, , value] of lines) shownOf(row).value = value;
    kept.textContent = form.dataset.kept;
  } catch {
    kept.textContent = form.dataset.failed;
  }
}

/* Marks the line, so that eyes find it. The page stays where the cursor is: the next code would move it back. */
function mark(row) {
  for (const other of rows) other.classList.toggle("is-counted", other === row);
}

function count(row) {
  const field = fieldOf(row);
  const units = Number(field.value.replace(/\D/g, "")) + 1;
  field.value = String(units);
  said.textContent = `${row.querySelector("th span").textContent}: ${units}`;
  mark(row);
  progress();
  later();
}

function goTo(field) {
  field.focus();
  field.select();
  mark(field.closest("tr"));
}

/* The line of a code that was scanned behind or over what stands in a field, and what stood there before. */
function scanned(field) {
  const text = field.value.trim();
  if (isQuantity(text)) return undefined;
  const codes = [...byCode.keys()].filter((code) => text.endsWith(code));
  const code = codes.sort((a, b) => b.length - a.length)[0];
  return code && [byCode.get(code), text.slice(0, -code.length) || field.dataset.before];
}

form.addEventListener("focusin", (event) => {
  if (event.target.matches(".line-quantity")) event.target.dataset.before = event.target.value;
});

form.addEventListener("input", (event) => {
  if (!event.target.matches(".line-quantity") || !isQuantity(event.target.value)) return;
  progress();
  later();
});

form.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Enter" || !field.matches(".line-quantity")) return;
  const found = scanned(field);
  if (found) {
    event.preventDefault();
    [, field.value] = found;
    count(found[0]);
    field.dataset.before = field.value;
    field.select();
  } else if (isQuantity(field.value)) {
    event.preventDefault();
    const next = fields[fields.indexOf(field) + 1];
    if (next) goTo(next);
    store();
  }
});

/* A code in the field for products, or scanned beside all fields. */
form.addEventListener("code", (event) => {
  const row = byCode.get(event.detail);
  if (!row) return;
  event.preventDefault();
  count(row);
});

/* A product that was chosen by its name leads to its line. */
form.addEventListener("chosen", (event) => {
  const row = byProduct.get(event.detail.chosen.value);
  if (!row) return;
  event.preventDefault();
  event.detail.empty();
  goTo(fieldOf(row));
});

form.addEventListener("submit", () => clearTimeout(timer));
document.addEventListener("visibilitychange", () => document.hidden && store());
