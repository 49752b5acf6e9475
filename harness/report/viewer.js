// Strands that turn: a viewer by WebGL2 without a library.
//
// Each segment is a ribbon of constant width on the screen, shaded as hair is (Kajiya and Kay 1989):
// bright where its tangent is across the light, with a highlight where the light leaves towards the
// eye. Rays are parallel; y is up. A body is described in harness/report/strands.h.

// ---- The body of a strands file

class StrandsData {
  constructor(head, bytes) {
    this.head = head;
    this.count = head.time.length;
    this.bytes = bytes;
    this.decode(head, bytes);
  }

  // Places of all frames as 16-bit numbers; where the other parts of a frame begin.
  decode(head, bytes) {
    const n = 3 * head.vertices;
    this.places = new Uint16Array(n * this.count);
    this.parts = [];
    let at = 0;
    for (let f = 0; f < this.count; f++) {
      const now = this.places.subarray(f * n, (f + 1) * n);
      const before = f > 0 ? this.places.subarray((f - 1) * n, f * n) : null;
      for (let k = 0; k < n; k++) {
        now[k] = (before ? before[k] : 0) + bytes[at + k] + 256 * bytes[at + n + k];
      }
      const impulse = at + 2 * n;
      const contacts = impulse + head.strands;
      const obstacles = contacts + 5 * head.contacts[f];
      this.parts.push({ impulse, contacts, obstacles });
      at = obstacles + 48 * head.kind.length;
    }
    if (at !== bytes.length) {
      throw new Error(`${head.file}: ${bytes.length} bytes of frames instead of ${at}`);
    }
  }

  // x, y, z of all vertices in m.
  points(frame, out) {
    const n = 3 * this.head.vertices;
    const { low, step } = this.head;
    for (let k = 0; k < n; k++) {
      out[k] = low[k % 3] + step * this.places[frame * n + k];
    }
    return out;
  }

  // The sum of |impulse| of a strand's contacts as a share of its logarithm's range; 0: none.
  impulseShare(frame, strand) {
    return this.bytes[this.parts[frame].impulse + strand] / 255;
  }

  // [{vertex, at, status}]: contact on the segment after that vertex.
  contacts(frame) {
    const n = this.head.contacts[frame];
    const at = this.parts[frame].contacts;
    const list = [];
    let vertex = 0;
    for (let k = 0; k < n; k++) {
      const byte = (run) => this.bytes[at + run * n + k];
      vertex = (vertex + byte(0) + (byte(1) << 8) + (byte(2) << 16)) & 0xffffff;
      list.push({
        vertex,
        at: byte(3) / 255,
        status: byte(4),
      });
    }
    return list;
  }

  // The place and the three axes of an obstacle.
  pose(frame, obstacle) {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset);
    const at = this.parts[frame].obstacles + 48 * obstacle;
    return Array.from({ length: 12 }, (_, k) => view.getFloat32(at + 4 * k, true));
  }

  // The frame nearest to a time.
  frameAt(time) {
    const times = this.head.time;
    let best = 0;
    for (let f = 1; f < times.length; f++) {
      if (Math.abs(times[f] - time) < Math.abs(times[best] - time)) {
        best = f;
      }
    }
    return best;
  }

  // m/s of a vertex, from the frames around.
  speed(frame, vertex) {
    const from = Math.max(0, frame - 1);
    const to = Math.min(this.count - 1, frame + 1);
    const seconds = this.head.time[to] - this.head.time[from];
    const n = 3 * this.head.vertices;
    let sum = 0;
    for (let k = 3 * vertex; k < 3 * vertex + 3; k++) {
      sum += (this.places[to * n + k] - this.places[from * n + k]) ** 2;
    }
    return seconds > 0 ? (this.head.step * Math.sqrt(sum)) / seconds : 0;
  }

  // What 95 of 100 vertices are slower than, of some frames.
  usualSpeed() {
    const speeds = [];
    const stride = Math.max(1, Math.floor(this.head.vertices / 500));
    for (let f = 0; f < this.count; f += Math.max(1, Math.floor(this.count / 12))) {
      for (let v = 0; v < this.head.vertices; v += stride) {
        speeds.push(this.speed(f, v));
      }
    }
    speeds.sort((a, b) => a - b);
    return speeds[Math.floor(0.95 * (speeds.length - 1))] || 1;
  }
}

