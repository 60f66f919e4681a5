/* Forms of other pages, over this one. A link with `data-dialog` leads to a page whose part (`data-part`) is shown in the dialog; its form
   is sent from there, and what was done is told by the page after it. Without this script the link is a link. */

import { clicked, complain, dialog, fill, rename, send } from "./dialog.js";
import { awaken, choose } from "./picker.js";

/* Answers with a redirect are followed by the whole page. */
const headers = { "HX-Request": "true" };
/* The field of the page that gets the record which the form creates. */
let adds = null;
/* The forms under the one that is shown, as they were left. */
const beneath = [];

function show(html, address) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const part = page.querySelector("[data-part]");
  if (!part) return location.assign(address);
  rename(part);
  part.className = "stack";
  fill(page, [document.importNode(part, true)], back);
  const form = dialog.querySelector("form[method=post]");
  const next = form?.querySelector("[name=next]");
  if (next && !adds) next.value = location.pathname + location.search;
  awaken(dialog);
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("[role=alert]") ?? [...dialog.querySelectorAll("input.control, textarea")].find((field) => field.value === "" || field.id.endsWith("quantity"));
  first?.focus();
  if (first?.id.endsWith("quantity")) first.select();
}

async function open(address) {
  dialog.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { headers });
    await take(answer, address);
  } catch {
    if (beneath.length === 0) return location.assign(address);
    back();
    complain();
  } finally {
    dialog.removeAttribute("aria-busy");
  }
}

async function take(answer, address) {
  const next = answer.headers.get("HX-Redirect");
  if (next) return follow(next);
  if (adds && answer.status === 201) {
    const { id, text } = await answer.json();
    const field = adds;
    back();
    return choose(field, id, text);
  }
  show(await answer.text(), address);
}

/* Leaves a form for the one under it; without one, the dialog closes. */
function back() {
  const form = beneath.pop();
  if (!form) return dialog.close();
  dialog.replaceChildren(...form.nodes);
  adds = form.adds;
  form.link.focus();
}

/* Shows the form that a link leads to. */
function begin(link, address) {
  // A second click, while the first one's form is on its way.
  if (dialog.hasAttribute("aria-busy")) return;
  if (dialog.contains(link)) beneath.push({ nodes: [...dialog.childNodes], adds, link });
  adds = link.dataset.add ?? null;
  open(address);
}

function follow(next) {
  const target = new URL(next, location.href);
  if (target.pathname + target.search === location.pathname + location.search) location.reload();
  else location.assign(target);
}

document.addEventListener("click", (event) => {
  const link = clicked(event, "a[data-dialog], a[data-add]");
  if (link) begin(link, link.href);
});

document.addEventListener("create", (event) => begin(event.target, event.detail));

dialog?.addEventListener("click", (event) => {
  if (!event.target.closest("a[data-cancel]")) return;
  event.preventDefault();
  back();
});

dialog?.addEventListener("cancel", (event) => {
  if (beneath.length === 0) return;
  event.preventDefault();
  back();
});

dialog?.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  const accept = adds ? { Accept: "application/json" } : {};
  send(event, { ...headers, ...accept }, take);
});

dialog?.addEventListener("close", () => {
  adds = null;
  beneath.length = 0;
  dialog.replaceChildren();
});

/* The form that books goods, from any page. */
export const book = (path) => open(`/${path}/new/`);
