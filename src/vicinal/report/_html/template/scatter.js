// Scatter plot of many points, drawn with WebGL (or a 2D canvas without it). A grid finds the point under
// the pointer; a second canvas on top shows the selected row and its neighbours.

const VERTEX = `
attribute vec2 fromPosition, toPosition;
attribute vec4 colour;
uniform float progress, size;
uniform vec4 view;
varying vec4 pointColour;
void main() {
  vec2 position = mix(fromPosition, toPosition, progress);
  gl_Position = vec4(position * view.xy + view.zw, 0.0, 1.0);
  gl_PointSize = size;
  pointColour = colour;
}`;
const FRAGMENT = `
precision mediump float;
varying vec4 pointColour;
void main() {
  float radius = 2.0 * length(gl_PointCoord - 0.5);
  float edge = 1.0 - smoothstep(0.8, 1.0, radius);
  gl_FragColor = vec4(pointColour.rgb, 1.0) * pointColour.a * edge;
}`;
const CELLS = 256;
const PICK_RADIUS = 14;
const MARGIN = 0.04;
// While the map moves, only as many points are drawn as a frame has time for; all of them once it rests.
const MIN_MOVING = 5000;
const FRAME_MS = 25;
const REST_MS = 200;

class Scatter {
  constructor(parent, n) {
    this.parent = parent;
    this.n = n;
    this.zoom = 1;
    this.centre = [0.5, 0.5];
    this.progress = 1;
    this.links = [];
    this.nMoving = Math.min(n, 20 * MIN_MOVING);
    this.canvas = parent.insertBefore(document.createElement("canvas"), parent.firstChild);
    this.overlay = parent.insertBefore(document.createElement("canvas"), this.canvas.nextSibling);
    this.overlay.className = "overlay";
    // The drawing buffer is preserved so that the page can be printed.
    const options = { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: true };
    this.gl = new URLSearchParams(location.search).has("plain") ? null : this.canvas.getContext("webgl", options);
    if (this.gl) this.initWebgl();
    new ResizeObserver(() => this.resize()).observe(parent);
    this.resize();
  }

