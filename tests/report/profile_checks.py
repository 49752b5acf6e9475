"""The performance profile of a page and its table of solvers, by every control, against `table`."""
import math
import re

from pages import (
    change_record, error_of, FACTORS, is_near, open_page, profile_cells, rows_of, same_shown,
    SOLVERS, table,
)


def check_cells(browser, expected):
    """The solvers and the percentages of the page's profile, against rows of `table --kind profile`."""
    cells = profile_cells(browser)
    assert set(cells) == {row["solver"] for row in expected}
    for row in expected:
        for x, found in zip(FACTORS, cells[row["solver"]]):
            assert is_near(found, float(row[f"within_{x:g}_percent"]), 1e-12), (row, x, found)


def check_profile(browser, page, record):
    """All cells of `table --kind profile` and of Table 2, for three tolerances."""
    for tolerance in ("1e-8", "1e-5", "1e-2"):
        open_page(browser, page, f"#tol={tolerance}")
        check_cells(browser, table(record, "profile", "--tol", tolerance))
        shown = {row[0].split(" †")[0]: row for row in rows_of(browser, "#solvers-body")}
        names = ["alt_percent", "fail_percent", "over_tol_percent", "mean_iterations", "mean_ms"]
        for row in table(record, "solvers", "--tol", tolerance):
            for name, text in zip(names, shown[row["solver"]][6:11]):
                assert same_shown(text, float(row[name])), (tolerance, row, name, text)


# Moves the slider from end to end; milliseconds of each step.
STEPS = """
const slider = document.getElementById('tol-slider'), times = [];
for (let k = 0; k <= 10; k++) {
  slider.value = Number(slider.min) + (slider.max - slider.min) * k / 10;
  const start = performance.now();
  slider.dispatchEvent(new Event('input'));
  times.push(performance.now() - start);
}
return times;
"""


def check_slider(browser, page, record):
    """The slider's end is a tolerance of 0.1; it stands in the address, and in a copy of it."""
    open_page(browser, page)
    print(f"a step of the tolerance: {max(browser.run(STEPS)):.0f} ms at most")
    assert browser.run("return location.hash") == "#tol=0.1"
    assert browser.run("return document.getElementById('tol').value") == "0.1"
    expected = table(record, "solvers", "--tol", "0.1")
    cells = {row[0].split(" †")[0]: row for row in rows_of(browser, "#solvers-body")}
    for row in expected:
        assert same_shown(cells[row["solver"]][8], float(row["over_tol_percent"]))
    browser.run("const box = document.getElementById('tol'); box.value = ''; box.focus()")
    browser.type("#tol", "1e-5\ue007")
    assert browser.run("return location.hash") == "#tol=0.00001"
    open_page(browser, page, "#tol=0.00001")
    assert browser.run("return document.getElementById('tol').value") == "1e-5"
    browser.click("#reset")
    assert browser.run("return location.hash") in ("", "#")


def numbers_of(browser, place):
    cells = [row[place] for row in rows_of(browser, "#solvers-body")]
    return [float(c) for c in cells if c != "-"], cells


def check_sorting(browser):
    browser.click("#solvers-head [data-key=iterations]")
    values, cells = numbers_of(browser, 9)
    assert values == sorted(values) and len(values) > 3, cells
    heading = "return document.querySelector('[data-key=iterations]').parentNode.ariaSort"
    assert browser.run(heading) == "ascending"
    browser.click("#solvers-head [data-key=iterations]")
    values, cells = numbers_of(browser, 9)
    assert values == sorted(values, reverse=True)
    browser.click("#solvers-head [data-key=alt]")
    values, cells = numbers_of(browser, 6)
    assert values == sorted(values) and cells[-1] == "-", "missing values are last"
    browser.click("#solvers-head [data-key=label]")
    names = [row[0] for row in rows_of(browser, "#solvers-body")]
    assert names == sorted(names), names
    browser.click("#reset")


CURVES = "return window.stickslip.page.profile.chart.chart.data.datasets.map((d) => d.label)"


def check_hiding(browser, record):
    """Hidden solvers take no part: the ratios are those of a record without them."""
    browser.click("#solvers-body tr[data-solver='auto'] input")
    assert "auto" not in browser.run(CURVES) and "hide=auto" in browser.run("return location.hash")
    other = change_record(record, record + "-without.db", "delete from runs where solver = 'auto'")
    check_cells(browser, table(other, "profile"))
    browser.click("#solvers-none")
    assert browser.run(CURVES) == [] and browser.errors() == []
    browser.click("#solvers-all")
    assert len(browser.run(CURVES)) == len(SOLVERS.split())


