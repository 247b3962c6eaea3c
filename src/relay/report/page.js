"use strict";
// A kernel is lit wherever it is shown.
const shown = new Map();
for (const each of document.querySelectorAll("[data-kernel]")) {
  const name = each.dataset.kernel;
  if (!name) continue;
  if (!shown.has(name)) shown.set(name, []);
  shown.get(name).push(each);
  each.addEventListener("mouseenter", () => shown.get(name).forEach((one) => one.classList.add("lit")));
  each.addEventListener("mouseleave", () => shown.get(name).forEach((one) => one.classList.remove("lit")));
}

// The table, sorted by the column that is clicked: numbers from the largest, names from A.
const table = document.getElementById("kernels");
const columns = [...table.querySelectorAll("th")];
columns.forEach((column, position) => column.addEventListener("click", () => {
  const rows = [...table.tBodies[0].rows];
  const cell = (row) => row.cells[position];
  const isNumber = column.classList.contains("number");
  rows.sort((a, b) => isNumber
    ? Number(cell(b).dataset.value) - Number(cell(a).dataset.value)
    : cell(a).textContent.localeCompare(cell(b).textContent));
  rows.forEach((row) => table.tBodies[0].append(row));
  columns.forEach((each) => each.classList.toggle("sorted", each === column));
}));

// The timeline, zoomed around the pointer and dragged.
const bars = document.getElementById("timeline-bars");
if (bars) {
  const whole = bars.viewBox.baseVal.width;
  const height = bars.viewBox.baseVal.height;
  let start = 0, width = whole, held = null;
  const show = () => {
    width = Math.min(whole, Math.max(whole / 20000, width));
    start = Math.min(whole - width, Math.max(0, start));
    bars.setAttribute("viewBox", `${start} 0 ${width} ${height}`);
  };
  const at = (event) => {
    const box = bars.getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  };
  bars.addEventListener("wheel", (event) => {
    event.preventDefault();
    const share = at(event), middle = start + share * width;
    width *= event.deltaY > 0 ? 1.25 : 0.8;
    start = middle - share * Math.min(whole, width);
    show();
  }, { passive: false });
  bars.addEventListener("mousedown", (event) => { held = start + at(event) * width; event.preventDefault(); });
  window.addEventListener("mousemove", (event) => {
    if (held === null) return;
    start = held - at(event) * width;
    show();
  });
  window.addEventListener("mouseup", () => { held = null; });
  bars.addEventListener("dblclick", () => { start = 0; width = whole; show(); });
}
