"""stickslip: problems with Coulomb friction from Python, over the shared library.

    import stickslip
    for problem in stickslip.problems("hair.h5"):
        answer = stickslip.solve(problem, solver="auto", tol=1e-8)
        print(problem.ncontacts, answer.solved, answer.measures["fb"], answer.r)

Contact i owns components dim*i .. dim*i + dim - 1 of r, u, b and w: its normal first, then the
tangents. H has ndofs rows and dim*ncontacts columns. Units: u in m/s, r in N s.

The declarations are read from the installed headers, so that they are those of the library. Library
and headers are looked for in $STICKSLIP_PREFIX, in the build folder of the tree that this file is
in, and where pkg-config says. Needs python3-cffi and python3-numpy.
"""
import collections
import contextlib
import os
import pathlib
import re
import sqlite3
import subprocess

import cffi
import numpy as np

Matrix = collections.namedtuple("Matrix", "data indices indptr shape")
Matrix.__doc__ = "Compressed by columns: scipy.sparse.csc_matrix(m[:3], shape=m.shape)."
Answer = collections.namedtuple(
    "Answer", "r u outcome solved iterations seconds measures why problem")
Answer.__doc__ = "What a solver answered, and the judge's measures of it."


class Error(Exception):
    """One sentence that says what is wrong: a file, an array, a spec."""


# ---- The library


def _places():
    """Pairs (library, folder of stickslip.h) that may exist, the most explicit first."""
    if prefix := os.environ.get("STICKSLIP_PREFIX"):
        root = pathlib.Path(prefix)
        yield from ((so, root / "include/stickslip") for so in root.glob("lib/**/libstickslip.so"))
        return
    tree = pathlib.Path(__file__).resolve().parent.parent
    yield tree / "build/libstickslip.so", tree
    said = [subprocess.run(["pkg-config", f"--variable={name}", "stickslip"], check=False,
                           capture_output=True, text=True).stdout.strip()
            for name in ("libdir", "includedir")]
    yield pathlib.Path(said[0], "libstickslip.so"), pathlib.Path(said[1], "stickslip")


def _declarations(root, name, seen):
    """The text of a header and of those that it includes, without what cffi does not parse."""
    if name in seen:
        return ""
    seen.add(name)
    text = (root / name).read_text()
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif", "", text, flags=re.S)
    text = re.sub(r"__attribute__\(\(.*?\)\)\)", "", text)
    text = re.sub(r"^static inline [^{;]*\{.*?^\}", "", text, flags=re.S | re.M)
    text = re.sub(r'#include "(.*)"', lambda m: _declarations(root, m[1], seen), text)
    return re.sub(r"^#.*$", "", text, flags=re.M)


def _load():
    for library, headers in _places():
        if library.is_file() and (headers / "stickslip.h").is_file():
            ffi = cffi.FFI()
            ffi.cdef("typedef int sig_atomic_t; void *malloc(size_t size);"
                     + _declarations(headers, "stickslip.h", set()))
            return ffi, ffi.dlopen(str(library)), ffi.dlopen(None)
    raise ImportError("libstickslip.so and stickslip.h were not found: build the tree (meson setup "
                      "build && ninja -C build), or set STICKSLIP_PREFIX to their prefix")


_ffi, _lib, _libc = _load()


def _call(function, *arguments):
    error = _ffi.new("ss_error *")
    if function(*arguments, error) != _lib.SS_OK:
        raise Error(_ffi.string(error.text).decode())


def _reals(values, size, what):
    array = np.ascontiguousarray(values, dtype=np.float64).ravel()
    if array.size != size:
        raise Error(f"{what} has {array.size} numbers; {size} are needed")
    return array


def _pointer(array):
    return _ffi.from_buffer("double[]", array)


def _read(pointer, size, dtype=np.float64):
    """A copy of an array of the library; None for NULL."""
    if pointer == _ffi.NULL:
        return None
    return np.frombuffer(_ffi.buffer(pointer, size * np.dtype(dtype).itemsize), dtype).copy()


def _owned(values, size, what):
    """The numbers in memory that the library frees."""
    array = _reals(values, size, what)
    memory = _ffi.cast("double *", _libc.malloc(max(array.nbytes, 8)))
    if memory == _ffi.NULL:
        raise MemoryError
    _ffi.memmove(memory, array, array.nbytes)
    return memory


# ---- Problems


