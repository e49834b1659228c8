// Names that the reader gives to clusters, and files with the selection and the names.

const FORMAT = "vicinal selection", VERSION = 1;
const MAX_NAME_LENGTH = 100;
// Names by layer, then by code. A Map, because a name or number may be that of a property of every object.
const names = new Map();

const givenName = (code) => (names.get(state.layer) || new Map()).get(code);

function setName(layer, code, text) {
  const name = String(text).trim().slice(0, MAX_NAME_LENGTH);
  if (!names.has(layer)) names.set(layer, new Map());
  if (name) names.get(layer).set(code, name);
  else names.get(layer).delete(code);
}

// Chips in the tables of the report are those of the reported clusters.
function renameChips() {
  const given = names.get(data.layers.reported) || new Map();
  for (const chip of document.querySelectorAll("[data-cluster]")) {
    const code = Number(chip.dataset.cluster) + 1;
    if (code > 0) chip.textContent = given.get(code) || clusters.names[code - 1];
  }
}

function afterNaming() {
  renameChips();
  showColour();
  showSummary();
}

// All names, with the number of clusters of their layer.
function givenNames() {
  return [...names].flatMap(([layer, byCode]) => [...byCode].map(([code, name]) => ({ clusters: data.layers.numbers[layer], cluster: code - 1, name })));
}

function showNameInputs() {
  const codes = [...new Set(clusters.codes)].filter((code) => code > 0).sort((a, b) => a - b);
  byId("name-list").replaceChildren(...codes.map((code) => {
    const input = create("input", { type: "text", value: givenName(code) || "", maxLength: MAX_NAME_LENGTH, placeholder: clusters.names[code - 1] });
    input.setAttribute("aria-label", `name of ${clusters.names[code - 1]}`);
    input.onchange = () => {
      setName(state.layer, code, input.value);
      afterNaming();
    };
    return create("li", {}, create("span", { className: chipClass(code) }), input);
  }));
}

// A cell of a csv file. A spreadsheet would run text that starts with one of these characters as a formula.
function cellOf(value) {
  const text = typeof value === "number" ? String(value) : value.replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function selectionCsv() {
  const columns = data.colours.slice(1);
  const head = ["row", "id", "cluster", "cluster name", ...columns.map((c) => c.name), ...data.texts.map((t) => t.name)];
  const rows = state.selected ? rowsOf(state.selected) : Array.from({ length: data.n }, (_, row) => row);
  const lines = rows.map((row) => [
    row,
    idOf(row),
    clusters.codes[row] - 1,
    valueOf(clusters, row),
    ...columns.map((c) => (c.codes || c.date ? valueOf(c, row) : c.values[row])),
    ...data.texts.map((t) => t.values[row]),
  ]);
  return [head, ...lines].map((cells) => cells.map(cellOf).join(",")).join("\n") + "\n";
}

function selectionJson() {
  const content = {
    format: FORMAT,
    version: VERSION,
    table: data.title,
    n: data.n,
    clusters: data.layers.numbers[state.layer],
    rows: state.selected ? rowsOf(state.selected) : [],
    names: givenNames(),
  };
  return JSON.stringify(content, null, 1);
}

function save(text, type, extension) {
  const link = create("a", { href: URL.createObjectURL(new Blob([text], { type })), download: `selection.${extension}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The records of a csv text; quoted cells may contain commas, quotes and line breaks.
function csvRecords(text) {
  const records = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    records.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== ",") records.push([]);
  }
  return records.filter((record) => record.length > 1 || record[0] !== "");
}

function checkedRows(rows) {
  if (!Array.isArray(rows)) throw new Error("it has no list of rows");
  const valid = rows.every((row) => Number.isInteger(row) && row >= 0 && row < data.n);
  if (!valid) throw new Error(`a row number is not one of this table, which has ${count(data.n, "row")}`);
  return rows;
}

// Layer, code and name of each given name.
function checkedNames(given) {
  const valid = Array.isArray(given) && given.every((entry) => entry !== null && typeof entry === "object" && typeof entry.name === "string");
  if (!valid) throw new Error("its names are not a list of clusters with names");
  const entries = given.map(({ clusters: number, cluster, name }) => [data.layers.numbers.indexOf(number), cluster + 1, name]);
  const known = entries.every(([layer, code]) => layer >= 0 && Number.isInteger(code) && code > 0 && code <= clusters.names.length);
  if (!known) throw new Error("it names clusters that this table does not have");
  return entries;
}

// The page changes only after all of the file has been checked.
function loadJson(text) {
  const content = JSON.parse(text);
  if (content === null || content.format !== FORMAT) throw new Error("it is not a selection that this page exported");
  if (content.version !== VERSION) throw new Error(`its version is ${content.version}, this page reads version ${VERSION}`);
  if (content.n !== data.n) throw new Error(`it belongs to a table of ${content.n} rows, this one has ${data.n}`);
  const rows = checkedRows(content.rows);
  const given = checkedNames(content.names);
  names.clear();
  for (const entry of given) setName(...entry);
  const layer = data.layers.numbers.indexOf(content.clusters);
  if (layer >= 0) setLayer(layer);
  return rows;
}

function loadCsv(text) {
  const [head, ...records] = csvRecords(text);
  if (!head || head[0] !== "row") throw new Error("its first column is not “row”, as in a file that this page exported");
  return checkedRows(records.map(([row]) => (/^\d+$/.test(row) ? Number(row) : NaN)));
}

function loadSelection(text, isJson) {
  try {
    setSelection(maskOf(isJson ? loadJson(text) : loadCsv(text)));
    afterNaming();
    showNameInputs();
    say(`Loaded ${count(state.selected ? state.selected.reduce((a, b) => a + b, 0) : 0, "row")}.`);
  } catch (error) {
    say(`The file could not be loaded: ${error.message}.`);
  }
}
