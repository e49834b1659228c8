// Elements of the page, and the texts of rows. Names, ids and values of the table only ever become text nodes.

const byId = (id) => document.getElementById(id);

function create(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== null));
  return node;
}

const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const idOf = (row) => (data.ids ? data.ids[row] : `row ${row}`);
const chipClass = (code) => `chip ${code === 0 ? "noise" : `k${(code - 1) % 12}`}`;

// Name of a category; clusters may have been named by the reader.
function nameOf(colour, code) {
  if (code === 0) return colour.none;
  return (colour === clusters && givenName(code)) || colour.names[code - 1];
}

// Dates are stored as years with decimals, such as 2021.25.
const SECONDS_PER_YEAR = 365.2425 * 86400;
const secondsOf = (years) => Math.round((years - 1970) * SECONDS_PER_YEAR);
const dateOf = (years) => new Date(1000 * secondsOf(years)).toISOString();
const yearsOf = (milliseconds) => 1970 + milliseconds / 1000 / SECONDS_PER_YEAR;

function textOf(value, colour = {}) {
  if (colour.date) return colour.date === "time" ? dateOf(value).slice(0, 16).replace("T", " ") : dateOf(value).slice(0, 10);
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}

function valueOf(colour, row) {
  return colour.codes ? nameOf(colour, colour.codes[row]) : textOf(colour.values[row], colour);
}

function chipOf(row) {
  const code = clusters.codes[row];
  return create("span", { className: chipClass(code), textContent: valueOf(clusters, row) });
}

// Thumbnail of a row, enlarged by an integer factor; null if it has none.
function pictureOf(row, side) {
  const s = data.sprites;
  if (!s) return null;
  const i = s.positions ? s.positions.get(row) : row;
  if (i === undefined) return null;
  const factor = Math.max(1, Math.round(side / Math.max(s.width, s.height)));
  const picture = create("span", { className: "sprite" });
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `image of ${idOf(row)}`);
  Object.assign(picture.style, {
    width: `${s.width * factor}px`,
    height: `${s.height * factor}px`,
    backgroundImage: `url(${s.source})`,
    backgroundSize: `${s.width * s.columns * factor}px ${s.height * s.lines * factor}px`,
    backgroundPosition: `${-(i % s.columns) * s.width * factor}px ${-Math.floor(i / s.columns) * s.height * factor}px`,
  });
  return picture;
}

// Facts about a row besides its cluster: noise score, known label, texts, and the value it is coloured by.
function factsOf(row) {
  const listed = data.colours.filter((c, i) => i > 0 && (c.name === "noise score" || c.name.startsWith("known ") || c === currentColour()));
  return [
    ...listed.map((c) => `${c.name}: ${valueOf(c, row)}`),
    ...data.texts.map((t) => `${t.name}: ${t.values[row]}`),
  ];
}

function rowButton(row) {
  const button = create("button", { type: "button", className: "row", textContent: idOf(row) });
  button.dataset.row = row;
  return button;
}

function say(text) {
  byId("status").textContent = text;
}
