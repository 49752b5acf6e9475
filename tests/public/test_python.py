"""python/stickslip.py and its examples over the installed library. Ends with Unity's closing line."""
import contextlib
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import types
import unittest

if os.environ.get("SANITIZE"):
    print("skipped: Python cannot load a library with sanitizers")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["SOURCE"])
FOLDER = tempfile.TemporaryDirectory(prefix="stickslip-python-")
PLACE = pathlib.Path(FOLDER.name)
subprocess.run(["meson", "install", "-C", os.environ["BUILD"], "--no-rebuild", "--quiet", "--tags",
                "runtime,devel", "--destdir", PLACE], check=True, stdout=subprocess.DEVNULL)
os.environ["STICKSLIP_PREFIX"] = str(PLACE) + os.environ["PREFIX"]
os.environ["PYTHONPATH"] = str(SOURCE / "python")
sys.path.insert(0, str(SOURCE / "python"))

import numpy as np  # noqa: E402 (the path is set before)
import stickslip  # noqa: E402

# A block of 1 kg that meets the ground at 1 m/s and slides at 2 m/s: r_N = 1, r_T = -mu r_N.
BLOCK = {"mu": [0.5], "W": np.eye(3), "b": [-1.0, 2.0, 0.0]}


def run(*command, cwd=None):
    return subprocess.run([sys.executable, *map(str, command)], check=False, capture_output=True,
                          text=True, cwd=cwd)


