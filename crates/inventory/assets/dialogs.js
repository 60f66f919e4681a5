/* Forms of other pages, over this one. A link with `data-dialog` leads to a page whose part (`data-part`) is shown in the dialog; its form
   is sent from there, and what was done is told by the page after it. Without this script the link is a link. */

import { awaken, choose } from "./picker.js";

const dialog = document.getElementById("dialog");
/* Answers with a redirect are followed by the whole page. */
const headers = { "HX-Request": "true" };
let adds = null;

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
  close.addEventListener("click", () => dialog.close());
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
    location.assign(address);
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
    dialog.close();
    return choose(field, id, text);
  }
  show(await answer.text(), address);
}

function follow(next) {
  const target = new URL(next, location.href);
  if (target.pathname + target.search === location.pathname + location.search) location.reload();
  else location.assign(target);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-dialog], a[data-add]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const isNested = link.dataset.add && dialog.contains(link);
  if (isNested) return;
  event.preventDefault();
  adds = link.dataset.add ?? null;
  open(link.href);
});

dialog?.addEventListener("click", (event) => {
  if (!event.target.closest("a[data-cancel]")) return;
  event.preventDefault();
  dialog.close();
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
    const problem = document.createElement("p");
    problem.className = "field-error";
    problem.setAttribute("role", "alert");
    problem.textContent = dialog.dataset.failed;
    form.append(problem);
  } finally {
    delete form.dataset.sent;
    button?.removeAttribute("aria-busy");
  }
});

dialog?.addEventListener("close", () => {
  adds = null;
  dialog.replaceChildren();
});

/* The form that books goods, from any page. */
export const book = (path) => open(`/${path}/new/`);
