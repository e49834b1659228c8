// The data of the page: numbers packed as base64 text, or fetched from the server of `vicinal explore`.

const data = JSON.parse(document.getElementById("data").textContent);
const ADDRESS = "array/";
const UNSIGNED = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
const fetched = new Map();

function unpack(text, ArrayType) {
  if (fetched.has(text)) return new ArrayType(fetched.get(text));
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new ArrayType(bytes.buffer);
}

// Addresses of arrays anywhere in the data. Names and texts of the table cannot be mistaken for addresses: only
// the entries that hold arrays are visited.
function addressesOf({ maps, colours, layers, nearest, sprites }) {
  const sources = [
    ...maps.flatMap((map) => [map.x, map.y]),
    ...colours.map((colour) => colour.codes || colour.values),
    ...layers.codes,
    nearest.rows,
    sprites && sprites.rows,
  ];
  return sources.filter((source) => source && source.startsWith(ADDRESS));
}

async function fetchArrays() {
  await Promise.all(addressesOf(data).map(async (address) => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    fetched.set(address, await response.arrayBuffer());
  }));
}

function unpackAll() {
  for (const map of data.maps) {
    map.x = unpack(map.x, Uint16Array);
    map.y = unpack(map.y, Uint16Array);
  }
  for (const colour of data.colours) {
    if (colour.codes) colour.codes = unpack(colour.codes, UNSIGNED[colour.bytes]);
    else colour.values = unpack(colour.values, colour.bytes === 4 ? Float32Array : Float64Array);
  }
  data.layers.codes = data.layers.codes.map((codes) => unpack(codes, UNSIGNED[data.layers.bytes]));
  data.nearest.rows = unpack(data.nearest.rows, Uint32Array);
  const sprites = data.sprites;
  if (sprites && sprites.rows) {
    sprites.positions = new Map();
    unpack(sprites.rows, Uint32Array).forEach((row, i) => sprites.positions.set(row, i));
  }
}
