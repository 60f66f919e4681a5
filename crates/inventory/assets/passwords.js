/* A password is shown while its button asks for it, and never sent as a text: browsers remember texts. */

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-reveal]");
  if (button) show(button, field(button).type === "password");
});

document.addEventListener("submit", (event) => {
  for (const button of event.target.querySelectorAll("[data-reveal]")) show(button, false);
});

const field = (button) => button.parentElement.querySelector("input");

function show(button, isShown) {
  field(button).type = isShown ? "text" : "password";
  const [reveal, conceal] = button.children;
  reveal.hidden = isShown;
  conceal.hidden = !isShown;
}
