#!/usr/bin/env python3
"""Pages of `stickslip report`, without a browser and in one.

    test_report.py data       what is in a page equals the record (JSON of --plain)
    test_report.py browser    every control of the page, in Debian's chromium, without a network
    test_report.py measure    sizes and times of pages of 1000 and 10 000 rows; no test

STICKSLIP in the environment is the program. Exit status 77 if there is no browser.
"""
import base64
import contextlib
import csv
import hashlib
import io
import json
import math
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import webdriver

PROGRAM = os.environ["STICKSLIP"]
SOLVERS = "mfb+enum enum pac secular auto 4sides apgd ppa newton-mfb"
FACTORS = (1.2, 2, 5, 10, 100)
EVIL = "</script><img src=x onerror='document.title=1'>&\"\\.h5"


def program(*words, code=0):
    run = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    assert run.returncode == code, f"{words}: {run.returncode}, {run.stderr}"
    return run.stdout


def table(record, kind, *words):
    """Rows of a table as dictionaries."""
    text = program("table", record, "--kind", kind, "--format", "csv", *words)
    return list(csv.DictReader(io.StringIO(text)))


def is_near(a, b, relative):
    both_missing = math.isnan(a) and math.isnan(b)
    return both_missing or abs(a - b) <= relative * max(abs(a), abs(b))


def error_of(fb, normal):
    """What a tolerance bounds (ss_measures_error)."""
    return math.nan if math.isnan(fb) or math.isnan(normal) else max(fb, normal / 2)


def make_record(folder):
    """Twelve small problems of two scenes by nine solvers, to 1e-8, with histories."""
    record = os.path.join(folder, "record.db")
    files = []
    for k, contacts in enumerate((30, 60)):
        path = os.path.join(folder, f"tangle {k}.h5")
        program("generate", "tangle", "--contacts", str(contacts), "--per-rod", "6", "--mu", "0.4",
                "--seed", str(k + 1), "--count", "4", "--out", path)
        files.append(path)
    dump = os.path.join(folder, "pony.h5")
    program("simulate", "pony", "--rods", "8", "--steps", "40", "--dump", dump, "--count", "4")
    program("bench", *files, dump, "--solvers", SOLVERS, "--tol", "1e-8", "--max-iter", "400",
            "--repeat", "1", "--jobs", "2", "--out", record)
    return record


def change_record(record, path, *statements):
    """A copy of a record, changed by SQL."""
    source, copy = sqlite3.connect(record), sqlite3.connect(path)
    source.backup(copy)
    source.close()
    with contextlib.closing(copy), copy:
        for statement in statements:
            copy.execute(*statement if isinstance(statement, tuple) else (statement,))
    return path


def many_rows(record, path, times):
    """A record with the rows of another so many times, each time as other problems."""
    change_record(record, path)
    base = sqlite3.connect(path)
    columns = [c[1] for c in base.execute("pragma table_info(runs)") if c[1] != "run"]
    (most,) = base.execute("select max(run) from runs").fetchone()
    with contextlib.closing(base), base:
        changed = ", ".join(
            {
                "problem": "problem || '-' || ?1",
                "problem_sha256": "substr(problem_sha256, 1, 56) || printf('%08x', ?1)",
                "seconds": "seconds * (1 + ((run * 7919 + ?1 * 104729) % 1000) / 500.0)",
            }.get(c, c)
            for c in columns
        )
        for k in range(1, times):
            base.execute(
                f"insert into runs (run, {', '.join(columns)}) "
                f"select run + ?1 * {most}, {changed} from runs where run <= {most}", (k,))
            base.execute(
                f"insert into histories (run, iteration, seconds, fb, normal) "
                f"select run + ?1 * {most}, iteration, seconds, fb, normal from histories where run <= {most}", (k,))
    return path


def report(out, *words, code=0):
    program("report", *words, "--out", out, code=code)
    return out


