"""Draws the performance profile of a record of `bench` with matplotlib.

    python3 draw_profile.py results.db profile.pdf
    python3 draw_profile.py results.db profile.pdf "tol = 1e-4 and dim = 3"

A solver's curve at x is the share of problems that it solved within x times the fastest solver's
time on that problem (Dolan and More, 2002).
"""
import sys

import matplotlib
import numpy as np

import stickslip

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 (the backend is chosen before)


def main(record, picture, where="1"):
    rows = stickslip.rows(record, where)
    problems = np.unique(rows["problem_sha256"])
    solvers = np.unique(rows["solver"])
    seconds = np.full((solvers.size, problems.size), np.inf)
    solved = rows["status"] == "solved"
    np.minimum.at(seconds, (np.searchsorted(solvers, rows["solver"][solved]),
                            np.searchsorted(problems, rows["problem_sha256"][solved])),
                  rows["seconds_median"][solved])
    best = seconds.min(axis=0)
    end = 1.2 * (seconds / best)[np.isfinite(seconds)].max(initial=2)
    for solver, own in zip(solvers, seconds):
        ratios = np.sort(own[np.isfinite(own)] / best[np.isfinite(own)])
        share = 100 * np.arange(ratios.size + 1) / problems.size
        pyplot.step(np.r_[1, ratios, end], np.append(share, share[-1]), where="post", label=solver)
    pyplot.xscale("log")
    pyplot.xlim(1, end)
    pyplot.ylim(0, 102)
    pyplot.xlabel("time over the fastest solver's")
    pyplot.ylabel(f"% of {problems.size} problems")
    pyplot.legend()
    pyplot.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
