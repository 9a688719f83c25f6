// Swagger UI over the specifications that the page names. A file of its own, so that the page needs no inline script.
"use strict";

SwaggerUIBundle({
  dom_id: "#docs",
  urls: JSON.parse(document.getElementById("specifications").textContent),
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: "StandaloneLayout",
  deepLinking: true,
  // Hundreds of tags: all closed at first, and found by typing.
  docExpansion: "none",
  filter: true,
  // Schemas are shown with each operation; a list of five hundred more would only make the page slow.
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
});
