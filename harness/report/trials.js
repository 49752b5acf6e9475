// What a record says at one tolerance: problems x solvers, as harness/results/trials.c has it.
//
// A run to a tighter tolerance also answers a looser one: its history tells the first iteration with
// an error, max(fb, normal/2), at most the tolerance. Of several runs of one problem by one solver
// the one with the largest tolerance not above the asked one counts, and of those the last. On
// problem p solver s takes the time T(p, s), infinite if it is not solved; its ratio is
// T(p, s) / min_s T(p, s), and its profile at x is the share of problems with a ratio of at most x.

const sameTolerance = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b);

const MEASURES = {
  seconds: { word: "time", unit: "s", title: "time, the solve with its set-up" },
  iterations: { word: "number of iterations", unit: "", title: "iterations" },
  sweep: { word: "time in iterations", unit: "s", title: "time in the iterations alone" },
};

// Which record each row is from.
function recordsOf(data) {
  const record = new Int32Array(data.rows.count);
  let row = 0;
  data.records.forEach((r, place) => {
    record.fill(place, row, row + r.rows);
    row += r.rows;
  });
  return record;
}

// Records of different problems, or of different solvers, are shown one at a time: over all problems
// each solver would seem to fail on those of the others.
function defaultRecord(model) {
  const seen = new Set();
  for (let row = 0; row < model.rows.count; row++) {
    seen.add(model.solverOf[row] * model.problems.length + model.problemOf[row]);
  }
  const complete = seen.size === model.solvers.length * model.problems.length;
  return complete || model.records.length < 2 ? "all" : "0";
}

// Which problem and which solver each row is of; this does not depend on the tolerance.
function makeModel(data) {
  const rows = data.rows;
  const model = {
    rows,
    history: data.history,
    records: data.records,
    recordOf: recordsOf(data),
    solvers: data.solvers,
    problems: [],
    problemOf: new Int32Array(rows.count),
    solverOf: new Int32Array(rows.count),
    tightest: Infinity,
  };
  const problems = new Map();
  const solvers = new Map(data.solvers.map((s, k) => [JSON.stringify([s.spec, s.start]), k]));
  for (let row = 0; row < rows.count; row++) {
    const key = rows.problem_sha256[row] || rows.problem[row];
    if (!problems.has(key)) {
      problems.set(key, model.problems.length);
      model.problems.push({
        key,
        name: rows.problem[row],
        label: shortName(rows.problem[row]),
        contacts: rows.contacts[row],
        scene: rows.scene[row],
      });
    }
    model.problemOf[row] = problems.get(key);
    model.solverOf[row] = solvers.get(JSON.stringify([rows.solver[row], rows.start[row]]));
    if (rows.tol[row] > 0) {
      model.tightest = Math.min(model.tightest, rows.tol[row]);
    }
  }
  const labels = new Set(model.problems.map((p) => p.label));
  if (labels.size < model.problems.length) {
    model.problems.forEach((p) => (p.label = p.name)); // short names would be ambiguous
  }
  model.record = defaultRecord(model);
  return model;
}

