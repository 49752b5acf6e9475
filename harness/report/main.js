// The page as a whole: reads the data, keeps the views in step with the state.

class Page {
  constructor(data) {
    this.data = data;
    this.state = makeState();
    this.model = data.rows ? makeModel(data) : null;
    if (this.model) {
      this.begin();
    }
  }

  begin() {
    this.profile = new ProfileView(this);
    this.solverView = new SolverView(this);
    this.problemsView = new ProblemsView(this);
    this.problemView = new ProblemView(this);
    this.exports = new ExportView(this);
    this.bar = new Bar(this);
    this.showProblems = later(() => this.problemsView.show(this.trials), 150);
    this.state.listen((_, names) => this.changed(names));
    this.changed(Object.keys(DEFAULT_STATE));
    this.problemsView.show(this.trials);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
      this.changed(Object.keys(DEFAULT_STATE)),
    );
    addEventListener("resize", later(() => this.changed(["resize"]), 200));
  }

  // ---- What is compared

  get tolerance() {
    const asked = this.state.value.tol;
    return asked > 0 ? asked : this.data.tolerance;
  }

  // A place that an address names but the page does not have is all.
  recordOf(state) {
    const record = state.record === "" ? this.model.record : state.record;
    return Object.hasOwn(this.model.records, record) ? record : "all";
  }

  trialsOf(state) {
    return makeTrials(this.model, {
      tolerance: state.tol > 0 ? state.tol : this.data.tolerance,
      measure: state.measure,
      record: this.recordOf(state),
      scene: state.scene,
      from: state.from,
      to: state.to,
      text: state.text,
      hide: new Set(state.hide),
    });
  }

  changed(names) {
    const compares = ["tol", "measure", "record", "scene", "from", "to", "text", "hide", "resize"];
    if (names.includes("record")) {
      const { record } = this.state.value;
      const whole = this.trialsOf({ ...DEFAULT_STATE, record });
      this.order = rankSolvers(whole).map((s) => s.label);
    }
    if (names.some((name) => compares.includes(name))) {
      this.trials = this.trialsOf(this.state.value);
      this.profile.show(this.trials);
      this.solverView.show(this.trials);
      this.problemView.show(this.trials);
      this.showProblems();
    } else if (names.includes("sort")) {
      this.solverView.show(this.trials);
    } else if (names.includes("x") || names.includes("y")) {
      this.problemsView.showScatter();
    } else if (names.includes("problem") || names.includes("axis")) {
      this.problemView.show(this.trials);
    }
    if (names.includes("fix")) {
      this.profile.chart.fix(this.state.value.fix);
      this.problemView.chart.fix(this.state.value.fix);
    }
    this.bar.show();
  }

  // ---- Solvers: their colours, which are those of the whole record, and the focus

  placeOf(label) {
    return this.order.indexOf(label);
  }

  isGrey(label) {
    const place = this.placeOf(label);
    return place < 0 || place >= COLOURED;
  }

  colourOf(label) {
    return curveColour(this.placeOf(label));
  }

  // On white paper, whatever the theme of the screen.
  paperColourOf(label) {
    const place = this.placeOf(label);
    return place >= 0 && place < COLOURED ? PAPER_COLOURS[place] : "#999999";
  }

  swatch(solver) {
    const node = element("span", { class: solver.approximate ? "swatch dashed" : "swatch" });
    node.style.setProperty("--colour", this.colourOf(solver.label));
    return node;
  }

  focus(label) {
    this.profile.chart.emphasise(label);
    this.solverView.emphasise(label);
  }

  toggle(label) {
    const hide = this.state.value.hide;
    this.state.change({
      hide: hide.includes(label) ? hide.filter((l) => l !== label) : [...hide, label],
    });
  }

  openProblem(key) {
    this.state.change({ problem: key });
    if (key !== "") {
      byId("problem-section").scrollIntoView({ block: "start" });
    }
  }
}

// The colours of curves in light, for gnuplot.
const PAPER_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1a1a1a"];

// ---- The bar: tolerance, measure, filters

const LOOSEST = 0.1;

class Bar {
  constructor(page) {
    this.page = page;
    const model = page.model;
    this.low = Math.log10(Math.min(model.tightest, page.data.tolerance));
    const slider = byId("tol-slider");
    slider.min = this.low;
    slider.max = Math.log10(LOOSEST);
    slider.step = (slider.max - this.low) / 200;
    slider.addEventListener("input", () => this.setTolerance(10 ** Number(slider.value)));
    byId("tol").addEventListener("change", (event) => this.setTolerance(Number(event.target.value)));
    byId("measure").addEventListener("change", (event) =>
      page.state.change({ measure: event.target.value }),
    );
    // Where the bar would take half of the screen.
    byId("filters").open = !matchMedia("(max-width: 640px)").matches;
    this.fillRecords(model);
    byId("record").addEventListener("change", (event) =>
      page.state.change({ record: event.target.value }),
    );
    this.fillScenes(model);
    byId("scene").addEventListener("change", (event) =>
      page.state.change({ scene: event.target.value }),
    );
    for (const key of ["from", "to"]) {
      byId(key).addEventListener("change", (event) =>
        page.state.change({ [key]: event.target.value === "" ? NaN : Number(event.target.value) }),
      );
    }
    byId("text").addEventListener("input", (event) =>
      page.state.change({ text: event.target.value }),
    );
    byId("reset").addEventListener("click", () => {
      page.profile.chart.setZoom(null);
      page.state.change({ ...DEFAULT_STATE });
    });
  }

