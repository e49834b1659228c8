// Colours of the rows.

const RAMP = ["#4b3f9e", "#2f78b7", "#2aa59a", "#8cc152", "#f2d43d"].map(rgbOf);

function rgbOf(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function styleColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Code 0 is noise or missing; the others cycle through twelve colours.
function categoryColour(code) {
  return rgbOf(styleColour(code === 0 ? "--noise" : `--k${(code - 1) % 12}`));
}

// Numbers as levels from 0 to 255 of the ramp, clipped to its range.
function levelsOf(colour) {
  const width = colour.high - colour.low || 1;
  return Uint8Array.from(colour.values, (v) => Math.min(Math.max(Math.round(((v - colour.low) / width) * 255), 0), 255));
}

function rampColour(fraction) {
  const position = Math.min(Math.max(fraction, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(position), RAMP.length - 2);
  return RAMP[i].map((c, j) => Math.round(c + (position - i) * (RAMP[i + 1][j] - c)));
}

function css(rgb) {
  return `rgb(${rgb.join(",")})`;
}

// One RGBA colour per row; `opacity` is a function of the row.
function coloursOf(colour, n, opacity) {
  const rgba = new Uint8Array(4 * n);
  const palette = [];
  for (let code = 0; code < 256; code++) {
    palette.push(colour.codes ? categoryColour(code) : rampColour(code / 255));
  }
  const values = colour.codes || levelsOf(colour);
  for (let i = 0; i < n; i++) {
    // Codes beyond the palette cycle through the twelve colours too.
    const rgb = palette[values[i] < 256 ? values[i] : ((values[i] - 1) % 12) + 1];
    rgba[4 * i] = rgb[0];
    rgba[4 * i + 1] = rgb[1];
    rgba[4 * i + 2] = rgb[2];
    rgba[4 * i + 3] = opacity(i);
  }
  return rgba;
}
