// Problems x solvers: the ratio to the best, coloured by its logarithm; what is unsolved shows its
// status. And the scatter of two solvers.

const FIRST_ROWS = 300;

// Light where a solver is the best, dark from 100 times that on.
function ratioShade(ratio) {
  return Math.min(1, Math.log10(ratio) / 2);
}

class ProblemsView {
  constructor(page) {
    this.page = page;
    this.rows = FIRST_ROWS;
    byId("matrix-more").addEventListener("click", () => {
      this.rows += FIRST_ROWS;
      this.showMatrix();
    });
    byId("matrix-body").addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) {
        page.openProblem(row.dataset.problem);
      }
    });
    this.scatter = new ScatterChart(byId("scatter"), byId("scatter-readout"), page);
    for (const axis of ["x", "y"]) {
      byId(`scatter-${axis}`).addEventListener("change", (event) =>
        page.state.change({ [axis]: event.target.value }),
      );
    }
  }

  cell(trials, solver, p) {
    const trial = solver.trials[p];
    const ratio = ratioOf(trials, solver, p);
    if (Number.isFinite(ratio)) {
      const shade = ratioShade(ratio);
      const node = element("td", { class: "ratio" }, formatNumber(ratio, 2));
      node.style.setProperty("--shade-part", `${Math.round(100 * shade)}%`);
      return node;
    }
    const status = trial ? trials.model.rows.status[trial.row] : "";
    return element("td", { class: "unsolved" }, trial ? status.replaceAll("_", " ") : "-");
  }

  row(trials, p) {
    const problem = trials.problems[p];
    return element(
      "tr",
      { "data-problem": problem.key },
      element(
        "th",
        { scope: "row" },
        element("button", { type: "button", title: problem.name }, problem.label),
      ),
      element("td", {}, formatNumber(problem.contacts, 9)),
      ...trials.shown.map((solver) => this.cell(trials, solver, p)),
    );
  }

  show(trials) {
    this.trials = trials;
    this.rows = FIRST_ROWS;
    this.showMatrix();
    this.showScatter();
  }

  showMatrix() {
    const trials = this.trials;
    const count = Math.min(this.rows, trials.problems.length);
    byId("matrix-head").replaceChildren(
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "problem"),
        element("th", { scope: "col" }, "contacts"),
        ...trials.shown.map((s) =>
          element("th", { scope: "col", class: "upright" }, element("span", {}, solverTitle(s))),
        ),
      ),
    );
    const rows = [];
    for (let p = 0; p < count; p++) {
      rows.push(this.row(trials, p));
    }
    byId("matrix-body").replaceChildren(...rows);
    byId("matrix-more").hidden = count === trials.problems.length;
    byId("matrix-more").textContent = `more (${count} of ${trials.problems.length} are shown)`;
  }

  // The two best solvers, unless two were chosen.
  showScatter() {
    const trials = this.trials;
    const { x, y } = this.page.state.value;
    const ranked = rankSolvers(trials).map((s) => s.label);
    const known = (label) => trials.shown.some((s) => s.label === label);
    const across = known(x) ? x : ranked[1] ?? ranked[0];
    const upward = known(y) ? y : ranked[0];
    for (const [axis, label] of [
      ["x", across],
      ["y", upward],
    ]) {
      byId(`scatter-${axis}`).replaceChildren(
        ...trials.shown.map((s) =>
          element("option", { value: s.label, selected: s.label === label }, s.label),
        ),
      );
    }
    const solver = (label) => trials.shown.find((s) => s.label === label);
    this.scatter.show(trials, solver(across), solver(upward));
  }
}

