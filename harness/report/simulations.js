// Simulations: statistics over time and strands, with one cursor. A statistics file and a strands
// file of one run (scene, model, solver, seed) stand together.

// Charts over time: [title, unit, logarithmic, [[column, word]...], since the first step]
const SERIES = [
  ["contacts", "", false, [["contacts", "contacts"], ["active", "active (r_N > 0)"]]],
  ["iterations of the solver", "", false, [["iterations", "iterations"]]],
  ["fb, the judge's residual", "", true, [["fb", "fb"], ["tol", "tolerance"]]],
  [
    "energy since the first step",
    "J",
    false,
    [["kinetic", "kinetic"], ["elastic", "elastic"], ["potential", "potential"]],
    true,
  ],
  ["dispersion, the mean distance of two tips", "m", false, [["dispersion", "dispersion"]]],
  ["largest speed", "m/s", false, [["max_speed", "largest speed"]]],
  [
    "wall time of a step",
    "s",
    true,
    [["step_seconds", "step"], ["solve_seconds", "solver"], ["collide_seconds", "collisions"]],
  ],
  ["stretch", "%", false, [["stretch_percent", "stretch"]]],
];

function seriesPoints(columns, name, log, sinceStart) {
  const values = columns[name];
  if (!values) {
    return [];
  }
  const first = sinceStart ? values[0] : 0;
  const points = [];
  for (let k = 0; k < values.length; k++) {
    const y = values[k] - first;
    if (Number.isFinite(y) && !(log && y <= 0)) {
      points.push({ x: columns.time[k], y });
    }
  }
  return points;
}

function rangeOf(curves, log) {
  const ys = curves.flatMap((c) => c.points.map((p) => p.y));
  const low = ys.reduce((a, b) => Math.min(a, b), Infinity);
  const high = ys.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!log) {
    return { beginAtZero: low >= 0 && low < 0.5 * high };
  }
  return { min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(high) + 1e-9) };
}

// The runs of the page: {name, stats, strands, body: id of the element}.
function groupRuns(data) {
  const keyOf = (scene, model, solver, seed) => JSON.stringify([scene, model, solver, seed]);
  const groups = data.simulations.map((stats) => {
    const first = (name) => stats.columns[name]?.[0] ?? "";
    return {
      key: keyOf(first("scene"), first("model"), first("solver"), String(first("seed"))),
      stats,
      name:
        `${first("scene")}: ${first("model")}, ${plural(first("rods"), "strand")}, ` +
        `mu ${formatNumber(first("mu"))}, ${first("solver")}`,
      files: [stats.file],
    };
  });
  data.strands.forEach((head, k) => {
    const key = keyOf(head.scene, head.model, head.solver, head.seed);
    let group = groups.find((g) => g.key === key && !g.head);
    if (!group) {
      group = {
        key,
        name: `${head.scene}: ${head.model}, ${plural(head.strands, "strand")}, ${head.solver}`,
        files: [],
      };
      groups.push(group);
    }
    Object.assign(group, { head, body: `strands-${k}` });
    group.files.push(head.file);
  });
  return groups;
}

class RunView {
  constructor(group) {
    this.group = group;
    this.charts = [];
    this.node = element(
      "article",
      { class: "run" },
      element("h3", {}, group.name),
      element("p", { class: "soft" }, group.files.join(", ")),
    );
  }

  // The range of time that the cursor moves in.
  times() {
    const { stats, head } = this.group;
    const ends = [];
    if (stats) {
      ends.push(stats.columns.time[0], stats.columns.time[stats.columns.time.length - 1]);
    }
    if (head) {
      ends.push(head.time[0], head.time[head.time.length - 1]);
    }
    return { min: Math.min(...ends), max: Math.max(...ends) };
  }

  async fill() {
    const { head } = this.group;
    this.range = this.times();
    if (head) {
      await this.addViewer();
    }
    this.addCursor();
    if (this.group.stats) {
      this.addCharts(this.group.stats);
    }
    this.setTime(head ? head.time[0] : this.range.max);
  }

  // ---- The viewer and its controls

