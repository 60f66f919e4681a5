/* Errors beside their fields and in a summary that takes the focus. */

import { problemOf } from "./checks.js";
import { form, say } from "./page.js";

const summary = document.querySelector("#problems");

/* Names in the service's answers that stand in another field here. */
const FIELD_OF = { expiration_month: "expiry", expiration_year: "expiry" };

/** The fields that count now, in reading order: those of the chosen method. */
export function currentFields() {
  return [...form.querySelectorAll("input.control, select.control")].filter((field) => !field.matches(":disabled"));
}

export function showProblem(name, text) {
  const field = form.elements[name];
  const place = document.querySelector(`#${name}-error`);
  if (!(field instanceof HTMLElement) || !place) return;
  place.textContent = text ?? "";
  if (text) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

/** Checks every current field; true when all are right, else the summary has the focus. */
export function checkAll() {
  const problems = currentFields()
    .map((field) => [field.name, problemOf(field.name)])
    .filter(([name, problem]) => {
      showProblem(name, problem);
      return problem;
    });
  if (problems.length) showSummary(say(problems.length === 1 ? "problems_one" : "problems_many", { count: problems.length }), problems);
  else hideSummary();
  return problems.length === 0;
}

/** Puts what the service said about a field beside it; false when there is no such field on the page. */
export function showRefusal(name, text) {
  const field = FIELD_OF[name] ?? name;
  if (!document.querySelector(`#${field}-error`)) return false;
  showProblem(field, text);
  showSummary(say("problems_one"), [[field, text]]);
  return true;
}

/** A problem of the whole payment, with an optional explanation. */
export function showSummary(title, problems = [], explanation = "") {
  summary.querySelector(".error-summary-title").textContent = title;
  const list = summary.querySelector("ul");
  list.replaceChildren(...problems.map(([name, text]) => {
    const link = Object.assign(document.createElement("a"), { href: `#${name}`, textContent: text });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      form.elements[name].focus();
    });
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
  list.hidden = problems.length === 0;
  const more = summary.querySelector(".error-summary-text");
  more.textContent = explanation;
  more.hidden = !explanation;
  summary.hidden = false;
  summary.focus();
}

export function hideSummary() {
  summary.hidden = true;
}

/** While people type: a finished field is checked when it is left, and an error goes as soon as it is put right. */
export function watchFields() {
  form.addEventListener("focusout", ({ target }) => {
    if (target.matches(".control") && target.value.trim() !== "") refresh(target);
  });
  form.addEventListener("input", ({ target }) => {
    if (target.getAttribute("aria-invalid") === "true") refresh(target);
  });
}

function refresh(field) {
  showProblem(field.name, problemOf(field.name));
}