// ---- Wires of obstacles: rings and meridians, in the obstacle's own frame
// (problems/strands/contact/obstacle.h)

const KINDS = ["sphere", "ellipsoid", "plane", "cylinder", "capsule"];

// The point (u from top to bottom, v around, both 0..1) of a surface.
function surfacePoint(kind, [a, b, c], u, v) {
  const [cos, sin] = [Math.cos(2 * Math.PI * v), Math.sin(2 * Math.PI * v)];
  if (kind === "sphere" || kind === "ellipsoid") {
    const size = kind === "sphere" ? [a, a, a] : [a, b, c];
    const wide = Math.sin(Math.PI * u);
    return [size[0] * wide * cos, size[1] * Math.cos(Math.PI * u), size[2] * wide * sin];
  }
  const end = Math.min(1, Math.min(u, 1 - u) / 0.25); // below 1 on an end
  const side = Math.max(-1, Math.min(1, (0.5 - u) / 0.25));
  const round = kind === "capsule";
  const radius = a * (round ? Math.sin((Math.PI / 2) * end) : end);
  const cap = round ? a * Math.cos((Math.PI / 2) * end) * Math.sign(0.5 - u) : 0;
  return [radius * cos, radius * sin, c * side + cap];
}

// Pairs of points.
function wiresOf(kind, size, span) {
  const lines = [];
  const add = (count, pieces, point) => {
    for (let k = 0; k <= count; k++) {
      for (let i = 0; i < pieces; i++) {
        lines.push(point(k / count, i / pieces), point(k / count, (i + 1) / pieces));
      }
    }
  };
  if (kind === "plane") {
    add(10, 1, (s, t) => [span * (s - 0.5), span * (t - 0.5), 0]);
    add(10, 1, (s, t) => [span * (t - 0.5), span * (s - 0.5), 0]);
  } else {
    add(9, 48, (s, t) => surfacePoint(kind, size, (s * 8 + 0.5) / 9, t));
    add(12, 32, (s, t) => surfacePoint(kind, size, t, s));
  }
  return lines;
}

const placeIn = (pose, [x, y, z]) =>
  [0, 1, 2].map((k) => pose[k] + pose[3 + k] * x + pose[6 + k] * y + pose[9 + k] * z);

// ---- Shaders

const RIBBON_VERTEX = `#version 300 es
in vec3 from; in vec3 to; in vec4 tint;
uniform mat4 camera; uniform vec2 viewport; uniform float width;
out vec3 tangent; out vec4 colour;
void main() {
  vec4 a = camera * vec4(from, 1.0), b = camera * vec4(to, 1.0);
  vec2 along = (b.xy - a.xy) * viewport;
  float size = length(along);
  vec2 way = size > 1e-6 ? along / size : vec2(1.0, 0.0);
  float side = float(gl_VertexID & 1) * 2.0 - 1.0;
  bool end = gl_VertexID > 1;
  vec4 at = end ? b : a;
  // A little longer than the segment, so that bends have no gaps.
  vec2 off = vec2(-way.y, way.x) * side + way * (end ? 0.5 : -0.5);
  at.xy += off * width / viewport;
  tangent = normalize(to - from + vec3(1e-12));
  colour = tint;
  gl_Position = tint.a > 0.0 ? at : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const RIBBON_FRAGMENT = `#version 300 es
