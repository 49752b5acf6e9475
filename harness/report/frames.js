// The frames of a strands file, as harness/report/strands.h packs them.

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
