"use strict";
// The key `/` leads to the search of the header, unless something is being typed.
document.addEventListener("keydown", (event) => {
  const field = document.getElementById("site-search");
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (!field || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  event.preventDefault();
  field.focus();
  field.select();
});
