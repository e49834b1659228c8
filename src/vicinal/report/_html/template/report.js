// The page: its controls, and the order in which everything starts.

const MAX_LEGEND_ENTRIES = 40;
const clusters = data.colours[0];
let scatter;

const currentColour = () => data.colours[byId("colour-choice").value];

function showMap() {
  const map = data.maps[byId("map-choice").value];
  byId("map-about").textContent = map.about;
  scatter.setPositions(map.x, map.y, map.ratio);
}

function showColour() {
  const colour = currentColour();
  scatter.setColours(coloursOf(colour, data.n, (row) => opacityOf(row, colour.codes)));
  const scale = byId("scale");
  if (!colour.codes) {
    const ramp = create("i");
    ramp.style.background = `linear-gradient(90deg, ${RAMP.map(css).join(",")})`;
    const limits = [colour.low, colour.high].map((v) => create("span", { textContent: colour.date ? textOf(v, colour) : Number(v.toPrecision(3)) }));
    scale.replaceChildren(create("div", { className: "ramp" }, limits[0], ramp, limits[1]));
    return;
  }
  const codes = [...new Set(colour.codes)].sort((a, b) => (a || Infinity) - (b || Infinity));
  const nHidden = codes.length - MAX_LEGEND_ENTRIES;
  const hiddenNote = nHidden > 0 ? create("span", { textContent: `and ${nHidden.toLocaleString("en")} more` }) : "";
  const focused = scale.contains(document.activeElement) ? document.activeElement.dataset.code : null;
  scale.replaceChildren(create("div", { className: "names" }, ...codes.slice(0, MAX_LEGEND_ENTRIES).map((code) => {
    const chip = create("span", { className: chipClass(code), textContent: nameOf(colour, code) });
    const button = create("button", { type: "button" }, chip);
    button.dataset.code = code;
    button.setAttribute("aria-pressed", state.isolated === code);
    button.onclick = () => {
      state.isolated = state.isolated === code ? null : code;
      showColour();
    };
    return button;
  }), hiddenNote));
  // Replacing the buttons must not throw keyboard users back to the top of the page.
  if (focused !== null) scale.querySelector(`[data-code="${Number(focused)}"]`)?.focus();
}

function setLayer(layer) {
  state.layer = layer;
  state.isolated = null;
  clusters.codes = data.layers.codes[layer];
  byId("layer").value = layer;
  const reported = layer === data.layers.reported ? " (reported)" : "";
  byId("layer").setAttribute("aria-valuetext", `${data.layers.numbers[layer]} clusters${reported}`);
  byId("layer-text").textContent = `${data.layers.numbers[layer]}${reported}`;
  showNameInputs();
  showFilterInputs();
  setFilters(state.filters.filter((filter) => filter.colour !== clusters));
  showSummary();
  if (scatter.selected !== undefined) selectRow(scatter.selected);
}

function initLayers() {
  const { layers } = data;
  state.layer = layers.reported;
  byId("layer-text").textContent = `${layers.numbers[layers.reported]} (reported)`;
  Object.assign(byId("layer"), { min: 0, max: layers.numbers.length - 1, value: layers.reported });
  byId("layer-control").hidden = layers.numbers.length < 2;
  byId("layer").oninput = (event) => setLayer(Number(event.target.value));
}

function initControls() {
  const options = (list) => list.map((entry, i) => create("option", { value: i, textContent: entry.name }));
  byId("map-choice").append(...options(data.maps));
  byId("colour-choice").append(...options(data.colours));
  byId("filter-column").append(...options(data.colours));
  byId("map-choice").onchange = showMap;
  byId("colour-choice").onchange = () => {
    state.isolated = null;
    showColour();
  };
  byId("find").onchange = (event) => findRow(event.target.value);
  byId("filter-column").onchange = showFilterInputs;
  const actions = {
    "filter-add": addFilter,
    "select-view": selectView,
    "select-filtered": selectFiltered,
    invert: invertSelection,
    clear: () => setSelection(null),
    "save-csv": () => save(selectionCsv(), "text/csv", "csv"),
    "save-json": () => save(selectionJson(), "application/json", "json"),
    load: () => byId("load-file").click(),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).onclick = action;
  byId("load-file").onchange = async (event) => {
    const [file] = event.target.files;
    if (file) loadSelection(await file.text(), file.name.toLowerCase().endsWith(".json"));
    event.target.value = "";
  };
  for (const button of document.querySelectorAll("button[data-tool]")) {
    button.onclick = () => setTool(button.dataset.tool);
  }
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.onclick = () => {
      const factor = Number(button.dataset.zoom);
      if (factor) scatter.zoomAt(factor);
      else scatter.showAll();
    };
  }
  byId("theme").onclick = () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    showColour();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showColour);
}

function initRowButtons() {
  for (const button of document.querySelectorAll("button.row")) {
    const picture = pictureOf(Number(button.dataset.row), button.closest(".rows") ? 40 : 24);
    if (picture) {
      button.classList.add("pictured");
      button.prepend(picture);
    }
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-row]");
    if (!button) return;
    selectRow(Number(button.dataset.row));
    if (!button.closest("#row, #selection")) byId("map").scrollIntoView();
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.onclick = () => navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
  }
}

function start() {
  unpackAll();
  scatter = new Scatter(byId("scatter"), data.n);
  initControls();
  initLayers();
  showColour();
  showMap();
  showFilterInputs();
  showNameInputs();
  initRowButtons();
  followPointers();
  document.documentElement.dataset.ready = "true";
}

if (addressesOf(data).length === 0) start();
else fetchArrays().then(start).catch((error) => say(`The data could not be loaded: ${error.message}.`));
