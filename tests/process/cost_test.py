#!/usr/bin/python3
"""What `tapc cost` predicts, in a table and as JSON.
cost_test.py TAPC"""
import json

from tapc import *

PRODUCT = """program product(A: f32[n, n], B: f32[n, n]) -> (C: f32[n, n]) { C[i, j] = sum[k] A[i, k] * B[k, j] }
"""
# Other names of the same: nothing may depend on them.
RENAMED = """program softmax(matmul: f32[n, n], relu: f32[n, n]) -> (exp1: f32[n, n]) {
    exp1[row, col] = sum[inner] matmul[row, inner] * relu[inner, col] }
"""


class Cost(TapcTest):
    def json(self, file, *options):
        return json.loads(self.tapc("cost", file, "--json", *options).stdout)

    def test_a_table(self):
        self.write("p.tap", PRODUCT)
        told = self.tapc("cost", "p.tap", "--dim", "n=256").stdout.decode()
        self.assertRegex(told, r"^operation +task +total +compute")
        self.assertRegex(told, r"\nC +kernel 0 ")
        self.assertRegex(told, r"\ntotal ")
        self.assertRegex(told, r"\nmemory: \S+ \S+ at most: 512 KiB inputs, 256 KiB results")

    def test_terms_add_up(self):
        self.write("p.tap", PRODUCT)
        cost = self.json("p.tap", "--dim", "n=256")
        for part in [cost["total"], *cost["operations"]]:
            self.assertAlmostEqual(part["seconds"], sum(part["terms"].values()))
        self.assertAlmostEqual(cost["total"]["seconds"], sum(row["seconds"] for row in cost["operations"]))
        self.assertEqual(cost["memory"]["peak"], sum(cost["memory"][k] for k in ("inputs", "outputs", "arena", "prepared", "scratch")))

    def test_work_is_counted(self):
        self.write("p.tap", PRODUCT)
        for n in (96, 256, 300):
            done = self.json("p.tap", "--dim", f"n={n}")["total"]["amounts"]["operations"]
            self.assertAlmostEqual(done / (2 * n ** 3), 1, delta=0.05)

    def test_names_do_not_matter(self):
        self.write("p.tap", PRODUCT)
        self.write("q.tap", RENAMED)
        a, b = self.json("p.tap", "--dim", "n=128"), self.json("q.tap", "--dim", "n=128")
        self.assertEqual(a["total"], b["total"])


if __name__ == "__main__":
    unittest.main()
