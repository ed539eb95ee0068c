#!/usr/bin/python3
"""One plan, one set of bits: for any number of threads, and however the rows of results are cut.
determinism_test.py TAPC"""
import re

import numpy as np

from bits import PROGRAMS, BitsTest
from tapc import *

# Results that are cut, with the axis, so that no reduction is.
ROWS = {"matmul": ("z", 0), "transposed": ("z", 0), "conv": ("z", 1), "sums": ("z", 0), "doubles": ("z", 0), "softmax": ("z", 0),
        "attention": ("z", 0)}
# Products of constants inside of groups and of repetitions, and how many constants of each are packed ahead.
INSIDE = {
    "group": ("program p(x: f32[64, 1024], const y: f32[1024, 1024], const w: f32[1024]) -> (z: f32[64, 1024]) {\n"
              "    s[i, j] = sum[k] x[i, k] * y[k, j]\n"
              "    z[i, j] = max(s[i, j] * s[i, j] + w[j], 0)\n}\n", 1),
    "repetition": ("program p(x: f32[500, 1024], const y: f32[1024, 1024]) -> (z: f32[500, 1024]) {\n"
                   "    z = iterate 2 (v = x) { iterate 2 (u = v) { s[i, j] = sum[k] u[i, k] * y[k, j]\n"
                   "        t[i, j] = s[i, j] / 1024\n        t } }\n}\n", 1),
    "state": ("program p(x: f32[1024, 1024], const y: f32[1024, 1024]) -> (z: f32[1024, 1024]) {\n"
              "    z = iterate 2 (v = y) { s[i, j] = sum[k] x[i, k] * v[k, j]\n        t[i, j] = s[i, j] / 1024\n        t }\n"
              "}\n", 0)}


class Determinism(BitsTest):
    def bits(self, *words):
        self.expect(0, "^$", "run", "p.tap", *words, "-o", "@all.npz", "--cache-dir", "kernels", "--evaluations", "0")
        with np.load(self.folder / "all.npz") as file:
            return {name: file[name].tobytes() for name in file.files}

    def test_threads_and_row_shards(self):
        for name, text in PROGRAMS.items():
            self.write("p.tap", text)
            inputs = self.inputs(text)
            expected = self.bits(*inputs)
            result, axis = ROWS[name]
            for blocks, threads in ((1, "2"), (1, "8"), (2, "1"), (5, "2"), (16, "8")):
                with self.subTest(program=name, blocks=blocks, threads=threads):
                    self.write("p.plan", f"plan 2\nsplit {result} on axis {axis} into {blocks} over threads\n")
                    self.assertEqual(self.bits(*inputs, "--plan", "p.plan", "--threads", threads), expected)

    def test_constants_prepared_ahead(self):
        """What is packed once gives the bits of what is packed in every run."""
        for name, text in PROGRAMS.items():
            inputs = self.inputs(text)
            self.write("p.tap", text)
            expected = self.bits(*inputs)
            for constants in ("x", "y", "xy"):
                head, rest = text.split("->")
                self.write("p.tap", re.sub(rf"\b([{constants}]): ", r"const \1: ", head) + "->" + rest)
                with self.subTest(program=name, constants=constants):
                    for threads in ("1", "8"):
                        self.assertEqual(self.bits(*inputs, "--threads", threads), expected)

    def test_constants_in_groups_and_iterates(self):
        """Each is packed once, by prepare, save one that a repetition begins with, which its steps change."""
        for name, (text, count) in INSIDE.items():
            inputs = self.inputs(text)
            self.write("p.tap", text.replace("const ", ""))
            expected = self.bits(*inputs)
            self.write("p.tap", text)
            for words in ([], ["--plan", "none"], FUSED):
                with self.subTest(program=name, words=words):
                    self.assertEqual(self.bits(*inputs, *words), expected)
                    self.expect(0, "^$", "compile", "p.tap", "-o", "p.so", "--emit=schedule", *words)
                    schedule = (self.folder / "p.schedule").read_text()
                    self.assertEqual(len(re.findall(r"(?m)^b\d+ .* prepared \d+", schedule)), count)


if __name__ == "__main__":
    unittest.main()
