/* The filter of a list: only what is set goes into the address. And what is told when an answer does not come. */

import { tell } from "./toasts.js";

document.addEventListener("htmx:configRequest", (event) => {
  const parameters = event.detail.parameters;
  for (const name of [...parameters.keys()]) {
    const isEmpty = parameters.getAll(name).every((value) => value === "");
    if (isEmpty || name === "jump" || /_(text|was|choice)$/.test(name)) parameters.delete(name);
  }
});

/* What is on the page is then of before. It is said once, until an answer comes. */
let missed;

function miss() {
  missed ??= tell(document.getElementById("toasts")?.dataset.missed);
}

document.addEventListener("htmx:sendError", miss);
document.addEventListener("htmx:timeout", miss);
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status >= 429) miss();
});
document.addEventListener("htmx:afterSwap", () => {
  missed?.remove();
  missed = undefined;
});
