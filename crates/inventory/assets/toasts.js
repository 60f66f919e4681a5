/* What is told once. Screen readers speak what appears in the region after the page has loaded, so it is put in once more. */

const region = document.getElementById("toasts");
const told = [...(region?.children ?? [])];

for (const toast of told) toast.remove();
setTimeout(() => region?.append(...told), 100);
