// Copies and prints, where the browser lets a script; without one the buttons stay hidden and nothing is missing but convenience.

for (const button of document.querySelectorAll("[data-copy]")) {
  const text = button.querySelector("span");
  const said = text.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      text.textContent = button.dataset.done;
      setTimeout(() => (text.textContent = said), 2000);
    } catch {
      getSelection().selectAllChildren(source);
    }
  });
}

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
