/* Forms of other pages, over this one. A link with `data-dialog` leads to a page whose part (`data-part`) is shown in the dialog; its form
   is sent from there, and what was done is told by the page after it. Without this script the link is a link. */

import { awaken, choose } from "./picker.js";

const dialog = document.getElementById("dialog");
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
  const title = document.createElement("h2");
  title.id = "dialog-title";
  title.textContent = page.querySelector("h1")?.textContent ?? "";
  rename(part);
  part.className = "stack";
  const close = document.createElement("button");
  close.type = "button";
  close.className = "icon-button dialog-close";
  close.setAttribute("aria-label", dialog.dataset.close);
  close.textContent = "×";
  close.addEventListener("click", back);
  dialog.replaceChildren(title, close, document.importNode(part, true));
  dialog.removeAttribute("aria-label");
  dialog.setAttribute("aria-labelledby", title.id);
  const form = dialog.querySelector("form[method=post]");
  const next = form?.querySelector("[name=next]");
  if (next && !adds) next.value = location.pathname + location.search;
  awaken(dialog);
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("[role=alert]") ?? [...dialog.querySelectorAll("input.control, textarea")].find((field) => field.value === "" || field.id.endsWith("quantity"));
  first?.focus();
  if (first?.id.endsWith("quantity")) first.select();
}

/* The page under the dialog may have the same ids. */
function rename(part) {
  for (const element of part.querySelectorAll("[id]")) element.id = `dialog-${element.id}`;
  for (const name of ["for", "aria-describedby", "aria-labelledby", "data-add"]) {
    for (const element of part.querySelectorAll(`[${name}]`)) {
      element.setAttribute(name, element.getAttribute(name).split(" ").map((id) => `dialog-${id}`).join(" "));
    }
  }
  for (const link of part.querySelectorAll("a[href^='#']")) link.setAttribute("href", `#dialog-${link.getAttribute("href").slice(1)}`);
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

function complain() {
  const problem = document.createElement("p");
  problem.className = "field-error";
  problem.setAttribute("role", "alert");
  problem.textContent = dialog.dataset.failed;
  dialog.querySelector("form[method=post]").append(problem);
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
  const link = event.target.closest("a[data-dialog], a[data-add]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  begin(link, link.href);
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

dialog?.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  if (form.dataset.sent) return;
  form.dataset.sent = "yes";
  const button = event.submitter;
  button?.setAttribute("aria-busy", "true");
  const body = new URLSearchParams(new FormData(form, button));
  const accept = adds ? { Accept: "application/json" } : {};
  try {
    await take(await fetch(form.action, { method: "POST", body, headers: { ...headers, ...accept } }), form.action);
  } catch {
    complain();
  } finally {
    delete form.dataset.sent;
    button?.removeAttribute("aria-busy");
  }
});

dialog?.addEventListener("close", () => {
  adds = null;
  beneath.length = 0;
  dialog.replaceChildren();
});

/* The form that books goods, from any page. */
export const book = (path) => open(`/${path}/new/`);
