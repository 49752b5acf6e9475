// Strands that turn: a viewer by WebGL2 without a library.
//
// Each segment is a ribbon of constant width on the screen, shaded as hair is (Kajiya and Kay 1989):
// bright where its tangent is across the light, with a highlight where the light leaves towards the
// eye. Rays are parallel; y is up.

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
    const most = Math.max(...data.head.contacts);
    this.hasContacts = most > 0;
    this.showsContacts = this.hasContacts && most < 500; // more would hide the strands
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
    const zooms = { "+": { zoom: zoom * 1.2 }, "-": { zoom: zoom / 1.2 } };
    const change = keys[event.key] ?? zooms[event.key];
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
