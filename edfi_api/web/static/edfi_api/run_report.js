// The report of a run as tables, for the page of refused writes.
const TITLES = { requests: "Requests", writes: "Writes", refusals: "Refused", reads: "Reads", exercised: "Exercised" };

// `fromChangeVersion` as "from change version".
const inWords = (name) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function shown(value) {
  if (typeof value === "boolean") return value ? "yes" : "-";
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (value && typeof value === "object") {
    return Object.entries(value).map(([name, each]) => `${inWords(name)} ${each}`).join(", ");
  }
  return value === null || value === undefined ? "" : String(value);
}

function table(element, title, rows) {
  const names = Object.keys(rows[0]).filter((name) => name !== "type");
  const look = (name) => ({ className: rows.every((row) => typeof row[name] === "number") ? "number" : "" });
  const heads = names.map((name) => element("th", inWords(name), { scope: "col", ...look(name) }));
  const body = rows.map((row) => element("tr", names.map((name) => element("td", shown(row[name]), look(name)))));
  const made = [element("thead", element("tr", heads)), element("tbody", body)];
  return [element("h3", title), element("div", element("table", made), { className: "wide" })];
}

// The elements of a report; `element` makes one, `moments` writes times.
export function reportElements(report, element, moments) {
  if (!report.firstRequestAt) return [element("p", "No request has been counted in this time.")];
  const [first, last] = [report.firstRequestAt, report.lastRequestAt].map((each) => moments.format(new Date(each)));
  const found = [element("p", `${report.name} (${report.client}), from ${first} to ${last}: ${report.seconds} seconds.`)];
  for (const [part, title] of Object.entries(TITLES)) {
    if (report[part].length) found.push(...table(element, title, report[part]));
  }
  const facts = Object.entries(report.environment).flatMap(([name, value]) => [
    element("dt", inWords(name)),
    element("dd", shown(value)),
  ]);
  return [...found, element("h3", "Environment"), element("dl", facts, { className: "facts" })];
}