  async addViewer() {
    const { head, body } = this.group;
    const canvas = element("canvas", {
      class: "viewer",
      role: "img",
      "aria-label":
        `${plural(head.strands, "strand")} of the scene ${head.scene}. Drag or arrow keys turn, ` +
        `with Shift they shift, + and - zoom, Escape resets.`,
    });
    this.node.append(canvas);
    try {
      const bytes = new Uint8Array(await openElement(body).arrayBuffer());
      this.data = new StrandsData(head, bytes);
      this.viewer = new Viewer(canvas, this.data);
    } catch (error) {
      canvas.replaceWith(
        element("p", { class: "finding" }, `The strands cannot be shown: ${error.message}.`),
      );
      return;
    }
    this.node.append(this.controls());
    this.showLegend();
    addEventListener("resize", later(() => this.viewer.draw(), 100));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  controls() {
    this.legend = element("span", { class: "legend" });
    const mode = element(
      "select",
      { class: "mode", onchange: (event) => this.setMode(event.target.value) },
      element("option", { value: "strand" }, "strand"),
      element("option", { value: "speed" }, "speed"),
      element("option", { value: "impulse" }, "contact impulse"),
    );
    const contacts = element("input", {
      type: "checkbox",
      class: "contacts",
      checked: this.viewer.showsContacts,
      onchange: (event) => {
        this.viewer.showsContacts = event.target.checked;
        this.redraw();
      },
    });
    return element(
      "div",
      { class: "controls" },
      element("label", {}, "colour by ", mode),
      this.viewer.hasContacts ? element("label", {}, contacts, " contacts") : null,
      element(
        "button",
        { type: "button", class: "reset-view", onclick: () => this.viewer.reset() },
        "reset view",
      ),
      this.legend,
      element(
        "span",
        { class: "soft hint" },
        "drag: turn; Shift+drag: shift; Shift+wheel: zoom; arrows, + and - do the same",
      ),
    );
  }

  setMode(mode) {
    this.viewer.mode = mode;
    this.redraw();
  }

  redraw() {
    this.viewer.draw();
    this.showLegend();
  }

  showLegend() {
    const parts = [];
    const { mode, fastest, showsContacts } = this.viewer;
    if (mode !== "strand") {
      const [low, high] =
        mode === "speed"
          ? ["0", `${formatNumber(fastest)} m/s`]
          : this.group.head.impulse.map((x) => `${formatNumber(x)} N s`);
      parts.push(low, element("span", { class: "ramp" }), high);
      if (mode === "impulse") {
        parts.push(element("span", { class: "dot idle" }), "no contact");
      }
    }
    if (showsContacts) {
      for (const word of STATUS_WORDS) {
        parts.push(element("span", { class: `dot ${word}` }), word);
      }
    }
    this.legend.replaceChildren(...parts);
  }

  // ---- One cursor for all

  addCursor() {
    this.slider = element("input", {
      type: "range",
      class: "time",
      min: this.range.min,
      max: this.range.max,
      step: (this.range.max - this.range.min) / 2000 || 1,
      "aria-label": "time",
      oninput: (event) => this.setTime(Number(event.target.value)),
    });
    this.clock = element("output", { class: "clock" });
    this.button = element(
      "button",
      { type: "button", class: "play", onclick: () => this.play() },
      "play",
    );
    const bar = element("div", { class: "cursor" });
    if (this.viewer) {
      this.pace = element(
        "select",
        { class: "pace", "aria-label": "speed of the film" },
        ...[1, 0.5, 0.2, 0.1, 0.02].map((x) => element("option", { value: x }, `${x}x real time`)),
      );
      this.pace.value = this.usualPace();
      bar.append(this.button, this.pace);
    }
    bar.append(this.slider, this.clock);
    this.node.append(bar);
  }

  // A film of some five seconds.
  usualPace() {
    const seconds = this.range.max - this.range.min;
    return String([1, 0.5, 0.2, 0.1, 0.02].find((x) => seconds / x >= 4) ?? 0.02);
  }

  setTime(time) {
    this.time = Math.min(this.range.max, Math.max(this.range.min, time));
    this.slider.value = this.time;
    let text = `${formatNumber(this.time, 4)} s`;
    if (this.viewer) {
      const frame = this.data.frameAt(this.time);
      text += `, frame ${frame + 1} of ${this.data.count}`;
      if (frame !== this.viewer.frame || !this.drawn) {
        this.drawn = true;
        this.viewer.setFrame(frame);
      }
    }
    this.clock.textContent = text;
    for (const entry of this.charts) {
      entry.chart.setCursor(this.time);
      entry.say();
    }
  }

  play() {
    if (this.playing) {
      cancelAnimationFrame(this.playing);
      this.playing = 0;
      this.button.textContent = "play";
      return;
    }
    if (this.time >= this.range.max) {
      this.setTime(this.range.min);
    }
    this.button.textContent = "stop";
    let before = performance.now();
    const advance = (now) => {
      this.setTime(this.time + (Number(this.pace.value) * (now - before)) / 1000);
      before = now;
      if (this.time >= this.range.max) {
        this.play();
      } else {
        this.playing = requestAnimationFrame(advance);
      }
    };
    this.playing = requestAnimationFrame(advance);
  }

  // ---- Statistics

  addCharts(stats) {
    const grid = element("div", { class: "series" });
    this.node.append(grid);
    if (stats.every > 1) {
      grid.before(
        element("p", { class: "soft" }, `Every ${stats.every}th of ${stats.steps} steps is shown.`),
      );
    }
    for (const [title, unit, log, columns, sinceStart] of SERIES) {
      const curves = columns
        .map(([name, word], k) => ({
          label: word,
          points: seriesPoints(stats.columns, name, log, sinceStart),
          place: k,
          dashed: name === "tol",
        }))
        .filter((c) => c.points.length > 1);
      if (curves.some((c) => c.label !== "tolerance")) {
        this.addChart(grid, { title, unit, log, curves });
      }
    }
  }

  addChart(grid, { title, unit, log, curves }) {
    const canvas = element("canvas", { role: "img", "aria-label": `${title} over time` });
    const values = element("span", { class: "values" });
    grid.append(
      element(
        "figure",
        {},
        element("figcaption", {}, element("b", {}, unit ? `${title} (${unit})` : title), " ", values),
        element("div", { class: "canvas" }, canvas),
      ),
    );
    const chart = new CurveChart(canvas, null, {
      x: { title: "time (s)" },
      y: { log },
      drag: "cursor",
      onCursor: (time) => this.setTime(time),
    });
    const colour = () => curves.forEach((c) => (c.colour = curveColour(c.place)));
    const set = () => {
      colour();
      chart.set(curves, { x: this.range, y: rangeOf(curves, log) });
    };
    set();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", set);
    const say = () =>
      values.replaceChildren(
        ...curves.flatMap((c) => {
          const swatch = element("span", { class: c.dashed ? "swatch dashed" : "swatch" });
          swatch.style.setProperty("--colour", c.colour);
          return [swatch, `${c.label} ${formatNumber(valueAt(c.points, this.time, false))} `];
        }),
      );
    this.charts.push({ chart, say });
  }
}

async function showSimulations(data) {
  const groups = groupRuns(data);
  byId("simulations").hidden = groups.length === 0;
  for (const group of groups) {
    const view = new RunView(group);
    byId("runs").append(view.node);
    await view.fill();
  }
}
