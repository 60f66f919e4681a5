/* A text field that offers the ten best records as they are typed (WAI-ARIA combobox with a list). What becomes of the one that is chosen
   is for those who extend it: a picker of a form, the search over every page. */

const WAIT = 150;
let serial = 0;

const piece = (name, text) => {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
};

/* A product's code: as many digits as no size or price has. */
export const CODE = /^\d{6,}$/;

/* The address of a form that creates a record, with what was typed in its first field. */
export function creating(form, text) {
  const address = new URL(form, location.href);
  const ofProducts = CODE.test(text) ? "serie_number" : "title";
  address.searchParams.set(address.pathname.startsWith("/products/") ? ofProducts : "name", text);
  return address.href;
}

export class Combobox {
  /* `address` offers records for `?q=`. */
  constructor(root, address, label) {
    this.root = root;
    this.address = address;
    this.input = root.querySelector(".control");
    this.list = document.createElement("ul");
    this.list.id = `offers-${++serial}`;
    this.list.className = "picker-list";
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", label);
    this.list.hidden = true;
    this.said = piece("span", "");
    this.said.className = "visually-hidden";
    this.said.setAttribute("role", "status");
    this.input.parentElement.append(this.list, this.said);
    for (const [key, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id })) {
      this.input.setAttribute(key, value);
    }
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("blur", () => setTimeout(() => this.left(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option && this.options.includes(option)) this.choose(option);
    });
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), WAIT);
  }

  async look() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const text = this.input.value.trim();
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    this.root.classList.add("is-looking");
    this.looking = fetch(`${this.address}?q=${encodeURIComponent(text)}`, { signal: asked.signal, headers: { "HX-Request": "true" } })
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
    this.list.replaceChildren(...offers.map((offer) => this.option(offer)));
    this.said.textContent = "";
    if (offers.length === 0) {
      const { failed, none } = this.root.dataset;
      const words = text === undefined ? failed : text === "" ? "" : `${none} “${text}”.`;
      const empty = piece("li", words);
      empty.className = "picker-none";
      // A list has options only, and this one cannot be chosen.
      empty.setAttribute("role", "option");
      empty.setAttribute("aria-disabled", "true");
      this.list.append(empty);
      this.said.textContent = words;
    }
    this.list.append(...this.ways(offers, text).map((way) => this.way(way)));
    for (const [index, option] of this.options.entries()) option.id = `${this.list.id}-${index}`;
    this.list.hidden = document.activeElement !== this.input || this.list.textContent === "";
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.mark(this.first(offers));
  }

  /* Which option is marked before any arrow is pressed. */
  first(offers) {
    return offers.length > 0 ? 0 : -1;
  }

  /* Options behind the records: each has a text, and the address of a page. */
  ways() {
    return [];
  }

  way({ text, address }) {
    const option = this.option({ text });
    option.classList.add("picker-way");
    option.dataset.address = address;
    return option;
  }

  option({ id, text, hint }) {
    const option = document.createElement("li");
    option.setAttribute("role", "option");
    option.dataset.id = id ?? "";
    option.dataset.text = text;
    option.append(piece("span", text));
    if (hint) option.append(piece("small", hint));
    return option;
  }

  /* Whether the offers are those for what stands in the field. Others are of before the last keys, and nobody means them. */
  get isCurrent() {
    return this.offered === this.input.value.trim();
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]:not([aria-disabled])")];
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
      else this.step(event.key === "ArrowDown" ? 1 : -1);
    }
  }

  step(by) {
    const count = this.options.length;
    const from = this.at < 0 && by < 0 ? 0 : this.at;
    this.mark(count > 0 ? (from + by + count) % count : -1);
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
}
