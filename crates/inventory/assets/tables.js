/* A table that fits its page scrolls with the page, so that its head can stick below the bar. A wider one scrolls in its own frame. */

const sizes = new ResizeObserver((entries) => {
  for (const { target: table } of entries) {
    // A table that was replaced meanwhile stands in no frame.
    const frame = table.parentElement;
    frame?.classList.toggle("fits", table.offsetWidth <= frame.clientWidth);
  }
});

function watch() {
  sizes.disconnect();
  for (const table of document.querySelectorAll(".table-scroll > .index-table")) sizes.observe(table);
}

watch();
document.addEventListener("htmx:afterSwap", watch);
window.addEventListener("resize", watch);
