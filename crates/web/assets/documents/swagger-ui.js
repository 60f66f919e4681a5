// Starts Swagger UI on the schema that the page names. Asks nothing of other sites: no validator, and links to documents stay links.
const place = document.getElementById("documents");
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});
