// One problem: how its runs converged, its rows with every column, where it comes from, and the
// command that repeats a run.

// "FILE.h5:NAME" as the words of a command line.
function problemWords(name) {
  const parts = /^(.*\.(?:h5|hdf5|mat)):(.+)$/s.exec(name);
  return parts
    ? `${shellFile(parts[1])} --problem ${shellWord(parts[2])}`
    : shellFile(name);
}

function repeatCommand(rows, row) {
  const limits =
    (Number.isFinite(rows.max_iterations[row]) ? ` --max-iter ${rows.max_iterations[row]}` : "") +
    (rows.time_limit[row] > 0 ? ` --time-limit ${rows.time_limit[row]}` : "") +
    (rows.start[row] === "guess" ? " --start guess" : "");
  return (
    `stickslip solve ${problemWords(rows.problem[row])} --solver ${shellWord(rows.solver[row])} ` +
    `--tol ${rows.tol[row]}${limits} --trace trace.csv`
  );
}

// The points of a row's history: the error over iterations or seconds, both on logarithmic axes.
function historyPoints(model, row, axis) {
  const { start, iteration, seconds, error } = model.history;
  const points = [];
  for (let k = start[row]; k < start[row + 1]; k++) {
    const x = axis === "iterations" ? iteration[k] : sweepSecondsUntil(model, row, k);
    if (x > 0 && error[k] > 0 && Number.isFinite(error[k])) {
      points.push({ x, y: error[k] });
    }
  }
  return points;
}

class ProblemView {
  constructor(page) {
    this.page = page;
    this.chart = new CurveChart(byId("convergence"), byId("convergence-readout"), {
      x: { log: true },
      y: { log: true, title: "error, max(fb, normal/2)" },
      drag: "zoom",
      endLabels: true,
      hint: "Point at a curve to read it; click to keep it; drag to zoom.",
      read: (curve, x, y) =>
        this.page.state.value.axis === "iterations"
          ? `${curve.label}: error ${formatNumber(y)} after ${formatNumber(x)} iterations`
          : `${curve.label}: error ${formatNumber(y)} after ${formatSeconds(x)}`,
      onFocus: (label) => page.focus(label),
      onFix: (label) => page.state.change({ fix: label }),
    });
    byId("convergence-axis").addEventListener("change", (event) =>
      page.state.change({ axis: event.target.value }),
    );
    byId("problem-close").addEventListener("click", () => page.openProblem(""));
  }

  show(trials) {
    const { problem, axis, fix } = this.page.state.value;
    const model = this.page.model;
    const place = model.problems.findIndex((p) => p.key === problem);
    byId("problem-section").hidden = place < 0;
    if (place < 0) {
      return;
    }
    byId("problem-title").textContent = model.problems[place].label;
    byId("convergence-axis").value = axis;
    this.chart.fixed = fix;
    this.showCurves(trials, place, axis);
    this.showRows(trials, place);
  }

  showCurves(trials, place, axis) {
    const model = this.page.model;
    const p = trials.problems.indexOf(model.problems[place]);
    const curves = trials.shown
      .filter((s) => p >= 0 && s.trials[p] && model.history)
      .map((s) => ({
        label: s.label,
        title: solverTitle(s),
        points: historyPoints(model, s.trials[p].row, axis),
        colour: this.page.colourOf(s.label),
        grey: this.page.isGrey(s.label),
        dashed: s.approximate,
        rank: this.page.placeOf(s.label),
      }))
      .filter((c) => c.points.length > 0);
    byId("convergence-box").hidden = curves.length === 0;
    byId("convergence-none").hidden = curves.length > 0;
    byId("convergence-none").textContent = model.history
      ? "No shown solver has a history of this problem."
      : "This page was made without histories, so that there are no convergence curves.";
    if (curves.length > 0) {
      this.setCurves(curves, axis, trials.filter.tolerance);
    }
  }

  setCurves(curves, axis, tolerance) {
    const xs = curves.flatMap((c) => [c.points[0].x, c.points[c.points.length - 1].x]);
    let low = tolerance;
    let high = tolerance;
    for (const curve of curves) {
      for (const point of curve.points) {
        low = Math.min(low, point.y);
        high = Math.max(high, point.y);
      }
    }
    const least = Math.min(...xs);
    const most = Math.max(...xs);
    const line = {
      label: `tolerance ${tickText(tolerance)}`,
      points: [
        { x: least, y: tolerance },
        { x: most, y: tolerance },
      ],
      colour: themeColour("ink-soft"),
      grey: true,
      dashed: true,
    };
    this.chart.options.x.title = axis === "iterations" ? "iterations" : "seconds in the iterations";
    this.chart.zoom = null;
    this.chart.set([...curves, line], {
      x: { min: least, max: most > least ? most : 10 * least },
      y: {
        min: 10 ** Math.floor(Math.log10(Math.max(low, 1e-16))),
        max: 10 ** Math.ceil(Math.log10(high)),
      },
    });
    byId("convergence").setAttribute(
      "aria-label",
      `Convergence of ${plural(curves.length, "solver")}: the error over ${axis}. Arrow keys read it.`,
    );
  }

  // Every row of the problem with every column that says something.
  showRows(trials, place) {
    const { rows, problemOf } = this.page.model;
    const mine = [];
    for (let row = 0; row < rows.count; row++) {
      if (problemOf[row] === place) {
        mine.push(row);
      }
    }
    const says = (name) =>
      mine.some((row) => rows[name][row] !== "" && !Number.isNaN(rows[name][row]));
    const isSame = (name) => mine.every((row) => Object.is(rows[name][row], rows[name][mine[0]]));
    const names = Object.keys(rows).filter(
      (name) => name !== "count" && name !== "problem" && says(name),
    );
    const same = names.filter(isSame);
    const several = mine.length > 1 ? names.filter((name) => !same.includes(name)) : names;
    this.showProvenance(same, several, mine[0]);
    byId("runs-head").replaceChildren(
      element(
        "tr",
        {},
        ...[...several, "repeat it"].map((name) => element("th", { scope: "col" }, name)),
      ),
    );
    byId("runs-body").replaceChildren(
      ...mine.map((row) =>
        element(
          "tr",
          {},
          ...several.map((name) => this.runCell(name, row)),
          element("td", {}, this.repeatButton(row)),
        ),
      ),
    );
    this.showCommand(mine[0]);
  }

  runCell(name, row) {
    const value = this.page.model.rows[name][row];
    if (typeof value !== "string") {
      return element("td", {}, formatNumber(value, name === "contacts" ? 9 : 4));
    }
    return element("td", { class: name === "detail" ? "text long" : "text" }, value || "-");
  }

  // What is the same for all runs stands once.
  showProvenance(same, several, row) {
    const rows = this.page.model.rows;
    const names = ["problem", ...same.filter((name) => !several.includes(name))];
    const textOf = (value) => (typeof value === "string" ? value : formatNumber(value, 9));
    byId("provenance").replaceChildren(
      ...names.flatMap((name) => [
        element("dt", {}, name),
        element("dd", {}, textOf(rows[name][row])),
      ]),
    );
  }

  repeatButton(row) {
    return element("button", { type: "button", onclick: () => this.showCommand(row) }, "command");
  }

  showCommand(row) {
    byId("command").textContent = repeatCommand(this.page.model.rows, row);
  }
}
