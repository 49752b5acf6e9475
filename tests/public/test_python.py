"""python/stickslip.py and its examples over the installed library. Ends with Unity's closing line."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
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

    def test_an_npz_file_without_an_array_is_one_sentence(self):
        np.savez(PLACE / "none.npz", G=np.eye(3), g=np.zeros(3))
        done = run(SOURCE / "python/import_npz.py", PLACE / "npz.h5", PLACE / "none.npz")
        self.assertEqual((1, f"{PLACE}/none.npz: the array mu is missing\n"),
                         (done.returncode, done.stderr))


outcome = unittest.main(exit=False, verbosity=2).result
bad = len(outcome.failures) + len(outcome.errors)
print(f"{outcome.testsRun} Tests {bad} Failures {len(outcome.skipped)} Ignored")
sys.exit(bad > 0)
