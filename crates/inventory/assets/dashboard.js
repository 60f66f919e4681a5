/* The dashboard while it is open: its charts, and its figures when stock moves. Without it the page shows the same numbers, as they
   were when it was loaded. */

import { draw } from "./charts.js";

const page = document.querySelector("[data-dashboard]");
const table = () => document.querySelector("#sales-days");
let charts = [];

function drawAll() {
  charts = [...page.querySelectorAll("[data-chart]")].map((host) => draw(host, table()));
}

const redrawAll = () => charts.forEach((chart) => chart.redraw());

/* Paper is light: charts are drawn for it, and back for the screen. */
function drawForPaper() {
  let theme;
  addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    redrawAll();
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = theme;
    redrawAll();
  });
}

/* How to find again what has the focus, in a part that is swapped. */
function focusIn(part) {
  const held = document.activeElement;
  if (!held || held === part || !part.contains(held)) return null;
  for (const name of ["href", "formaction"]) {
    const address = held.getAttribute(name);
    if (address) return `[${name}="${CSS.escape(address)}"]`;
  }
  return null;
}

/* Swaps in the parts that have changed. Parts that have not keep focus, selection and scroll position untouched. */
function swap(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const part of page.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    if (other.dataset.version) part.dataset.version = other.dataset.version;
    if (other.innerHTML === part.innerHTML) continue;
    const focused = focusIn(part);
    part.className = other.className;
    part.replaceChildren(...other.childNodes);
    // What had the focus may be gone: then its part keeps it, so that nobody has to begin at the top.
    if (focused) (part.querySelector(focused) ?? part.querySelector("a"))?.focus({ preventScroll: true });
  }
  charts.forEach((chart) => chart.update(table()));
}

const version = () => page.querySelector("[data-version]")?.dataset.version;

let isAsking = false;
let isStale = false;

async function refresh() {
  if (isAsking) {
    isStale = true;
    return;
  }
  isAsking = true;
  try {
    const answer = await fetch(page.dataset.figures, { redirect: "manual" });
    if (answer.ok) swap(await answer.text());
  } catch {
    // The next movement asks again.
  }
  isAsking = false;
  if (isStale) {
    isStale = false;
    refresh();
  }
}

/* One stream while somebody looks: hidden tabs would use up the few connections that a browser has for a site. */
function listen() {
  let stream;
  const follow = () => {
    if (document.hidden) {
      stream?.close();
      stream = undefined;
    } else if (!stream) {
      stream = new EventSource(page.dataset.events);
      let isFirst = true;
      stream.addEventListener("stock", (event) => {
        // The first word says where the ledger stands: nothing to do if the figures are of then.
        if (!isFirst || event.data !== version()) refresh();
        isFirst = false;
      });
      stream.addEventListener("open", () => {
        isFirst = true;
      });
    }
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => stream?.close());
  follow();
}

if (page) {
  if (window.uPlot) drawAll();
  new MutationObserver(redrawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  drawForPaper();
  listen();
}
