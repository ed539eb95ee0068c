#!/usr/bin/python3
"""All-reduces by slices: the plan's order of combination, any sizes, no copies between threads, and what tapc-check refuses.
all_reduce_test.py TAPC"""
import re

import numpy as np
from stage_chain import sealed
from tapc import *

CHECKER = TAPC.parent / "tapc-check"


def product(devices, n, to="{}, {}", k=24):
    """Each device has a part of every sum, and needs all of c."""
    return (f"mesh m = [x: {devices}]\nprogram p(a: f32[{n}, {k}] @ m[{{}}, {{x}}], b: f32[{k}, 7] @ m[{{x}}, {{}}], w: f32[7, 5])\n"
            f"        -> (c: f32[{n}, 7] @ m[{to}], d: f32[{n}, 5]) {{\n    c[i, j] = sum[k] a[i, k] * b[k, j]\n"
            f"    d[i, j] = sum[k] c[i, k] * w[k, j]\n}}\n")


class AllReduceTest(TapcTest):
    def results(self, *arguments):
        self.expect(0, ".*", "run", "p.tap", *arguments, "-o", "@r.npz")
        with np.load(self.folder / "r.npz") as found:
            return {name: found[name] for name in found}

    def test_integers_are_exact(self):
        rng = np.random.default_rng(1)
        for devices, n in ((2, 8), (3, 8), (4, 9), (4, 3), (5, 2), (7, 50)):
            a, b, w = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((n, 24), (24, 7), (7, 5)))
            for name, array in zip("abw", (a, b, w)):
                np.save(self.folder / f"{name}.npy", array)
            self.write("p.tap", product(devices, n))
            for threads in ("1", "2", "3"):
                with self.subTest(devices=devices, n=n, threads=threads):
                    found = self.results("-i", "a=@a.npy", "-i", "b=@b.npy", "-i", "w=@w.npy", "--threads", threads)
                    self.assertTrue((found["c"] == a @ b).all())
                    self.assertTrue((found["d"] == a @ b @ w).all())

    def test_floats_have_the_bits_of_whole_partials(self):
        """The same blocks of the sums, combined in the same order: with and without slices."""
        inputs = ["-i", "a=rand:1", "-i", "b=rand:2", "-i", "w=rand:3"]
        for devices, n in ((2, 8), (3, 8), (4, 9), (5, 2)):
            self.write("p.tap", product(devices, n))
            self.write("whole.plan", f"plan 2\nsplit c dim k into {devices} over m.x\n")
            whole = self.results(*inputs, "--plan", "whole.plan")
            for threads in ("1", "3"):
                found = self.results(*inputs, "--threads", threads)
                for name in whole:
                    self.assertEqual(found[name].tobytes(), whole[name].tobytes(), (devices, n, threads, name))

    def schedule(self, text, *more):
        self.write("p.tap", text)
        self.write("p.plan", "plan 2\nevaluations 0\n")
        self.expect(0, ".*", "compile", "p.tap", "--plan", "p.plan", "-o", "p.schedule", *more)
        return (self.folder / "p.schedule").read_text()

    def test_threads_copy_nothing(self):
        """Devices of one process compute in their places in whole tensors, and read the others' cells there."""
        for devices, n in ((2, 8), (4, 9)):
            text = self.schedule(product(devices, n))
            self.assertNotIn("  copy", text)
            buffers = re.findall(r"^b[0-9]+ f32 \[(.*)\] (?:arena|output)", text, re.M)
            self.assertEqual(buffers, [f"0..{devices}, 0..{n}, 0..7", f"0..{n}, 0..7", f"0..{n}, 0..5"])

    def test_a_program_for_jobs_copies_nothing_where_it_is_alone(self):
        """It has a schedule for each number of processes: for one, the schedule of a program without `--mpi`."""
        self.assertEqual(self.schedule(product(2, 8), "--mpi", "2"), self.schedule(product(2, 8)))

    def test_one_summand_for_each_device(self):
        """The partials are what the devices have: each combines a slice of it, without a kernel for them."""
        text = self.schedule("mesh m = [x: 3]\nprogram p(X: f32[3, 12] @ m[{x}, {}]) -> (Y: f32[12]) { Y[j] = sum[d] X[d, j] }\n")
        self.assertEqual(re.findall(r"^  (.*)$", text.split("sequence 0")[1], re.M),
                         ["kernel 0 of 0 on [0..4, 0..3, 0..1] (b0, b1), 1 tiles times 3 by (4, 0, 1, 0, 0)"])
        self.expect(0, "^$", "run", "p.tap", "-i", "X=iota", "--expect", f"Y={list(range(36, 72, 3))}")

    def refused(self, edit, obligation):
        stages = [path.read_text() for path in sorted(self.folder.glob("p.*.ir"))]
        certificate = (self.folder / "p.cert").read_text()
        changed = [edit(text) for text in stages]
        self.assertNotEqual(changed, stages, "the edit changes nothing")
        self.write("q.cert", sealed(certificate, stages, changed))
        names = [self.write(f"q.{k:02}.ir", text) for k, text in enumerate(changed)]
        result = subprocess.run([CHECKER, names[0], "q.cert", *names[1:]], cwd=self.folder, capture_output=True, text=True, timeout=20)
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
        self.assertRegex(result.stdout, f"refused {obligation}")

    def test_the_checker_refuses(self):
        """A slice that is missing, computed twice or in another place, and partials in another order."""
        self.write("p.tap", product(4, 8))
        self.write("p.plan", "plan 2\nevaluations 0\n")
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan", "--certificate", "p.cert", "--stages", "p")
        slices = r"(kernel \d+ of \d+ on \[0\.\.2, 0\.\.7, 0\.\.4, 0\.\.1\].*) times 4 by \(2, 0, 0, 1, 0, 0\)"
        partials = r"(kernel \d+ of \d+ on \[0\.\.8, 0\.\.7, )0\.\.6(, 0\.\.1\].*) times 4 by \(0, 0, 6, 1, 0, 0, 0\)"
        for pattern, text, obligation in (
                (slices, r"\1 times 3 by (2, 0, 0, 1, 0, 0)", "schedule"), (slices, r"\1", "schedule"),
                (slices, r"\1 times 4 by (0, 0, 0, 0, 0, 0)", "memory|schedule"), (slices, r"\1 times 5 by (2, 0, 0, 1, 0, 0)", "."),
                (slices, r"\1 times 4 by (1, 0, 0, 1, 0, 0)", "."), (partials, r"\g<1>18..24\2 times 4 by (0, 0, -6, 1, 0, 0, 0)", "schedule"),
                (partials, r"\g<1>0..6\2 times 3 by (0, 0, 6, 1, 0, 0, 0)", "schedule")):
            with self.subTest(text=text):
                self.refused(lambda stage: re.sub(pattern, text, stage), obligation)


if __name__ == "__main__":
    unittest.main()
