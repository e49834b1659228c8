// The page: controls, tooltips, and the panel of the selected row.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function create(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== null));
  return node;
}

for (const map of data.maps) {
  map.x = unpack(map.x, Uint16Array);
  map.y = unpack(map.y, Uint16Array);
}
for (const colour of data.colours) {
  if (colour.codes) colour.codes = unpack(colour.codes, { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[colour.bytes]);
  else colour.values = unpack(colour.values, colour.bytes === 4 ? Float32Array : Float64Array);
}
const nearest = data.nearest;
for (const name of ["rows", "nearestSampled", "before", "after"]) {
  if (nearest[name]) nearest[name] = unpack(nearest[name], Uint32Array);
}
const spriteOf = new Map();
if (data.sprites && data.sprites.rows) {
  unpack(data.sprites.rows, Uint32Array).forEach((row, i) => spriteOf.set(row, i));
}

const MAX_LEGEND_ENTRIES = 40;
const clusters = data.colours[0];
const scatter = new Scatter(byId("scatter"), data.n);
let isolated = null;

const idOf = (row) => (data.ids ? data.ids[row] : `row ${row}`);
const currentColour = () => data.colours[byId("colour-choice").value];

const nameOf = (colour, code) => (code === 0 ? colour.none : colour.names[code - 1]);

function valueOf(colour, row) {
  if (colour.codes) return nameOf(colour, colour.codes[row]);
  const value = colour.values[row];
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}

function chipOf(row) {
  const code = clusters.codes[row];
  return create("span", { className: `chip ${code === 0 ? "noise" : `k${(code - 1) % 12}`}`, textContent: valueOf(clusters, row) });
}

// Thumbnail of a row, enlarged by an integer factor; null if it has none.
function pictureOf(row, side) {
  const s = data.sprites;
  if (!s) return null;
  const i = s.rows ? spriteOf.get(row) : row;
  if (i === undefined) return null;
  const factor = Math.max(1, Math.round(side / Math.max(s.width, s.height)));
  const picture = create("span", { className: "sprite" });
  Object.assign(picture.style, {
    width: `${s.width * factor}px`,
    height: `${s.height * factor}px`,
    backgroundImage: `url(${s.source})`,
    backgroundSize: `${s.width * s.columns * factor}px ${s.height * s.lines * factor}px`,
    backgroundPosition: `${-(i % s.columns) * s.width * factor}px ${-Math.floor(i / s.columns) * s.height * factor}px`,
  });
  return picture;
}

// Facts about a row besides its cluster: noise score, known label, and the value it is coloured by.
function factsOf(row) {
  const listed = data.colours.filter((c, i) => i > 0 && (c.name === "noise score" || c.name.startsWith("known ") || c === currentColour()));
  return listed.map((c) => `${c.name}: ${valueOf(c, row)}`);
}

function rowButton(row) {
  const button = create("button", { type: "button", className: "row", textContent: idOf(row) });
  button.dataset.row = row;
  return button;
}

function rowList(rows, others) {
  const items = Array.from(rows, (row) => {
    const tag = others.includes(row) ? null : create("span", { className: "new", textContent: "only here" });
    return create("li", {}, pictureOf(row, 24), rowButton(row), chipOf(row), tag);
  });
  return create("ol", {}, ...items);
}

function selectRow(row) {
  const k = nearest.k;
  const position = nearest.nearestSampled ? nearest.nearestSampled[row] : row;
  const sampledRow = nearest.rows ? nearest.rows[position] : row;
  const before = nearest.before.subarray(position * k, (position + 1) * k);
  const after = nearest.after.subarray(position * k, (position + 1) * k);
  const facts = factsOf(row).map((fact) => create("p", { className: "fact", textContent: fact }));
  const sampleNote = sampledRow === row ? null : create("p", {
    className: "hint",
    textContent: `Nearest rows were computed on a sample of ${nearest.rows.length.toLocaleString("en")} rows; this list is that of ${idOf(sampledRow)}, the nearest sampled row.`,
  });
  byId("row").replaceChildren(
    pictureOf(row, 64) || "",
    create("h3", { textContent: idOf(row) }),
    chipOf(row),
    ...facts,
    sampleNote || "",
    create("h4", { textContent: "Nearest by distance" }),
    rowList(before, after),
    create("h4", { textContent: "Nearest after smoothing" }),
    rowList(after, before),
  );
  const links = [
    ...Array.from(before, (r) => ({ row: r, kind: "before" })),
    ...Array.from(after, (r) => ({ row: r, kind: "after" })),
  ];
  scatter.select(row, links);
}

function showMap() {
  const map = data.maps[byId("map-choice").value];
  byId("map-about").textContent = map.about;
  scatter.setPositions(map.x, map.y, map.ratio);
}

function showColour() {
  const colour = currentColour();
  scatter.setColours(coloursOf(colour, data.n, isolated));
  const scale = byId("scale");
  if (!colour.codes) {
    const ramp = create("i");
    ramp.style.background = `linear-gradient(90deg, ${RAMP.map(css).join(",")})`;
    const limits = [colour.low, colour.high].map((v) => create("span", { textContent: Number(v.toPrecision(3)) }));
    scale.replaceChildren(create("div", { className: "ramp" }, limits[0], ramp, limits[1]));
    return;
  }
  const codes = [...new Set(colour.codes)].sort((a, b) => (a || Infinity) - (b || Infinity));
  const nHidden = codes.length - MAX_LEGEND_ENTRIES;
  const hiddenNote = nHidden > 0 ? create("span", { textContent: `and ${nHidden.toLocaleString("en")} more` }) : "";
  scale.replaceChildren(create("div", { className: "names" }, ...codes.slice(0, MAX_LEGEND_ENTRIES).map((code) => {
    const chip = create("span", { className: `chip ${code === 0 ? "noise" : `k${(code - 1) % 12}`}`, textContent: nameOf(colour, code) });
    const button = create("button", { type: "button" }, chip);
    button.setAttribute("aria-pressed", isolated === code);
    button.onclick = () => {
      isolated = isolated === code ? null : code;
      showColour();
    };
    return button;
  }), hiddenNote));
}

// Similarity matrices, with cluster colours along two sides.
function drawMatrices() {
  const m = data.matrices;
  const codes = unpack(m.clusters, Uint32Array);
  const strip = Math.max(3, Math.round(m.size / 60));
  const side = m.size + strip;
  for (const canvas of document.querySelectorAll(".matrix")) {
    const values = unpack(m[canvas.dataset.matrix], Uint8Array);
    canvas.width = canvas.height = side;
    const context = canvas.getContext("2d");
    const image = context.createImageData(side, side);
    const dark = rgbOf("#20174d");
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        const [a, b] = [i - strip, j - strip];
        let rgb = [0, 0, 0];
        if (a >= 0 && b >= 0) {
          const level = values[a * m.size + b] / 255;
          rgb = level < 0.15 ? dark.map((c, q) => c + (RAMP[0][q] - c) * (level / 0.15)) : rampColour((level - 0.15) / 0.85);
        } else if (a >= 0 || b >= 0) {
          rgb = categoryColour(codes[Math.max(a, b)]);
        }
        image.data.set([...rgb, a < 0 && b < 0 ? 0 : 255], 4 * (i * side + j));
      }
    }
    context.putImageData(image, 0, 0);
  }
}

