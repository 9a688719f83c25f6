// Swagger UI over the specifications that the page names. A file of its own, so that the page needs no inline script.
"use strict";

// For the tab, not for the browser: a token outlives a reload, but not the visit. The secret is not kept.
const TOKEN = "meadowlark.token";
const TOKEN_URL = /\/oauth\/token$/;
const WRONG_SECRET =
  "The key or the secret is wrong, or the client was disabled. Enter both as they were shown when the client was made; " +
  "the operator of this server can make a new secret: manage.py rotate_secret NAME.";

function remember({ auth, token }) {
  const kept = { name: auth.name, schema: auth.schema, token };
  const expires = Date.now() + 1000 * (token.expires_in || 0);
  sessionStorage.setItem(TOKEN, JSON.stringify({ kept, expires }));
}

function restore(ui) {
  const { kept, expires } = JSON.parse(sessionStorage.getItem(TOKEN) || "{}");
  if (kept && Date.now() < expires) {
    ui.authActions.restoreAuthorization({ authorized: { [kept.name]: kept } });
  }
}

const meadowlark = ({ React }) => ({
  // In place of a picture with a style of its own, which the Content-Security-Policy refuses.
  components: { Logo: () => React.createElement("span", { className: "meadowlark-name" }, "Meadowlark") },
  statePlugins: {
    auth: {
      wrapActions: {
        authorizeOauth2: (original) => (payload) => {
          remember(payload);
          return original(payload);
        },
        logout: (original) => (payload) => {
          sessionStorage.removeItem(TOKEN);
          return original(payload);
        },
      },
    },
    err: {
      wrapActions: {
        newAuthErr: (original) => (error) =>
          original(error.message.includes("invalid_client") ? { ...error, message: WRONG_SECRET } : error),
      },
    },
  },
});

const ui = SwaggerUIBundle({
  dom_id: "#docs",
  urls: JSON.parse(document.getElementById("specifications").textContent),
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [meadowlark],
  layout: "StandaloneLayout",
  deepLinking: true,
  // Hundreds of tags: all closed at first, and found by typing.
  docExpansion: "none",
  filter: true,
  // Schemas are shown with each operation; a list of five hundred more would only make the page slow.
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  // Without credentials of its own to send, a browser shows no dialog for a refused secret; the page explains it.
  requestInterceptor: (request) => (TOKEN_URL.test(request.url) ? { ...request, credentials: "omit" } : request),
  onComplete: () => restore(ui),
});
