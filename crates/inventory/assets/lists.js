/* The filter of a list: only what is set goes into the address. */

document.addEventListener("htmx:configRequest", (event) => {
  const parameters = event.detail.parameters;
  for (const name of [...parameters.keys()]) {
    const isEmpty = parameters.getAll(name).every((value) => value === "");
    if (isEmpty || name === "jump" || /_(text|was|choice)$/.test(name)) parameters.delete(name);
  }
});
