// What makes the administration quicker; every page works without it.

import "./menus.js";
import "./passwords.js";
import "./tables.js";
import "./popups.js";

// The box that filters the navigation.
const filter = document.querySelector("#site-filter");
if (filter) {
  filter.addEventListener("input", () => {
    const wanted = folded(filter.value);
    for (const application of document.querySelectorAll("[data-application]")) {
      let shown = 0;
      for (const model of application.querySelectorAll(".site-model")) {
        model.hidden = !folded(model.textContent).includes(wanted);
        shown += model.hidden ? 0 : 1;
      }
      application.hidden = shown === 0;
    }
  });
}

// The boxes of a list: one for all of them, and how many are ticked.
for (const form of document.querySelectorAll("[data-selection]")) {
  const all = form.querySelector("[data-select-all]");
  const told = form.querySelector("[data-selected]");
  const boxes = [...form.querySelectorAll("input[name^='row:']")];
  if (all && told) {
    const tell = () => {
      const ticked = boxes.filter((box) => box.checked).length;
      told.textContent = told.dataset.selected.replace("{n}", ticked).replace("{m}", boxes.length);
      all.checked = ticked > 0 && ticked === boxes.length;
      all.indeterminate = ticked > 0 && ticked < boxes.length;
    };
    all.addEventListener("change", () => {
      for (const box of boxes) {
        box.checked = all.checked;
      }
      tell();
    });
    form.addEventListener("change", tell);
    tell();
  }
}

// Many boxes in two panes: a box goes over as it is ticked, to its place there.
for (const panes of document.querySelectorAll("[data-panes]")) {
  const [boxes, chosen] = panes.querySelectorAll("ul");
  const search = panes.querySelector("[type=search]");
  const place = (item) => {
    const list = item.querySelector("input").checked ? chosen : boxes;
    if (item.parentElement !== list) {
      const after = [...list.children].find((other) => Number(other.dataset.place) > Number(item.dataset.place));
      list.insertBefore(item, after ?? null);
    }
  };
  // The browser may have ticked them as they were left.
  panes.querySelectorAll("li").forEach(place);
  panes.addEventListener("change", (event) => {
    const item = event.target.closest("li");
    if (item) {
      place(item);
      event.target.focus();
    }
  });
  search.addEventListener("input", () => {
    for (const item of boxes.children) {
      item.hidden = !folded(item.textContent).includes(folded(search.value));
    }
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
    }
  });
}

// Tables of related rows: another empty row, and taking one away that is not needed.
for (const table of document.querySelectorAll("[data-inline]")) {
  const blank = table.querySelector("template");
  const add = table.querySelector("[data-add-row]");
  if (!blank || !add) {
    continue;
  }
  const rows = table.querySelector("tbody");
  let made = 0;
  const tell = () => {
    add.hidden = rows.querySelectorAll("[data-remove-row]").length >= Number(table.dataset.most);
  };
  add.addEventListener("click", () => {
    made += 1;
    const row = document.createElement("tbody");
    row.innerHTML = blank.innerHTML.replaceAll("new-row", `new-more${made}`);
    const added = row.querySelector("tr");
    rows.append(added);
    tell();
    added.querySelector("input, select")?.focus();
  });
  rows.addEventListener("click", (event) => {
    const row = event.target.closest("[data-remove-row]")?.closest("tr");
    if (row) {
      row.remove();
      tell();
      (add.hidden ? rows.querySelector("input, select") : add)?.focus();
    }
  });
  tell();
}

// A box that deletes a row strikes the row out.
document.addEventListener("change", (event) => {
  if (event.target.matches(".site-gone input")) {
    event.target.closest("tr").classList.toggle("site-going", event.target.checked);
  }
});

// Fields that take an id: the names that begin to be typed are offered, and what is chosen is the id.
let asked;
document.addEventListener("input", async (event) => {
  const field = event.target.closest?.("[data-offers]");
  if (!field) {
    return;
  }
  asked?.abort();
  const text = field.value.trim();
  if (!text || /^[0-9]+$/.test(text)) {
    return;
  }
  asked = new AbortController();
  try {
    const answer = await fetch(`${field.dataset.offers}?q=${encodeURIComponent(text)}`, { signal: asked.signal });
    const offers = answer.ok ? await answer.json() : [];
    field.list.replaceChildren(
      ...offers.map((offer) => {
        const option = document.createElement("option");
        option.value = offer.id;
        option.label = `${offer.text} · ${offer.hint}`;
        // The browser compares what is typed with this.
        option.textContent = option.label;
        return option;
      }),
    );
  } catch {
    // Another key was pressed, or the network failed: the id can still be typed.
  }
});

function folded(text) {
  return text.normalize("NFD").replace(/\p{Mark}/gu, "").toLowerCase().trim();
}
