// The page of refused writes: a client of /submissions/v1 like any program. The token is kept until the tab is closed,
// so that the page can be loaded again; the secret is in no variable that outlives the request for it. What is shown
// (filters, page, refusal) is in the address, so that Back leads to what was shown before.
import { reportElements } from "./run_report.js";

const isNarrow = matchMedia("(max-width: 50rem)").matches;
// Rows become cards in narrow windows.
const PAGE = isNarrow ? 10 : 25;
const MOST_CAUSES = 500;
const METHODS = { upsert: "POST", update: "PUT", delete: "DELETE" };
const RESOLUTIONS = {
  succeeded: "it was accepted",
  deleted: "the document was deleted",
  aged: "it was not repeated for seven days",
  dismissed: "it was dismissed",
};
const byId = (id) => document.getElementById(id);
const [signIn, filters, story] = ["sign-in", "filters", "story"].map(byId);
const root = signIn.dataset.root;
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const TOKEN = "token of refused writes";
let token = sessionStorage.getItem(TOKEN) || "";
let offset = 0;
let causesShown = isNarrow ? 5 : 20;
let shown = null;

class Refused extends Error {}

async function request(path, options = {}) {
  const response = await fetch(root + path, {
    ...options,
    credentials: "omit",
    cache: "no-store",
    headers: { Authorization: `Bearer ${token}`, ...options.headers },
  });
  if (response.status === 401 && token) leave("The token has expired. Enter key and secret again.");
  if (!response.ok) throw new Refused(await reason(response));
  return response;
}

async function reason(response) {
  const problem = await response.json().catch(() => ({}));
  const said = problem.hints || problem.errors || [];
  return said.join(" ") || problem.detail || problem.error_description || `The server answered ${response.status}.`;
}

// Runs an action of a user, and shows why it failed.
function acting(action) {
  return async (event) => {
    event?.preventDefault();
    byId("message").textContent = "";
    try {
      await action(event);
    } catch (error) {
      byId("message").textContent = error instanceof Refused ? error.message : "The server cannot be reached.";
    }
  };
}

function element(name, content, attributes = {}) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...[content].flat().filter((each) => each !== undefined && each !== ""));
  return made;
}

function time(moment) {
  return element("time", moments.format(new Date(moment)), { dateTime: moment, title: moment });
}

function row(body, cells) {
  const heads = body.closest("table").tHead.rows[0].cells;
  const made = element("tr", cells.map((cell) => element("td", cell)));
  [...made.cells].forEach((cell, number) => {
    cell.dataset.label = heads[number].textContent;
    cell.className = heads[number].className;
  });
  body.append(made);
}

function filled(id, rows, nothing) {
  const body = byId(id).tBodies[0];
  body.replaceChildren();
  rows.forEach((cells) => row(body, cells));
  if (!rows.length) body.append(element("tr", element("td", nothing, { colSpan: 9 })));
}

function button(text, action) {
  return element("button", text, { type: "button", className: "plain", onclick: acting(action) });
}

