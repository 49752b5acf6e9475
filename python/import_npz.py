"""Writes problems that NumPy arrays describe to one HDF5 file in FCLIB's layout.

    python3 import_npz.py OUT.h5 STEP.npz...                normals first, u = G r + g
    python3 import_npz.py --normal last OUT.h5 STEP.npz...  contact frames (T1, T2, N)

An npz file has G [3n, 3n] (the Delassus matrix), g [3n] (the velocity without impulses) and mu [n];
or M [m, m], J [3n, m] (the contact Jacobian: u = J v), f [m] and mu [n], with w [3n] if the
obstacles move: M v = J' r + f, so that f is M times the velocity without contacts. G g are velocities
after the step, in m/s, for impulses in N s; scale forces by the time step first (doc/import.md).
"""
import argparse
import pathlib
import sys
import zipfile
import zlib

import numpy as np

import stickslip


def taken(array, order, name):
    """The rows of contacts in the order; there must be no others."""
    if array.shape[:1] != order.shape:
        raise ValueError(f"{name} is {' x '.join(map(str, array.shape))}; {order.size} rows are "
                         f"needed, 3 for each of the {order.size // 3} numbers of mu")
    return array[order]


def load(path, normal):
    found = np.load(path)
    if not isinstance(found, np.lib.npyio.NpzFile):
        raise ValueError("this is no npz file")
    with found as arrays:
        mu = np.ravel(arrays["mu"])
        order = np.arange(3 * mu.size).reshape(-1, 3)
        order = (order[:, [2, 0, 1]] if normal == "last" else order).ravel()
        if "G" in arrays:
            G = taken(taken(arrays["G"], order, "G").T, order, "G'").T
            known = {"W": G, "b": taken(np.ravel(arrays["g"]), order, "g")}
        else:
            w = np.ravel(arrays["w"]) if "w" in arrays else np.zeros(3 * mu.size)
            known = {"M": arrays["M"], "H": taken(arrays["J"], order, "J").T, "f": arrays["f"],
                     "w": taken(w, order, "w")}
        return stickslip.Problem(mu, name=path.stem, **known)


def main():
    parser = argparse.ArgumentParser(description="NumPy arrays to FCLIB's HDF5 layout")
    parser.add_argument("--normal", choices=["first", "last"], default="first",
                        help="where a contact's normal is among its three rows (default: first)")
    parser.add_argument("out")
    parser.add_argument("npz", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    loaded = []
    for path in given.npz:
        try:
            loaded.append(load(path, given.normal))
        except KeyError as error:
            sys.exit(f"{path}: the array {error.args[0].split()[0]} is missing")
        except (EOFError, OSError, ValueError, zipfile.BadZipFile, zlib.error,
                stickslip.Error) as error:
            sys.exit(f"{path}: {error}")
    try:
        stickslip.write(given.out, loaded)
    except stickslip.Error as error:
        sys.exit(str(error))
    print(f"{given.out}: {len(loaded)} problems, {sum(p.ncontacts for p in loaded)} contacts")


if __name__ == "__main__":
    main()
