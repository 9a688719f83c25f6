"use strict";
// The token is in the fragment, which browsers do not send; it leaves the address as soon as it is read.
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const message = document.getElementById("message");

document.getElementById("show").addEventListener("click", async () => {
  document.getElementById("ask").hidden = true;
  const answer = await fetch(location.pathname, { method: "POST", body: new URLSearchParams({ token }) });
  if (!answer.ok) {
    message.textContent =
      "The link was used already, or is older than a day. Ask the operator of this server for a new secret.";
    return;
  }
  const shown = await answer.json();
  for (const name of ["vendor", "application", "key", "secret"]) {
    document.getElementById(name).textContent = shown[name];
  }
  document.getElementById("credentials").hidden = false;
});