class Problem:
    """One step: Problem(mu, M=, H=, f=, w=) is u = H' v + w with M v = H r + f, and
    Problem(mu, W=, b=) is u = W r + b. Matrices are 2-D arrays,
    sparse ones of scipy, or a Matrix."""

    def __init__(self, mu, *, dim=3, name="", **arrays):
        self._c = _ffi.gc(_lib.ss_problem_new(), _lib.ss_problem_free)
        self.name = name
        mu = np.ravel(mu)
        forms = {frozenset("Wb"): _lib.SS_LOCAL, frozenset("MHfw"): _lib.SS_GLOBAL}
        if frozenset(arrays) not in forms or dim not in (2, 3) or mu.size == 0:
            raise Error("a problem needs mu, dim 2 or 3, and W, b or M, H, f, w")
        c = self._c
        c.form, c.dim, c.ncontacts = forms[frozenset(arrays)], dim, mu.size
        c.mu = _owned(mu, mu.size, "mu")
        rows = dim * mu.size
        c.ndofs = np.size(arrays["f"]) if "f" in arrays else 0
        shapes = {"W": (rows, rows), "M": (c.ndofs, c.ndofs), "H": (c.ndofs, rows)}
        for key, value in arrays.items():
            if key in shapes:
                self._set_matrix(key, value, shapes[key])
            else:
                setattr(c, key, _owned(value, c.ndofs if key == "f" else rows, key))
        _call(_lib.ss_check_values, c, _ffi.new("ss_report *"))

    def _set_matrix(self, key, value, shape):
        if isinstance(value, Matrix):
            columns = np.repeat(np.arange(value.shape[1]), np.diff(value.indptr))
            entries, found = (value.indices, columns, value.data), value.shape
        elif hasattr(value, "tocoo"):
            coo = value.tocoo()
            entries, found = (coo.row, coo.col, coo.data), coo.shape
        else:
            dense = np.asarray(value, dtype=np.float64)
            entries, found = (*np.nonzero(dense), dense[np.nonzero(dense)]), dense.shape
        if tuple(found) != shape:
            raise Error(f"{key} is {' x '.join(map(str, found))}; {shape[0]} x {shape[1]} is needed")
        row, column = (np.ascontiguousarray(e, dtype=np.int32) for e in entries[:2])
        _call(_lib.ss_sparse_from_triplets, _ffi.addressof(self._c, key), *shape, row.size,
              _ffi.from_buffer("int[]", row), _ffi.from_buffer("int[]", column),
              _pointer(np.ascontiguousarray(entries[2], dtype=np.float64)))

    @classmethod
    def _of(cls, pointer, name):
        self = cls.__new__(cls)
        self._c, self.name = _ffi.gc(pointer, _lib.ss_problem_free), name
        return self

    dim = property(lambda self: self._c.dim)
    ncontacts = property(lambda self: self._c.ncontacts)
    ndofs = property(lambda self: self._c.ndofs)
    form = property(lambda self: "local" if self._c.form == _lib.SS_LOCAL else "global")
    mu = property(lambda self: _read(self._c.mu, self.ncontacts))
    b = property(lambda self: _read(self._c.b, self.dim * self.ncontacts))
    f = property(lambda self: _read(self._c.f, self.ndofs))
    w = property(lambda self: _read(self._c.w, self.dim * self.ncontacts))
    W = property(lambda self: self._matrix(self._c.W))
    M = property(lambda self: self._matrix(self._c.M))
    H = property(lambda self: self._matrix(self._c.H))
    solution = property(lambda self: self._state(self._c.solution, self._c.has_solution))
    guesses = property(lambda self: [self._state(self._c.guesses[k])
                                     for k in range(self._c.nguesses)])

    def _matrix(self, c):
        if c.start == _ffi.NULL:
            return None
        start = _read(c.start, c.ncols + 1, np.int32)
        return Matrix(_read(c.x, start[-1]), _read(c.row, start[-1], np.int32), start,
                      (c.nrows, c.ncols))

    def _state(self, c, known=True):
        if not known:
            return None
        size = self.dim * self.ncontacts
        return {"r": _read(c.r, size), "u": _read(c.u, size), "v": _read(c.v, self.ndofs)}

    def local(self):
        """The same problem as u = W r + b."""
        out = _ffi.new("ss_problem **")
        _call(_lib.ss_problem_to_local, self._c, out)
        return Problem._of(out[0], self.name)


