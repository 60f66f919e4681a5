/* Buttons that copy a text of the page. Without scripts they stay hidden, and the text is there to be selected. */

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.querySelector("span");
  const before = label.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      label.textContent = button.dataset.copied;
    } catch {
      // Plain HTTP or no permission: the reader's own copying does it.
      getSelection().selectAllChildren(source);
      label.textContent = button.dataset.byHand;
    }
    setTimeout(() => {
      label.textContent = before;
    }, 3000);
  });
}