precision highp float;
in vec3 tangent; in vec4 colour;
uniform vec3 light; uniform vec3 eye; uniform float shine;
out vec4 pixel;
void main() {
  vec3 t = normalize(tangent);
  float tl = dot(t, light), te = dot(t, eye);
  float sl = sqrt(max(0.0, 1.0 - tl * tl)), se = sqrt(max(0.0, 1.0 - te * te));
  float highlight = pow(max(0.0, sl * se - tl * te), 40.0);
  pixel = vec4(colour.rgb * (0.35 + 0.65 * sl) + shine * highlight * vec3(1.0, 0.9, 0.75), 1.0);
}`;

const FLAT_VERTEX = `#version 300 es
in vec3 place; in vec4 tint;
uniform mat4 camera; uniform float size;
out vec4 colour;
void main() {
  gl_Position = camera * vec4(place, 1.0);
  gl_PointSize = size;
  colour = tint;
}`;

const FLAT_FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
uniform bool round;
out vec4 pixel;
void main() {
  if (round && length(gl_PointCoord - 0.5) > 0.5) discard;
  pixel = colour;
}`;

function compileProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(`a shader does not compile: ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}

// ---- Colours

const rgbOf = (text) => {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
};

// Dark to light through blue, green and yellow (five points of viridis).
const SCALE = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"].map(rgbOf);

function scaleColour(share) {
  const t = Math.min(1, Math.max(0, share)) * (SCALE.length - 1);
  const k = Math.min(SCALE.length - 2, Math.floor(t));
  return [0, 1, 2].map((c) => Math.round(SCALE[k][c] + (t - k) * (SCALE[k + 1][c] - SCALE[k][c])));
}

// The same strand has the same tint in every frame.
function hairTint(strand, base) {
  const tint = 0.75 + (0.5 * ((Math.imul(strand, 2654435761) >>> 16) & 255)) / 255;
  return base.map((c) => Math.min(255, Math.round(c * tint)));
}

const STATUS_WORDS = ["open", "sticking", "sliding"];

// ---- The viewer

class Viewer {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.frame = 0;
    this.mode = "strand";
    this.showsContacts = Math.max(...data.head.contacts) < 500;
    this.turn = { yaw: 0.65, pitch: 0.2, zoom: 1, x: 0, y: 0 };
    const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    if (!gl) {
      throw new Error("this browser has no WebGL2");
    }
    this.gl = gl;
    this.measure();
    this.prepare();
    this.listen();
  }

  // The box of all strands in all frames, which the camera starts with.
  measure() {
    const { low, step, vertices } = this.data.head;
    const high = [0, 0, 0];
    const least = [65535, 65535, 65535];
    for (let k = 0; k < this.data.places.length; k++) {
      high[k % 3] = Math.max(high[k % 3], this.data.places[k]);
      least[k % 3] = Math.min(least[k % 3], this.data.places[k]);
    }
    const box = {
      low: low.map((x, k) => x + step * least[k]),
      high: low.map((x, k) => x + step * high[k]),
    };
    this.includeObstacles(box);
    this.centre = box.low.map((x, k) => (x + box.high[k]) / 2);
    this.radius = Math.max(1e-6, Math.hypot(...box.high.map((h, k) => h - box.low[k])) / 2);
    this.fastest = this.data.usualSpeed();
    this.points = new Float32Array(3 * vertices);
    this.tints = new Uint8Array(4 * vertices);
    this.strandOf = new Int32Array(vertices);
    this.isLast = new Uint8Array(vertices);
    let vertex = 0;
    this.data.head.length.forEach((length, line) => {
      this.strandOf.fill(this.data.head.strand[line], vertex, vertex + length);
      vertex += length;
      this.isLast[vertex - 1] = 1;
    });
  }

  // Obstacles would leave the strands a corner of the picture: they widen the box by a third of it
  // on each side at most.
  includeObstacles(box) {
    const { kind, size } = this.data.head;
    const most = Math.max(...box.high.map((h, k) => h - box.low[k])) / 3;
    const [low, high] = [box.low, box.high];
    kind.forEach((number, k) => {
      const [a, b, c] = size.slice(3 * k, 3 * k + 3);
      const word = KINDS[number];
      if (word !== "plane") {
        const reach = { ellipsoid: Math.max(a, b, c), cylinder: Math.hypot(a, c), capsule: a + c };
        const far = reach[word] ?? a;
        const place = this.data.pose(0, k);
        box.low = box.low.map((x, i) => Math.min(x, Math.max(low[i] - most, place[i] - far)));
        box.high = box.high.map((x, i) => Math.max(x, Math.min(high[i] + most, place[i] + far)));
      }
    });
  }

  prepare() {
    const gl = this.gl;
    this.ribbons = compileProgram(gl, RIBBON_VERTEX, RIBBON_FRAGMENT);
    this.flats = compileProgram(gl, FLAT_VERTEX, FLAT_FRAGMENT);
    this.buffers = { points: gl.createBuffer(), tints: gl.createBuffer() };
    this.flatBuffers = { points: gl.createBuffer(), tints: gl.createBuffer() };
    this.ribbonArrays = gl.createVertexArray();
    gl.bindVertexArray(this.ribbonArrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.points);
    this.attribute(this.ribbons, "from", 3, gl.FLOAT, 12, 0, 1);
    this.attribute(this.ribbons, "to", 3, gl.FLOAT, 12, 12, 1);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.tints);
    this.attribute(this.ribbons, "tint", 4, gl.UNSIGNED_BYTE, 4, 0, 1);
    this.flatArrays = gl.createVertexArray();
    gl.bindVertexArray(this.flatArrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flatBuffers.points);
    this.attribute(this.flats, "place", 3, gl.FLOAT, 12, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flatBuffers.tints);
    this.attribute(this.flats, "tint", 4, gl.UNSIGNED_BYTE, 4, 0, 0);
    gl.bindVertexArray(null);
  }

  attribute(program, name, size, type, stride, offset, divisor) {
    const gl = this.gl;
    const place = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, stride, offset);
    gl.vertexAttribDivisor(place, divisor);
  }

  uniform(program, name) {
    return this.gl.getUniformLocation(program, name);
  }

  // Right, up and towards the eye, as unit vectors of the world.
  axes() {
    const { yaw, pitch } = this.turn;
    const towards = [
      Math.cos(pitch) * Math.sin(yaw),
      Math.sin(pitch),
      Math.cos(pitch) * Math.cos(yaw),
    ];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
    const up = [
      -Math.sin(pitch) * Math.sin(yaw),
      Math.cos(pitch),
      -Math.sin(pitch) * Math.cos(yaw),
    ];
    return { right, up, towards };
  }

  // From the world to the cube of the screen, by columns.
  camera() {
    const { right, up, towards } = this.axes();
    const aspect = this.canvas.width / this.canvas.height;
    const scale = this.turn.zoom / (1.08 * this.radius);
    const wide = aspect >= 1 ? [scale / aspect, scale] : [scale, scale * aspect];
    const depth = -1 / (8 * this.radius);
    const row = (axis, size, shift) => [
      ...axis.map((x) => x * size),
      shift - size * axis.reduce((sum, x, k) => sum + x * this.centre[k], 0),
    ];
    const rows = [
      row(right, wide[0], this.turn.x),
      row(up, wide[1], this.turn.y),
      row(towards, depth, 0),
      [0, 0, 0, 1],
    ];
    return Float32Array.from({ length: 16 }, (_, k) => rows[k % 4][k >> 2]);
  }

  setFrame(frame) {
    this.frame = frame;
    this.draw();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(width * ratio)) {
      this.canvas.width = Math.round(width * ratio);
    }
    if (this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.height = Math.round(height * ratio);
    }
  }

  draw() {
    const gl = this.gl;
    this.resize();
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    const paper = rgbOf(themeColour("sky"));
    gl.clearColor(paper[0] / 255, paper[1] / 255, paper[2] / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.data.points(this.frame, this.points);
    const camera = this.camera();
    this.drawObstacles(camera);
    this.drawStrands(camera);
    if (this.showsContacts) {
      this.drawContacts(camera);
    }
  }

  tint(vertex) {
    const strand = this.strandOf[vertex];
    if (this.mode === "speed") {
      return scaleColour(this.data.speed(this.frame, vertex) / this.fastest);
    }
    if (this.mode === "impulse") {
      const share = this.data.impulseShare(this.frame, strand);
      return share > 0 ? scaleColour(share) : rgbOf(themeColour("hair-idle"));
    }
    return hairTint(strand, this.hair);
  }

  drawStrands(camera) {
    const gl = this.gl;
    const { vertices, strands } = this.data.head;
    this.hair = rgbOf(themeColour("hair"));
    for (let v = 0; v < vertices; v++) {
      const [r, g, b] = this.tint(v);
      this.tints.set([r, g, b, this.isLast[v] ? 0 : 255], 4 * v);
    }
    gl.useProgram(this.ribbons);
    gl.bindVertexArray(this.ribbonArrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.points);
    gl.bufferData(gl.ARRAY_BUFFER, this.points, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.tints);
    gl.bufferData(gl.ARRAY_BUFFER, this.tints, gl.DYNAMIC_DRAW);
    const { right, up, towards } = this.axes();
    const light = towards.map((x, k) => 1.4 * up[k] + x + right[k]);
    const size = Math.hypot(...light);
    const ratio = window.devicePixelRatio || 1;
    gl.uniformMatrix4fv(this.uniform(this.ribbons, "camera"), false, camera);
    gl.uniform2f(this.uniform(this.ribbons, "viewport"), this.canvas.width, this.canvas.height);
    gl.uniform1f(this.uniform(this.ribbons, "width"), ratio * (strands > 20 ? 1.3 : 3.5));
    gl.uniform3fv(this.uniform(this.ribbons, "light"), light.map((x) => x / size));
    gl.uniform3fv(this.uniform(this.ribbons, "eye"), towards);
    gl.uniform1f(this.uniform(this.ribbons, "shine"), this.mode === "strand" ? 0.4 : 0);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, vertices - 1);
  }

  drawFlat(camera, points, tints, kind, size) {
    const gl = this.gl;
    if (points.length === 0) {
      return;
    }
    gl.useProgram(this.flats);
    gl.bindVertexArray(this.flatArrays);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flatBuffers.points);
    gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(points), gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flatBuffers.tints);
    gl.bufferData(gl.ARRAY_BUFFER, Uint8Array.from(tints), gl.DYNAMIC_DRAW);
    gl.uniformMatrix4fv(this.uniform(this.flats, "camera"), false, camera);
    gl.uniform1f(this.uniform(this.flats, "size"), size);
    gl.uniform1i(this.uniform(this.flats, "round"), kind === gl.POINTS ? 1 : 0);
    gl.drawArrays(kind, 0, points.length / 3);
  }

  drawObstacles(camera) {
    const { kind, size } = this.data.head;
    const points = [];
    kind.forEach((number, k) => {
      const word = KINDS[number] ?? "sphere";
      const pose = this.data.pose(this.frame, k);
      if (word === "plane") {
        // The square is where the strands are, not where the plane was defined.
        const off = [0, 1, 2].map((c) => this.centre[c] - pose[c]);
        const height = off.reduce((sum, x, c) => sum + x * pose[9 + c], 0);
        [0, 1, 2].forEach((c) => (pose[c] = this.centre[c] - height * pose[9 + c]));
      }
      for (const point of wiresOf(word, size.slice(3 * k, 3 * k + 3), 2.4 * this.radius)) {
        points.push(...placeIn(pose, point));
      }
    });
    const colour = [...rgbOf(themeColour("wire")), 255];
    const tints = new Uint8Array((points.length / 3) * 4).map((_, k) => colour[k % 4]);
    this.drawFlat(camera, points, tints, this.gl.LINES, 1);
  }

  drawContacts(camera) {
    const points = [];
    const tints = [];
    const colours = STATUS_WORDS.map((word) => [...rgbOf(themeColour(`contact-${word}`)), 255]);
    // Those that push are drawn over those that are open.
    const contacts = this.data.contacts(this.frame).sort((a, b) => a.status - b.status);
    for (const { vertex, at, status } of contacts) {
      for (let c = 0; c < 3; c++) {
        const from = this.points[3 * vertex + c];
        points.push(from + at * (this.points[3 * vertex + 3 + c] - from));
      }
      tints.push(...colours[status]);
    }
    this.gl.disable(this.gl.DEPTH_TEST);
    const few = this.data.head.strands > 20 ? 4 : 9;
    this.drawFlat(camera, points, tints, this.gl.POINTS, few * (window.devicePixelRatio || 1));
  }

  // ---- Turning, shifting, zooming

  change(part) {
    Object.assign(this.turn, part);
    this.turn.pitch = Math.max(-1.55, Math.min(1.55, this.turn.pitch));
    this.turn.zoom = Math.max(0.2, Math.min(60, this.turn.zoom));
    this.draw();
  }

  reset() {
    this.change({ yaw: 0.65, pitch: 0.2, zoom: 1, x: 0, y: 0 });
  }

  listen() {
    const canvas = this.canvas;
    const fingers = new Map();
    canvas.tabIndex = 0;
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (before) {
        this.drag(fingers, before, event);
        fingers.set(event.pointerId, event);
      }
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => this.reset());
    // With a key, so that the page still scrolls over the picture.
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || event.shiftKey || document.activeElement === canvas) {
          event.preventDefault();
          this.change({ zoom: this.turn.zoom * Math.exp(-0.0015 * (event.deltaY || event.deltaX)) });
        }
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  // One finger turns; two, the right button or Shift shift and, apart, zoom.
  drag(fingers, before, now) {
    const dx = now.clientX - before.clientX;
    const dy = now.clientY - before.clientY;
    const other = [...fingers.values()].find((f) => f.pointerId !== now.pointerId);
    const shifts = other || now.shiftKey || now.buttons & 2;
    if (!shifts) {
      this.change({ yaw: this.turn.yaw - 0.008 * dx, pitch: this.turn.pitch + 0.008 * dy });
      return;
    }
    const apart = (f) => Math.hypot(f.clientX - other.clientX, f.clientY - other.clientY);
    this.change({
      x: this.turn.x + (2 * dx) / this.canvas.clientWidth,
      y: this.turn.y - (2 * dy) / this.canvas.clientHeight,
      zoom: this.turn.zoom * (other ? apart(now) / Math.max(1, apart(before)) : 1),
    });
  }

  key(event) {
    const { yaw, pitch, zoom, x, y } = this.turn;
    const keys = event.shiftKey
      ? {
          ArrowLeft: { x: x - 0.05 },
          ArrowRight: { x: x + 0.05 },
          ArrowUp: { y: y + 0.05 },
          ArrowDown: { y: y - 0.05 },
        }
      : {
          ArrowLeft: { yaw: yaw - 0.1 },
          ArrowRight: { yaw: yaw + 0.1 },
          ArrowUp: { pitch: pitch + 0.1 },
          ArrowDown: { pitch: pitch - 0.1 },
        };
    const change = keys[event.key] ?? { "+": { zoom: zoom * 1.2 }, "-": { zoom: zoom / 1.2 } }[event.key];
    if (change) {
      this.change(change);
    } else if (event.key === "Escape") {
      this.reset();
    } else {
      return;
    }
    event.preventDefault();
  }
}
