// The table of solvers: the columns of Table 2 of [D11] and those of the profile. A click on a
// heading sorts, a box hides, pointing at a row emphasises the curve, and the other way round.

const SOLVER_COLUMNS = [
  ["label", "solver", "As in the record; hover to find its curve.", null],
  ["solvedPercent", "solved %", "Share of the problems solved to the tolerance.", 3],
  ["bestPercent", "best %", "Share of the problems on which no shown solver needs less.", 3],
  ["withinTwo", "≤ 2x %", "Share of the problems solved within twice what the best needs.", 3],
  ["geometric", "mean ratio", "Geometric mean of the ratios to the best, over what it solved.", 3],
  ["median", "median", "Median of what is compared, over all problems; - if more than half are unsolved.", 3],
  ["alt", "%alt", "Percentage of local solves that called the fail-safe.", 3],
  ["fail", "%fail", "Percentage of local solves that ended above the local tolerance.", 3],
  ["over", "%>tol", "Percentage of its problems whose answer is not within the tolerance.", 3],
  ["iterations", "iters", "Mean number of iterations, of unsolved problems too.", 3],
  ["ms", "T (ms)", "Mean time in the iterations, without the set-up, of unsolved problems too.", 3],
  ["runs", "runs", "Problems that it was run on.", 9],
];

// As text; what is infinite is no number of a table.
function solverCell(solver, key, digits, measure) {
  const value = solver[key];
  if (key === "median" && measure !== "iterations") {
    return Number.isFinite(value) ? formatSeconds(value) : "-";
  }
  return Number.isFinite(value) ? formatNumber(value, digits) : "-";
}

// Missing values last, whichever way the others go.
function compareValues(a, b, sign) {
  if (typeof a === "string") {
    return sign * a.localeCompare(b, "en");
  }
  const known = Number.isFinite(a) - Number.isFinite(b);
  return known !== 0 || !Number.isFinite(a) ? -known : sign * (a - b);
}

class SolverView {
  constructor(page) {
    this.page = page;
    this.rows = new Map();
    byId("solvers-all").addEventListener("click", () => page.state.change({ hide: [] }));
    byId("solvers-none").addEventListener("click", () =>
      page.state.change({ hide: page.model.solvers.map((s) => s.label) }),
    );
  }

  // "key" or "-key" for the other direction; the first click on a number shows the best first.
  sortBy(key) {
    const now = this.page.state.value.sort;
    this.page.state.change({ sort: now === key ? `-${key}` : key });
  }

  // From the best to the worst; what is hidden follows.
  byRank(trials) {
    return [...rankSolvers(trials), ...trials.solvers.filter((s) => s.hidden)];
  }

  sorted(trials) {
    const sort = this.page.state.value.sort;
    const key = sort.replace(/^-/, "");
    if (!SOLVER_COLUMNS.some((c) => c[0] === key)) {
      return this.byRank(trials);
    }
    const larger = ["solvedPercent", "bestPercent", "withinTwo", "runs"].includes(key);
    const sign = (sort.startsWith("-") ? -1 : 1) * (larger ? -1 : 1);
    return [...trials.solvers].sort((a, b) => compareValues(a[key], b[key], sign));
  }

  heading([key, title, help]) {
    const sort = this.page.state.value.sort;
    const way = sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none";
    return element(
      "th",
      { scope: "col", "aria-sort": way },
      element(
        "button",
        { type: "button", title: help, "data-key": key, onclick: () => this.sortBy(key) },
        title,
      ),
    );
  }

  row(solver, measure) {
    const box = element("input", {
      type: "checkbox",
      checked: !solver.hidden,
      "aria-label": `show ${solver.label}`,
      onchange: () => this.page.toggle(solver.label),
    });
    const name = element("th", { scope: "row" });
    name.append(element("label", {}, box, this.page.swatch(solver), solverTitle(solver)));
    if (solver.spec !== solver.label) {
      name.title = solver.spec;
    }
    const cells = SOLVER_COLUMNS.slice(1).map(([key, , , digits]) =>
      element("td", {}, solverCell(solver, key, digits, measure)),
    );
    const row = element(
      "tr",
      {
        "data-solver": solver.label,
        class: solver.hidden ? "hidden-solver" : "",
        onpointerenter: () => this.page.focus(solver.label),
        onpointerleave: () => this.page.focus(""),
        onfocusin: () => this.page.focus(solver.label),
        onfocusout: () => this.page.focus(""),
      },
      name,
      ...cells,
    );
    this.rows.set(solver.label, row);
    return row;
  }

  show(trials) {
    this.rows.clear();
    const { measure } = trials.filter;
    byId("solvers-head").replaceChildren(
      element("tr", {}, ...SOLVER_COLUMNS.map((column) => this.heading(column))),
    );
    byId("solvers-body").replaceChildren(
      ...this.sorted(trials).map((solver) => this.row(solver, measure)),
    );
  }

  emphasise(label) {
    this.rows.forEach((row, key) => row.classList.toggle("emphasised", key === label));
  }
}