  fillRecords(model) {
    byId("record").append(
      ...model.records.map((r, place) => element("option", { value: place }, r.file)),
    );
    byId("record").closest("label").hidden = model.records.length < 2;
  }

  fillScenes(model) {
    const scenes = [...new Set(model.problems.map((p) => p.scene))].filter((s) => s !== "").sort();
    byId("scene").append(...scenes.map((scene) => element("option", { value: scene }, scene)));
    byId("scene").closest("label").hidden = scenes.length < 2;
  }

  // Three digits are enough to aim at; the ends and powers of ten are met exactly.
  setTolerance(value) {
    if (!(value > 0)) {
      this.show();
      return;
    }
    const rounded = Number(value.toPrecision(3));
    const low = Math.min(this.page.model.tightest, this.page.data.tolerance);
    this.page.state.change({ tol: Math.min(LOOSEST, Math.max(low, rounded)) });
  }

  show() {
    const page = this.page;
    const state = page.state.value;
    byId("tol-slider").value = Math.log10(page.tolerance);
    byId("tol-slider").setAttribute("aria-valuetext", formatNumber(page.tolerance));
    byId("tol").value = formatNumber(page.tolerance);
    byId("measure").value = state.measure;
    byId("record").value = page.recordOf(state);
    byId("scene").value = state.scene;
    byId("from").value = Number.isNaN(state.from) ? "" : state.from;
    byId("to").value = Number.isNaN(state.to) ? "" : state.to;
    if (document.activeElement !== byId("text")) {
      byId("text").value = state.text;
    }
    const { problems, shown, solvers } = page.trials;
    byId("count").textContent =
      `${plural(problems.length, "problem")}, ${shown.length} of ${plural(solvers.length, "solver")}`;
  }
}

// ---- The head

function listOf(values) {
  return [...new Set(values)].filter((value) => value !== "" && !Number.isNaN(value));
}

const tolerancesOf = (rows) =>
  listOf(rows.tol)
    .sort((a, b) => a - b)
    .map((t) => formatNumber(t))
    .join(", ");

function headFacts(data, model) {
  const rows = model.rows;
  const machines = new Map();
  for (let row = 0; row < rows.count; row++) {
    const name = [rows.host[row], rows.machine[row]].filter(Boolean).join(": ");
    machines.set(name, (machines.get(name) ?? new Set()).add(model.problemOf[row]));
  }
  const dates = listOf(rows.date).sort();
  const limit = (name) => listOf(rows[name]).join(", ");
  const machine = ([name, set]) => `${name || "unknown"} (${plural(set.size, "problem")})`;
  const facts = [
    ["runs", plural(rows.count, "run")],
    ["problems", plural(model.problems.length, "problem")],
    ["solvers", plural(model.solvers.length, "solver")],
    ["tolerance of the runs", tolerancesOf(rows)],
    ["start", listOf(rows.start).join(", ")],
    ["limits", `${limit("max_iterations")} iterations, ${limit("time_limit")} CPU s`],
    ["machines", [...machines].map(machine).join("; ")],
    ["builds", listOf(rows.build).join("; ")],
    ["dates", dates.length > 1 ? `${dates[0]} to ${dates[dates.length - 1]}` : dates.join("")],
  ];
  return facts.filter(([, text]) => text !== "");
}

// A line at the top; the conditions stand below.
function showSummary(data, model) {
  const rows = model.rows;
  const machines = listOf(rows.machine.map((machine, row) => `${rows.host[row]} ${machine}`)).length;
  const builds = listOf(rows.build).length;
  byId("summary").hidden = false;
  byId("summary").replaceChildren(
    `${plural(rows.count, "run")}: ${plural(model.problems.length, "problem")} by ` +
      `${plural(model.solvers.length, "solver")}, to a tolerance of ${tolerancesOf(rows)}, from ` +
      `${listOf(rows.start).join(" and ")}, on ${plural(machines, "machine")} by ` +
      `${plural(builds, "build")}. `,
    element(
      "button",
      { type: "button", onclick: () => byId("conditions").scrollIntoView({ block: "start" }) },
      "how it was measured",
    ),
  );
}

function showHead(data, model) {
  byId("title").textContent = data.title;
  byId("made").textContent =
    `made ${data.made} by stickslip ${data.program} from ${data.files.join(", ")}`;
  byId("findings").replaceChildren(...data.problems.map((text) => element("li", {}, text)));
  byId("findings").hidden = data.problems.length === 0;
  byId("records").hidden = model === null;
  byId("bar").hidden = model === null;
  if (model) {
    showSummary(data, model);
    byId("facts").replaceChildren(
      ...headFacts(data, model).flatMap(([name, text]) => [
        element("dt", {}, name),
        element("dd", {}, text),
      ]),
    );
    byId("notes").replaceChildren(...data.notes.map((note) => element("li", {}, note)));
  }
}

async function main() {
  if (typeof DecompressionStream === "undefined" && byId("data").dataset.packed !== "") {
    throw new Error(
      "this browser cannot unpack the data: it is older than 2023. Make the page again with " +
        "'stickslip report ... --plain', or open it in a newer browser",
    );
  }
  const data = await readData();
  const page = new Page(data);
  showHead(data, page.model);
  await showSimulations(data);
  window.stickslip = { page, percentWithin }; // for the console and for tests
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

main().catch((error) => {
  const text = `The page cannot be shown: ${error.message}.`;
  byId("findings").replaceChildren(element("li", {}, text));
  byId("findings").hidden = false;
  console.error(error);
});