function showTip(row, px, py) {
  const tip = byId("tip");
  tip.hidden = row < 0;
  if (row < 0) return;
  tip.replaceChildren(
    pictureOf(row, 48) || "",
    create("b", { textContent: idOf(row) }),
    chipOf(row),
    ...factsOf(row).map((fact) => create("div", { textContent: fact })),
  );
  const { offsetWidth: w, offsetHeight: h } = tip;
  tip.style.left = `${Math.min(Math.max(px + 14, 4), scatter.width - w - 4)}px`;
  tip.style.top = `${py + h + 18 < scatter.height ? py + 14 : Math.max(py - h - 10, 4)}px`;
}

function followPointers() {
  const stage = byId("scatter");
  const pointers = new Map();
  let distanceMoved = 0;
  const local = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".zoom")) return;
    pointers.set(event.pointerId, local(event));
    distanceMoved = 0;
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    const now = local(event);
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") showTip(scatter.pick(...now), ...now);
      return;
    }
    const before = pointers.get(event.pointerId);
    pointers.set(event.pointerId, now);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    distanceMoved += Math.hypot(dx, dy);
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, position]) => position);
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      scatter.zoomAt(span(now) / span(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (distanceMoved > 4) {
      scatter.pan(dx, dy);
      showTip(-1);
    }
  });
  const onRelease = (event) => {
    const wasDown = pointers.delete(event.pointerId);
    if (!wasDown || distanceMoved > 4 || event.type !== "pointerup") return;
    const row = scatter.pick(...local(event));
    if (row >= 0) selectRow(row);
  };
  stage.addEventListener("pointerup", onRelease);
  stage.addEventListener("pointercancel", onRelease);
  stage.addEventListener("pointerleave", () => showTip(-1));
  stage.addEventListener("wheel", (event) => {
    // A plain wheel scrolls the page.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    scatter.zoomAt(Math.exp(-event.deltaY * 0.003), ...local(event));
  }, { passive: false });
  stage.addEventListener("dblclick", (event) => scatter.zoomAt(2, ...local(event)));
  stage.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (event.key in steps) scatter.pan(...steps[event.key]);
    else if (event.key === "+") scatter.zoomAt(1.5);
    else if (event.key === "-") scatter.zoomAt(1 / 1.5);
    else return;
    event.preventDefault();
  });
}

function findRow(text) {
  const query = text.trim().toLowerCase();
  if (query === "") return;
  let row = data.ids ? data.ids.findIndex((id) => id.toLowerCase() === query) : -1;
  if (row < 0 && data.ids) row = data.ids.findIndex((id) => id.toLowerCase().includes(query));
  if (row < 0 && /^(row )?\d+$/.test(query)) row = Number(query.replace("row ", ""));
  if (row >= 0 && row < data.n) selectRow(row);
}

function init() {
  const options = (list) => list.map((entry, i) => create("option", { value: i, textContent: entry.name }));
  byId("map-choice").append(...options(data.maps));
  byId("colour-choice").append(...options(data.colours));
  byId("map-choice").onchange = showMap;
  byId("colour-choice").onchange = () => {
    isolated = null;
    showColour();
  };
  byId("find").onchange = (event) => findRow(event.target.value);
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.onclick = () => {
      const factor = Number(button.dataset.zoom);
      if (factor) scatter.zoomAt(factor);
      else {
        scatter.reset();
        scatter.draw();
      }
    };
  }
  byId("theme").onclick = () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    showColour();
    drawMatrices();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showColour);
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
    if (!button.closest("#row")) byId("map").scrollIntoView();
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.onclick = () => navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
  }
  showColour();
  showMap();
  followPointers();
  drawMatrices();
  document.documentElement.dataset.ready = "true";
}

init();
