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
