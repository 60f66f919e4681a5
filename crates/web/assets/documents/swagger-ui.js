// Starts Swagger UI on the schema that the page names. Asks nothing of other sites: no validator, and links to documents stay links.
const theme = document.documentElement.dataset.theme;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => {
  const isDark = theme === "dark" || (theme !== "light" && dark.matches);
  document.documentElement.classList.toggle("dark-mode", isDark);
};
dark.addEventListener("change", follow);
follow();

// As its own layout, without the second element `main` in that of the page.
const layout = (system) => (props) => {
  const create = system.React.createElement;
  const part = (name) => create(props.getComponent(name, true));
  const status = props.specSelectors.loadingStatus();
  if (status !== "success") {
    const text = status === "failed" ? "The document could not be loaded. Reload the page." : "Loading the document\u2026";
    return create("div", { className: "documents-wait", role: "status" }, text);
  }
  return create(
    "div",
    { className: "swagger-ui" },
    create(props.getComponent("SvgAssets")),
    part("errors"),
    create("div", { className: "wrapper information-container" }, part("InfoContainer")),
    create(
      "div",
      { className: "scheme-container" },
      create(
        "div",
        { className: "schemes wrapper" },
        create("div", { className: "schemes-server-container" }, part("ServersContainer")),
        props.specSelectors.securityDefinitions() ? part("AuthorizeBtnContainer") : null,
      ),
    ),
    create("div", { className: "wrapper" }, part("operations")),
    create("div", { className: "wrapper" }, part("Models")),
  );
};

// An operation's path stands in a button, where a link cannot be followed by keyboard: there it is text.
const textInButtons = (DeepLink, system) => (props) =>
  system.React.createElement(DeepLink, { ...props, enabled: props.enabled && !props.path?.includes("/") });

const ours = (system) => ({
  components: { OurLayout: layout(system) },
  wrapComponents: { DeepLink: textInButtons },
});

const place = document.getElementById("documents");
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [ours],
  layout: "OurLayout",
});

// What it leaves without a name: fields take that of their row or of what stands before them.
const nameOf = (field) => {
  const row = field.closest("tr[data-param-name]");
  if (row) return row.dataset.paramName;
  if (field.matches(".examples-select-element")) return "Example";
  return field.matches("textarea") ? "Request body" : "Value";
};

// Its headings leave out levels, its fields have no names, its wide samples cannot be scrolled by keyboard.
const LEVELS = { H3: "2", H4: "3", H5: "4" };
const mend = () => {
  for (const heading of place.querySelectorAll("h3, h4, h5")) heading.setAttribute("aria-level", LEVELS[heading.tagName]);
  for (const field of place.querySelectorAll("td select, td input, td textarea, .examples-select-element, .body-param__text")) {
    if (!field.labels?.length) field.setAttribute("aria-label", nameOf(field));
  }
  for (const sample of place.querySelectorAll("pre.microlight")) sample.tabIndex = 0;
  for (const answers of place.querySelectorAll("table.responses-table")) answers.removeAttribute("role");
  place.querySelector("#servers")?.setAttribute("aria-label", "Server");
};
new MutationObserver(mend).observe(place, { childList: true, subtree: true });
