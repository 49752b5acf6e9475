// What leaves the page: the gnuplot script of the present profile, the filtered rows as CSV, the
// figure as PNG.

function saveAs(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A script that draws the profile as it is shown, with its data in it.
function gnuplotScript(trials, colours, zoom) {
  const end = zoom ? zoom.max : profileEnd(trials);
  const { measure, tolerance } = trials.filter;
  const lines = [
    `# The performance profile of ${trials.problems.length} problems, max(fb, normal/2) <= ${formatNumber(tolerance)}.`,
    "# Run: gnuplot profile.gp",
    "set encoding utf8",
    "set terminal pdfcairo size 12cm,8cm font ',9'",
    "set output 'profile.pdf'",
    "set logscale x",
    `set xrange [${zoom ? zoom.min : 1}:${end}]`,
    "set yrange [0:100]",
    `set xlabel ${gnuplotText(profileAxis(measure))}`,
    "set ylabel 'problems solved (%)'",
    "set key outside right noenhanced",
    "set grid",
  ];
  trials.shown.forEach((solver, k) => {
    lines.push(`$profile${k} << END`);
    profilePoints(trials, solver, end).forEach((p) => lines.push(`${p.x} ${p.y}`));
    lines.push("END");
  });
  const curves = trials.shown.map((solver, k) => {
    const dash = solver.approximate ? " dt 2" : "";
    const title = gnuplotText(solver.label);
    return `$profile${k} with steps lw 2${dash} lc rgb ${gnuplotText(colours(solver))} title ${title}`;
  });
  lines.push(curves.length > 0 ? `plot ${curves.join(", \\\n     ")}` : "# No solver is shown.", "");
  return lines.join("\n");
}

// The runs that the page compares now, with the columns of `table --kind rows`.
function filteredCsv(trials) {
  const rows = trials.model.rows;
  const names = Object.keys(rows).filter((name) => name !== "count");
  const chosen = trials.shown.flatMap((s) => s.trials.filter(Boolean).map((t) => t.row));
  const cell = (value) =>
    typeof value === "string" ? csvText(value) : Number.isNaN(value) ? "nan" : String(value);
  const lines = chosen
    .sort((a, b) => a - b)
    .map((row) => names.map((name) => cell(rows[name][row])).join(","));
  return `${names.join(",")}\n${lines.map((line) => `${line}\n`).join("")}`;
}

// The canvas on paper: alone it is transparent.
function canvasBlob(canvas) {
  const copy = element("canvas", { width: canvas.width, height: canvas.height });
  const ctx = copy.getContext("2d");
  ctx.fillStyle = themeColour("paper");
  ctx.fillRect(0, 0, copy.width, copy.height);
  ctx.drawImage(canvas, 0, 0);
  return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
}

class ExportView {
  constructor(page) {
    this.page = page;
    const script = () =>
      gnuplotScript(page.trials, (s) => page.paperColourOf(s.label), page.profile.chart.zoom);
    byId("export-gnuplot").addEventListener("click", () =>
      saveAs("profile.gp", new Blob([script()], { type: "text/plain" })),
    );
    byId("export-csv").addEventListener("click", () =>
      saveAs("rows.csv", new Blob([filteredCsv(page.trials)], { type: "text/csv" })),
    );
    byId("export-png").addEventListener("click", async () =>
      saveAs("profile.png", await canvasBlob(byId("profile"))),
    );
    byId("export-script").addEventListener("toggle", () => this.show(script));
    page.state.listen(() => this.show(script));
  }

  show(script) {
    if (byId("export-script").open && this.page.trials) {
      byId("export-text").textContent = script();
    }
  }
}
