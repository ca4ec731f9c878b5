
(() => {
  "use strict";
  document.querySelectorAll("pre.cmd").forEach(onejob.copyButton);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Theme";
  button.addEventListener("click", onejob.theme);
  document.querySelector(".brand").append(" ", button);
})();
