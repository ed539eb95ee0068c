#!/usr/bin/python3
"""tapc bench: its figures are of the form that is published, and of the size that a clock outside gives."""
import json
import time

from json_schema import problems
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/bench.schema.json").read_text())
PRODUCT = "program main(A: f32[m, k], B: f32[k, n]) -> (C: f32[m, n]) { C[i, j] = sum[l] A[i, l] * B[l, j] }\n"


class Bench(TapcTest):
    def bench(self, *arguments):
        found = json.loads(self.expect(0, "^$", "bench", *arguments, "--json").stdout)
        self.assertEqual(list(problems(found, SCHEMA)), [])
        return found

    def setUp(self):
        super().setUp()
        self.write("a.tap", PRODUCT.replace("program", "dim m = 30, n = 40, k = 50\nprogram"))

    def test_figures(self):
        begin = time.monotonic()
        found = self.bench("a.tap", "--seconds", "0.2")
        whole = time.monotonic() - begin
        run = found["run"]
        self.assertTrue(0 < run["least"] <= run["low"] <= run["median"] <= run["high"] < whole, run)
        self.assertGreaterEqual(run["count"], 5)
        self.assertLess(run["count"] * run["least"], whole)
        self.assertEqual(found["work"], {"flops": 2 * 30 * 40 * 50, "bytes": 4 * (30 * 50 + 50 * 40 + 30 * 40)})
        self.assertAlmostEqual(found["gflops"] * run["median"] * 1e9, found["work"]["flops"], delta=1)
        self.assertEqual(found["compile"]["kernels"], 1)
        self.assertLess(found["compile"]["warm"], found["compile"]["cold"])

    def test_work_of_loops_and_calls(self):
        self.write("a.tap", """use std
program main(X: f32[10]) -> (Y: f32[10]) { Y = iterate 7 (S = X) { T[i] = S[i] * 2 + 1
    T } }
""")
        self.assertEqual(self.bench("a.tap", "--runs", "1", "--seconds", "0")["work"], {"flops": 7 * 20, "bytes": 80})

    def test_splitting_adds_no_work(self):
        self.write("a.plan", "plan 2\nsplit C dim i into 5 over threads\n")
        self.assertEqual(self.bench("a.tap", "--plan", "a.plan", "--runs", "1", "--seconds", "0")["work"]["flops"], 2 * 30 * 40 * 50)

    def test_inputs_and_options_as_of_run(self):
        found = self.bench("a.tap", "--dim", "m=3", "-i", "B=zeros", "--threads", "2", "--runs", "3", "--seconds", "0", "--no-cache")
        self.assertEqual(found["work"]["flops"], 2 * 3 * 40 * 50)
        self.assertEqual((found["threads"], found["run"]["count"], found["compile"]["warm"]), (2, 3, None))
        self.expect(3, "is not an input of the program", "bench", "a.tap", "-i", "Q=zeros")
        self.expect(2, "--runs", "bench", "a.tap", "--runs", "0")
        for seconds in ("nan", "-NaN", "inf", "-1", "x"):
            self.expect(2, f"`{seconds}` for --seconds", "bench", "a.tap", f"--seconds={seconds}")

    def test_for_people(self):
        output = self.expect(0, "^$", "bench", "a.tap", "--runs", "6", "--seconds", "0").stdout.decode()
        time = r"[0-9.]+ (s|ms|µs)"
        self.assertRegex(output, rf"^run      {time}, the median of 6 runs; 95 % confidence: {time} to {time}\n"
                         rf"         [0-9.e+-]+ GFLOP/s, [0-9.e+-]+ GB/s\ncompile  {time} cold, {time} from the cache; 1 kernel\n$")

    def test_tasks_of_a_warm_run(self):
        trip = "program p(X: f32[64]) -> (Y: f32[64]) {\n  Y = iterate 3 (u = X) { v[i] = u[i] * 2\n v }\n}\n"
        self.write("trips.tap", trip)
        done = self.expect(0, "slowest tasks", "bench", "trips.tap", "--runs", "2", "--seconds", "0", "--slowest", "1",
                           "--metrics", "m.json", "--trace", "t.json")
        self.assertRegex(done.stdout.decode(), "^run ")
        tasks = json.loads((self.folder / "m.json").read_text())["tasks"]
        self.assertEqual([t["runs"] for t in tasks if "kernel" in t["what"]], [3])  # of one run, not of the warm-up
        self.assertTrue(json.loads((self.folder / "t.json").read_text())["traceEvents"])


if __name__ == "__main__":
    unittest.main()
