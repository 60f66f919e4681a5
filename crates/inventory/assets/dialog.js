/* The dialog over a page, which shows the form of another page. */

export const dialog = document.getElementById("dialog");

/* The link of such a kind that was clicked. A click with a key held down means the link itself. */
export function clicked(event, kind) {
  const link = event.target.closest(kind);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return null;
  event.preventDefault();
  return link;
}

/* Shows these nodes of a page below its heading and a button, which is returned. */
export function fill(page, nodes, close) {
  const title = document.createElement("h2");
  title.id = "dialog-title";
  title.textContent = page.querySelector("h1")?.textContent ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "icon-button dialog-close";
  button.setAttribute("aria-label", dialog.dataset.close);
  button.textContent = "×";
  button.addEventListener("click", close);
  dialog.replaceChildren(title, button, ...nodes);
  dialog.removeAttribute("aria-label");
  dialog.setAttribute("aria-labelledby", title.id);
  return button;
}

/* The page under the dialog may have the same ids. */
export function rename(part) {
  for (const element of part.querySelectorAll("[id]")) element.id = `dialog-${element.id}`;
  for (const name of ["for", "aria-describedby", "aria-labelledby", "data-add", "list"]) {
    for (const element of part.querySelectorAll(`[${name}]`)) {
      element.setAttribute(name, element.getAttribute(name).split(" ").map((id) => `dialog-${id}`).join(" "));
    }
  }
  for (const link of part.querySelectorAll("a[href^='#']")) link.setAttribute("href", `#dialog-${link.getAttribute("href").slice(1)}`);
}

export function complain() {
  const problem = document.createElement("p");
  problem.className = "field-error";
  problem.setAttribute("role", "alert");
  problem.textContent = dialog.dataset.failed;
  dialog.querySelector("form[method=post]").append(problem);
}

/* Sends the form of the dialog, once until its answer is there, which `take` gets. */
export async function send(event, headers, take) {
  const form = event.target;
  event.preventDefault();
  if (form.dataset.sent) return;
  form.dataset.sent = "yes";
  const button = event.submitter;
  button?.setAttribute("aria-busy", "true");
  const body = new URLSearchParams(new FormData(form, button));
  try {
    await take(await fetch(form.action, { method: "POST", body, headers }), form.action);
  } catch {
    complain();
  } finally {
    delete form.dataset.sent;
    button?.removeAttribute("aria-busy");
  }
}
