/* Forms that are sent once: the button that was pressed is busy until the answer is there. The server books once in any case. */

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  event.submitter?.setAttribute("aria-busy", "true");
});

/* The page may be shown again as it was left, by the way back. */
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
});

document.querySelector(".error-summary[autofocus]")?.focus();

/* A scanner ends a code with Enter, which must not send a form that is only half filled in: it goes on to the next field. */
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("[data-scan]") || event.target.value === "") return;
  event.preventDefault();
  const fields = [...event.target.form.querySelectorAll("input:not([type=hidden]), textarea, select")];
  const next = fields[fields.indexOf(event.target) + 1];
  next?.focus();
  next?.select?.();
});
