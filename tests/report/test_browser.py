#!/usr/bin/env python3
"""Pages of `stickslip report` in Debian's chromium: every control, without a network.

    test_browser.py            the tests; exit status 77 if there is no browser
    test_browser.py measure    sizes and times of pages of 1000 and 10 000 rows; no test
"""
import csv
import json
import os
import re
import subprocess
import sys
import time

from pages import (
    change_record, close, COMMAND, data_of, EVIL, FACTORS, large_page, make_record, open_page,
    profile_cells, PROGRAM, program, READY, report, rows_of, run_in_folder, SOLVERS, table,
)
from profile_checks import (
    check_filters, check_hiding, check_measures, check_profile, check_profile_pointer,
    check_slider, check_sorting, CURVES, STEPS,
)
import webdriver


def check_loading(browser, page):
    browser.devtools("Network.enable")
    browser.devtools("Network.emulateNetworkConditions", offline=True, latency=0,
                     downloadThroughput=0, uploadThroughput=0)
    browser.open("about:blank")
    browser.requests()
    browser.open(f"file://{page}")
    browser.wait(READY, "the page to be ready")
    requests = [r for r in browser.requests() if not r.startswith("data:")]
    assert requests == [f"file://{page}"], requests
    assert browser.errors() == []
    print(f"ready after {browser.run(READY)} ms")


def check_problem(browser, record, folder):
    """A click on the matrix opens the problem; the command that it shows repeats the run."""
    cells = rows_of(browser, "#matrix-body")
    rows = table(record, "rows")
    problems = list(dict.fromkeys(r["problem"] for r in rows))
    assert [c[0] for c in cells] == [p.rsplit("/", 1)[1] for p in problems]
    browser.click("#matrix-body tr:nth-child(3) button")
    assert browser.text("#problem-title") == cells[2][0]
    mine = [r for r in rows if r["problem"] == problems[2]]
    assert len(rows_of(browser, "#runs-body")) == len(mine)
    sha = mine[0]["problem_sha256"]
    assert sha in browser.text("#provenance") and sha in browser.run("return location.hash")
    curves = "return window.stickslip.page.problemView.chart.curves.map((c) => c.label)"
    assert set(SOLVERS.split()) >= set(browser.run(curves)[:-1]) != set()
    point = browser.run(
        "const c = window.stickslip.page.problemView.chart.curves[0]; return c.points.at(-1)")
    browser.run("const a = document.getElementById('convergence-axis'); a.value = 'seconds';"
                "a.dispatchEvent(new Event('change'))")
    other = browser.run(
        "const c = window.stickslip.page.problemView.chart.curves[0]; return c.points.at(-1)")
    assert other["y"] == point["y"] and other["x"] < point["x"], (point, other)
    browser.pointer("#convergence", (0, 0))
    assert re.search(r"error [\d.e-]+ after", browser.text("#convergence-readout"))
    browser.click("#runs-body tr:nth-child(2) button")
    command = browser.text("#command")
    assert f"--solver {mine[1]['solver']} --tol 1e-8" in command, command
    words = command.replace("stickslip", f"'{PROGRAM}'", 1)
    run = subprocess.run(["sh", "-c", words], cwd=folder, capture_output=True, text=True)
    assert run.returncode in (0, 2), (command, run.stderr)
    assert os.path.getsize(os.path.join(folder, "trace.csv")) > 0
    browser.click("#problem-close")
    assert browser.run("return document.getElementById('problem-section').hidden")


def check_scatter(browser):
    browser.run("const s = document.getElementById('scatter-x'); s.value = 'pac';"
                "s.dispatchEvent(new Event('change'))")
    assert "x=pac" in browser.run("return location.hash")
    points = browser.run("return window.stickslip.page.problemsView.scatter.points.length")
    assert points == 12
    browser.run("const s = document.getElementById('scatter-y'); s.value = 'enum';"
                "s.dispatchEvent(new Event('change'))")
    assert "y=enum" in browser.run("return location.hash")
    assert "enum needs less" in browser.text("#scatter-caption"), browser.text("#scatter-caption")
    browser.keys("#scatter", "\ue014")
    assert "pac" in browser.text("#scatter-readout")
    browser.keys("#scatter", "\ue007")
    assert not browser.run("return document.getElementById('problem-section').hidden")
    browser.click("#reset")


