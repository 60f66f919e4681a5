/* The colour switch without a reload. The form it belongs to works without this script too. */

const form = document.querySelector("form.switches");

form?.addEventListener("submit", (event) => {
  const { name, value } = event.submitter ?? {};
  if (name !== "theme") return;
  event.preventDefault();
  document.documentElement.dataset.theme = value;
  for (const option of form.querySelectorAll("[name=theme]")) {
    option.setAttribute("aria-pressed", String(option.value === value));
  }
  fetch(form.action, { method: "POST", body: new URLSearchParams({ theme: value }), redirect: "manual" }).catch(() => {
    // The choice then holds for this page only.
  });
});

// Paper says where it comes from, and when.
addEventListener("beforeprint", () => {
  const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeStyle: "short" });
  const note = document.querySelector(".printed") ?? document.createElement("p");
  note.className = "printed";
  note.textContent = `${location.href} \u00b7 ${when.format(new Date())}`;
  (document.querySelector("main") ?? document.body).append(note);
});
