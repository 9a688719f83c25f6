"use strict";
// Narrow windows show each row of a list as a card, whose values need the names of their columns (admin.css).
for (const table of document.querySelectorAll("#result_list")) {
  const heads = Array.from(table.querySelectorAll("thead th"), head => head.innerText.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    Array.from(row.children).forEach((cell, place) => { cell.dataset.label = heads[place] ?? ""; });
  }
}
