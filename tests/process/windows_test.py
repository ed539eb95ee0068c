#!/usr/bin/python3
"""Random windows that reach beyond their tensor: sums and maxima with strides and dilations, native against NumPy, bit for bit.
windows_test.py TAPC [--programs N] [--seed S]"""
import itertools
import random

import numpy as np

from tapc import *

TYPES = {"f32": "f4", "f64": "f8", "i32": "i4", "i16": "i2"}
PROGRAMS, SEED = option("--programs", 40), option("--seed", 1)


class Windows(TapcTest):
    def program(self, seed):
        """The text, the input and what is right."""
        chance = random.Random(seed)
        kind, rank = chance.choice(list(TYPES)), chance.choice([1, 2, 2, 3])
        shape = [chance.choice([3, 17, 40, 64, 70, 130] if rank < 3 else [5, 16, 20, 33]) for _ in range(rank)]
        window = [chance.choice([1, 2, 3, 3, 5]) for _ in range(rank)]
        stride = [chance.choice([1, 1, 1, 2]) for _ in range(rank)]
        dilation = [chance.choice([1, 1, 2]) for _ in range(rank)]
        begin = [chance.choice([0, 1, 1, 2, 4]) for _ in range(rank)]
        results = [chance.randrange(max(1, n // s - 3), n // s + 3) for n, s in zip(shape, stride)]
        fill = chance.choice([0, 0, 3])
        by = chance.choice(["sum", "max"])
        x = np.random.default_rng(seed).integers(-50, 50, size=shape).astype(TYPES[kind])
        least = [b + 20 for b in begin]
        padded = np.full([n + 2 * p + s * 8 for n, p, s in zip(shape, least, stride)], fill, dtype=x.dtype)
        padded[tuple(slice(p, p + n) for p, n in zip(least, shape))] = x
        right = None
        for offsets in itertools.product(*map(range, window)):
            part = padded[tuple(slice(p - b + o * d, p - b + o * d + s * (r - 1) + 1, s) for p, b, o, d, s, r in
                                zip(least, begin, offsets, dilation, stride, results))]
            right = part.copy() if right is None else right + part if by == "sum" else np.maximum(right, part)
        out, inside = "ijk"[:rank], "abc"[:rank]
        at = ", ".join(f"{s}*{i} + {d}*{w} - {b}" for s, i, d, w, b in zip(stride, out, dilation, inside, begin))
        ranges = ", ".join(f"{w} in 0..{n}" for w, n in zip(inside, window))
        text = (f"program p(X: {kind}[{', '.join(map(str, shape))}]) -> (Y: {kind}[{', '.join(map(str, results))}]) {{\n"
                f"  Y[{', '.join(out)}] = {by}[{ranges}] X[{at} else {fill}]\n}}\n")
        return text, x, right.astype(x.dtype)

    def test_random_windows(self):
        for seed in range(SEED, SEED + PROGRAMS):
            text, x, right = self.program(seed)
            with self.subTest(seed=seed, text=text):
                self.write("p.tap", text)
                np.save(self.folder / "x.npy", x)
                self.expect(0, "^$", "run", "p.tap", "-i", "X=@x.npy", "-o", "Y=@y.npy", "--threads", str(1 + seed % 2))
                self.assertEqual(np.load(self.folder / "y.npy").tobytes(), right.tobytes())

    def test_inner_tiles_have_no_bounds_checks(self):
        self.write("p.tap", "program p(X: f32[64, 64]) -> (Y: f32[64, 64]) {\n"
                            "  Y[i, j] = sum[a in 0..3, b in 0..3] X[i + a - 1, j + b - 1 else 0]\n}\n")
        self.expect(0, ".*", "compile", "p.tap", "-o", "p", "--emit=loops")
        loops = (self.folder / "p.loops").read_text()
        self.assertRegex(loops, r"if inside >= 0\n(?:(?!if -inside)[\s\S])*t0\[i \+ a - 1, j \+ b - 1\]")
        self.assertRegex(loops, r"if -inside - 1 >= 0\n[\s\S]*t0\[i \+ a - 1\?, j \+ b - 1\? else 0\.0\]")


if __name__ == "__main__":
    unittest.main()
