/* What is told once. Screen readers speak what appears in the region after the page has loaded, so it is put in once more.
   It stays until it is put away. */

const region = document.getElementById("toasts");
const told = [...(region?.children ?? [])];

for (const toast of told) {
  toast.remove();
  const close = document.createElement("button");
  close.type = "button";
  close.className = "toast-close";
  close.setAttribute("aria-label", region.dataset.close);
  close.textContent = "×";
  close.addEventListener("click", () => toast.remove());
  toast.append(close);
}
setTimeout(() => region?.append(...told), 100);