// A point per problem: what one solver needs over what the other does. Below the diagonal the
// upright one is better. What one of them did not solve stands on the border.
class ScatterChart {
  constructor(canvas, readout, page) {
    this.canvas = canvas;
    this.readout = readout;
    this.page = page;
    this.points = [];
    this.chart = new Chart(canvas, {
      type: "scatter",
      data: { datasets: [] },
      options: {
        animation: false,
        maintainAspectRatio: false,
        events: [],
        layout: { padding: 6 },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
      },
    });
    canvas.tabIndex = 0;
    canvas.addEventListener("pointermove", (event) => this.read(this.nearest(event)));
    canvas.addEventListener("pointerleave", () => this.read(null));
    canvas.addEventListener("click", (event) => this.open(this.nearest(event)));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  show(trials, across, upward) {
    this.trials = trials;
    const finite = [across, upward]
      .filter(Boolean)
      .flatMap((s) => [...s.costs].filter(Number.isFinite));
    const low = finite.length > 0 ? Math.min(...finite) / 1.5 : 0.1;
    const high = finite.length > 0 ? Math.max(...finite) * 1.5 : 10;
    const wall = high * 1.6; // where the unsolved stand
    const at = (cost) => (Number.isFinite(cost) ? cost : wall);
    this.points = !across
      ? []
      : trials.problems
          .map((problem, p) => ({
            problem,
            x: at(across.costs[p]),
            y: at(upward.costs[p]),
            text:
              `${problem.label}: ${across.label} ${this.costText(across, p)}, ` +
              `${upward.label} ${this.costText(upward, p)}`,
          }))
          .filter((_, p) => across.trials[p] && upward.trials[p]);
    const unit = MEASURES[trials.filter.measure].unit;
    const scale = (solver) =>
      makeScale({
        log: true,
        min: low,
        max: wall * 1.15,
        title: solver ? `${solver.label}${unit ? ` (${unit})` : ""}` : "",
      });
    this.chart.options.scales = { x: scale(across), y: scale(upward) };
    const border = themeColour("line-strong");
    this.chart.data.datasets = [
      {
        data: this.points,
        pointRadius: 4,
        pointHoverRadius: 4,
        backgroundColor: `${themeColour("accent")}aa`,
        borderColor: themeColour("paper"),
        pointStyle: this.points.map((p) => (p.x === wall || p.y === wall ? "crossRot" : "circle")),
        pointBorderColor: this.points.map((p) =>
          p.x === wall || p.y === wall ? themeColour("bad") : themeColour("paper"),
        ),
      },
      this.line([low, low], [wall, wall], border, []),
      this.line([low, high * 1.2], [wall * 1.15, high * 1.2], border, [3, 4]),
      this.line([high * 1.2, low], [high * 1.2, wall * 1.15], border, [3, 4]),
    ];
    this.chart.update("none");
    byId("scatter-caption").textContent = this.caption(across, upward);
  }

  line(from, to, colour, dash) {
    const ends = [from, to].map(([x, y]) => ({ x, y }));
    return {
      data: ends,
      type: "line",
      pointRadius: 0,
      borderWidth: 1,
      borderColor: colour,
      borderDash: dash,
    };
  }

  caption(across, upward) {
    if (!across) {
      return "No solver is shown.";
    }
    const both = this.trials.problems.filter(
      (_, p) => Number.isFinite(across.costs[p]) && Number.isFinite(upward.costs[p]),
    ).length;
    const better = this.trials.problems.filter((_, p) => upward.costs[p] < across.costs[p]).length;
    return (
      `A point per problem; below the diagonal ${upward.label} needs less. It does on ${better} of ` +
      `${plural(this.points.length, "problem")}; both solved ${both}. Crosses beyond the dashed ` +
      `lines: not solved.`
    );
  }

  costText(solver, p) {
    const cost = solver.costs[p];
    const unit = MEASURES[this.trials.filter.measure].unit;
    return !Number.isFinite(cost) ? "unsolved" : unit ? formatSeconds(cost) : formatNumber(cost);
  }

  nearest(event) {
    const box = this.canvas.getBoundingClientRect();
    const { x, y } = this.chart.scales;
    let best = null;
    for (const point of this.points) {
      const distance = Math.hypot(
        x.getPixelForValue(point.x) - (event.clientX - box.left),
        y.getPixelForValue(point.y) - (event.clientY - box.top),
      );
      if (distance < (best ? best.distance : 30)) {
        best = { point, distance };
      }
    }
    return best && best.point;
  }

  read(point) {
    this.reading = point;
    this.readout.textContent = point ? point.text : "Point at a problem to read it; click to open it.";
  }

  open(point) {
    if (point) {
      this.page.openProblem(point.problem.key);
    }
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step && this.points.length > 0) {
      const now = this.points.findIndex((p) => p.problem === this.reading?.problem);
      const next = (now + step + this.points.length) % this.points.length;
      this.read(this.points[next]);
    } else if (event.key === "Enter") {
      this.open(this.reading);
    } else {
      return;
    }
    event.preventDefault();
  }
}
