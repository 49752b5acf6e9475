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
import threading

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
        raise Error(_ffi.string(error.text).decode(errors="replace"))


# Holds while files are read or written: a call leaves the interpreter to other threads, and libhdf5
# is not built for them.
_hdf5 = threading.RLock()


# ---- What the library is given: checked here, because C sees a pointer and believes a size

_LARGEST = 2**31 - 1  # of C's int


def _text(text, what):
    """The bytes of a text that C reads to its end."""
    if not isinstance(text, str) or "\0" in text:
        raise Error(f"{what} is a text without NUL characters, not {text!r}")
    return text.encode(errors="surrogateescape")


def _path(path):
    return _text(os.fsdecode(path), "a file's name")


def _number(value, low, high, what, kind=float):
    try:
        number = kind(value)
        good = number == value and low <= number <= high
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        sort = "whole number" if kind is int else "number"
        raise Error(f"{what} is a {sort} from {low} to {high}, not {value}")
    return number


def _by(shape):
    return " x ".join(map(str, shape)) or "a single number"


def _array(values, kinds, what):
    """The values as an array, if its type is of these kinds: a cast would lose the rest."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise Error(f"{what} is no array: {error}") from None
    if np.ma.is_masked(values):
        raise Error(f"{what} has masked entries")
    if array.size > 0 and array.dtype.kind not in kinds:
        sort = "real" if "f" in kinds else "whole"
        raise Error(f"{what} cannot be {array.dtype}: {sort} numbers are needed")
    return array


def _reals(values, size, what, width=None):
    """A copy of the numbers in one row; they come as one, or by contacts in rows of `width`."""
    array = _array(values, "biuf", what)
    if array.size != size:
        raise Error(f"{what} has {array.size} numbers; {size} are needed")
    if width and np.squeeze(array).ndim > 1 and array.shape != (size // width, width):
        raise Error(f"{what} is {_by(array.shape)}; {size} numbers or {size // width} x {width} "
                    "are needed")
    return np.array(array, dtype=np.float64, order="C").ravel()


def _indices(values, count, bound, what):
    """A copy of the indices of entries as C has them."""
    array = _array(values, "iu", what)
    if array.shape != (count,):
        raise Error(f"{what} are {_by(array.shape)}; there are {count} entries")
    index = array.astype(np.int32)
    wrong = (index != array) | (index < 0) | (index >= bound)
    if wrong.any():
        raise Error(f"{what} are from 0 to {bound - 1}; one is {array[wrong][0]}")
    return index


def _compressed(matrix, key):
    """Rows, columns and numbers of a Matrix, whose shape is known to be right."""
    row = _array(matrix.indices, "iu", f"{key}.indices")
    start = _array(matrix.indptr, "iu", f"{key}.indptr")
    columns = matrix.shape[1]
    if (start.shape != (columns + 1,) or start[0] != 0 or start[-1] != row.size
            or (start[1:] < start[:-1]).any()):
        raise Error(f"{key}.indptr is not {columns + 1} numbers that rise from 0 to {row.size}, "
                    "the number of indices")
    return row, np.repeat(np.arange(columns), np.diff(start)), matrix.data


def _triplets(matrix, shape, key):
    """Rows, columns and numbers of the entries of a matrix in any of its three kinds."""
    if hasattr(matrix, "tocoo"):
        matrix = matrix.tocoo()
    elif not isinstance(matrix, Matrix):
        matrix = _array(matrix, "biuf", key)
    if tuple(matrix.shape) != shape:
        raise Error(f"{key} is {_by(matrix.shape)}; {_by(shape)} is needed")
    if isinstance(matrix, Matrix):
        row, column, x = _compressed(matrix, key)
    elif isinstance(matrix, np.ndarray):
        row, column = np.nonzero(matrix)
        x = matrix[row, column]
    else:
        row, column, x = matrix.row, matrix.col, matrix.data
    x = _reals(x, np.size(row), f"the data of {key}")
    if x.size > _LARGEST:
        raise Error(f"{key} has {x.size} entries; {_LARGEST} is the most")
    return (_indices(row, x.size, shape[0], f"row indices of {key}"),
            _indices(column, x.size, shape[1], f"column indices of {key}"), x)


def _pointer(array):
    return _ffi.from_buffer("int[]" if array.dtype == np.int32 else "double[]", array)


def _owned(array):
    """The numbers in memory that the library frees."""
    memory = _ffi.cast("double *", _libc.malloc(max(array.nbytes, 8)))
    if memory == _ffi.NULL:
        raise MemoryError
    _ffi.memmove(memory, array, array.nbytes)
    return memory


def _read(pointer, size, dtype=np.float64):
    """A copy of an array of the library; None for NULL."""
    if pointer == _ffi.NULL:
        return None
    return np.frombuffer(_ffi.buffer(pointer, size * np.dtype(dtype).itemsize), dtype).copy()


# ---- Problems


class Problem:
    """One step: Problem(mu, M=, H=, f=, w=) is u = H' v + w with M v = H r + f, and
    Problem(mu, W=, b=) is u = W r + b. Matrices are 2-D arrays,
    sparse ones of scipy, or a Matrix."""

    def __init__(self, mu, *, dim=3, name="", **arrays):
        self._c = c = _ffi.gc(_lib.ss_problem_new(), _lib.ss_problem_free)
        self.name = name
        forms = {frozenset("Wb"): _lib.SS_LOCAL, frozenset("MHfw"): _lib.SS_GLOBAL}
        mu, f = (_array(x, "biuf", what) for x, what in ((mu, "mu"), (arrays.get("f", ()), "f")))
        count, ndofs = mu.size, f.size
        if frozenset(arrays) not in forms or dim not in (2, 3) or count == 0:
            raise Error("a problem needs mu, dim 2 or 3, and W, b or M, H, f, w")
        rows = int(dim) * count
        if max(rows, ndofs) > _LARGEST:
            raise Error(f"a problem has at most {_LARGEST} dofs and components, "
                        f"not {max(rows, ndofs)}")
        c.form, c.dim, c.ncontacts, c.ndofs = forms[frozenset(arrays)], int(dim), count, ndofs
        c.mu = _owned(_reals(mu, count, "mu"))
        shapes = {"W": (rows, rows), "M": (ndofs, ndofs), "H": (ndofs, rows)}
        for key, value in arrays.items():
            if key in shapes:
                row, column, x = _triplets(value, shapes[key], key)
                _call(_lib.ss_sparse_from_triplets, _ffi.addressof(c, key), *shapes[key], x.size,
                      _pointer(row), _pointer(column), _pointer(x))
            elif key == "f":
                c.f = _owned(_reals(f, ndofs, key))
            else:
                setattr(c, key, _owned(_reals(value, rows, key, c.dim)))
        _call(_lib.ss_check_values, c, _ffi.gc(_ffi.new("ss_report *"), _lib.ss_report_free))

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
        count = int(start[-1])
        return Matrix(_read(c.x, count), _read(c.row, count, np.int32), start,
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


def _problem(given):
    return given if isinstance(given, Problem) else Problem(**given)


def problems(path):
    """The problems of a file, one after the other."""
    out = _ffi.new("ss_reader **")
    with _hdf5:
        _call(_lib.ss_reader_open, _path(path), out)
    reader = _ffi.gc(out[0], _lib.ss_reader_close)
    for k in range(_lib.ss_reader_count(reader)):
        loaded = _ffi.new("ss_problem **")
        with _hdf5:
            _call(_lib.ss_reader_load, reader, k, loaded, _ffi.NULL)
        name = _ffi.string(_lib.ss_reader_name(reader, k))
        yield Problem._of(loaded[0], name.decode(errors="surrogateescape"))


def write(path, problem_list):
    """Writes a file of one problem without a name, or a collection of problems with names."""
    if isinstance(problem_list, (Problem, dict)):
        problem_list = [problem_list]
    out = _ffi.new("ss_writer **")
    with _hdf5:
        _call(_lib.ss_writer_open, _path(path), out)
        try:
            for problem in map(_problem, problem_list):
                name = _text(problem.name, "a problem's name") or _ffi.NULL
                _call(_lib.ss_writer_add, out[0], name, problem._c)
            _call(_lib.ss_writer_commit, out[0])
        finally:
            _lib.ss_writer_close(out[0])


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
    problem = _problem(problem)
    found, _ = _judge(problem, _reals(r, problem.dim * problem.ncontacts, "r", problem.dim))
    return _measures(found)


def solve(problem, solver="auto", tol=1e-6, max_iter=100000, time_limit=0.0, start=None, threads=0):
    """Solves from `start` (zero) to max(fb, normal/2) <= tol; the answer has the judge's measures.
    `problem` may be a dict of the arrays of Problem. Ctrl-C ends the solver after its iteration."""
    problem = _problem(problem)
    out = _ffi.new("ss_method **")
    _call(_lib.ss_method_parse, _text(solver, "a solver"), out)
    method = _ffi.gc(out[0], _lib.ss_method_free)
    size = problem.dim * problem.ncontacts
    r = _reals(np.zeros(size) if start is None else start, size, "start", problem.dim)
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
        "problem": problem._c, "method": method, "tolerance": _number(tol, 0, 1, "tol"),
        "max_iterations": _number(max_iter, 0, 10**9, "max_iter", int),
        "time_limit": _number(time_limit, 0, 1e9, "time_limit"),
        "threads": _number(threads, 0, 256, "threads", int),
        "interrupted": interrupted, "listen": listen})
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
    path = pathlib.Path(os.fsdecode(record)).absolute()
    if not path.is_file():
        raise Error(f"{record}: there is no such file")
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            # A view of this name may compute without end, and Ctrl-C waits for SQLite.
            if database.execute("select type from sqlite_master where name = 'runs' collate nocase "
                                "and type = 'table'").fetchone() is None:
                raise Error(f"{record}: is no record of `bench`")
            cursor = database.execute(f"select * from runs where {where}")
            table = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise Error(f"{record}: {error}") from None
    columns = {}
    for k, (name, *_) in enumerate(cursor.description):
        values = [row[k] for row in table]
        missing = "" if any(isinstance(value, str) for value in values) else np.nan
        columns[name] = np.array([missing if value is None else value for value in values])
    return columns
