"use strict";
// Pages outside of the admin do not know who is logged in. They show the search if this browser was last shown a page of
// the admin with one.
const MAY_SEARCH = "may search";
const mayNow = document.querySelector(".site-header")?.dataset.maySearch;
if (mayNow) localStorage.setItem(MAY_SEARCH, mayNow);
else if (localStorage.getItem(MAY_SEARCH) === "yes") document.querySelector(".site-search")?.removeAttribute("hidden");

// The key `/` leads to the search of the header, unless something is being typed.
document.addEventListener("keydown", (event) => {
  const field = document.getElementById("site-search");
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (!field?.checkVisibility() || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  event.preventDefault();
  field.focus();
  field.select();
});
