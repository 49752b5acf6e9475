// The performance profile: for each solver the share of problems that it solves within x times what
// the best solver of the problem needs.

const PROFILE_NEAR = 10; // drawn at least as far as this ratio,
const PROFILE_FAR = 1000; // and no further than that one

function profilePoints(trials, solver, end) {
  const n = trials.problems.length;
  const points = [{ x: 1, y: 0 }];
  solver.ratios.forEach((ratio, k) => {
    const share = (100 * (k + 1)) / n;
    if (ratio <= points[points.length - 1].x) {
      points[points.length - 1].y = share;
    } else {
      points.push({ x: ratio, y: share });
    }
  });
  points.push({ x: Math.max(end, points[points.length - 1].x), y: points[points.length - 1].y });
  return points;
}

function profileEnd(trials) {
  let end = PROFILE_NEAR;
  for (const solver of trials.shown) {
    end = Math.max(end, 1.1 * (solver.ratios[solver.ratios.length - 1] ?? 1));
  }
  return Math.min(end, PROFILE_FAR);
}

const profileAxis = (measure) =>
  `${MEASURES[measure].word} relative to the best solver of each problem`;

const solverTitle = (solver) => (solver.approximate ? `${solver.label} †` : solver.label);

// The sentence above the figure.
function profileCaption(trials) {
  const { measure, tolerance } = trials.filter;
  const word = MEASURES[measure].word;
  return (
    `How often is a solver nearly as good as the best? For each of the ` +
    `${plural(trials.problems.length, "problem")} the solver with the smallest ${word} is the best ` +
    `one; solved means that the judge finds an error max(fb, normal/2) ≤ ${formatNumber(tolerance)}. ` +
    `At x, a curve shows the share of problems that a solver solves within x times the ${word} of ` +
    `the best: at the left edge how often it is the best itself, at the right edge how many problems ` +
    `it solves at all. Higher is better.`
  );
}

// A problem that a solver was not run on counts as not solved.
function profileGaps(trials) {
  const few = trials.shown.filter((solver) => solver.runs < trials.problems.length).length;
  return few === 0
    ? ""
    : ` ${plural(few, "solver")} of ${trials.shown.length} ran on some of these problems only; ` +
        `the others count as not solved by them.`;
}

class ProfileView {
  constructor(page) {
    this.page = page;
    this.chart = new CurveChart(byId("profile"), byId("profile-readout"), {
      x: { log: true },
      y: { title: "problems solved (%)" },
      stepped: true,
      drag: "zoom",
      endLabels: true,
      hint: "Point at a curve to read it; click to keep it; drag to zoom.",
      read: (curve, x, y) => `at ${formatNumber(x)}x the best: ${curve.label} ${formatNumber(y)} %`,
      onFocus: (label) => page.focus(label),
      onFix: (label) => page.state.change({ fix: label }),
      onZoom: (zoom) => (byId("profile-unzoom").hidden = zoom === null),
    });
    byId("profile-unzoom").addEventListener("click", () => this.chart.setZoom(null));
    this.chart.say();
  }

  show(trials) {
    this.trials = trials;
    const end = profileEnd(trials);
    byId("profile-caption").textContent =
      profileCaption(trials) + profileGaps(trials);
    byId("profile-dagger").hidden = !trials.shown.some((s) => s.approximate);
    this.chart.options.x.title = profileAxis(trials.filter.measure);
    const curves = trials.shown.map((solver) => ({
      label: solver.label,
      title: solverTitle(solver),
      points: profilePoints(trials, solver, end),
      colour: this.page.colourOf(solver.label),
      grey: this.page.isGrey(solver.label),
      dashed: solver.approximate,
      rank: this.page.placeOf(solver.label),
    }));
    this.chart.fixed = this.page.state.value.fix;
    this.chart.set(curves, { x: { min: 1, max: end }, y: { min: 0, max: 100 } });
    this.showLegend(trials);
    this.canvasLabel(trials);
  }

  // Below the figure on narrow screens, where labels have no room at the curves.
  showLegend(trials) {
    const named = trials.shown.filter((s) => !this.page.isGrey(s.label));
    const grey = trials.shown.length - named.length;
    byId("profile-legend").replaceChildren(
      ...named.map((s) =>
        element("li", {}, this.page.swatch(s), solverTitle(s)),
      ),
      grey > 0 ? element("li", {}, `${plural(grey, "further solver")} in grey`) : "",
    );
  }

  canvasLabel(trials) {
    const best = rankSolvers(trials)[0];
    byId("profile").setAttribute(
      "aria-label",
      best
        ? `Performance profile of ${plural(trials.shown.length, "solver")}; ` +
            `${best.label} solves ${formatNumber(best.solvedPercent)} %. ` +
            `Arrow keys read the curves, Enter keeps one.`
        : "Performance profile without solvers",
    );
  }
}