def problems(path):
    """The problems of a file, one after the other."""
    out = _ffi.new("ss_reader **")
    _call(_lib.ss_reader_open, os.fsencode(path), out)
    reader = _ffi.gc(out[0], _lib.ss_reader_close)
    for k in range(_lib.ss_reader_count(reader)):
        loaded = _ffi.new("ss_problem **")
        _call(_lib.ss_reader_load, reader, k, loaded, _ffi.NULL)
        yield Problem._of(loaded[0], _ffi.string(_lib.ss_reader_name(reader, k)).decode())


def write(path, problem_list):
    """Writes a file of one problem without a name, or a collection of problems with names."""
    out = _ffi.new("ss_writer **")
    _call(_lib.ss_writer_open, os.fsencode(path), out)
    writer = _ffi.gc(out[0], _lib.ss_writer_close)
    for problem in [problem_list] if isinstance(problem_list, Problem) else problem_list:
        _call(_lib.ss_writer_add, writer, problem.name.encode() or _ffi.NULL, problem._c)
    _call(_lib.ss_writer_commit, writer)


# ---- Solvers and the judge


def _measures(found):
    return {name: getattr(found, name) for name, _ in _ffi.typeof("ss_measures").fields}


def _judge(problem, r):
    out = _ffi.new("ss_response **")
    _call(_lib.ss_response_new, problem._c, out)
    response = _ffi.gc(out[0], _lib.ss_response_free)
    u = np.empty(r.size)
    return _lib.ss_response_judge(response, _pointer(r), _pointer(u)), u


def judge(problem, r):
    """The measures of impulses r, with u = W r + b computed afresh: a dict; see `fb` and README."""
    found, _ = _judge(problem, _reals(r, problem.dim * problem.ncontacts, "r"))
    return _measures(found)


def solve(problem, solver="auto", tol=1e-6, max_iter=100000, time_limit=0.0, start=None, threads=0):
    """Solves from `start` (zero) to max(fb, normal/2) <= tol; the answer has the judge's measures. `problem`
    may be a dict of the arrays of Problem. Ctrl-C ends the solver after its iteration."""
    if not isinstance(problem, Problem):
        problem = Problem(**problem)
    out = _ffi.new("ss_method **")
    _call(_lib.ss_method_parse, solver.encode(), out)
    method = _ffi.gc(out[0], _lib.ss_method_free)
    size = problem.dim * problem.ncontacts
    r = _reals(np.zeros(size) if start is None else start, size, "start").copy()
    for name, value, low, high in (("tol", tol, 0, 1), ("max_iter", max_iter, 0, 10**9),
                                   ("time_limit", time_limit, 0, 1e9), ("threads", threads, 0, 256)):
        if not low <= value <= high:
            raise Error(f"{name} is a number from {low} to {high}, not {value}")
    if not np.isfinite(r).all():
        raise Error("start has a number that is not finite")
    interrupted = _ffi.new("sig_atomic_t *")
    raised = []

    def interrupt(_kind, value, _trace):  # an exception inside the listener: Ctrl-C
        raised.append(value)
        interrupted[0] = 1

    listen = _ffi.callback("void(void *, const ss_progress *)", lambda _, progress: None,
                           onerror=interrupt)
    task = _ffi.new("ss_task *", {
        "problem": problem._c, "method": method, "tolerance": tol, "max_iterations": max_iter,
        "time_limit": time_limit, "threads": threads, "interrupted": interrupted, "listen": listen})
    result = _ffi.new("ss_result *")
    _call(_lib.ss_solve, task, _pointer(r), result)
    if raised:
        raise raised[0]
    found, u = _judge(problem, r)
    return Answer(
        r, u, _ffi.string(_lib.ss_outcome_name(result.outcome)).decode(),
        bool(_lib.ss_measures_pass(_ffi.new("ss_measures *", found), tol)), result.iterations,
        result.seconds, _measures(found), _ffi.string(result.why).decode(), problem)


# ---- Records


def rows(record, where="1"):
    """The rows of a record of `bench` as a dict of arrays, one per column; `where` is SQL. What is
    missing is NaN among numbers and "" among texts."""
    if not os.path.isfile(record):
        raise Error(f"{record}: there is no such file")
    with contextlib.closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as database:
        try:
            cursor = database.execute(f"select * from runs where {where}")
            table = cursor.fetchall()
        except sqlite3.DatabaseError as error:
            raise Error(f"{record}: {error}") from None
    columns = {}
    for k, (name, *_) in enumerate(cursor.description):
        values = [row[k] for row in table]
        missing = "" if any(isinstance(value, str) for value in values) else np.nan
        columns[name] = np.array([missing if value is None else value for value in values])
    return columns
