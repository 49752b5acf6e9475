// Curves by Chart.js, with what it has not: the curve nearest to the pointer is emphasised and read
// out, a click fixes it, a drag zooms or moves a cursor, labels stand at the ends of the curves, and
// the keyboard does the same.
//
// Chart.js and not dygraphs: curves of a profile and of histories have no abscissae in common, and
// dygraphs wants one table of all of them. To draw 26 profiles of 1000 steps takes 30 ms of CPU here
// and 260 ms there, 26 histories of 200 points 8 and 44 ms. Nor has dygraphs a scatter plot.

// Seven colours that colour-blind readers tell apart (Okabe and Ito 2008; ink in the place of
// yellow, which white paper swallows). Further solvers are grey until they are pointed at: 26 colours
// cannot be told apart.
const COLOURED = 7;

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const curveColour = (place) =>
  place >= 0 && place < COLOURED ? themeColour(`curve-${place}`) : themeColour("curve-grey");

// 1, 10, 100 by words that readers know; small and large ones as 1e-4.
function tickText(value) {
  if (value === 0) {
    return "0";
  }
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) {
    return String(Number(value.toPrecision(3)));
  }
  return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
}

// Of a logarithmic axis: powers of ten; in a short range 2 and 5 as well.
function logTick(scale, value) {
  const decades = Math.log10(scale.max / scale.min);
  const mantissa = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  const digit = Math.abs(mantissa - Math.round(mantissa)) < 1e-6 ? Math.round(mantissa) : 0;
  const every = Math.max(1, Math.ceil(decades / 10));
  if (digit === 1) {
    return Math.round(Math.log10(value)) % every === 0 ? tickText(value) : "";
  }
  return decades < 2.5 && (digit === 2 || digit === 5) ? tickText(value) : "";
}

function makeScale({ log, title, min, max, beginAtZero }) {
  const ink = themeColour("ink-soft");
  const line = themeColour("line");
  return {
    type: log ? "logarithmic" : "linear",
    min,
    max,
    beginAtZero,
    title: { display: Boolean(title), text: title, color: ink },
    grid: {
      // Lines without a label would be a hatching.
      color: ({ scale, tick }) =>
        log && tick && logTick(scale, tick.value) === "" ? "transparent" : line,
      borderColor: themeColour("line-strong"),
    },
    ticks: {
      color: ink,
      maxRotation: 0,
      autoSkip: !log,
      callback(value) {
        return log ? logTick(this, value) : tickText(value);
      },
    },
  };
}

// The value of a curve at x: of a step the last one not beyond x, else the nearest point's.
function valueAt(points, x, stepped) {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle].x <= x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (points.length === 0 || (stepped && low === 0)) {
    return NaN;
  }
  if (stepped || low === points.length) {
    return points[low - 1].y;
  }
  if (low === 0) {
    return points[0].y;
  }
  return x - points[low - 1].x < points[low].x - x ? points[low - 1].y : points[low].y;
}

