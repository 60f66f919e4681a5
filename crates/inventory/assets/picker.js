/* A text field that offers the ten best records as they are typed (WAI-ARIA combobox with a list). What was chosen stands in the hidden
   field before it; a text that is changed by hand chooses nothing, and the server then looks it up. A scanner types and presses Enter:
   what it found by itself is chosen at once. */

const WAIT = 150;
let serial = 0;

/* As with Tab: what is typed next takes the place of what stands there, so that a 5 over the suggested 1 is no 51. */
export function goTo(field) {
  field?.focus();
  field?.select?.();
}

class Picker {
  constructor(root) {
    this.root = root;
    this.input = root.querySelector(".control");
    const name = this.input.name.replace(/_text$/, "");
    this.chosen = root.querySelector(`[name="${name}"]`);
    this.was = root.querySelector(`[name="${name}_was"]`);
    this.list = document.createElement("ul");
    this.list.id = `offers-${++serial}`;
    this.list.className = "picker-list";
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", root.querySelector("label").textContent);
    this.list.hidden = true;
    this.input.parentElement.append(this.list);
    for (const [key, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id })) {
      this.input.setAttribute(key, value);
    }
    root.querySelector(".picker-choices")?.remove();
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("blur", () => setTimeout(() => this.left(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) this.choose(option);
    });
  }

  typed() {
    this.chosen.value = "";
    this.was.value = "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), WAIT);
    if (this.input.value === "") this.tell();
  }

  async look() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const text = this.input.value.trim();
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    this.root.classList.add("is-looking");
    this.looking = fetch(`${this.root.dataset.picker}?q=${encodeURIComponent(text)}`, { signal: asked.signal, headers: { "HX-Request": "true" } })
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))))
      .then((offers) => this.offer(offers, text))
      .catch(() => {
        if (!asked.signal.aborted) this.offer([], undefined);
      })
      .finally(() => {
        if (this.asked === asked) this.root.classList.remove("is-looking");
      });
    await this.looking;
  }

  /* What was found for a text; nothing, and no text, when nobody answered. */
  offer(offers, text) {
    this.offered = text;
    this.list.replaceChildren(...offers.map((offer, index) => this.option(offer, index)));
    if (offers.length === 0) {
      const none = document.createElement("li");
      none.className = "picker-none";
      none.textContent = text === undefined ? this.root.dataset.failed : this.root.dataset.none;
      this.list.append(none);
    }
    this.list.hidden = document.activeElement !== this.input;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark(offers.length > 0 ? 0 : -1);
  }

  option(offer, index) {
    const option = document.createElement("li");
    option.id = `${this.list.id}-${index}`;
    option.setAttribute("role", "option");
    option.dataset.id = offer.id;
    option.dataset.text = offer.text;
    const text = document.createElement("span");
    text.textContent = offer.text;
    option.append(text);
    if (offer.hint) {
      const hint = document.createElement("small");
      hint.textContent = offer.hint;
      option.append(hint);
    }
    return option;
  }

  /* Whether the offers are those for what stands in the field. Others are of before the last keys, and nobody means them. */
  get isCurrent() {
    return this.offered === this.input.value.trim();
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  mark(index) {
    this.at = index;
    for (const [other, option] of this.options.entries()) option.setAttribute("aria-selected", String(other === index));
    const option = this.options[index];
    if (option) {
      this.input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  async key(event) {
    if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) await this.look();
      else this.mark((this.at + (event.key === "ArrowDown" ? 1 : -1) + this.options.length) % Math.max(this.options.length, 1));
    } else if (event.key === "Enter" && this.chosen.value === "" && this.input.value.trim() !== "") {
      event.preventDefault();
      await this.settle();
    } else if (event.key === "Tab" && this.chosen.value === "" && !this.list.hidden && this.isCurrent && this.options[this.at]) {
      this.choose(this.options[this.at], false);
    }
  }

  /* What was typed faster than it was looked up, as a scanner does. */
  async settle() {
    const isBehind = this.list.hidden || this.timer || this.offered === undefined;
    await (isBehind ? this.look() : this.looking);
    const option = this.options[Math.max(this.at, 0)];
    if (option && this.isCurrent) this.choose(option);
  }

  choose(option, goesOn = true) {
    this.chosen.value = option.dataset.id;
    this.was.value = option.dataset.text;
    this.input.value = option.dataset.text;
    this.close();
    this.input.removeAttribute("aria-invalid");
    this.tell();
    if (goesOn) goTo(this.next());
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

  /* Whoever came back at once goes on with the list. */
  left() {
    if (document.activeElement !== this.input) this.close();
  }

  close() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  set(id, text) {
    this.chosen.value = id;
    this.was.value = text;
    this.input.value = text;
    this.tell();
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

awaken(document);
