// What is in the selected rows, compared with all rows; updated with every change of the selection.

const MAX_LISTED = 5;

// Sum of squares and mean of a column, over all rows or some.
function momentsOf(values, mask) {
  let n = 0, mean = 0, squares = 0;
  for (let row = 0; row < values.length; row++) {
    if (mask && !mask[row]) continue;
    n++;
    const difference = values[row] - mean;
    mean += difference / n;
    squares += difference * (values[row] - mean);
  }
  return { n, mean, std: Math.sqrt(squares / Math.max(n, 1)) };
}

function countsOf(colour, mask) {
  const counts = new Map();
  for (let row = 0; row < data.n; row++) {
    if (!mask || mask[row]) counts.set(colour.codes[row], (counts.get(colour.codes[row]) || 0) + 1);
  }
  return counts;
}

// Columns whose mean, or a category whose fraction, differs most from that of all rows, in standard deviations.
function differences(mask, n) {
  const found = [];
  for (const colour of data.colours.slice(1)) {
    if (colour.name.startsWith("cluster by")) continue;
    if (colour.codes) {
      const all = countsOf(colour, null);
      for (const [code, inside] of countsOf(colour, mask)) {
        const share = all.get(code) / data.n, here = inside / n;
        const z = (here - share) / Math.sqrt(share * (1 - share) || 1);
        found.push({ z, text: `${colour.name} is ${nameOf(colour, code)}: ${percent(here)} (all rows ${percent(share)})` });
      }
      continue;
    }
    const all = (colour.moments ||= momentsOf(colour.values, null));
    const here = momentsOf(colour.values, mask);
    const z = all.std > 0 ? (here.mean - all.mean) / all.std : 0;
    found.push({ z, text: `${colour.name}: mean ${textOf(here.mean, colour)} (all rows ${textOf(all.mean, colour)}, ${z >= 0 ? "+" : ""}${z.toFixed(1)} std)` });
  }
  return found.sort((a, b) => Math.abs(b.z) - Math.abs(a.z)).filter((d) => Math.abs(d.z) >= 0.2).slice(0, MAX_LISTED);
}

const percent = (fraction) => `${(100 * fraction).toFixed(1)} %`;

function showSummary() {
  const panel = byId("summary");
  const mask = state.selected;
  byId("selection").hidden = !mask;
  if (!mask) return panel.replaceChildren();
  const n = mask.reduce((a, b) => a + b, 0);
  const byCluster = [...countsOf(clusters, mask)].sort((a, b) => b[1] - a[1]);
  const clusterItems = byCluster.slice(0, 12).map(([code, inside]) => create(
    "li", {},
    create("span", { className: chipClass(code), textContent: nameOf(clusters, code) }),
    create("span", { textContent: ` ${inside.toLocaleString("en")} (${percent(inside / n)})` }),
  ));
  const different = differences(mask, n).map(({ text }) => create("li", { textContent: text }));
  const rows = rowsOf(mask).slice(0, MAX_LISTED).map((row) => create("li", {}, pictureOf(row, 24), rowButton(row)));
  panel.replaceChildren(
    create("h3", { textContent: `${count(n, "selected row")}, ${percent(n / data.n)} of all` }),
    create("ul", { className: "plain" }, ...clusterItems),
    create("h4", { textContent: different.length ? "What differs from all rows" : "No column differs clearly from all rows" }),
    create("ul", {}, ...different),
    create("h4", { textContent: n > MAX_LISTED ? `The first ${MAX_LISTED} rows` : "Rows" }),
    create("ul", { className: "plain" }, ...rows),
  );
}
