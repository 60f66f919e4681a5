// Loads the viewer when its reader asks for it, by the button or by an address of a part of the document (`#/Payments/createPayment`).
const place = document.getElementById("documents");
const start = document.getElementById("start");
const button = document.getElementById("open");
const status = document.getElementById("opening");
const ours = document.querySelector("link[rel=stylesheet]");

function load(tag, attributes) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.addEventListener("load", resolve);
    element.addEventListener("error", reject);
    // Before our styles, which have the last word.
    ours.before(element);
  });
}

async function open() {
  button.disabled = true;
  status.textContent = "Loading\u2026";
  try {
    await Promise.all(place.dataset.styles.split(" ").map((href) => load("link", { rel: "stylesheet", href })));
    // One after the other: the second starts what the first brings.
    for (const src of place.dataset.scripts.split(" ")) await load("script", { src });
  } catch {
    status.textContent = "It could not be loaded. Try again.";
    button.disabled = false;
    return;
  }
  start.remove();
  place.focus({ preventScroll: true });
}

button.addEventListener("click", open);
if (location.hash.length > 1) open();