  initWebgl() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(["view", "progress", "size"].map((u) => [u, gl.getUniformLocation(program, u)]));
    this.buffers = {};
    const layout = { fromPosition: [2, gl.UNSIGNED_SHORT], toPosition: [2, gl.UNSIGNED_SHORT], colour: [4, gl.UNSIGNED_BYTE] };
    for (const [name, [size, type]] of Object.entries(layout)) {
      this.buffers[name] = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      const location = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, type, true, 0, 0);
    }
    if (this.n > MIN_MOVING && gl.getExtension("OES_element_index_uint")) {
      this.sampled = gl.createBuffer();
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.sampled);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, shuffledRows(this.n), gl.STATIC_DRAW);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  upload(name, array) {
    if (!this.gl) return;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, array, this.gl.STATIC_DRAW);
  }

  // Coordinates from 0 to 65535; `ratio` is width over height if the map is to scale.
  setPositions(x, y, ratio) {
    const next = new Uint16Array(2 * this.n);
    for (let i = 0; i < this.n; i++) {
      next[2 * i] = x[i];
      next[2 * i + 1] = y[i];
    }
    const instant = !this.positions || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.upload("fromPosition", instant ? next : this.positions);
    this.upload("toPosition", next);
    this.positions = next;
    this.ratio = ratio;
    this.buildIndex();
    this.reset();
    if (instant || !this.gl) {
      this.progress = 1;
      this.draw();
      return;
    }
    const start = performance.now();
    const step = (now) => {
      const t = Math.min((now - start) / 450, 1);
      this.progress = t * t * (3 - 2 * t);
      this.drawMoving();
      if (t < 1) requestAnimationFrame(step);
    };
    this.progress = 0;
    requestAnimationFrame(step);
  }

  setColours(colours) {
    this.colours = colours;
    this.upload("colour", colours);
    this.draw();
  }

  // Points by grid cell, in CSR form.
  buildIndex() {
    const cell = (i) => (this.positions[2 * i] >> 8) * CELLS + (this.positions[2 * i + 1] >> 8);
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    for (let i = 0; i < this.n; i++) this.starts[cell(i) + 1]++;
    for (let c = 0; c < CELLS * CELLS; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.members = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) this.members[next[cell(i)]++] = i;
  }

  resize() {
    const { clientWidth, clientHeight } = this.parent;
    this.pixelRatio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.canvas, this.overlay]) {
      canvas.width = Math.round(clientWidth * this.pixelRatio);
      canvas.height = Math.round(clientHeight * this.pixelRatio);
    }
    this.width = clientWidth;
    this.height = clientHeight;
    if (this.positions) this.draw();
  }

  reset() {
    this.zoom = 1;
    this.centre = [0.5, 0.5];
  }

  // Size of the whole map in pixels.
  extent() {
    let w = this.width * (1 - 2 * MARGIN), h = this.height * (1 - 2 * MARGIN);
    if (this.ratio) {
      if (w / h > this.ratio) w = h * this.ratio;
      else h = w / this.ratio;
    }
    return [w * this.zoom, h * this.zoom];
  }

  pixelOf(i) {
    const [w, h] = this.extent();
    return [
      this.width / 2 + (this.positions[2 * i] / 65535 - this.centre[0]) * w,
      this.height / 2 - (this.positions[2 * i + 1] / 65535 - this.centre[1]) * h,
    ];
  }

  mapAt(px, py) {
    const [w, h] = this.extent();
    return [(px - this.width / 2) / w + this.centre[0], (this.height / 2 - py) / h + this.centre[1]];
  }

  zoomAt(factor, px = this.width / 2, py = this.height / 2) {
    const before = this.mapAt(px, py);
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.5), 400);
    const after = this.mapAt(px, py);
    this.centre = this.centre.map((c, j) => c + before[j] - after[j]);
    this.drawMoving();
  }

  pan(dx, dy) {
    const [w, h] = this.extent();
    this.centre = [this.centre[0] - dx / w, this.centre[1] + dy / h];
    this.drawMoving();
  }

  // The visible row nearest to a pixel, or -1 if none is close.
  pick(px, py, radius = PICK_RADIUS) {
    const [w, h] = this.extent();
    const [x, y] = this.mapAt(px, py);
    const cellRange = (v, reach) => [v - reach, v + reach].map((e) => Math.min(Math.max(Math.floor(e * CELLS), 0), CELLS - 1));
    const [left, right] = cellRange(x, radius / w);
    const [low, high] = cellRange(y, radius / h);
    let best = -1, smallest = radius * radius;
    for (let a = left; a <= right; a++) {
      for (let m = this.starts[a * CELLS + low]; m < this.starts[a * CELLS + high + 1]; m++) {
        const i = this.members[m];
        const [qx, qy] = this.pixelOf(i);
        const distance = (qx - px) ** 2 + (qy - py) ** 2;
        if (distance < smallest && this.colours[4 * i + 3] > FAINT) [best, smallest] = [i, distance];
      }
    }
    return best;
  }

  pointSize() {
    const base = Math.min(Math.max(260 / Math.sqrt(this.n), 2.2), 9);
    return base * Math.min(Math.pow(this.zoom, 0.35), 3);
  }

  // Draws a sample of the points, and all of them when nothing has moved for a while.
  drawMoving() {
    if (this.sampled) {
      clearTimeout(this.rest);
      this.moving = true;
      this.rest = setTimeout(() => {
        this.moving = false;
        this.lastFrame = undefined;
        this.draw();
      }, REST_MS);
    }
    this.draw();
  }

  // The time between frames of a movement shows how many points can be drawn.
  adaptSample(now) {
    const elapsed = now - this.lastFrame;
    this.lastFrame = this.moving ? now : undefined;
    if (!this.moving || !(elapsed < 1000)) return;
    const factor = elapsed > FRAME_MS ? Math.max(FRAME_MS / elapsed, 0.5) : 1.1;
    this.nMoving = Math.min(Math.max(Math.round(this.nMoving * factor), MIN_MOVING), this.n);
  }

  draw() {
    if (this.framePending) return;
    this.framePending = true;
    requestAnimationFrame((now) => {
      this.framePending = false;
      this.adaptSample(now);
      this.drawPoints();
      this.drawOverlay();
      this.frameCount = (this.frameCount || 0) + 1;
    });
  }

  drawPoints() {
    if (!this.positions || !this.colours) return;
    const [w, h] = this.extent();
    if (!this.gl) return this.drawCanvas2d();
    const gl = this.gl;
    const sx = (2 * w) / this.width, sy = (2 * h) / this.height;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(this.uniforms.view, sx, sy, -this.centre[0] * sx, -this.centre[1] * sy);
    gl.uniform1f(this.uniforms.progress, this.progress);
    gl.uniform1f(this.uniforms.size, this.pointSize() * this.pixelRatio);
    if (this.moving && this.nMoving < this.n) gl.drawElements(gl.POINTS, this.nMoving, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.POINTS, 0, this.n);
  }

  drawCanvas2d() {
    const context = this.canvas.getContext("2d");
    const size = this.pointSize();
    context.setTransform(this.pixelRatio, 0, 0, this.pixelRatio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    for (let i = 0; i < this.n; i++) {
      const [x, y] = this.pixelOf(i);
      if (x < 0 || y < 0 || x > this.width || y > this.height) continue;
      const c = this.colours.subarray(4 * i, 4 * i + 4);
      context.fillStyle = `rgba(${c[0]},${c[1]},${c[2]},${c[3] / 255})`;
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }

  // Links from the selected row to its nearest rows.
  drawOverlay() {
    const context = this.overlay.getContext("2d");
    context.setTransform(this.pixelRatio, 0, 0, this.pixelRatio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawOutline(context);
    if (this.selected === undefined) return;
    const from = this.pixelOf(this.selected);
    const ink = styleColour("--ink");
    const ring = this.pointSize() / 2 + 3;
    context.strokeStyle = ink;
    for (const row of this.links) {
      const to = this.pixelOf(row);
      context.globalAlpha = 0.55;
      context.lineWidth = 1.2;
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
      context.beginPath();
      context.arc(...to, ring - 1, 0, 7);
      context.stroke();
    }
    context.globalAlpha = 1;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(...from, ring + 2, 0, 7);
    context.stroke();
  }

  // The box or lasso that is being drawn, in pixels.
  drawOutline(context) {
    if (!this.outline) return;
    context.strokeStyle = styleColour("--accent");
    context.fillStyle = `rgba(${styleColour("--shade")},0.12)`;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const point of this.outline) context.lineTo(...point);
    context.closePath();
    context.fill();
    context.stroke();
  }

  setOutline(outline) {
    this.outline = outline;
    this.draw();
  }

  showAll() {
    this.reset();
    this.draw();
  }

  select(row, links) {
    this.selected = row;
    this.links = links;
    this.draw();
  }
}

// All rows in an order without meaning, the same in every visit.
function shuffledRows(n) {
  const rows = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 1;
  for (let i = n - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [rows[i], rows[j]] = [rows[j], rows[i]];
  }
  return rows;
}
