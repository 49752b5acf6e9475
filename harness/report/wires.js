// Obstacles as wires: rings and meridians, in the obstacle's own frame
// (strands/contact/obstacle.h).

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
