/* The picker of a form. What was chosen stands in the hidden field before it; a text that is changed by hand chooses nothing, and the
   server then looks it up. A scanner types and presses Enter: what it found by itself is chosen at once. What was not found can be
   created, by the link beside the field. */

import { Combobox, creating } from "./combobox.js";

/* As with Tab: what is typed next takes the place of what stands there, so that a 5 over the suggested 1 is no 51. */
export function goTo(field) {
  field?.focus();
  field?.select?.();
}

class Picker extends Combobox {
  constructor(root) {
    super(root, root.dataset.picker, root.querySelector("label").textContent);
    const name = this.input.name.replace(/_text$/, "");
    this.chosen = root.querySelector(`[name="${name}"]`);
    this.was = root.querySelector(`[name="${name}_was"]`);
    this.add = root.querySelector("[data-add]");
    root.querySelector(".picker-choices")?.remove();
  }

  ways(offers, text) {
    if (!this.add || !text || offers.length > 0) return [];
    return [{ text: `${this.root.dataset.create} “${text}”`, address: creating(this.add.href, text) }];
  }

  typed() {
    this.chosen.value = "";
    this.was.value = "";
    super.typed();
    if (this.input.value === "") this.tell();
  }

  async key(event) {
    const isOpen = this.chosen.value === "";
    if (event.key === "Enter" && isOpen && this.input.value.trim() !== "") {
      event.preventDefault();
      await this.settle();
    } else if (event.key === "Tab" && isOpen && !this.list.hidden && this.isCurrent && this.options[this.at]) {
      this.choose(this.options[this.at], false);
    } else await super.key(event);
  }

  /* What was typed faster than it was looked up, as a scanner does. A page may take a code itself. */
  async settle() {
    if (!this.tells("code", this.input.value.trim())) return this.empty();
    const isBehind = this.list.hidden || this.timer || this.offered === undefined;
    await (isBehind ? this.look() : this.looking);
    // A scanner creates nothing.
    const option = this.options[this.at] ?? this.options.find(({ dataset }) => dataset.id);
    if (option && this.isCurrent) this.choose(option);
  }

  choose(option, goesOn = true) {
    const { address } = option.dataset;
    if (address) {
      this.close();
      this.add.dispatchEvent(new CustomEvent("create", { bubbles: true, detail: address }));
      return;
    }
    this.chosen.value = option.dataset.id;
    this.was.value = option.dataset.text;
    this.input.value = option.dataset.text;
    this.close();
    this.input.removeAttribute("aria-invalid");
    this.tell();
    if (goesOn && this.tells("chosen", this)) goTo(this.next());
  }

  /* Whether the page leaves it to the picker. */
  tells(what, detail) {
    return this.input.dispatchEvent(new CustomEvent(what, { bubbles: true, cancelable: true, detail }));
  }

  /* Ready for the next. */
  empty() {
    this.asked?.abort();
    this.set("", "");
    this.close();
  }

  /* The list of a page is filtered by what was chosen. */
  tell() {
    this.root.closest("[hx-get]")?.dispatchEvent(new Event("picked"));
  }

  next() {
    const form = this.input.form;
    if (!form || form.matches("[hx-get]")) return null;
    const fields = [...form.querySelectorAll("input:not([type=hidden]), textarea, select, button[type=submit]")];
    return fields[fields.indexOf(this.input) + 1];
  }

  set(id, text) {
    this.chosen.value = id;
    this.was.value = text;
    this.input.value = text;
    this.tell();
  }

  /* Takes a code as if it had been scanned into the field. */
  scan(code) {
    this.input.focus();
    this.input.value = code;
    this.typed();
    return this.settle();
  }
}

const pickers = new WeakMap();

/* Makes the pickers of a part of the page work. */
export function awaken(part) {
  for (const root of part.querySelectorAll("[data-picker]")) {
    if (!pickers.has(root)) pickers.set(root, new Picker(root));
  }
}

/* Chooses a record in the picker whose field has this id. */
export function choose(fieldId, id, text) {
  const input = document.getElementById(fieldId);
  pickers.get(input?.closest("[data-picker]"))?.set(id, text);
  input?.focus();
}

/* The first picker of products in a form to be sent in which nothing is chosen yet. */
export function waiting() {
  const roots = document.querySelectorAll("form[method=post] [data-picker='/pick/products/']");
  return [...roots].map((root) => pickers.get(root)).find((picker) => picker?.chosen.value === "" && picker.input.value === "");
}

awaken(document);
