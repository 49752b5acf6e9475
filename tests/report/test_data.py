#!/usr/bin/env python3
"""What is in a page of `stickslip report`: it equals the record (JSON of --plain)."""
import base64
import contextlib
import csv
import json
import os
import re
import sqlite3
import struct
import zlib

from pages import (
    change_record, close, column, data_of, elements, error_of, EVIL, is_near, large_page,
    make_record, program, report, run_in_folder,
)


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


if __name__ == "__main__":
    run_in_folder(test_data)
