/* A table that fits its page scrolls with the page, so that its head can stick below the bar. A wider one scrolls in its own frame. */

const sizes = new ResizeObserver((entries) => {
  for (const { target: table } of entries) table.parentElement.classList.toggle("fits", table.offsetWidth <= table.parentElement.clientWidth);
});

function watch() {
  sizes.disconnect();
  for (const table of document.querySelectorAll(".table-scroll > .index-table")) sizes.observe(table);
}

watch();
document.addEventListener("htmx:afterSwap", watch);
window.addEventListener("resize", watch);