def elements(path):
    """The elements of data of a page: (id, packed, content)."""
    with open(path, encoding="utf-8") as file:
        html = file.read()
    pattern = r'<script type="application/[a-z-]+" id="([a-z0-9-]+)" data-packed="([a-z]*)">(.*?)</script>'
    return {m[1]: (m[2], m[3]) for m in re.finditer(pattern, html, re.DOTALL)}


def data_of(path):
    packed, text = elements(path)["data"]
    return json.loads(zlib.decompress(base64.b64decode(text)) if packed else text)


def column(data, name):
    values = data["rows"][name]
    return [values["v"][k] for k in values["i"]] if isinstance(values, dict) else values


# ---- Without a browser


def check_rows(record, data):
    """Every column of every row: texts alike, reals to 9 digits, errors never below the record's."""
    rows = json.loads(program("table", record, "--kind", "rows", "--format", "json"))
    assert list(data["rows"]) == list(rows[0]), "columns"
    for name in rows[0]:
        for was, found in zip([row[name] for row in rows], column(data, name), strict=True):
            if was is None or isinstance(was, str):
                assert (was or "") == (found or ""), (name, was, found)
            else:
                up = name in ("fb", "normal")  # what a tolerance bounds
                assert is_near(was, found, 1.1e-8 if up else 6e-9), (name, was, found)
                assert not up or found >= was, (name, was, found)


def check_histories(record, data):
    """The BLOBs of the record: iterations exactly, seconds and errors to 6 digits, errors not below."""
    start, history = data["history"]["start"], data["history"]
    with contextlib.closing(sqlite3.connect(record)) as base:
        rows = base.execute("select h.iteration, h.seconds, h.fb, h.normal from runs r "
                            "left join histories h on h.run = r.run order by r.run").fetchall()
    assert len(start) == len(rows) + 1
    for k, blobs in enumerate(rows):
        lists = [struct.unpack(f"<{len(b or b'') // 8}d", b or b"") for b in blobs]
        part = slice(start[k], start[k + 1])
        iterations = []
        for step in history["iteration"][part]:
            iterations.append(step + (iterations[-1] if iterations else 0))
        assert list(lists[0]) == iterations, k
        for was, found in zip(lists[1], history["seconds"][part], strict=True):
            assert is_near(was, found, 6e-6)
        errors = [error_of(*pair) for pair in zip(lists[2], lists[3], strict=True)]
        for was, found in zip(errors, history["error"][part], strict=True):
            assert found >= was and is_near(was, found, 1.1e-5), (was, found)


