"""Records, and pages of `stickslip report` made from them, for the tests of this folder.

STICKSLIP in the environment is the program.
"""
import base64
import contextlib
import csv
import io
import json
import math
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import zlib

PROGRAM = os.environ["STICKSLIP"]
SOLVERS = "mfb+enum enum pac secular auto 4sides apgd ppa newton-mfb"
FACTORS = (1.2, 2, 5, 10, 100)
COMMAND = "x\n!touch PWNED\n'\"; system('touch PWNED') #`touch PWNED`$(touch PWNED)@a\\"
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


def large_page(record, folder, count):
    """A page of `count` rows or a few more, and how many points their histories have."""
    with contextlib.closing(sqlite3.connect(record)) as base:
        (rows,) = base.execute("select count(*) from runs").fetchone()
    large = many_rows(record, os.path.join(folder, f"{count}.db"), -(-count // rows))
    page = report(os.path.join(folder, f"{count}.html"), large)
    return page, data_of(page)["history"]["start"][-1]


# ---- A page in a browser

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


# ---- Tests


def close(count):
    """The last line of Unity, which scripts/test counts; a check that fails raises."""
    print(f"{count} Tests 0 Failures 0 Ignored")


def run_in_folder(test):
    """Runs a test in a folder of its own and ends the program with its status."""
    with tempfile.TemporaryDirectory(prefix="stickslip-report-") as scratch:
        sys.exit(test(scratch) or 0)
