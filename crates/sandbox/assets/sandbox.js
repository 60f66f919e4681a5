// Prints, where the browser lets a script; without one the button stays hidden, and the browser's own printing is there.

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