def check_strands(folder):
    """Places of the packed strands against the file's, through the numbers of `simulate --stats`."""
    h5, stats = os.path.join(folder, "s.h5"), os.path.join(folder, "s.csv")
    program("simulate", "pony", "--rods", "6", "--steps", "30", "--strands", h5, "--stats", stats)
    page = report(os.path.join(folder, "s.html"), stats, "--strands", h5)
    head = data_of(page)["strands"][0]
    body = zlib.decompress(base64.b64decode(elements(page)["strands-0"][1]))
    n, at, now = 3 * head["vertices"], 0, [0] * (3 * head["vertices"])
    with open(stats, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for frame, contacts in enumerate(head["contacts"]):
        low, high = body[at:at + n], body[at + n:at + 2 * n]
        now = [(x + a + 256 * b) % 65536 for x, a, b in zip(now, low, high)]
        begin = at + 2 * n + head["strands"]
        status = body[begin + 4 * contacts:begin + 5 * contacts]
        at = begin + 5 * contacts + 48 * len(head["kind"])
        if frame > 0:
            row = rows[frame - 1]
            tip = 3 * (head["length"][0] - 1)
            for k, name in enumerate(("tip_x", "tip_y", "tip_z")):
                place = head["low"][k] + head["step"] * now[tip + k]
                assert abs(place - float(row[name])) <= 0.51 * head["step"], (frame, name)
            assert contacts == int(row["contacts"])
            assert sum(s > 0 for s in status) == int(row["active"])
    assert at == len(body)


def test_data(folder):
    record = make_record(folder)
    page = os.path.join(folder, "page.html")
    data = data_of(report(page, record, "--plain"))
    check_rows(record, data)
    check_histories(record, data)
    assert data_of(report(page, record))["rows"] == data["rows"], "packed and plain differ"
    assert "history" not in data_of(report(page, record, "--no-histories"))
    html = open(report(page, record), encoding="utf-8").read()
    assert not re.search(r'(src|href)="(?!data:)', html), "something is loaded"
    evil = change_record(record, os.path.join(folder, "evil.db"),
                         ("update runs set problem = ?, detail = ? where run = 1", (EVIL, EVIL)))
    data = data_of(report(page, evil, "--plain"))
    assert column(data, "problem")[0] == EVIL and column(data, "detail")[0] == EVIL
    check_strands(folder)
    page, points = large_page(record, folder, 1000)
    assert os.path.getsize(page) <= 1e6, f"1000 rows with {points} points of histories"
    close(1)


def large_page(record, folder, count):
    """A page of `count` rows or a few more, and how many points their histories have."""
    with contextlib.closing(sqlite3.connect(record)) as base:
        (rows,) = base.execute("select count(*) from runs").fetchone()
    large = many_rows(record, os.path.join(folder, f"{count}.db"), -(-count // rows))
    page = report(os.path.join(folder, f"{count}.html"), large)
    return page, data_of(page)["history"]["start"][-1]


# ---- In a browser

READY = "return document.documentElement.dataset.ready"


def open_page(browser, path, hash_=""):
    browser.open("about:blank")
    browser.errors(), browser.requests()
    browser.open(f"file://{path.replace(' ', '%20')}{hash_}")
    browser.wait(READY, "the page to be ready")
    assert browser.errors() == [], "the console complains"


def rows_of(browser, selector):
    """The texts of the cells of a table's body."""
    return browser.run(
        "return [...document.querySelectorAll(arguments[0] + ' tr')].map("
        "  (row) => [...row.children].map((cell) => cell.innerText.trim()))", selector)


def profile_cells(browser):
    script = (
        "const {page, percentWithin} = window.stickslip; const cells = {};"
        "for (const s of page.trials.shown)"
        "  cells[s.label] = arguments[0].map((x) => percentWithin(page.trials, s, x));"
        "return cells")
    return browser.run(script, FACTORS)


def same_shown(text, number):
    """A cell of the page against a number of `table`."""
    if text == "-":
        return math.isnan(number)
    value = float(text)
    return abs(value - number) <= 0.51 * 10 ** (math.floor(math.log10(abs(number) or 1)) - 2)


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


def check_profile(browser, page, record):
    """All cells of `table --kind profile` and of Table 2, for three tolerances."""
    for tolerance in ("1e-8", "1e-5", "1e-2"):
        open_page(browser, page, f"#tol={tolerance}")
        cells = profile_cells(browser)
        expected = table(record, "profile", "--tol", tolerance)
        assert set(cells) == {row["solver"] for row in expected}
        for row in expected:
            for x, found in zip(FACTORS, cells[row["solver"]]):
                assert is_near(found, float(row[f"within_{x:g}_percent"]), 1e-12), (tolerance, row)
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
    cells = profile_cells(browser)
    for row in table(other, "profile"):
        for x, found in zip(FACTORS, cells[row["solver"]]):
            assert is_near(found, float(row[f"within_{x:g}_percent"]), 1e-12), row
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
    cells = profile_cells(browser)
    for row in table(other, "profile"):
        for x, found in zip(FACTORS, cells[row["solver"]]):
            assert is_near(found, float(row[f"within_{x:g}_percent"]), 1e-12), row
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


def close(count):
    """The last line of Unity, which scripts/test counts; a check that fails raises."""
    print(f"{count} Tests 0 Failures 0 Ignored")


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
    with tempfile.TemporaryDirectory(prefix="stickslip-report-") as scratch:
        work = {"data": test_data, "browser": test_browser, "measure": measure}[sys.argv[1]]
        sys.exit(work(scratch) or 0)
