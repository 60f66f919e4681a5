/* What is told once. Screen readers speak what appears in the region after the page has loaded, so it is put in once more.
   It stays until it is put away. */

const region = document.getElementById("toasts");
const told = [...(region?.children ?? [])];

function closable(toast) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "toast-close";
  close.setAttribute("aria-label", region.dataset.close);
  close.textContent = "×";
  close.addEventListener("click", () => toast.remove());
  toast.append(close);
}

/* Tells something that has happened since; what it answers can be taken away again. */
export function tell(text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  const words = document.createElement("p");
  words.textContent = text;
  toast.append(words);
  closable(toast);
  region?.append(toast);
  return toast;
}

for (const toast of told) {
  toast.remove();
  closable(toast);
}
setTimeout(() => region?.append(...told), 100);
