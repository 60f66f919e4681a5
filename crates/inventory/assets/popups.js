// Beside a field that refers to another record: that record's form over this one. A link with `data-popup` leads to the form; what was
// saved there is chosen here, what was deleted is gone from the choices. Without this script the link is a link.

const dialog = document.createElement("dialog");
dialog.className = "dialog site-popup";
document.body.append(dialog);
/* The link that opened the dialog. */
let opener = null;

function show(html, address) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const main = page.querySelector("main");
  const form = main?.querySelector("form[method=post], dl.facts");
  if (!form) {
    location.assign(address);
    return;
  }
  const title = document.createElement("h2");
  title.id = "popup-title";
  title.textContent = main.querySelector("h1")?.textContent ?? "";
  const close = document.createElement("button");
  close.type = "button";
  close.className = "icon-button dialog-close";
  close.setAttribute("aria-label", document.body.dataset.close);
  close.textContent = "×";
  close.addEventListener("click", () => dialog.close());
  const part = document.importNode(main, true);
  for (const superfluous of part.querySelectorAll(
    ".crumbs, .page-header, .site-message, .site-links, .site-inline, [name=_addanother], [name=_continue], [name=_saveasnew], .site-submit a, .button-group a",
  )) {
    superfluous.remove();
  }
  rename(part);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.replaceChildren(title, close, ...part.childNodes);
  const sent = dialog.querySelector("form[method=post]");
  if (sent) {
    sent.classList.remove("card");
    sent.setAttribute("action", new URL(sent.getAttribute("action") ?? address, new URL(address, location.href)).pathname);
  }
  if (!dialog.open) {
    dialog.showModal();
  }
  (dialog.querySelector("[role=alert]") ?? dialog.querySelector("input.control, select, textarea, button[type=submit]") ?? close).focus();
}

/* The page under the dialog may have the same ids. */
function rename(part) {
  for (const element of part.querySelectorAll("[id]")) {
    element.id = `popup-${element.id}`;
  }
  for (const name of ["for", "aria-describedby", "aria-labelledby", "list"]) {
    for (const element of part.querySelectorAll(`[${name}]`)) {
      const ids = element.getAttribute(name).split(" ");
      element.setAttribute(name, ids.map((id) => `popup-${id}`).join(" "));
    }
  }
  for (const link of part.querySelectorAll("a[href^='#']")) {
    link.setAttribute("href", `#popup-${link.getAttribute("href").slice(1)}`);
  }
}

/* What was done in the dialog, told to the field. */
function tell(done) {
  const field = opener.closest(".site-picker")?.querySelector("select, input");
  opener = null;
  dialog.close();
  if (!field) {
    return;
  }
  const value = String(done.id);
  if (field.tagName === "SELECT") {
    let option = [...field.options].find((option) => option.value === value);
    if (done.is_deleted) {
      option?.remove();
    } else {
      option ??= field.appendChild(document.createElement("option"));
      option.value = value;
      option.textContent = done.text;
      field.value = value;
    }
  } else {
    field.value = done.is_deleted ? "" : value;
  }
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus();
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-popup]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) {
    return;
  }
  event.preventDefault();
  opener = link;
  try {
    const answer = await fetch(link.href);
    if (!answer.ok) {
      throw new Error(answer.statusText);
    }
    show(await answer.text(), link.href);
  } catch {
    location.assign(link.href);
  }
});

dialog.addEventListener("submit", async (event) => {
  const form = event.target;
  event.preventDefault();
  if (form.dataset.sent) {
    return;
  }
  form.dataset.sent = "yes";
  const body = new URLSearchParams(new FormData(form, event.submitter));
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    if (answer.status === 201) {
      tell(await answer.json());
    } else if (answer.status === 200 || answer.status === 422) {
      show(await answer.text(), form.action);
    } else {
      throw new Error(answer.statusText);
    }
  } catch {
    const problem = document.createElement("p");
    problem.className = "field-error";
    problem.setAttribute("role", "alert");
    problem.textContent = document.body.dataset.failed;
    form.append(problem);
  } finally {
    delete form.dataset.sent;
  }
});

dialog.addEventListener("close", () => {
  dialog.replaceChildren();
  opener?.focus();
});