def check_filters(browser, record):
    """Problems that are left, against the record's rows."""
    rows = table(record, "rows")
    problems = {r["problem"]: (int(r["contacts"]), r["scene"]) for r in rows}

    def count():
        return int(browser.text("#count").split()[0])

    assert count() == len(problems)
    browser.type("#text", "PONY")
    expected = [p for p in problems if "pony" in p]
    assert count() == len(expected)
    other = change_record(record, record + "-pony.db", "delete from runs where problem not like '%pony%'")
    check_cells(browser, table(other, "profile"))
    browser.click("#reset")
    assert count() == len(problems)
    browser.type("#from", "31\ue007")
    assert count() == sum(c >= 31 for c, _ in problems.values())
    browser.type("#to", "60\ue007")
    assert count() == sum(31 <= c <= 60 for c, _ in problems.values())
    browser.click("#reset")
    browser.run("const s = document.getElementById('scene'); s.value = 'pony';"
                "s.dispatchEvent(new Event('change'))")
    assert count() == sum(s == "pony" for _, s in problems.values())
    browser.click("#reset")
    browser.type("#text", "no such problem")
    assert count() == 0 and browser.errors() == []
    browser.click("#reset")


def check_measures(browser, record):
    """Profiles of iterations, computed here from the rows."""
    rows = [r for r in table(record, "rows")]
    costs = {}
    for r in rows:
        solved = error_of(float(r["fb"]), float(r["normal"])) <= 1e-8 and r["status"] not in ("crashed", "bad_input")
        costs[r["solver"], r["problem"]] = max(1, int(r["iterations"])) if solved else math.inf
    problems = {p for _, p in costs}
    best = {p: min(costs.get((s, p), math.inf) for s, _ in costs) for p in problems}
    browser.run("const m = document.getElementById('measure'); m.value = 'iterations';"
                "m.dispatchEvent(new Event('change'))")
    for solver, found in profile_cells(browser).items():
        for x, value in zip(FACTORS, found):
            ratio = [costs.get((solver, p), math.inf) / best[p] if best[p] < math.inf else math.inf
                     for p in problems]
            assert is_near(value, 100 * sum(r <= x for r in ratio) / len(problems), 1e-12), solver
    assert "iterations" in browser.text("#profile-caption")
    browser.run("const m = document.getElementById('measure'); m.value = 'sweep';"
                "m.dispatchEvent(new Event('change'))")
    assert "time in iterations" in browser.text("#profile-caption")
    browser.click("#reset")


def check_profile_pointer(browser):
    """Pointing reads and emphasises both ways; a click fixes; a drag zooms; keys do the same."""
    browser.run("document.getElementById('profile').scrollIntoView({block: 'center'})")
    browser.pointer("#profile", (0, 0))
    reading = re.fullmatch(r"at ([\d.e]+)x the best: (.+) ([\d.]+) %", browser.text("#profile-readout"))
    assert reading, browser.text("#profile-readout")
    share = browser.run(
        "const {page, percentWithin} = window.stickslip;"
        "const s = page.trials.shown.find((s) => s.label === arguments[0]);"
        "return percentWithin(page.trials, s, page.profile.chart.reading.x)", reading[2])
    assert abs(share - float(reading[3])) < 0.06, "the reading is not the curve's"
    assert browser.run("return document.querySelector('.emphasised').dataset.solver") == reading[2]
    browser.pointer("#profile", "down", "up")
    assert f"fix={reading[2].replace('+', '%2B')}" in browser.run("return location.hash")
    browser.pointer("#profile", "down", "up")
    assert "fix=" not in browser.run("return location.hash")
    before = browser.run("return window.stickslip.page.profile.chart.chart.scales.x.max")
    browser.pointer("#profile", (-200, 0), "down", (0, 20), (50, 20), "up")
    scale = browser.run("const s = window.stickslip.page.profile.chart.chart.scales.x;"
                        "return [s.min, s.max]")
    assert 1 < scale[0] < scale[1] < before, scale
    browser.click("#profile-unzoom")
    assert browser.run("return window.stickslip.page.profile.chart.chart.scales.x.max") == before
    browser.pointer("#solvers-body tr[data-solver='enum']", (0, 0))
    assert browser.run("return window.stickslip.page.profile.chart.focus") == "enum"
    texts = set()
    for key in ("\ue014", "\ue013", "\ue012"):  # right, up, left
        browser.keys("#profile", key)
        texts.add(browser.text("#profile-readout"))
    assert len(texts) >= 2 and all("x the best" in t for t in texts), texts
    browser.keys("#profile", "+")
    assert browser.run("return !document.getElementById('profile-unzoom').hidden")
    browser.keys("#profile", "\ue00c")
    assert browser.run("return document.getElementById('profile-unzoom').hidden")
