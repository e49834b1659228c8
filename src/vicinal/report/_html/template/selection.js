// Selected and filtered rows: one byte per row each, drawn by opacity.

const state = { selected: null, filters: [], visible: null, isolated: null, layer: 0, tool: "pan" };
const OPAQUE = 235, FAINT = 22, UNSELECTED = 60;

function maskOf(rows) {
  const mask = new Uint8Array(data.n);
  for (const row of rows) mask[row] = 1;
  return mask;
}

function rowsOf(mask) {
  const rows = [];
  mask.forEach((on, row) => on && rows.push(row));
  return rows;
}

// Opacity of each row: filtered rows are faint, and so are those of other categories while one is isolated.
function opacityOf(row, codes) {
  if (state.visible && !state.visible[row]) return FAINT;
  if (state.isolated !== null && codes[row] !== state.isolated) return FAINT;
  return !state.selected || state.selected[row] ? OPAQUE : UNSELECTED;
}

function setSelection(mask) {
  state.selected = mask && mask.includes(1) ? mask : null;
  showColour();
  showSummary();
}

function passes(filter, row) {
  if (filter.kind === "category") return filter.colour.codes[row] === filter.code;
  const value = filter.colour.values[row];
  return value >= filter.low && value <= filter.high;
}

function setFilters(filters) {
  state.filters = filters;
  state.visible = null;
  if (filters.length) {
    state.visible = new Uint8Array(data.n);
    for (let row = 0; row < data.n; row++) state.visible[row] = filters.every((filter) => passes(filter, row)) ? 1 : 0;
  }
  showFilters();
  showColour();
  const n = state.visible ? state.visible.reduce((a, b) => a + b, 0) : data.n;
  say(filters.length ? `${count(n, "row")} of ${data.n.toLocaleString("en")} pass the filters.` : "No filter.");
}

const filterText = (f) => (f.kind === "category" ? `${f.colour.name} is ${nameOf(f.colour, f.code)}` : `${f.colour.name} from ${textOf(f.low, f.colour)} to ${textOf(f.high, f.colour)}`);

function showFilters() {
  byId("filter-list").replaceChildren(...state.filters.map((filter, i) => {
    const text = filterText(filter);
    const button = create("button", { type: "button", textContent: "remove" });
    button.setAttribute("aria-label", `remove the filter ${text}`);
    button.onclick = () => setFilters(state.filters.filter((_, j) => j !== i));
    return create("li", {}, create("span", { textContent: text }), button);
  }));
}

// The inputs for the chosen column: a range, or one of its categories.
function showFilterInputs() {
  const colour = data.colours[byId("filter-column").value];
  if (colour.codes) {
    const codes = [...new Set(colour.codes)].sort((a, b) => (a || Infinity) - (b || Infinity));
    const options = codes.map((code) => create("option", { value: code, textContent: nameOf(colour, code) }));
    byId("filter-inputs").replaceChildren(create("label", { textContent: "is " }, create("select", { id: "filter-code" }, ...options)));
    return;
  }
  let [low, high] = [Infinity, -Infinity];
  for (const value of colour.values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const type = { day: "date", time: "datetime-local" }[colour.date] || "number";
  const text = (value) => (colour.date ? textOf(value, colour).replace(" ", "T") : value);
  const input = (id, value) => create("input", { id, type, step: "any", value: text(value) });
  byId("filter-inputs").replaceChildren(
    create("label", { textContent: "from " }, input("filter-low", low)),
    create("label", { textContent: "to " }, input("filter-high", high)),
  );
}

function addFilter() {
  const colour = data.colours[byId("filter-column").value];
  if (colour.codes) {
    return setFilters([...state.filters, { kind: "category", colour, code: Number(byId("filter-code").value) }]);
  }
  const [low, high] = ["filter-low", "filter-high"].map((id) => byId(id).valueAsNumber);
  if (Number.isNaN(low) || Number.isNaN(high)) return say(`A filter needs two ${colour.date ? "dates" : "numbers"}.`);
  if (!colour.date) return setFilters([...state.filters, { kind: "range", colour, low, high }]);
  // The last day, or minute, is part of the range; a margin below half a second absorbs rounding.
  const last = high + 1000 * (colour.date === "day" ? 86399 : 59);
  setFilters([...state.filters, { kind: "range", colour, low: yearsOf(low - 400), high: yearsOf(last + 400) }]);
}

// Rows inside a polygon of map positions (pairs from 0 to 1), by the even-odd rule; filtered rows stay out.
function rowsInside(polygon) {
  const xs = polygon.map((p) => p[0] * 65535), ys = polygon.map((p) => p[1] * 65535);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const mask = new Uint8Array(data.n);
  const positions = scatter.positions;
  const codes = currentColour().codes;
  for (let row = 0; row < data.n; row++) {
    const x = positions[2 * row], y = positions[2 * row + 1];
    if (x < left || x > right || y < low || y > high) continue;
    if (opacityOf(row, codes) === FAINT) continue;
    let inside = false;
    for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
      if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) inside = !inside;
    }
    if (inside) mask[row] = 1;
  }
  return mask;
}

const boxAround = ([ax, ay], [bx, by]) => [[ax, ay], [bx, ay], [bx, by], [ax, by]];

function selectInside(pixels, keep) {
  const mask = rowsInside(pixels.map(([px, py]) => scatter.mapAt(px, py)));
  if (keep && state.selected) for (let row = 0; row < data.n; row++) mask[row] |= state.selected[row];
  setSelection(mask);
  say(state.selected ? "" : "No row is inside.");
}

function selectView() {
  selectInside(boxAround([0, 0], [scatter.width, scatter.height]), false);
}

function selectFiltered() {
  setSelection(state.visible ? state.visible.slice() : new Uint8Array(data.n).fill(1));
}

function invertSelection() {
  setSelection(state.selected ? state.selected.map((on) => 1 - on) : new Uint8Array(data.n).fill(1));
}

function setTool(tool) {
  state.tool = tool;
  byId("scatter").dataset.tool = tool;
  for (const button of document.querySelectorAll("[data-tool]")) {
    if (button.tagName === "BUTTON") button.setAttribute("aria-pressed", button.dataset.tool === tool);
  }
}