def check_exports(browser, record, folder):
    browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
    paths = {}
    for button, name in (("gnuplot", "profile.gp"), ("csv", "rows.csv"), ("png", "profile.png")):
        browser.click(f"#export-{button}")
        paths[name] = os.path.join(folder, name)
        end = time.monotonic() + 5
        while not os.path.exists(paths[name]) and time.monotonic() < end:
            time.sleep(0.02)
    with open(paths["rows.csv"], encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected = table(record, "rows")
    assert [(r["problem"], r["solver"], r["status"]) for r in rows] == [
        (r["problem"], r["solver"], r["status"]) for r in expected]
    with open(paths["profile.png"], "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    if subprocess.run(["sh", "-c", "command -v gnuplot"], capture_output=True).returncode == 0:
        run = subprocess.run(["gnuplot", "profile.gp"], cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0 and run.stderr == "", run.stderr
        assert os.path.getsize(os.path.join(folder, "profile.pdf")) > 1000
    browser.click("#export-script summary")
    # The browser tells the page of an opened part after the click.
    browser.wait("return document.querySelector('#export-text').textContent", "the script")
    with open(paths["profile.gp"], encoding="utf-8") as file:
        assert browser.text("#export-text") == file.read()


def check_looks(browser, page):
    """Dark differs from light, and nothing is wider than a screen of 400 pixels."""
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.theme(True)
    assert browser.run(paper) != light
    browser.size(400, 800)
    open_page(browser, page)
    wide = "return [document.documentElement.scrollWidth, innerWidth]"
    for _ in range(2):  # with the filters closed, and open
        found = browser.run(wide)
        assert found[0] <= found[1], found
        shown = browser.run("return document.getElementById('text').checkVisibility()")
        browser.click("#filters summary")
        assert browser.run("return document.getElementById('text').checkVisibility()") != shown
    browser.size(1280, 900)
    browser.theme(False)
    names = browser.run(
        "return [...document.querySelectorAll('button, select, input, canvas, summary, .scroll')]"
        ".filter((e) => e.checkVisibility() && e.tabIndex < 0).map((e) => e.id || e.className)")
    assert names == [], f"not reached by the keyboard: {names}"


PIXELS = """
const gl = document.querySelector('.viewer').getContext('webgl2');
const [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
const bytes = new Uint8Array(4 * w * h);
gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
const paper = bytes.slice(0, 3);
let hash = 0, drawn = 0;
for (let k = 0; k < bytes.length; k += 4) {
  hash = (Math.imul(hash, 31) + bytes[k] + 256 * bytes[k + 1] + 65536 * bytes[k + 2]) | 0;
  drawn += bytes[k] !== paper[0] || bytes[k + 1] !== paper[1] || bytes[k + 2] !== paper[2];
}
return [hash, drawn];
"""


def check_simulation(browser, folder):
    """Scrub, play, turn, colour: the picture changes each time, and comes back."""
    h5, stats = os.path.join(folder, "s.h5"), os.path.join(folder, "s.csv")
    program("simulate", "pony", "--rods", "12", "--steps", "40", "--strands", h5, "--stats", stats)
    open_page(browser, report(os.path.join(folder, "s.html"), stats, "--strands", h5))
    assert len(browser.run("return [...document.querySelectorAll('.run')].map(() => 1)")) == 1
    first, drawn = browser.run(PIXELS)
    assert drawn > 2000, f"{drawn} pixels are drawn"

    def pixels():
        return browser.run(PIXELS)[0]

    browser.run("document.querySelector('.viewer').scrollIntoView({block: 'center'})")
    browser.pointer(".viewer", (0, 0), "down", (90, 30), "up")
    turned = pixels()
    assert turned != first, "a drag does not turn"
    browser.click(".reset-view")
    assert pixels() == first, "the first view does not come back"
    before = first
    for key in ("\ue014", "\ue013", "+"):
        browser.keys(".viewer", key)
        now = pixels()
        assert now != before, f"the key {key!r} does nothing"
        before = now
    browser.keys(".viewer", "\ue00c")
    assert pixels() == first
    with open(stats, encoding="utf-8") as file:
        row = list(csv.DictReader(file))[24]
    browser.run("const s = document.querySelector('.time'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('input'))", row["time"])
    assert pixels() != first and "frame 26 of 41" in browser.text(".clock"), browser.text(".clock")
    values = browser.text(".series figcaption")
    assert f"contacts {row['contacts']} " in values, values
    assert f"active (r_N > 0) {row['active']} " in values, values
    for mode in ("speed", "impulse"):
        before = pixels()
        browser.run("const m = document.querySelector('.mode'); m.value = arguments[0];"
                    "m.dispatchEvent(new Event('change'))", mode)
        assert pixels() != before, f"colours by {mode} are the same"
    before = pixels()
    browser.click(".contacts")
    assert pixels() != before, "contacts are not switched"
    browser.run("document.querySelector('.pace').value = '0.02'")
    clock = browser.text(".clock")
    browser.click(".play")
    browser.wait(f"return document.querySelector('.clock').textContent !== {json.dumps(clock)}", "the film")
    browser.click(".play")
    browser.run("document.querySelector('.series canvas').scrollIntoView({block: 'center'})")
    browser.pointer(".series canvas", (-100, 0), "down", "up")
    left = browser.text(".clock")
    browser.pointer(".series canvas", (100, 0), "down", "up")
    assert float(browser.text(".clock").split()[0]) > float(left.split()[0])
    assert browser.errors() == []


def check_two_records(browser, record, folder):
    """A page of two records shows one at a time if their solvers or problems differ."""
    first = change_record(record, os.path.join(folder, "first.db"), "delete from runs where solver = 'enum'")
    other = change_record(record, os.path.join(folder, "other.db"),
                          "delete from runs where solver <> 'enum' or contacts > 100")
    page = os.path.join(folder, "two.html")
    open_page(browser, report(page, first, other))
    data = data_of(page)
    assert [r["file"] for r in data["records"]] == [first, other]
    assert sum(r["rows"] for r in data["records"]) == len(data["rows"]["tol"])
    solvers = "return window.stickslip.page.trials.shown.map((s) => s.label)"
    assert "enum" not in browser.run(solvers), "the page begins with both records"
    assert "some of these problems" not in browser.text("#profile-caption")
    choose = ("const r = document.querySelector('#record'); r.value = arguments[0];"
              "r.dispatchEvent(new Event('change'))")
    browser.run(choose, "1")
    assert browser.run(solvers) == ["enum"]
    assert not browser.run("return window.stickslip.page.isGrey('enum')"), "the only solver is grey"
    browser.run(choose, "all")
    assert "enum" in browser.run(solvers) and len(browser.run(solvers)) > 1
    assert "1 solver of" in browser.text("#profile-caption"), browser.text("#profile-caption")
    open_page(browser, page, "#record=1")
    assert browser.run(solvers) == ["enum"]
    open_page(browser, page, "#record=7")
    assert len(browser.run(solvers)) > 1, "a record that is not there hides all"
    open_page(browser, report(page, record))
    assert browser.run("return document.querySelector('#record').closest('label').hidden")


def check_bad_pages(browser, record, folder):
    """Pages that say what is wrong, and are whole."""
    page = os.path.join(folder, "bad.html")
    empty = os.path.join(folder, "empty.db")
    change_record(record, empty, "delete from runs")
    open_page(browser, report(page, empty, code=3))
    assert "holds no runs" in browser.text("#findings")
    one = change_record(record, os.path.join(folder, "one.db"), "delete from runs where run > 1")
    open_page(browser, report(page, one))
    assert browser.text("#count").startswith("1 problem, 1 of 1 solver")
    missing = change_record(record, os.path.join(folder, "missing.db"),
                            "update runs set seconds = null, fb = null, sweep_seconds = null, "
                            "iterations = null, local_solves = null, contacts = null")
    open_page(browser, report(page, missing))
    assert {c for row in rows_of(browser, "#solvers-body") for c in row[4:6]} == {"-"}
    evil = change_record(record, os.path.join(folder, "evil.db"),
                         ("update runs set problem = ?, detail = ?, scene = ?, host = ?",
                          (EVIL, EVIL, EVIL[:40], EVIL)))
    open_page(browser, report(page, evil, "--title", EVIL))
    browser.click("#matrix-body button")
    assert EVIL in browser.text("#provenance") and browser.text("#title") == EVIL
    assert browser.run("return document.images.length") == 0
    assert browser.run("return document.title") == EVIL
    plain = report(page, record, "--no-histories", "--plain")
    open_page(browser, plain)
    browser.click("#matrix-body button")
    assert "without histories" in browser.text("#convergence-none")
    damaged = os.path.join(folder, "s.h5")
    with open(damaged, "rb+") as file:
        file.truncate(os.path.getsize(damaged) // 2)
    open_page(browser, report(page, record, "--strands", damaged, code=3))
    assert "s.h5: damaged file" in browser.text("#findings")
    assert browser.run(CURVES) != [] and browser.errors() == []


def check_commands(browser, record, folder):
    """Names that are commands stay names in the script and in the command that the page offers."""
    folder = os.path.join(folder, "commands")
    os.mkdir(folder)
    for start in ("", "'", "-"):
        name = start + COMMAND
        evil = change_record(record, os.path.join(folder, "evil.db"),
                             ("update runs set problem = ?1, solver = case solver when 'enum' then ?1 else solver end",
                              (name,)))
        open_page(browser, report(os.path.join(folder, "evil.html"), evil))
        browser.run("document.querySelector('#export-script summary').click()")
        browser.wait("return document.querySelector('#export-text').textContent", "the script")
        script = browser.run("return document.querySelector('#export-text').textContent")
        if subprocess.run(["sh", "-c", "command -v gnuplot"], capture_output=True).returncode == 0:
            run = subprocess.run(["gnuplot"], input=script, cwd=folder, capture_output=True, text=True)
            assert run.returncode == 0 and run.stderr == "", run.stderr
        for button in ("#matrix-body button", "#runs-body button"):
            browser.run("document.querySelector(arguments[0]).click()", button)
        command = browser.run("return document.querySelector('#command').textContent")
        assert not re.search(r"[\x00-\x1f\x7f]", command), command
        words = command.replace("stickslip", "printf '<%s>'", 1)
        run = subprocess.run(["bash", "-c", words], cwd=folder, capture_output=True, text=True)
        file = "./" + name if start == "-" else name
        assert run.stdout.startswith(f"<solve><{file}><--solver><"), (command, run.stdout)
        assert not os.path.exists(os.path.join(folder, "PWNED")), (script, command)
        os.unlink(evil)


def check_large_page(browser, record, folder):
    """10 000 rows: the first 300 problems, more at a click, and the profile of `table`."""
    page, _ = large_page(record, folder, 10000)
    open_page(browser, page)
    print(f"10 000 rows: ready after {browser.run(READY)} ms")
    count = "return document.querySelectorAll('#matrix-body tr').length"
    assert browser.run(count) == 300
    browser.click("#matrix-more")
    assert browser.run(count) == 600
    cells = profile_cells(browser)
    for row in table(os.path.join(folder, "10000.db"), "profile"):
        for x, found in zip(FACTORS, cells[row["solver"]]):
            # A ratio may be on the other side of a factor by the tenth digit.
            assert abs(found - float(row[f"within_{x:g}_percent"])) <= 0.1, (row, x, found)
    browser.run("window.scrollTo(0, 0)")
    browser.click("#summary button")
    top = browser.run("return document.getElementById('conditions').getBoundingClientRect().top")
    assert 0 <= top < 900, top


def check_old_browser(browser, page):
    """Without DecompressionStream a sentence names --plain."""
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument",
                              source="delete window.DecompressionStream")
    browser.open("about:blank")
    browser.open(f"file://{page}")
    browser.wait("return document.getElementById('findings').textContent", "the sentence")
    assert "--plain" in browser.text("#findings")
    browser.errors()
    browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_browser(folder):
    if not webdriver.available():
        print("chromium or chromedriver is absent (scripts/get-deps --tests): skipped")
        return 77
    record = make_record(folder)
    page = report(os.path.join(folder, "page.html"), record)
    checks = (
        (check_loading, (page,)),
        (check_profile, (page, record)),
        (check_slider, (page, record)),
        (check_sorting, ()),
        (check_hiding, (record,)),
        (check_filters, (record,)),
        (check_measures, (record,)),
        (check_profile_pointer, ()),
        (check_problem, (record, folder)),
        (check_scatter, ()),
        (check_exports, (record, folder)),
        (check_looks, (page,)),
        (check_simulation, (folder,)),
        (check_two_records, (record, folder)),
        (check_bad_pages, (record, folder)),
        (check_commands, (record, folder)),
        (check_old_browser, (page,)),
        (check_large_page, (record, folder)),
    )
    with webdriver.Browser() as browser:
        for check, arguments in checks:
            start = time.monotonic()
            check(browser, *arguments)
            print(f"{check.__name__}: {time.monotonic() - start:.1f} s")
    close(len(checks))
    return 0


def measure(folder):
    record = make_record(folder)
    for count in (1000, 10000):
        page, points = large_page(record, folder, count)
        print(f"{count} rows, {points} points: {os.path.getsize(page) / 1e6:.2f} MB", end="")
        for _ in range(3):
            with webdriver.Browser() as browser:
                open_page(browser, page)
                steps = sorted(browser.run(STEPS))
                print(f"; ready {browser.run(READY)} ms, steps of the tolerance "
                      f"{steps[len(steps) // 2]:.0f} to {steps[-1]:.0f} ms", end="")
        print()


if __name__ == "__main__":
    run_in_folder(measure if sys.argv[1:] == ["measure"] else test_browser)
