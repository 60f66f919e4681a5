/* What stands in the place of the form once there is a payment. The words are in the page's <template> elements, in the reader's
   language; here they are filled, and their buttons are tied. */

import { now, root } from "./page.js";

const form = document.querySelector("#payment");
const place = document.querySelector("#result");
const title = document.title;

/**
 * Replaces the form by a view and moves the focus to its heading.
 * `values` fills `data-slot` elements (a list of texts as pieces that do not break); an empty one hides the closest `data-optional`. `actions` answers `data-action` buttons.
 */
export function show(name, values = {}, actions = {}) {
  const view = document.querySelector(`#view-${name}`).content.cloneNode(true);
  for (const slot of view.querySelectorAll("[data-slot]")) {
    const value = values[slot.dataset.slot];
    if (value) fill(slot, value);
    else (slot.closest("[data-optional]") ?? slot).hidden = true;
  }
  for (const button of view.querySelectorAll("[data-action]")) {
    const action = actions[button.dataset.action];
    if (action) button.addEventListener("click", () => action(button));
    else button.hidden = true;
  }
  form.hidden = true;
  place.replaceChildren(view);
  place.hidden = false;
  const heading = place.querySelector("h2");
  document.title = `${heading.textContent.trim()} · ${root.dataset.shop}`;
  root.dataset.view = name;
  heading.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
  return place;
}

export function showForm() {
  place.hidden = true;
  place.replaceChildren();
  form.hidden = false;
  document.title = title;
  delete root.dataset.view;
}

function fill(slot, value) {
  if (slot instanceof HTMLImageElement) slot.src = value;
  else if (slot instanceof HTMLAnchorElement) slot.href = value;
  else if (slot instanceof HTMLTimeElement) [slot.dateTime, slot.textContent] = value;
  else if (Array.isArray(value)) slot.replaceChildren(...value.flatMap((text) => [inOnePiece(text), " "]));
  else slot.textContent = value;
}

function inOnePiece(text) {
  return Object.assign(document.createElement("span"), { textContent: text });
}

/** Counts down to a moment inside an element; calls `onEnd` once it is there. Gives the way to stop it. */
export function countDown(element, end, onEnd) {
  const tick = () => {
    const left = Math.max(0, Math.round((end - now()) / 1000));
    const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
    const two = (number) => String(number).padStart(2, "0");
    element.textContent = `${hours ? `${two(hours)}:` : ""}${two(minutes)}:${two(seconds)}`;
    if (left > 0) return;
    clearInterval(timer);
    onEnd();
  };
  const timer = setInterval(tick, 1000);
  tick();
  return () => clearInterval(timer);
}
