"use strict";
// Each drawing is dragged, and zoomed around the pointer; without this script it scrolls. It begins at its first node,
// as small as it must be to show its width, but not too small to be read.
const LEAST_SCALE = 0.6;
for (const canvas of document.querySelectorAll(".canvas")) {
  const drawing = canvas.querySelector("svg");
  const width = drawing.viewBox.baseVal.width, height = drawing.viewBox.baseVal.height;
  let scale = 1, held = null;
  const zoom = (factor, x, y) => {
    const next = Math.min(4, Math.max(0.05, scale * factor)), change = next / scale;
    const left = (canvas.scrollLeft + x) * change - x, top = (canvas.scrollTop + y) * change - y;
    scale = next;
    drawing.setAttribute("width", width * scale);
    drawing.setAttribute("height", height * scale);
    canvas.scrollTo(left, top);
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 0.85 : 1.18, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("mousedown", (event) => {
    held = { x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop };
    event.preventDefault();
  });
  window.addEventListener("mousemove", (event) => {
    if (held) canvas.scrollTo(held.x - event.clientX, held.y - event.clientY);
  });
  window.addEventListener("mouseup", () => { held = null; });

  const buttons = document.createElement("span");
  buttons.className = "zoom";
  const fitting = () => Math.min(canvas.clientWidth / (width * scale), canvas.clientHeight / (height * scale));
  for (const [sign, meaning, factor] of [["+", "larger", () => 1.25], ["−", "smaller", () => 0.8], ["⤢", "all of it", fitting]]) {
    const button = document.createElement("button");
    button.textContent = sign;
    button.title = meaning;
    button.addEventListener("click", (event) => {
      event.preventDefault();  // the summary around it would fold
      zoom(factor(), canvas.clientWidth / 2, 0);
    });
    buttons.append(button);
  }
  canvas.previousElementSibling.append(buttons);

  const begin = () => {
    zoom(Math.max(LEAST_SCALE, Math.min(1, canvas.clientWidth / width)), 0, 0);
    const first = drawing.querySelector("g");
    if (first) canvas.scrollTo((first.getBBox().x + first.getBBox().width / 2) * scale - canvas.clientWidth / 2, 0);
  };
  const details = canvas.parentElement;
  if (details.open) begin();
  else details.addEventListener("toggle", begin, { once: true });
}
