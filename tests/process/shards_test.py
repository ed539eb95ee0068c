#!/usr/bin/python3
"""What compiled code takes does not grow with the number of blocks: kernels, and the words of the schedule; and blocks that
are one row of the schedule compute what each would. shards_test.py TAPC"""
import re

import numpy as np

from tapc import *

PROGRAM = """program p(X: f32[8192, 16], W: f32[16, 16], V: f32[16, 16]) -> (Y: f32[8192, 16], S: f32[8192]) {
  H[i, j] = sum[k] X[i, k] * W[k, j]
  Y[i, j] = sum[k] max(H[i, k], 0) * V[k, j]
  S[i] = max[k] Y[i, k]
}
"""
ONLINE = """use std
program p(T: f32[64, 32], V: f32[32, 48]) -> (O: f32[64, 48]) {
  (mx[i], s[i], o[i, c]) = online[j] (T[i, j], 1, V[j, c])
  O[i, c] = o[i, c] / s[i] + mx[i]
}
"""
DIVIDE = "program p(a: i64[40, 6], b: i64[40, 6]) -> (q: i64[40, 6]) { q[i, j] = a[i, j] / b[i, j] }\n"


class Shards(TapcTest):
    def plan(self, *lines):
        self.write("p.plan", "plan 2\n" + "".join(f"split {line} over threads\n" for line in lines))

    def test_code_does_not_grow_with_blocks(self):
        self.write("p.tap", PROGRAM)
        kernels, sizes = [], []
        for blocks in (4, 64, 4096):
            self.plan(*(f"{name} dim i into {blocks}" for name in ("H", "Y", "S")))
            self.expect(0, "^$", "compile", "p.tap", "-o", "p.so", "--plan", "p.plan", "--emit=obj,loops")
            kernels.append(len(re.findall("^kernel", (self.folder / "p.loops").read_text(), re.M)))
            sizes.append([(self.folder / name).stat().st_size for name in ("p.so", "p.o")])
        self.assertEqual(kernels, kernels[:1] * 3)
        for size in sizes[1:]:
            for ours, fewest in zip(size, sizes[0]):
                self.assertLess(ours, 1.2 * fewest, sizes)

    def test_rows_of_blocks_agree_with_single_blocks(self):
        self.write("p.tap", PROGRAM)
        words = [word for name in ("X", "W", "V") for word in ("-i", f"{name}=randn:1")]
        results = []
        for lines in ([], ["H dim i into 4096", "Y dim i into 4096"], ["H dim i into 1000", "S dim i into 4097"],
                      ["H dim i into 30", "H dim j into 5", "Y dim j into 3", "Y dim i into 7"],
                      ["Y dim i into [0, 1, 3, 5, 7, 100, 200, 300, 8192]"]):
            for threads in ("1", "3"):
                self.plan(*lines)
                self.expect(0, "^$", "run", "p.tap", *words, "--plan", "p.plan", "--threads", threads, "-o", "@all.npz")
                with np.load(self.folder / "all.npz") as file:
                    results.append({name: file[name].tobytes() for name in file.files})
        for result in results[1:]:
            self.assertEqual(result, results[0])

    def test_blocks_that_write_the_same_cells_do_so_one_after_another(self):
        """`mx` and `s` hang on no `c`: each block of `c` writes all of them."""
        self.write("p.tap", ONLINE)
        self.expect(0, "^$", "run", "p.tap", "-i", "T=randn:1", "-i", "V=randn:2", "--no-cache", "-o", "O=@whole.npy", "--evaluations", "0")
        for dims, turns in ((["c into 4"], 4), (["i into 5"], 1), (["i into 3", "c into 7"], 7)):
            self.plan(*(f"o dim {dim}" for dim in dims))
            self.expect(0, "^$", "compile", "p.tap", "-o", "p.so", "--plan", "p.plan", "--emit=schedule", "--evaluations", "0")
            batches = (self.folder / "p.schedule").read_text().split("batch\n")
            self.assertEqual(sum(bool(re.search("kernel . of 4 ", batch)) for batch in batches), turns)
            for threads in ("1", "4"):
                self.expect(0, "^$", "run", "p.tap", "-i", "T=randn:1", "-i", "V=randn:2", "--plan", "p.plan",
                            "--threads", threads, "-o", "O=@blocks.npy", "--evaluations", "0")
                self.assertEqual((self.folder / "blocks.npy").read_bytes(), (self.folder / "whole.npy").read_bytes())

    def test_a_failure_in_a_row_has_its_location(self):
        self.write("p.tap", DIVIDE)
        b = np.ones((40, 6), np.int64)
        b[33, 2] = b[17, 4] = b[17, 5] = 0
        np.save(self.folder / "b.npy", b)
        for blocks in (1, 8, 40):
            self.plan(f"q dim i into {blocks}")
            for threads in ("1", "3"):
                self.expect(6, "division by zero in `q` at i=17, j=4", "run", "p.tap", "-i", "a=iota", "-i", "b=@b.npy",
                            "--plan", "p.plan", "--threads", threads)


if __name__ == "__main__":
    unittest.main()