// NK#schoolReference.schoolId=1#entryDate=2026-01-05 as schoolId 1, entryDate 2026-01-05.
function inWords(naturalKey) {
  const parts = naturalKey.replace(/^NK#/, "").split(/#(?=[\w.]+=)/);
  return parts.filter(Boolean).map((part) => part.replace(/^(?:\w+\.)*(\w+)=/, "$1 ")).join(", ");
}

const key = (entry) => inWords(entry.naturalKey || "");
// Kinds of documents in words, by the paths and by the names of resources.
const kinds = new Map(Object.entries(JSON.parse(byId("kinds").textContent)));
const kindOfName = new Map([...kinds.values()].map(([name, one]) => [name, one]));
const kind = (path) => kinds.get(path)?.[1] || path || "An unknown resource";
const severalOf = (path) => kinds.get(path)?.[2] || path || "Unknown resources";

function withoutKeys(text) {
  const named = text.replace(/^[A-Z]\w+(?= .*is missing$)/s, (name) => kindOfName.get(name) || name);
  return named.replace(/NK#.+?(?= is missing$|$)/, inWords);
}

// security:authorization: StudentUniqueId as Not authorized: StudentUniqueId. The type of a problem is the cause of
// refusals that have no other.
function causeInWords(text) {
  const [type, about] = text.match(/^[a-z]+(?:[-:][a-z]+)*(?=: |$)/) ? text.split(": ", 2) : [];
  if (!type) return withoutKeys(text);
  const last = type.split(":").at(-1).replaceAll("-", " ");
  const words = type.startsWith("security:") ? "Not authorized" : last[0].toUpperCase() + last.slice(1);
  return about ? `${words}: ${about}` : words;
}

const what = (entry) => kind(entry.resource);
const hints = (entry) => (entry.hints || []).map((text) => `Hint: ${text}`);
const messages = (entry) => [...Object.values(entry.validationErrors).flat(), ...entry.errors, ...hints(entry)];
// A hint stands behind what the client is refused for.
const isHint = (text) => text.startsWith("Hint: ");
const why = (entry) => [messages(entry)[0] || entry.title, ...messages(entry).slice(1).filter(isHint)].join(" ");

function state(entry) {
  if (entry.state === "resolved") return RESOLUTIONS[entry.resolution] || "resolved";
  return entry.cause.causeGone ? "open; the cause is gone" : "open";
}

function told(entry) {
  const [first, last] = [entry.firstAt, entry.lastAt].map((each) => moments.format(new Date(each)));
  const times = entry.count === 1 ? `Refused once, on ${first}` : `Refused ${entry.count} times from ${first} to ${last}`;
  const end =
    entry.state === "resolved"
      ? `On ${moments.format(new Date(entry.resolvedAt))} ${RESOLUTIONS[entry.resolution] || "it was resolved"}.`
      : entry.cause.causeGone
        ? "What was missing exists now: send it again."
        : "It is still open.";
  return `${times}, because: ${why(entry)} ${end}`;
}

function facts(entry) {
  const list = Object.entries(entry.validationErrors).flatMap(([path, texts]) => [
    element("dt", element("code", path)),
    element("dd", texts.join(" ")),
  ]);
  const rest = {
    Request: `${METHODS[entry.operation] || "Operation"} ${entry.resource}`,
    Errors: [...entry.errors, ...hints(entry)].join(" "),
    Cause: causeInWords(entry.cause.text),
    Status: `${entry.status} ${entry.title}`,
    "Document id": entry.documentId,
    Organization: entry.educationOrganizationId,
    "Correlation id": entry.correlationId,
  };
  for (const [name, value] of Object.entries(rest)) {
    if (value) list.push(element("dt", name), element("dd", String(value)));
  }
  return element("dl", list, { className: "facts" });
}

function tell(entry) {
  shown = entry;
  byId("story-title").textContent = `${what(entry)}${key(entry) ? `: ${key(entry)}` : ""}`;
  byId("story-text").textContent = told(entry);
  byId("story-facts").replaceChildren(facts(entry));
  byId("dismiss").hidden = entry.state !== "open";
  if (!story.open) story.showModal();
  remember();
}

// Puts what is shown into the address.
function remember() {
  const state = query();
  if (offset) state.set("offset", offset);
  if (story.open) state.set("refusal", shown.id);
  if (state.get("state") === "open") state.delete("state");
  const search = state.size ? `?${state}` : "";
  if (search !== location.search) history.pushState(null, "", location.pathname + search);
}

// Shows what the address says.
async function restore() {
  const state = new URLSearchParams(location.search);
  filters.reset();
  for (const field of filters.elements) {
    const value = state.get(field.name);
    if (field.name && value) field.value = field.name === "since" ? local(value) : value;
  }
  offset = Number(state.get("offset")) || 0;
  await show();
  if (state.has("refusal")) tell(await one(state.get("refusal")));
  else if (story.open) story.close();
}

function local(moment) {
  const at = new Date(moment);
  return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

function query() {
  const found = new URLSearchParams();
  for (const [name, value] of new FormData(filters)) {
    if (value) found.set(name, name === "since" ? new Date(value).toISOString() : value.trim());
  }
  return found;
}

async function showCauses() {
  const found = await (await request(`/submissions/v1/causes?limit=${causesShown}`)).json();
  byId("more-causes").hidden = found.length < causesShown || causesShown === MOST_CAUSES;
  filled(
    "causes",
    found.map((cause) => [
      button(causeInWords(cause.text), () => only(cause.id)),
      [
        ...Object.entries(cause.resources).map(([path, number]) => element("div", `${severalOf(path)}: ${number}`, { title: path })),
        element("div", cause.occurrences === cause.entries ? "" : `by ${cause.occurrences} writes`, { className: "quiet" }),
      ],
      time(cause.firstAt),
      cause.causeGone ? "gone; send again" : "open",
    ]),
    "Nothing of this client is refused.",
  );
}

async function showRefusals() {
  const page = query();
  page.set("limit", PAGE);
  page.set("offset", offset);
  page.set("totalCount", "true");
  const response = await request(`/submissions/v1/refusals?${page}`);
  const found = await response.json();
  const total = Number(response.headers.get("Total-Count"));
  byId("total").textContent = total ? `${offset + 1} to ${offset + found.length} of ${total}` : "";
  byId("earlier").disabled = offset === 0;
  byId("later").disabled = offset + found.length >= total;
  filled(
    "refusals",
    found.map((entry) => [
      time(entry.lastAt),
      [button(what(entry), async () => tell(await one(entry.id))), element("div", key(entry), { className: "quiet" })],
      element("div", why(entry), { className: "excerpt" }),
      String(entry.count),
      state(entry),
    ]),
    "Nothing was refused that these filters select.",
  );
}

const one = async (id) => (await request(`/submissions/v1/refusals/${id}`)).json();

async function show() {
  await Promise.all([showCauses(), showRefusals(), showSandbox()]);
}

async function showMoreCauses() {
  causesShown = Math.min(MOST_CAUSES, causesShown + 20);
  await showCauses();
}

async function only(cause) {
  filters.elements.cause.value = cause;
  offset = 0;
  remember();
  await showRefusals();
  byId("refusals-title").scrollIntoView();
}

function leave(text = "") {
  token = "";
  sessionStorage.removeItem(TOKEN);
  filters.reset();
  offset = 0;
  ["causes", "refusals"].forEach((id) => byId(id).tBodies[0].replaceChildren());
  if (story.open) story.close();
  history.replaceState(null, "", location.pathname);
  byId("report").replaceChildren();
  byId("ledger").hidden = true;
  signIn.hidden = byId("privacy").hidden = false;
  byId("message").textContent = text;
  signIn.elements.key.focus();
}

async function enter() {
  const [name, secret] = ["key", "secret"].map((field) => signIn.elements[field].value.trim());
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: name, client_secret: secret });
  const response = await fetch(`${root}/oauth/token`, { method: "POST", body: form, credentials: "omit" });
  if (!response.ok) throw new Refused(await reason(response));
  token = (await response.json()).access_token;
  sessionStorage.setItem(TOKEN, token);
  signIn.reset();
  await open(name);
}

async function comeBack() {
  const form = new URLSearchParams({ token });
  const client = await (await request("/oauth/token_info", { method: "POST", body: form })).json();
  await open(client.client_id);
}

async function open(client) {
  byId("client").textContent = client;
  byId("zone").textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
  await restore();
  signIn.hidden = byId("privacy").hidden = true;
  byId("ledger").hidden = false;
}

async function download() {
  const response = await request(`/submissions/v1/refusals?${query()}`, { headers: { Accept: "text/csv" } });
  const address = URL.createObjectURL(await response.blob());
  element("a", "", { href: address, download: "refusals.csv" }).click();
  URL.revokeObjectURL(address);
}

async function dismiss() {
  await request(`/submissions/v1/refusals/${shown.id}`, { method: "DELETE" });
  story.close();
  await show();
}

async function turn(pages) {
  offset = Math.max(0, offset + pages * PAGE);
  remember();
  await showRefusals();
}

async function showReport() {
  const times = new URLSearchParams();
  for (const [name, value] of new FormData(byId("times"))) {
    if (value) times.set(name, new Date(value).toISOString());
  }
  const report = await (await request(`/submissions/v1/report?${times}`)).json();
  byId("report").replaceChildren(...reportElements(report, element, moments));
}

// Most clients have no sandbox.
async function showSandbox() {
  const response = await fetch(`${root}/submissions/v1/sandbox`, { headers: { Authorization: `Bearer ${token}` } });
  byId("sandbox").hidden = !response.ok;
  if (!response.ok) return;
  const sandbox = await response.json();
  const end = sandbox.expiresAt ? `ends on ${moments.format(new Date(sandbox.expiresAt))}` : "has no end";
  byId("sandbox").firstElementChild.textContent = `The sandbox ${sandbox.name} ${end}.`;
}

async function resetSandbox() {
  if (!confirm("Everything that was sent to the sandbox is lost. Reset it?")) return;
  await request("/submissions/v1/sandbox/reset", { method: "POST" });
  leave("The sandbox was reset. Enter key and secret again.");
}

async function filter() {
  offset = 0;
  remember();
  await showRefusals();
}

const byKind = [...kinds].sort(([, [, one]], [, [, other]]) => one.localeCompare(other));
byId("resources").append(...byKind.map(([path, [, one]]) => element("option", one, { value: path })));
signIn.addEventListener("submit", acting(enter));
filters.addEventListener("submit", acting(filter));
byId("clear").addEventListener("click", acting(() => (filters.reset(), filter())));
byId("leave").addEventListener("click", () => leave());
byId("csv").addEventListener("click", acting(download));
byId("more-causes").addEventListener("click", acting(showMoreCauses));
byId("earlier").addEventListener("click", acting(() => turn(-1)));
byId("later").addEventListener("click", acting(() => turn(1)));
byId("same-cause").addEventListener("click", acting(() => (story.close(), only(shown.cause.id))));
byId("dismiss").addEventListener("click", acting(dismiss));
byId("times").addEventListener("submit", acting(showReport));
byId("print").addEventListener("click", acting(async () => (await showReport(), print())));
byId("reset").addEventListener("click", acting(resetSandbox));
byId("close").addEventListener("click", () => story.close());
story.addEventListener("close", () => token && remember());
addEventListener("popstate", acting(async () => token && restore()));
if (token) acting(comeBack)();
