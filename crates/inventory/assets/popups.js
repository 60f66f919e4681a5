// Beside a field that refers to another record: that record's form over this one. A link with `data-popup` leads to the form; what was
// saved there is chosen here, what was deleted is gone from the choices. Without this script the link is a link.

import { clicked, dialog, fill, rename, send } from "./dialog.js";

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
  const part = document.importNode(main, true);
  for (const superfluous of part.querySelectorAll(
    ".crumbs, .page-header, .site-message, .site-links, .site-inline, [name=_addanother], [name=_continue], [name=_saveasnew], .site-submit a, .button-group a",
  )) {
    superfluous.remove();
  }
  rename(part);
  const close = fill(main, part.childNodes, () => dialog.close());
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
  const link = clicked(event, "a[data-popup]");
  if (!link) {
    return;
  }
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

async function take(answer, address) {
  if (answer.status === 201) {
    tell(await answer.json());
  } else if (answer.status === 200 || answer.status === 422) {
    show(await answer.text(), address);
  } else {
    throw new Error(answer.statusText);
  }
}

dialog.addEventListener("submit", (event) => send(event, { Accept: "application/json" }, take));

dialog.addEventListener("close", () => {
  dialog.replaceChildren();
  opener?.focus();
});
