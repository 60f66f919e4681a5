// Starts Redoc on the schema that the page names, with the fonts of the device.
const place = document.getElementById("documents");
const fonts = "system-ui, sans-serif";
window.Redoc.init(
  place.dataset.schema,
  {
    theme: {
      colors: { primary: { main: "#13633a" } },
      rightPanel: { backgroundColor: "#1f231f" },
      typography: {
        fontFamily: fonts,
        headings: { fontFamily: fonts },
        code: { fontFamily: "ui-monospace, monospace" },
      },
    },
  },
  place,
);