class Python(unittest.TestCase):
    def refuses(self, sentence, **problem):
        with self.assertRaises(stickslip.Error) as caught:
            stickslip.Problem(**problem)
        self.assertEqual(sentence, str(caught.exception))

    def test_a_block_is_solved_and_judged(self):
        answer = stickslip.solve(BLOCK, solver="mfb+enum", tol=1e-10)
        np.testing.assert_allclose(answer.r, [1, -0.5, 0], atol=1e-9)
        np.testing.assert_allclose(answer.u, [0, 1.5, 0], atol=1e-9)
        self.assertEqual(("converged", True), (answer.outcome, answer.solved))
        self.assertEqual(answer.measures, stickslip.judge(answer.problem, answer.r))
        self.assertGreater(stickslip.judge(answer.problem, [0, 0, 0])["fb"], 0.1)

    def test_both_forms_of_a_problem_have_the_same_answer(self):
        # v = u of the block, doubled mass: W = 1/2, so twice the impulse.
        problem = stickslip.Problem([0.5], M=2 * np.eye(3), H=np.eye(3), f=[-2, 4, 0], w=[0, 0, 0])
        np.testing.assert_allclose(problem.local().W.data, np.eye(3).ravel() / 2, rtol=1e-15)
        np.testing.assert_allclose(stickslip.solve(problem).r, [2, -1, 0], atol=1e-5)

    def test_a_limit_is_an_outcome_and_no_error(self):
        path = SOURCE / "data/tangle-ground.h5"
        answer = stickslip.solve(next(stickslip.problems(path)), "mfb+enum", 1e-10, max_iter=2)
        self.assertEqual(("max_iter", False, 2), (answer.outcome, answer.solved, answer.iterations))

    def test_what_is_written_is_read_back(self):
        problem = next(stickslip.problems(SOURCE / "data/tangle-ground.h5"))
        self.assertEqual(("global", 3, (352, 352), None),
                         (problem.form, problem.dim, problem.M.shape, problem.solution))
        again = stickslip.Problem(problem.mu, M=problem.M, H=problem.H, f=problem.f, w=problem.w)
        again.name = "again"
        stickslip.write(PLACE / "two.h5", [again])
        read = next(stickslip.problems(PLACE / "two.h5"))
        self.assertEqual("again", read.name)
        for array in ("mu", "f", "w"):
            np.testing.assert_array_equal(getattr(problem, array), getattr(read, array))
        for one, other in zip(problem.H, read.H):
            np.testing.assert_array_equal(one, other)

    def test_bad_input_is_one_sentence(self):
        self.refuses("W is 2 x 2; 3 x 3 is needed", mu=[0.5], W=np.eye(2), b=[0, 0, 0])
        self.refuses("b has 2 numbers; 3 are needed", mu=[0.5], W=np.eye(3), b=[0, 0])
        self.refuses("/fclib_local/vectors/mu[0] is negative (-1)", mu=[-1], W=np.eye(3),
                     b=[0, 0, 0])
        self.refuses("a problem needs mu, dim 2 or 3, and W, b or M, H, f, w", mu=[1], W=np.eye(3))
        with self.assertRaisesRegex(stickslip.Error, "nix"):
            stickslip.solve(BLOCK, solver="nix")
        for wrong in ({"tol": 2}, {"tol": np.nan}, {"max_iter": -1}, {"threads": 257},
                      {"time_limit": np.inf}, {"start": [np.nan, 0, 0]}):
            with self.assertRaisesRegex(stickslip.Error, next(iter(wrong))):
                stickslip.solve(BLOCK, **wrong)
        with self.assertRaisesRegex(stickslip.Error, "missing.h5"):
            next(stickslip.problems("missing.h5"))
        with self.assertRaisesRegex(stickslip.Error, "missing.db: there is no such file"):
            stickslip.rows("missing.db")

    def test_a_matrix_that_does_not_fit_is_one_sentence(self):
        def refuses(sentence, data=(1.0, 1.0, 1.0), indices=(0, 1, 2), indptr=(0, 1, 2, 3)):
            W = stickslip.Matrix(data, indices, indptr, (3, 3))
            self.refuses(sentence, mu=[0.5], W=W, b=[0, 0, 0])

        rows = "row indices of W are from 0 to 2; one is "
        refuses(rows + "3", indices=[0, 1, 3])
        refuses(rows + "-1", indices=[0, -1, 2])
        refuses(rows + "1000000000", indices=[0, 1, 10**9])
        refuses(rows + "4294967296", indices=np.array([2**32, 1, 2]))  # 0 in 32 bits
        refuses(rows + "18446744073709551615", indices=np.array([0, 1, 2**64 - 1], np.uint64))
        refuses("W.indices cannot be float64: whole numbers are needed", indices=[0, 0.7, 2])
        refuses("the data of W has 2 numbers; 3 are needed", data=[1.0, 1.0])
        refuses("the data of W cannot be complex128: real numbers are needed", data=[1, 1j, 1])
        starts = "W.indptr is not 4 numbers that rise from 0 to 3, the number of indices"
        for indptr in ([0, 1, 3], [0, 1, 2, 3, 3], [1, 2, 3, 3], [0, 2, 1, 3], [0, 1, 2, 2], [], 3,
                       [0, 2**63 - 1, -2**63, 3], [0, 1, 2, 2**32 + 3]):
            refuses(starts, indptr=indptr)
        coo = types.SimpleNamespace(shape=(3, 3), row=[0, 3], col=[0, 1], data=[1.0, 1.0])
        coo.tocoo = lambda: coo
        self.refuses(rows + "3", mu=[0.5], W=coo, b=[0, 0, 0])
        coo.row = [0, 1, 2]
        self.refuses("the data of W has 2 numbers; 3 are needed", mu=[0.5], W=coo, b=[0, 0, 0])
        coo.row, coo.col = [0, 1], [[0, 1]]
        self.refuses("column indices of W are 1 x 2; there are 2 entries", mu=[0.5], W=coo,
                     b=[0, 0, 0])

    def test_numbers_that_a_cast_would_lose_are_one_sentence(self):
        self.refuses("W cannot be complex128: real numbers are needed", mu=[0.5],
                     W=np.eye(3) * (1 + 1j), b=[0, 0, 0])
        self.refuses("b cannot be complex128: real numbers are needed", mu=[0.5], W=np.eye(3),
                     b=[0, 1j, 0])
        self.refuses("b cannot be <U1: real numbers are needed", mu=[0.5], W=np.eye(3),
                     b=["1", "2", "3"])
        self.refuses("mu cannot be object: real numbers are needed", mu=[None], W=np.eye(3),
                     b=[0, 0, 0])
        self.refuses("b has masked entries", mu=[0.5], W=np.eye(3),
                     b=np.ma.masked_array([1, 2, 3], [True, False, False]))
        self.refuses("W is a single number; 3 x 3 is needed", mu=[0.5], W=1, b=[0, 0, 0])
        # By components instead of contacts: b[2, 3] would be read as b[3, 2].
        self.refuses("b is 3 x 2; 6 numbers or 2 x 3 are needed", mu=[0.5, 0.5], W=np.eye(6),
                     b=np.zeros((3, 2)))
        self.refuses("/fclib_local/W/x is nan at row 1, column 2", mu=[0.5],
                     W=[[1, 0, 0], [0, 1, np.nan], [0, 0, 1]], b=[0, 0, 0])
        with self.assertRaisesRegex(stickslip.Error, "W is no array: "):
            stickslip.Problem([0.5], W=[[1], [1, 2]], b=[0, 0, 0])
        for wrong in ({"start": [1j, 0, 0]}, {"start": np.zeros((3, 2))}, {"max_iter": 2.5},
                      {"tol": "1"}, {"threads": None}):
            with self.assertRaisesRegex(stickslip.Error, next(iter(wrong))):
                stickslip.solve(BLOCK, **wrong)
        with self.assertRaisesRegex(stickslip.Error, "r cannot be complex128"):
            stickslip.judge(BLOCK, [1j, 0, 0])

    def test_arrays_in_any_order_of_memory_and_of_any_real_type_are_read_by_their_indices(self):
        M, H = np.diag([1.0, 2.0, 4.0, 8.0]), np.arange(1.0, 25.0).reshape(4, 6)
        w = np.arange(12.0)[::2]
        plain = stickslip.Problem([0.5, 1], M=M, H=H, f=np.arange(4.0), w=w.copy())
        strided = np.zeros((8, 18))
        strided[::2, ::-3] = H
        for other in (np.asfortranarray(H), strided[::2, ::-3], H.astype(">f8"), H.astype(np.int8),
                      H.astype(np.longdouble), stickslip.Matrix(*plain.H)):
            again = stickslip.Problem(np.array([0.5, 1], np.float32), M=M, H=other,
                                      f=np.arange(4, dtype=np.uint8), w=w.reshape(2, 3))
            for array in ("mu", "f", "w"):
                np.testing.assert_array_equal(getattr(plain, array), getattr(again, array))
            for one, two in zip(plain.H, again.H):
                np.testing.assert_array_equal(one, two)

    def test_texts_do_not_end_at_a_nul(self):
        problem = stickslip.Problem(**BLOCK, name="a\0b")
        for attempt in (lambda: stickslip.write(PLACE / "nul.h5", [problem]),
                        lambda: stickslip.write(f"{PLACE}/nul.h5\0.h5", BLOCK),
                        lambda: stickslip.problems("nul.h5\0").__next__(),
                        lambda: stickslip.solve(BLOCK, "mfb\0+enum")):
            with self.assertRaisesRegex(stickslip.Error, "without NUL characters"):
                attempt()
        self.assertFalse((PLACE / "nul.h5").exists())
        with self.assertRaisesRegex(stickslip.Error, "no such file"):
            next(stickslip.problems(b"/nowhere/\xff.h5"))

    def test_threads_that_read_and_write_files_take_turns(self):
        problem, wrong = next(stickslip.problems(SOURCE / "data/tangle-ground.h5")), []

        def go_on(k):
            try:
                for _ in range(20):
                    stickslip.write(PLACE / f"thread-{k}.h5", problem)
                    read = next(stickslip.problems(PLACE / f"thread-{k}.h5"))
                    np.testing.assert_array_equal(problem.f, read.f)
            except (AssertionError, stickslip.Error) as error:
                wrong.append(error)

        threads = [threading.Thread(target=go_on, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)

    def test_a_record_may_have_any_name_and_must_be_one(self):
        for name in ("a#b.db", "a?mode=rwc.db", "a%20b.db", "a\nb.db", "\udcff.db", "file:x.db"):
            path = PLACE / name
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute("create table runs (name text)")
                database.execute("insert into runs values (?)", (ascii(name),))
                database.commit()
            self.assertEqual([ascii(name)], list(stickslip.rows(path)["name"]))
            self.assertEqual([ascii(name)], list(stickslip.rows(os.fsencode(path))["name"]))
        endless = PLACE / "endless.db"
        with contextlib.closing(sqlite3.connect(endless)) as database:
            database.execute("create view runs as with recursive n(i) as "
                             "(select 1 union all select i + 1 from n) select i from n")
        with self.assertRaisesRegex(stickslip.Error, "endless.db: is no record of `bench`"):
            stickslip.rows(endless)
        (PLACE / "text.db").write_text("no database at all")
        with self.assertRaisesRegex(stickslip.Error, "text.db: file is not a database"):
            stickslip.rows(PLACE / "text.db")

    def test_a_record_is_a_dict_of_columns_and_a_profile(self):
        record = PLACE / "results.db"
        subprocess.run([os.environ["STICKSLIP"], "bench", SOURCE / "data/tangle-ground.h5",
                        "--solvers", "enum mfb+enum", "--out", record], check=True,
                       stderr=subprocess.DEVNULL)
        rows = stickslip.rows(record)
        self.assertEqual({"solved"}, set(rows["status"]))
        self.assertTrue((rows["fb"] <= rows["tol"]).all())
        self.assertEqual(1, stickslip.rows(record, "solver = 'enum'")["fb"].size)
        try:
            import matplotlib  # noqa: F401 (whether it is there)
        except ImportError:
            self.skipTest("matplotlib is absent")
        done = run(SOURCE / "python/draw_profile.py", record, PLACE / "profile.png")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertGreater((PLACE / "profile.png").stat().st_size, 5000)

    def test_the_files_of_the_readme_are_written_and_read(self):
        try:
            import h5py  # noqa: F401 (whether it is there)
        except ImportError:
            self.skipTest("h5py is absent")
        blocks = re.findall(r"```python\nimport h5py.*?```", (SOURCE / "README.md").read_text(), re.S)
        writer, reader = (block[10:-3] for block in blocks)
        self.assertEqual(0, run("-c", writer, cwd=PLACE).returncode)
        command = [os.environ["STICKSLIP"], "solve", "mine.h5", "--solver", "auto", "--out",
                   "answer.h5"]
        subprocess.run(command, cwd=PLACE, check=True, stdout=subprocess.DEVNULL)
        printed = np.array(re.findall(r"[-+.\de]+", run("-c", reader, cwd=PLACE).stdout), float)
        # r_N = 1 / W_NN stops the normal velocity; r_T = -mu r_N slides.
        np.testing.assert_allclose(printed[:6], [0.5, -0.25, 0, 0, 1.75, 0], atol=1e-5)
        self.assertLessEqual(printed[6], 1e-6)

    def test_npz_files_become_problems(self):
        last = [1, 2, 0]  # (N, T1, T2) to (T1, T2, N)
        np.savez(PLACE / "g.npz", G=np.eye(3), g=np.array(BLOCK["b"])[last], mu=[0.5])
        np.savez(PLACE / "m.npz", M=np.eye(3), J=np.eye(3)[last], f=BLOCK["b"], mu=[0.5])
        done = run(SOURCE / "python/import_npz.py", "--normal", "last", PLACE / "npz.h5",
                   PLACE / "g.npz", PLACE / "m.npz")
        self.assertEqual((0, f"{PLACE}/npz.h5: 2 problems, 2 contacts\n"),
                         (done.returncode, done.stdout))
        for problem in stickslip.problems(PLACE / "npz.h5"):
            np.testing.assert_allclose(stickslip.solve(problem).r, [1, -0.5, 0], atol=1e-5)

    def test_an_npz_file_that_is_no_problem_is_one_sentence(self):
        def refuses(sentence):
            done = run(SOURCE / "python/import_npz.py", PLACE / "npz.h5", PLACE / "bad.npz")
            self.assertEqual((1, f"{PLACE}/bad.npz: {sentence}\n"), (done.returncode, done.stderr))

        np.savez(PLACE / "bad.npz", G=np.eye(3), g=np.zeros(3))
        refuses("the array mu is missing")
        needed = "3 rows are needed, 3 for each of the 1 numbers of mu"
        np.savez(PLACE / "bad.npz", G=np.eye(6), g=np.zeros(6), mu=[0.5])
        refuses("G is 6 x 6; " + needed)
        np.savez(PLACE / "bad.npz", M=np.eye(3), J=np.zeros((6, 3)), f=np.zeros(3), mu=[0.5])
        refuses("J is 6 x 3; " + needed)
        with open(PLACE / "bad.npz", "wb") as file:
            np.save(file, np.eye(3))
        refuses("this is no npz file")


outcome = unittest.main(exit=False, verbosity=2).result
bad = len(outcome.failures) + len(outcome.errors)
print(f"{outcome.testsRun} Tests {bad} Failures {len(outcome.skipped)} Ignored")
sys.exit(bad > 0)
