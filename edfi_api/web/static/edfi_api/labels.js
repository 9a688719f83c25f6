"use strict";
// Names for what has none: the values of cards, which narrow windows show in place of the rows of a list (admin.css), and
// Django's search box of lists, whose label is a picture, its fields of inline tables, dates and times, for screen readers.
const text = (element) => element?.innerText.trim() ?? "";

document.getElementById("searchbar")?.setAttribute("aria-label", "Search");

for (const table of document.querySelectorAll("#result_list, table.cards, .tabular table")) {
  const heads = Array.from(table.querySelectorAll("thead th"), text);
  for (const row of table.querySelectorAll("tbody tr")) {
    Array.from(row.children).forEach((cell, place) => { cell.dataset.label = heads[place] ?? ""; });
  }
}

for (const field of document.querySelectorAll(".inline-group td :is(input, select, textarea)")) {
  const cell = field.closest("td");
  const head = field.closest("table").querySelectorAll("thead th")[Array.from(cell.parentElement.children).indexOf(cell)];
  field.setAttribute("aria-label", text(head) || field.name);
}

for (const field of document.querySelectorAll(".datetime input")) {
  const legend = field.closest(".form-row")?.querySelector("legend, label");
  field.setAttribute("aria-label", `${text(legend)} ${field.classList.contains("vTimeField") ? "time" : "date"}`);
}