// The first entry of a row's history with an error of at most the tolerance, -1 without one.
function firstWithin(history, row, tolerance) {
  let low = history.start[row];
  let high = history.start[row + 1];
  if (low === high || !(history.least[high - 1] <= tolerance)) {
    return -1;
  }
  high--;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (history.least[middle] <= tolerance) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Seconds of iterations until entry k: the history is of one run of several, with a listener, and
// is scaled to the seconds of the row.
function sweepSecondsUntil(model, row, k) {
  const { start, seconds } = model.history;
  const first = start[row];
  const last = start[row + 1] - 1;
  const whole = seconds[last] - seconds[first];
  const part = seconds[k] - seconds[first];
  if (!Number.isFinite(model.rows.sweep_seconds[row])) {
    return part;
  }
  return whole > 0 ? (model.rows.sweep_seconds[row] * part) / whole : 0;
}

function judgeRow(model, row, tolerance) {
  const rows = model.rows;
  const status = rows.status[row];
  const numbers =
    status !== "crashed" && status !== "bad_input" && Number.isFinite(rows.seconds[row]);
  const trial = {
    row,
    solved: numbers && Math.max(rows.fb[row], rows.normal[row] / 2) <= tolerance,
    iterations: numbers ? rows.iterations[row] : NaN,
    seconds: numbers ? rows.seconds[row] : NaN,
    sweep: Number.isFinite(rows.sweep_seconds[row])
      ? rows.sweep_seconds[row]
      : numbers
        ? rows.seconds[row]
        : NaN,
  };
  if (!numbers || !model.history || sameTolerance(rows.tol[row], tolerance)) {
    return trial;
  }
  const k = firstWithin(model.history, row, tolerance);
  if (k >= 0) {
    const setup = rows.setup_seconds[row];
    trial.solved = true;
    trial.iterations = model.history.iteration[k];
    trial.sweep = sweepSecondsUntil(model, row, k);
    trial.seconds =
      (Number.isFinite(setup) ? setup : model.history.seconds[model.history.start[row]]) +
      trial.sweep;
  }
  return trial;
}

// The row of each problem and solver that counts at a tolerance; -1: none. `record` is "all" or the
// place of the one whose rows count.
function chooseRows(model, tolerance, record) {
  const chosen = model.solvers.map(() => new Int32Array(model.problems.length).fill(-1));
  for (let row = 0; row < model.rows.count; row++) {
    const tol = model.rows.tol[row];
    const counts = record === "all" || model.recordOf[row] === Number(record);
    if (!counts || !(tol <= tolerance || sameTolerance(tol, tolerance))) {
      continue;
    }
    const place = chosen[model.solverOf[row]];
    const problem = model.problemOf[row];
    if (place[problem] < 0 || tol >= model.rows.tol[place[problem]]) {
      place[problem] = row;
    }
  }
  return chosen;
}

function passes(problem, filter) {
  return (
    (filter.scene === "" || problem.scene === filter.scene) &&
    !(problem.contacts < filter.from) &&
    !(problem.contacts > filter.to) &&
    (filter.text === "" || problem.name.toLowerCase().includes(filter.text.toLowerCase()))
  );
}

// What a profile compares: infinite if it was not solved.
function costOf(trial, measure) {
  if (!trial || !trial.solved) {
    return Infinity;
  }
  if (measure === "iterations") {
    return Math.max(1, trial.iterations);
  }
  return trial[measure] > 0 ? trial[measure] : Infinity;
}

// filter: {tolerance, measure, record, scene, from, to, text, hide: Set of labels}. Solvers that are hidden
// take no part: the fastest is the fastest of those that are shown.
function makeTrials(model, filter) {
  const chosen = chooseRows(model, filter.tolerance, filter.record);
  const problems = model.problems
    .map((problem, place) => ({ problem, place }))
    .filter(({ problem, place }) => passes(problem, filter) && chosen.some((c) => c[place] >= 0));
  const solvers = model.solvers
    .map((solver, place) => ({ solver, place }))
    .filter(({ place }) => problems.some((p) => chosen[place][p.place] >= 0))
    .map(({ solver, place }) => ({
      ...solver,
      hidden: filter.hide.has(solver.label),
      trials: problems.map((p) =>
        chosen[place][p.place] >= 0
          ? judgeRow(model, chosen[place][p.place], filter.tolerance)
          : null,
      ),
    }));
  const trials = {
    model,
    filter,
    problems: problems.map((p) => p.problem),
    solvers,
    shown: solvers.filter((s) => !s.hidden),
    best: new Float64Array(problems.length).fill(Infinity),
  };
  for (const solver of trials.shown) {
    solver.costs = Float64Array.from(solver.trials, (t) => costOf(t, filter.measure));
    solver.costs.forEach((cost, p) => (trials.best[p] = Math.min(trials.best[p], cost)));
  }
  for (const solver of solvers) {
    summarise(trials, solver);
  }
  return trials;
}

const ratioOf = (trials, solver, p) =>
  Number.isFinite(solver.costs[p]) ? solver.costs[p] / trials.best[p] : Infinity;

function percentWithin(trials, solver, x) {
  let within = 0;
  for (let p = 0; p < trials.problems.length; p++) {
    within += ratioOf(trials, solver, p) <= x;
  }
  return (100 * within) / trials.problems.length;
}

function medianOf(values) {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  if (n === 0) {
    return NaN;
  }
  const low = sorted[(n - 1) >> 1];
  const high = sorted[n >> 1];
  return low === high ? low : low + (high - low) / 2;
}

// The columns of `table` (summarise in harness/results/tables.c), and those of a profile, which a
// hidden solver has none of.
function summarise(trials, solver) {
  const sums = { solves: 0, alt: 0, fail: 0, iterations: 0, sweep: 0, measured: 0, over: 0 };
  let runs = 0;
  let solved = 0;
  for (const trial of solver.trials) {
    if (!trial) {
      continue;
    }
    runs++;
    solved += trial.solved;
    sums.over += !trial.solved;
    if (Number.isNaN(trial.seconds)) {
      continue;
    }
    const rows = trials.model.rows;
    const count = rows.local_solves[trial.row];
    if (count > 0) {
      sums.solves += count;
      sums.alt += (count * rows.alt_percent[trial.row]) / 100;
      sums.fail += (count * rows.fail_percent[trial.row]) / 100;
    }
    sums.iterations += trial.iterations;
    sums.sweep += trial.sweep;
    sums.measured++;
  }
  solver.runs = runs;
  solver.solved = solved;
  solver.alt = solver.hybrid ? (100 * sums.alt) / sums.solves : NaN;
  solver.fail = (100 * sums.fail) / sums.solves;
  solver.over = (100 * sums.over) / runs;
  solver.iterations = sums.iterations / sums.measured;
  solver.ms = (1000 * sums.sweep) / sums.measured;
  solver.solvedPercent = (100 * solved) / trials.problems.length;
  if (!solver.hidden) {
    addRatios(trials, solver);
  }
}

function addRatios(trials, solver) {
  const ratios = trials.problems.map((_, p) => ratioOf(trials, solver, p));
  const finite = ratios.filter(Number.isFinite);
  const logs = finite.reduce((sum, ratio) => sum + Math.log(ratio), 0);
  solver.ratios = Float64Array.from(finite).sort();
  solver.bestPercent = percentWithin(trials, solver, 1);
  solver.withinTwo = percentWithin(trials, solver, 2);
  solver.median = medianOf(solver.costs);
  solver.geometric = finite.length > 0 ? Math.exp(logs / finite.length) : NaN;
}

// Solvers from the best to the worst: more solved first, then the smaller ratios. Approximate laws
// last.
function rankSolvers(trials) {
  return [...trials.shown].sort(
    (a, b) =>
      a.approximate - b.approximate ||
      b.solvedPercent - a.solvedPercent ||
      (a.geometric || Infinity) - (b.geometric || Infinity),
  );
}
