#!/usr/bin/python3
"""What `tapc diff` says of two plans, and of two shardings.
diff_test.py TAPC"""
import json

from json_schema import problems
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/diff.schema.json").read_text())
SOFTMAX = """program p(X: f32[512, 4096]) -> (Y: f32[512, 4096]) {
    m[i] = max[k] X[i, k]
    e[i, j] = exp(X[i, j] - m[i])
    s[i] = sum[k] e[i, k]
    Y[i, j] = e[i, j] / s[i]
}
"""
ROWS = """mesh pod = [data: 4, model: 2]
program layer(X: f32[64, 64] @ pod[{data}, {}], W: f32[64, 128] @ pod[{}, {model}],
              V: f32[128, 64] @ pod[{model}, {}]) -> (Y: f32[64, 64] @ pod[{data}, {}]) {
    H[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] H[i, k] * V[k, o]
}
"""
REPLICATED = ROWS.replace("pod[{}, {model}]", "pod[{}, {}]").replace("pod[{model}, {}]", "pod[{}, {}]")
STEPS = """mesh line = [x: 4]
op step(u: f32[n]) -> (v: f32[n]) { v[i] = u[i - 1 else 0] + u[i + 1 else 0] }
program steps(X: f32[64] @ line[{x}]) -> (Y: f32[64] @ line[{x}]) {
    Y = iterate TIMES (u = X) { step(u) }
}
"""


class Diff(TapcTest):
    def diff(self, *words):
        result = self.expect(0, "^$", "diff", *words, "--json")
        found = json.loads(result.stdout)
        self.assertEqual(list(problems(found, SCHEMA)), [])
        return found

    def test_two_plans(self):
        self.write("p.tap", SOFTMAX)
        self.write("fused.plan", "plan 2\nfuse m, e, s, Y over i\n")
        found = self.diff("p.tap", "none", "fused.plan", "--evaluations", "0")
        self.assertEqual(found["plan"], {"a": [], "b": ["fuse m, e, s, Y over i"]})
        cost = [json.loads(self.expect(0, "^$", "cost", "p.tap", "--plan", plan, "--evaluations", "0", "--json").stdout)
                for plan in ("none", "fused.plan")]
        for side, alone in zip("ab", cost):  # as each of them alone
            self.assertEqual(found[side]["seconds"], alone["total"]["seconds"])
            self.assertEqual(found[side]["memory"], alone["memory"])
        self.assertLess(found["b"]["memory"]["peak"], found["a"]["memory"]["peak"])
        self.assertEqual(found["shardings"], [])
        seconds = {one["operation"]: (one["a"], one["b"]) for one in found["operations"]}
        self.assertIn("e", seconds)
        self.assertIsNone(seconds["e"][1])  # part of the group
        output = self.expect(0, r"^$", "diff", "p.tap", "none", "fused.plan").stdout.decode()
        self.assertRegex(output, r"fused.plan[\s\S]*B / A\n[\s\S]*\+ fuse m, e, s, Y over i")

    def test_a_plan_and_itself(self):
        self.write("p.tap", SOFTMAX)
        found = self.diff("p.tap", "decided", "decided")
        self.assertEqual(found["a"], found["b"])
        self.assertEqual((found["plan"], found["operations"]), ({"a": [], "b": []}, []))
        self.assertIn("no difference in plan, shardings or operations",
                      self.expect(0, "^$", "diff", "p.tap", "none", "none").stdout.decode())

    def test_two_shardings(self):
        self.write("rows.tap", ROWS)
        self.write("replicated.tap", REPLICATED)
        found = self.diff("rows.tap", "replicated.tap")
        self.assertEqual({one["value"]: (one["a"], one["b"]) for one in found["shardings"]},
                         {"W": ("pod[{}, {model}]", "pod[{}, {}]"), "V": ("pod[{model}, {}]", "pod[{}, {}]"),
                          "H": ("pod[{data}, {model}]", "pod[{data}, {}]")})
        # The all-reduce of Y's partials: half of 16 rows of 64 floats, from one of two devices. Nobody reads all of Y.
        self.assertEqual(found["a"]["received"], {"busiest": 2048.0, "bytes": 8 * 2048.0, "messages": 8.0})
        self.assertEqual(found["b"]["received"], {"busiest": 0.0, "bytes": 0.0, "messages": 0.0})
        self.assertEqual(len(found["collectives"]["a"]), 1)
        self.assertIn("all_reduce {model}", found["collectives"]["a"][0])
        one_device = self.diff("rows.tap", "replicated.tap", "--device", "3")
        self.assertEqual(one_device["a"]["received"], {"busiest": 2048.0, "bytes": 2048.0, "messages": 1.0})

    def test_two_plans_over_a_mesh(self):
        text = ROWS[:ROWS.index("program")] + "program layer(X: f32[64, 64], W: f32[64, 128], V: f32[128, 64]) -> (Y: f32[64, 64]) {" + ROWS[ROWS.index("\n    H["):]
        self.write("p.tap", text)
        rows = "split H dim i into 4 over pod.data\nsplit H dim o into 2 over pod.model\nsplit Y dim i into 4 over pod.data\n"
        self.write("gathered.plan", "plan 2\n" + rows)
        self.write("scattered.plan", "plan 2\n" + rows + "split Y dim k into 2 over pod.model\nsplit Y dim o into 2 over pod.model\n")
        found = self.diff("p.tap", "gathered.plan", "scattered.plan")
        self.assertEqual(found["collectives"], {
            "a": ["H for Y  all_gather [{}, {model}] -> pod[{data}, {}]  4 KiB, implicit"],
            "b": ["Y  reduce_scatter {model} [{}, {model}] -> pod[{data}, {model}]  2 KiB"]})
        self.assertEqual([found[side]["received"]["busiest"] for side in "ab"], [4096.0, 2048.0])
        self.assertEqual(found["shardings"], [{"value": "Y", "a": "pod[{data}, {}]", "b": "pod[{data}, {model}]"}])

    def test_traffic_of_an_iterate(self):
        for times in (1, 7):
            self.write(f"steps{times}.tap", STEPS.replace("TIMES", str(times)))
        found = self.diff("steps1.tap", "steps7.tap")
        # Each trip moves one float across each of the three edges, in both directions.
        self.assertEqual(found["a"]["received"], {"busiest": 8.0, "bytes": 24.0, "messages": 6.0})
        self.assertEqual(found["b"]["received"], {"busiest": 56.0, "bytes": 168.0, "messages": 42.0})

    def test_mistakes(self):
        self.write("p.tap", SOFTMAX)
        self.expect(2, "`none` must be compared with a second plan[\s\S]*tapc diff p.tap none decided", "diff", "p.tap", "none")
        self.expect(2, "`missing.plan` cannot be read", "diff", "p.tap", "decided", "missing.plan")
        self.expect(2, "no operation is split over devices", "diff", "p.tap", "none", "none", "--device", "1")


if __name__ == "__main__":
    unittest.main()