class CurveChart {
  // options: {x: {log, title}, y: {log, title}, stepped, drag: "zoom" | "cursor", endLabels,
  //   read(curve, x, y) -> text, onFocus(label), onFix(label), onCursor(x)}
  constructor(canvas, readout, options) {
    this.canvas = canvas;
    this.readout = readout;
    this.options = options;
    this.curves = [];
    this.focus = "";
    this.fixed = "";
    this.cursor = NaN;
    this.zoom = null; // {min, max} of x
    this.drag = null;
    this.chart = new Chart(canvas, {
      type: "line",
      data: { datasets: [] },
      options: {
        animation: false,
        parsing: false,
        normalized: true,
        maintainAspectRatio: false,
        events: [],
        layout: { padding: { right: 8, top: 6 } },
        elements: { point: { radius: 0 }, line: { borderWidth: 1.5 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
      },
      plugins: [{ id: "marks", afterDatasetsDraw: (chart) => this.drawMarks(chart) }],
    });
    this.listen();
  }

  // curves: [{label, points, colour, grey, dashed, title, rank}]; ranges: {x: {min, max}, y: {min, max}}
  set(curves, ranges) {
    this.curves = curves;
    this.ranges = ranges;
    const hidden = this.canvas.clientWidth === 0;
    this.refresh();
    if (hidden) {
      this.chart.resize(); // it was made in a section that was hidden
    }
  }

  refresh() {
    const { x, y } = this.options;
    const right = this.options.endLabels && this.canvas.clientWidth > 620 ? 150 : 12;
    this.chart.options.layout.padding.right = right;
    this.chart.options.scales = {
      x: makeScale({ ...x, ...this.ranges.x, ...this.zoom }),
      y: makeScale({ ...y, ...this.ranges.y }),
    };
    this.chart.data.datasets = this.curves.map((curve) => this.datasetOf(curve));
    this.chart.update("none");
  }

  datasetOf(curve) {
    const marked = curve.label === this.focus || curve.label === this.fixed;
    const other = (this.focus || this.fixed) && !marked;
    const colour = marked && curve.grey ? themeColour("ink") : curve.colour;
    return {
      label: curve.label,
      data: curve.points,
      stepped: this.options.stepped ? "before" : false,
      borderColor: other ? `${colour}66` : colour,
      borderWidth: marked ? 3.5 : curve.grey ? 1 : 2,
      borderDash: curve.dashed ? [6, 4] : [],
      clip: { left: 0, right: 0, top: 4, bottom: 4 }, // a curve at 100 % is seen whole
      order: marked ? 0 : curve.grey ? 2 : 1,
    };
  }

  emphasise(label) {
    if (label !== this.focus) {
      this.focus = label;
      this.restyle();
    }
  }

  fix(label) {
    if (label !== this.fixed) {
      this.fixed = label;
      this.restyle();
    }
  }

  // Colours and widths alone: the scales and the data stay.
  restyle() {
    this.curves.forEach((curve, k) => {
      const { data, ...style } = this.datasetOf(curve);
      Object.assign(this.chart.data.datasets[k], style);
    });
    this.chart.update("none");
  }

  setCursor(x) {
    this.cursor = x;
    this.chart.draw();
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.refresh();
    this.options.onZoom?.(zoom);
  }

  // ---- Marks: labels at the ends, the cursor, what is dragged over

  drawMarks({ ctx, chartArea, scales }) {
    if (this.curves.length === 0) {
      return;
    }
    if (this.options.endLabels && this.canvas.clientWidth > 620) {
      this.drawLabels(ctx, chartArea, scales);
    }
    if (Number.isFinite(this.cursor)) {
      const x = scales.x.getPixelForValue(this.cursor);
      this.drawLine(ctx, x, chartArea, themeColour("ink"));
    }
    if (this.drag && this.drag.moved && this.options.drag === "zoom") {
      ctx.fillStyle = `${themeColour("accent")}33`;
      const left = Math.min(this.drag.from, this.drag.to);
      ctx.fillRect(left, chartArea.top, Math.abs(this.drag.to - this.drag.from), chartArea.height);
    }
  }

  drawLine(ctx, x, area, colour) {
    if (x >= area.left - 1 && x <= area.right + 1) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(x, area.top);
      ctx.lineTo(x, area.bottom);
      ctx.stroke();
    }
  }

  // Labels of coloured curves at their right ends, pushed apart where they would overlap.
  drawLabels(ctx, area, scales) {
    const labels = this.curves
      .filter((c) => !c.grey || c.label === this.focus || c.label === this.fixed)
      .map((c) => ({
        curve: c,
        y: scales.y.getPixelForValue(valueAt(c.points, scales.x.max, this.options.stepped)),
      }))
      .filter((l) => Number.isFinite(l.y))
      .sort((a, b) => a.y - b.y || a.curve.rank - b.curve.rank);
    const gap = 14;
    for (let k = 1; k < labels.length; k++) {
      labels[k].y = Math.max(labels[k].y, labels[k - 1].y + gap);
    }
    let bottom = area.bottom + 6;
    for (let k = labels.length - 1; k >= 0 && labels[k].y > bottom; k--) {
      labels[k].y = bottom;
      bottom -= gap;
    }
    ctx.textBaseline = "middle";
    for (const { curve, y } of labels) {
      const marked = curve.label === this.focus || curve.label === this.fixed;
      ctx.font = `${marked ? "600 " : ""}12px ${themeColour("font")}`;
      ctx.fillStyle = marked && curve.grey ? themeColour("ink") : curve.colour;
      ctx.fillText(curve.title ?? curve.label, area.right + 8, y, 140);
    }
  }

  // ---- Pointer and keyboard

  listen() {
    const canvas = this.canvas;
    canvas.tabIndex = 0;
    canvas.addEventListener("pointerdown", (event) => this.pointerDown(event));
    canvas.addEventListener("pointermove", (event) => this.pointerMove(event));
    canvas.addEventListener("pointerup", (event) => this.pointerUp(event));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", () => this.setZoom(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  valueOf(pixel) {
    const { x } = this.chart.scales;
    const area = this.chart.chartArea;
    return x.getValueForPixel(Math.min(area.right, Math.max(area.left, pixel)));
  }

  // The curve nearest to a pixel, where it is at that abscissa.
  nearest(place) {
    const x = this.valueOf(place.x);
    let best = null;
    for (const curve of this.curves) {
      const y = valueAt(curve.points, x, this.options.stepped);
      const distance = Math.abs(this.chart.scales.y.getPixelForValue(y) - place.y);
      if (Number.isFinite(y) && (best === null || distance < best.distance)) {
        best = { curve, x, y, distance };
      }
    }
    return best;
  }

  pointerDown(event) {
    const place = this.placeOf(event);
    this.drag = { from: place.x, to: place.x, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
    if (this.options.drag === "cursor") {
      this.options.onCursor(this.valueOf(place.x));
    }
  }

  pointerMove(event) {
    const place = this.placeOf(event);
    if (this.drag) {
      this.drag.to = place.x;
      this.drag.moved ||= Math.abs(this.drag.to - this.drag.from) > 6;
    }
    if (this.drag && this.options.drag === "cursor") {
      this.options.onCursor(this.valueOf(place.x));
    } else if (this.drag && this.drag.moved) {
      this.chart.draw();
    } else {
      this.read(this.nearest(place));
    }
  }

  pointerUp(event) {
    const drag = this.drag;
    this.drag = null;
    if (drag && drag.moved && this.options.drag === "zoom") {
      const ends = [this.valueOf(drag.from), this.valueOf(drag.to)].sort((a, b) => a - b);
      this.setZoom({ min: ends[0], max: ends[1] });
    } else if (drag && this.options.onFix) {
      const near = this.nearest(this.placeOf(event));
      this.options.onFix(near && near.curve.label !== this.fixed ? near.curve.label : "");
    }
  }

  leave() {
    if (!this.drag) {
      this.reading = null;
      this.options.onFocus?.("");
      this.say();
    }
  }

  read(near) {
    this.reading = near;
    this.options.onFocus?.(near ? near.curve.label : "");
    this.say();
  }

  // What is fixed is read at the pointer's abscissa as well.
  say() {
    if (!this.readout) {
      return;
    }
    const near = this.reading;
    this.readout.textContent = near
      ? this.options.read(near.curve, near.x, near.y)
      : this.options.hint ?? "";
  }

  key(event) {
    const { min, max } = this.chart.scales.x;
    const log = this.options.x.log;
    const shift = (x, part) => (log ? x * (max / min) ** part : x + (max - min) * part);
    const at = this.reading ?? { x: shift(min, 0.3), curve: this.curves[0] };
    const step = { ArrowLeft: -0.02, ArrowRight: 0.02, ArrowUp: 0, ArrowDown: 0 }[event.key];
    if (this.options.drag === "cursor" && step) {
      this.options.onCursor(shift(Number.isFinite(this.cursor) ? this.cursor : min, step));
    } else if (step !== undefined && this.curves.length > 0) {
      this.moveReading(at, shift(at.x, step), event.key);
    } else if (event.key === "Enter" && this.reading && this.options.onFix) {
      const label = this.reading.curve.label;
      this.options.onFix(label === this.fixed ? "" : label);
    } else if (event.key === "Escape") {
      this.setZoom(null);
      this.leave();
    } else if (event.key === "+" || event.key === "-") {
      const part = event.key === "+" ? 0.25 : -0.5;
      this.setZoom({ min: shift(min, part), max: shift(max, -part) });
    } else {
      return;
    }
    event.preventDefault();
  }

  // Up and down: the next curve above or below at the same abscissa.
  moveReading(at, x, key) {
    const ends = this.chart.scales.x;
    const place = Math.min(ends.max, Math.max(ends.min, x));
    const values = this.curves
      .map((curve) => ({ curve, x: place, y: valueAt(curve.points, place, this.options.stepped) }))
      .filter((v) => Number.isFinite(v.y))
      .sort((a, b) => a.y - b.y);
    const now = Math.max(
      0,
      values.findIndex((v) => v.curve === at.curve),
    );
    const next = now + (key === "ArrowUp" ? 1 : key === "ArrowDown" ? -1 : 0);
    this.read(values[Math.min(values.length - 1, Math.max(0, next))] ?? null);
  }
}
