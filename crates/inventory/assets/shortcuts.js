/* Keys that act: `/` the search, `e` goods in, `s` goods out, `n` the page's new record, `u` what was told and its way back, `?` the
   help. Not in text fields, and not when they are switched off. Letters act on no page with
   a form to fill in: whoever types one letter too early means the form. */

import { book } from "./dialogs.js";

const isTyping = (target) => target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]") !== null;

const actions = {
  "/": () => document.querySelector("[data-key='/']") ?? document.getElementById("shell-search"),
  "?": () => document.getElementById("shortcuts"),
  e: () => offered("inflows"),
  s: () => offered("outflows"),
  u: told,
};

/* Goes to the message's first answer, such as Undo, and does not press it: a slip of the finger undoes nothing. */
function told() {
  const answer = document.querySelector("#toasts .toast:last-child :is(button, a)");
  return answer && (() => answer.focus());
}

/* The page's own link, which knows its product, else the form for any; nothing for those who may not. */
function offered(path) {
  const own = document.querySelector(`[data-key="${path === "inflows" ? "e" : "s"}"]`);
  if (own || !document.body.dataset.books?.includes(path)) return own;
  return () => book(path);
}

document.addEventListener("keydown", (event) => {
  if (document.body.dataset.shortcuts !== "on" || event.defaultPrevented) return;
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  if (/^[a-z]$/.test(event.key) && document.querySelector("[data-part] form[method=post] .control")) return;
  const target = actions[event.key]?.() ?? document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (target instanceof Function) target();
  else if (target instanceof HTMLDialogElement) target.showModal();
  else if (target.matches("a, button")) target.click();
  else {
    target.focus();
    target.select?.();
  }
});
