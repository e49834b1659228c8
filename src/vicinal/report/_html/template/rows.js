// The panel of one row: its own values, and its nearest rows.

function valueTable(row) {
  const columns = data.colours.slice(1);
  const cells = columns.map((c) => create("tr", {}, create("th", { scope: "row", textContent: c.name }), create("td", { textContent: valueOf(c, row) })));
  const texts = data.texts.map((t) => create("tr", {}, create("th", { scope: "row", textContent: t.name }), create("td", { textContent: t.values[row] })));
  return create("table", {}, create("tbody", {}, ...cells, ...texts));
}

function selectRow(row) {
  const { k, rows } = data.nearest;
  const nearest = rows.subarray(row * k, (row + 1) * k);
  byId("row").replaceChildren(
    pictureOf(row, 64) || "",
    create("h3", { textContent: idOf(row) }),
    chipOf(row),
    create("details", { open: innerWidth > 900 }, create("summary", { textContent: "Values" }), valueTable(row)),
    create("h4", { textContent: "Nearest rows" }),
    create("ol", {}, ...Array.from(nearest, (r) => create("li", {}, pictureOf(r, 24), rowButton(r), chipOf(r)))),
  );
  scatter.select(row, nearest);
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

// Rows whose id equals the words, contains them, or has them in a text or category; or the row of that number.
function matchingRows(words) {
  const query = words.trim().toLowerCase();
  if (query === "") return [];
  const ids = data.ids || [];
  const where = (values) => values.flatMap((value, row) => (value.toLowerCase().includes(query) ? [row] : []));
  const exact = ids.flatMap((id, row) => (id.toLowerCase() === query ? [row] : []));
  if (exact.length) return exact;
  const number = /^(row )?\d+$/.test(query) ? Number(query.replace("row ", "")) : -1;
  const found = new Set(where(ids));
  for (const text of data.texts) for (const row of where(text.values)) found.add(row);
  if (number >= 0 && number < data.n) return found.size ? [...found] : [number];
  for (const colour of data.colours.slice(1)) {
    if (!colour.codes || colour.name.startsWith("cluster by")) continue;
    const codes = new Set(colour.names.flatMap((name, i) => (name.toLowerCase().includes(query) ? [i + 1] : [])));
    if (codes.size) for (let row = 0; row < data.n; row++) if (codes.has(colour.codes[row])) found.add(row);
  }
  return [...found].sort((a, b) => a - b);
}

function findRow(words) {
  if (words.trim() === "") return say("");
  const rows = matchingRows(words);
  if (rows.length === 0) return say(`No row matches “${words.trim()}”.`);
  selectRow(rows[0]);
  if (rows.length === 1) return say(`Found ${idOf(rows[0])}.`);
  setSelection(maskOf(rows));
  say(`${count(rows.length, "row")} match “${words.trim()}”; they are selected, and ${idOf(rows[0])} is shown.`);
}
