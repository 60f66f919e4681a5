/* The search over every page: products below the field while somebody types, and the ways on from there. Enter searches as without a
   script, unless an arrow has marked something. And a scanner, which works anywhere on a page where no field has the focus. */

import { CODE, Combobox, creating } from "./combobox.js";
import { waiting } from "./picker.js";

class Search extends Combobox {
  constructor(form) {
    super(form, form.dataset.search, form.querySelector(".control").getAttribute("aria-label"));
    this.input.addEventListener("search", () => this.close());
  }

  typed() {
    if (this.input.value.trim() !== "") return super.typed();
    this.asked?.abort();
    this.close();
  }

  first() {
    return -1;
  }

  option(offer) {
    const option = super.option(offer);
    option.dataset.address = `/products/${offer.id}/`;
    return option;
  }

  ways(offers, text) {
    if (!text) return [];
    const { all, create } = this.root.dataset;
    if (offers.length > 0) return [{ text: `${all} “${text}”`, address: `/products/?search=${encodeURIComponent(text)}` }];
    return create ? [{ text: `${create} “${text}”`, address: creating("/products/new/", text) }] : [];
  }

  async key(event) {
    const option = this.options[this.at];
    if (event.key === "Enter" && !this.list.hidden && this.isCurrent && option) {
      event.preventDefault();
      this.choose(option);
    } else if (!event.key.startsWith("Arrow") || this.input.value.trim() !== "") await super.key(event);
  }

  choose(option) {
    this.close();
    location.assign(option.dataset.address);
  }

  /* Shows what a code finds, and leaves the page as it is. */
  show(code) {
    this.input.focus();
    this.input.value = code;
    return this.look();
  }
}

const form = document.querySelector("[data-search]");
const search = form && new Search(form);

/* Nobody's fingers are so quick, and every scanner is. */
const QUICK = 80;
let code = "";
let last = 0;

function scanned(number) {
  const picker = waiting();
  if (picker) return picker.scan(number);
  // What was typed into a form is not left behind.
  if (document.querySelector("[data-part] form[method=post] .control")) return search.show(number);
  location.assign(`/products/?search=${number}&jump=1`);
}

/* Before others hear it: Enter would press the button or open the link that has the focus. */
document.addEventListener("keydown", (event) => {
  const isElsewhere = event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, textarea, select, [contenteditable]");
  const isQuick = event.timeStamp - last <= QUICK;
  last = event.timeStamp;
  if (!search || isElsewhere) code = "";
  else if (/^\d$/.test(event.key)) code = isQuick ? code + event.key : event.key;
  else if (event.key === "Enter" && isQuick && CODE.test(code) && (!document.querySelector("dialog[open]") || waiting())) {
    event.preventDefault();
    event.stopPropagation();
    scanned(code);
    code = "";
  } else if (event.key !== "Shift") code = "";
}, { capture: true });
