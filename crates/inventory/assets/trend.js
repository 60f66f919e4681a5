/* The balance of a product over time says its numbers: at the pointer, under a finger, at the arrow keys. The drawing and its steps, each
   with its distance from the left in units of the drawing, its time and its balance, come with the page. */

import { scrub, tip } from "./scrubber.js";

function follow(host) {
  const steps = host.dataset.steps.split("\n").map((line) => line.split("|"));
  const across = steps.map(([place]) => Number(place) / Number(host.dataset.width));
  const words = (place) => steps[place].slice(1);
  const tell = tip(host);
  const line = document.createElement("span");
  line.className = "trend-cursor";
  line.hidden = true;
  host.append(line);
  const show = (place) => {
    line.hidden = place === null;
    if (place !== null) line.style.left = `${across[place] * 100}%`;
    tell(place === null ? null : words(place), place === null ? 0 : across[place] * host.clientWidth);
  };
  /* A balance stays until the next change: what holds at a point is the last step before it. */
  const placeAt = (x) => {
    const box = host.getBoundingClientRect();
    const there = (x - box.left) / box.width;
    return Math.max(0, across.findLastIndex((step) => step <= there));
  };
  scrub(host, { count: () => steps.length, words, placeAt, show });
  host.addEventListener("pointermove", (event) => event.pointerType === "mouse" && show(placeAt(event.clientX)));
  host.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && show(null));
}

document.querySelectorAll("[data-steps]").forEach(follow);
