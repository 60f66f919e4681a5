/* Buttons that copy a text of the page: `data-copy` names the element that has it, `data-copied` and `data-by-hand` what is said afterwards.
   An element that shows its text in groups has it in one piece in `data-text`. */

const status = document.createElement("p");
status.className = "visually-hidden";
status.setAttribute("role", "status");
document.body.append(status);

// Heard here, because a script may put buttons into the page later.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const label = button.querySelector("span");
  button.dataset.label ??= label.textContent;
  let said = button.dataset.copied;
  try {
    await navigator.clipboard.writeText(source.dataset.text ?? source.textContent.trim());
  } catch {
    // Plain HTTP or no permission: the reader's own copying does it.
    getSelection().selectAllChildren(source);
    said = button.dataset.byHand;
  }
  label.textContent = said;
  status.textContent = said;
  setTimeout(() => {
    label.textContent = button.dataset.label;
    status.textContent = "";
  }, 3000);
});
