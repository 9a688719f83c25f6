// Swagger UI over the specifications that the page names. A file of its own, so that the page needs no inline script.
"use strict";

// For the tab, not for the browser: a token outlives a reload, but not the visit. The secret is not kept. Tokens of the
// management API have another address, and so a key of their own.
const TOKEN = "meadowlark.token";
const TOKEN_URL = /\/(oauth|connect)\/token$/;
const DATA_TOKEN_URL = /\/oauth\/token$/;
const DOMAINS = "x-Ed-Fi-domains";
const NO_DOMAIN = "Other";
const MOST_ATTEMPTS = 50;
const MILLISECONDS = 100;
const WRONG_SECRET =
  "The key or the secret is wrong, or the client was disabled. Enter both as they were shown when the client was made; " +
  "the operator of this server can make a new secret: manage.py rotate_secret NAME.";

const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
const keyOf = (tokenUrl) => `${TOKEN} ${tokenUrl}`;

// The name and the description of the only way to get a token that the shown specification has.
function scheme() {
  const definition = ui.authSelectors.definitionsToAuthorize()?.first();
  return definition ? definition.entrySeq().first() : [];
}

function remember({ auth, token }) {
  const kept = { name: auth.name, schema: auth.schema, token };
  const expires = Date.now() + 1000 * (token.expires_in || 0);
  sessionStorage.setItem(keyOf(auth.schema.get("tokenUrl")), JSON.stringify({ kept, expires }));
}

function restore(attempt = 0) {
  const [name, description] = scheme();
  if (!name) {
    // What a specification defines is known a moment after it has been loaded; some define no way to get a token.
    if (attempt < MOST_ATTEMPTS) setTimeout(restore, MILLISECONDS, attempt + 1);
    return;
  }
  const { kept, expires } = JSON.parse(sessionStorage.getItem(keyOf(description.get("tokenUrl"))) || "{}");
  // One that was got elsewhere would be refused here.
  const authorized = kept && Date.now() < expires ? { [kept.name]: kept } : {};
  ui.authActions.restoreAuthorization({ authorized });
}

// The client of a demonstration, if the server offers one to everybody: its key and secret.
const client = read("client");

function authorizeClient() {
  const [name, schema] = scheme();
  ui.authActions.authorizeApplication({ name, schema, scopes: [], clientId: client.key, clientSecret: client.secret });
}

const inWords = (name) => name.replace(/([a-z])(?=[A-Z])/g, "$1 ");

// The domains of the model by tag, and the domain under which the page shows the tag: of several the smallest, which says
// most about it.
let domains = { of: null, byTag: new Map(), shown: new Map() };

function domainsOf(specification) {
  if (domains.of === specification) return domains;
  const byTag = new Map();
  specification.get("paths")?.forEach((item) => {
    const listed = item.get(DOMAINS)?.toJS();
    const tag = item.find((operation) => operation.has?.("tags"))?.getIn(["tags", 0]);
    if (listed && tag) byTag.set(tag, listed);
  });
  const sizes = new Map();
  for (const listed of byTag.values()) for (const name of listed) sizes.set(name, (sizes.get(name) ?? 0) + 1);
  const smallest = (listed) => listed.reduce((one, other) => (sizes.get(other) < sizes.get(one) ? other : one));
  const shown = new Map([...byTag].map(([tag, listed]) => [tag, inWords(smallest(listed))]));
  domains = { of: specification, byTag, shown };
  return domains;
}

// Tags in the order of their domains; the first of each has it as its heading.
function grouped(tags, { shown }) {
  if (!shown.size) return tags;
  const domainOf = (tag) => shown.get(tag) ?? NO_DOMAIN;
  let before = "";
  return tags
    .sortBy((_, tag) => [domainOf(tag) === NO_DOMAIN ? 1 : 0, domainOf(tag), tag].join("\0"))
    .map((operations, tag) => {
      const heading = domainOf(tag) === before ? "" : domainOf(tag);
      before = domainOf(tag);
      return operations.set("heading", heading);
    });
}

// Typing finds names and domains in any case, and every resource of a domain, wherever it is shown.
function found(tags, phrase) {
  const wanted = phrase.toLowerCase().replaceAll(" ", "");
  const has = (text) => text.toLowerCase().replaceAll(" ", "").includes(wanted);
  return tags.filter((_, tag) => has(tag) || (domains.byTag.get(tag) ?? []).some(has));
}

// Swagger UI is dark where the pages of the site are.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function showColors() {
  const { classList, dataset } = document.documentElement;
  classList.toggle("dark-mode", dataset.theme === "dark" || (dataset.theme !== "light" && prefersDark.matches));
}

new MutationObserver(showColors).observe(document.documentElement, { attributeFilter: ["data-theme"] });
prefersDark.addEventListener("change", showColors);
showColors();

const { submissions } = document.getElementById("docs").dataset;

const meadowlark = ({ React }) => ({
  // The header of the site has a name and a choice of colors.
  components: { Logo: () => null, DarkModeToggle: () => null },
  fn: { opsFilter: found },
  wrapComponents: {
    OperationTag: (Original) => (props) =>
      React.createElement(
        React.Fragment,
        null,
        props.tagObj.get("heading") && React.createElement("h2", { className: "domain" }, props.tagObj.get("heading")),
        React.createElement(Original, props),
      ),
    authorizeBtn: (Original) => (props) =>
      React.createElement(
        React.Fragment,
        null,
        client &&
          !props.isAuthorized &&
          DATA_TOKEN_URL.test(scheme()[1]?.get("tokenUrl") ?? "") &&
          React.createElement(
            "div",
            { className: "auth-wrapper" },
            React.createElement(
              "button",
              { type: "button", className: "btn authorize demo-client", onClick: authorizeClient },
              "Use the demo client",
            ),
          ),
        React.createElement(Original, props),
      ),
    // Where a token has been obtained: what was refused of its client.
    oauth2: (Original) => (props) =>
      React.createElement(
        "div",
        null,
        React.createElement(Original, props),
        submissions &&
          props.authSelectors.authorized().get(props.name) &&
          DATA_TOKEN_URL.test(scheme()[1]?.get("tokenUrl") ?? "") &&
          React.createElement("p", null, React.createElement("a", { href: submissions }, "Refused writes of this client")),
      ),
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        taggedOperations:
          (original, system) =>
          (state, ...rest) =>
            grouped(original(state, ...rest), domainsOf(system.specSelectors.specJson())),
      },
      wrapActions: {
        // What was typed for one definition would hide most of another.
        updateUrl: (original, system) => (url) => {
          system.layoutActions.updateFilter(true);
          return original(url);
        },
      },
    },
    auth: {
      wrapActions: {
        authorizeOauth2: (original) => (payload) => {
          remember(payload);
          return original(payload);
        },
        logout: (original) => (payload) => {
          sessionStorage.removeItem(keyOf(scheme()[1]?.get("tokenUrl")));
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
  urls: read("specifications"),
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [meadowlark, parametersOfOperations],
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
  onComplete: () => restore(),
});
