// Starts Redoc on the schema that the page names, with the fonts of the device and the colours of our design tokens. It reckons with
// colours, for which it wants them as #rrggbb.
const place = document.getElementById("documents");
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

function colour(token) {
  probe.style.color = `var(--${token})`;
  canvas.fillStyle = getComputedStyle(probe).color;
  canvas.fillRect(0, 0, 1, 1);
  const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

const [ink, soft, surface, sunken, line, accent] = ["ink", "ink-soft", "surface", "sunken", "line", "accent"].map(colour);
const outcome = (name, tabTextColor) => ({ color: colour(name), backgroundColor: colour(`${name}-soft`), tabTextColor });
const fonts = "system-ui, sans-serif";
window.Redoc.init(
  place.dataset.schema,
  {
    theme: {
      colors: {
        primary: { main: accent, light: accent },
        success: { main: colour("success") },
        warning: { main: colour("warning") },
        error: { main: colour("danger") },
        gray: { 50: surface, 100: sunken },
        text: { primary: ink, secondary: soft },
        border: { dark: line, light: line },
        responses: {
          success: outcome("success", "#8fdcab"),
          error: outcome("danger", "#ffaca1"),
          redirect: outcome("warning", "#f5cf7e"),
          info: outcome("info", "#a3d3f2"),
        },
      },
      schema: { linesColor: line, nestedBackground: sunken, typeNameColor: soft, requireLabelColor: colour("danger") },
      sidebar: { backgroundColor: surface, textColor: ink, activeTextColor: accent },
      // The panel of samples is dark in both schemes.
      rightPanel: {
        backgroundColor: "#1f231f",
        servers: { overlay: { backgroundColor: surface, textColor: ink }, url: { backgroundColor: sunken } },
      },
      fab: { backgroundColor: surface, color: accent },
      typography: {
        fontFamily: fonts,
        headings: { fontFamily: fonts },
        code: { fontFamily: "ui-monospace, monospace", color: ink, backgroundColor: sunken },
      },
    },
  },
  place,
);
probe.remove();

// It keeps the colours that it began with. The address keeps the place.
if (!["light", "dark"].includes(document.documentElement.dataset.theme)) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
}

// Its headings leave out levels, and samples that are wider than their panel cannot be scrolled by keyboard.
new MutationObserver(() => {
  for (const heading of place.querySelectorAll("h5:not([aria-level])")) heading.setAttribute("aria-level", "3");
  for (const sample of place.querySelectorAll("pre:not([tabindex])")) sample.tabIndex = 0;
}).observe(place, { childList: true, subtree: true });
