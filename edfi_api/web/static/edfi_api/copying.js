"use strict";
// A button copies the text of the element whose id is its `data-copies`.
for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      // Without HTTPS browsers have no clipboard for pages; the text can be copied by hand.
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
  });
}
