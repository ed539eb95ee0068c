#!/usr/bin/python3
"""Random scans along any axis, from either side, with other axes before and behind, native against NumPy, bit for bit.
scans_test.py TAPC [--programs N] [--seed S]"""
import random

import numpy as np

from tapc import *

TYPES = {"f32": "f4", "f64": "f8", "i64": "i8", "i32": "i4"}
REDUCTIONS = {"sum": (np.cumsum, 0), "max": (np.maximum.accumulate, None), "min": (np.minimum.accumulate, None)}
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 65, 130]
PROGRAMS, SEED = option("--programs", 60), option("--seed", 1)


class Scans(TapcTest):
    def program(self, seed):
        """The text, the input, a plan and what is right."""
        chance = random.Random(seed)
        kind, rank = chance.choice(list(TYPES)), chance.choice([1, 2, 2, 3, 3])
        extents = [chance.choice(EXTENTS) for _ in range(rank)]
        x = np.random.default_rng(seed).integers(-50, 50, size=extents).astype(TYPES[kind])
        axis, names = chance.randrange(rank), "abc"[:rank]
        name, n = names[axis], extents[axis]
        by = chance.choice(list(REDUCTIONS))
        accumulate, empty = REDUCTIONS[by]
        # From the left, without the last point (a sum of none is 0), or from the right.
        form = chance.choice(["left", "left", "right"] + (["before"] if by == "sum" else []))
        if form == "right":
            bounds, right = f"{name}..{n}", np.flip(accumulate(np.flip(x, axis), axis), axis)
        else:
            bounds, right = f"0..{name}" + (" + 1" if form == "left" else ""), accumulate(x, axis)
        if form == "before":
            right = right - x
        right = right.astype(TYPES[kind])
        read = ", ".join("k" if d == axis else names[d] for d in range(rank))
        order = chance.sample(range(rank), rank)
        results, shape = ", ".join(names[o] for o in order), ", ".join(str(extents[o]) for o in order)
        text = (f"program p(X: {kind}[{', '.join(map(str, extents))}]) -> (Y: {kind}[{shape}]) {{\n"
                f"  Y[{results}] = {by}[k in {bounds}] X[{read}]\n}}\n")
        plan = "plan 2\n"
        d = chance.randrange(rank)
        if chance.random() < 0.4 and extents[d] > 1:
            plan += f"split Y dim {names[d]} into {chance.randrange(2, min(extents[d], 5) + 1)} over {chance.choice(['sequential', 'threads'])}\n"
        return text, x, plan, np.transpose(right, order)

    def test_random_scans(self):
        for seed in range(SEED, SEED + PROGRAMS):
            text, x, plan, right = self.program(seed)
            with self.subTest(seed=seed, text=text, plan=plan):
                self.write("p.tap", text)
                self.write("p.plan", plan)
                np.save(self.folder / "x.npy", x)
                self.expect(0, "^$", "run", "p.tap", "--plan", "p.plan", "-i", "X=@x.npy", "-o", "Y=@y.npy",
                            "--threads", str(1 + seed % 3))
                found = np.load(self.folder / "y.npy")
                self.assertEqual(found.tobytes(), np.ascontiguousarray(right).tobytes())

    def loops(self, text):
        self.write("p.tap", text)
        self.expect(0, ".*", "compile", "p.tap", "-o", "p", "--emit=loops")
        return (self.folder / "p.loops").read_text()

    def test_lanes_across_of_the_scan(self):
        loops = self.loops("program p(X: f32[64, 128]) -> (Y: f32[64, 128]) { Y[i, j] = sum[k in 0..i + 1] X[k, j] }\n")
        self.assertRegex(loops, r"lanes j in j0 \+ 16\*v of 16\n *acc0\[v\] = acc0\[v\] \+ t0\[k, j\]")

    def test_adjacent_rows(self):
        """Each is a chain of additions: several hide the latency of one."""
        loops = self.loops("program p(X: f32[64, 128]) -> (Y: f32[64, 128]) { Y[i, j] = sum[k in 0..j + 1] X[i, k] }\n")
        self.assertRegex(loops, r"let k = j\n.*\n *unroll i in i0 of 4\n *acc0\[i\] = acc0\[i\] \+ t0\[i, k\]")


if __name__ == "__main__":
    unittest.main()
