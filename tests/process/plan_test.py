#!/usr/bin/python3
"""Plans: `run` gives the same under each, natively and interpreted; a program's own splits are applied; mistakes are told."""
from tapc import *

PROGRAM = """mesh pod = [data: 2, model: 3]
program p(X: f64[7, 5], W: f64[5, 4]) -> (Y: f64[7, 4], S: f64[7]) {
    H[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = H[i, o] + H[i, 3 - o]
    S[i] = sum[k in 0..i+1] X[k, 0]
}
"""
PLANS = [
    "split H dim i into 3 over threads\n",
    "split H dim i into 2 over axis pod.data\nsplit Y dim i into 2 over axis pod.data\n",
    "split H dim i into 2 over axis pod.data\nsplit Y dim o into [0, 1, 1, 4] over axis pod.model\n",
    "split H dim k into 3 over axis pod.model tree 2\n",
    "split H dim k into 2 over sequential\nsplit S dim i into 4 over threads\n",
    "split S dim i into [0, 3, 3, 7] over axis pod.model\n",
]


class PlanTest(TapcTest):
    def results(self, *arguments):
        result = self.tapc("run", "p.tap", "-i", "X=iota", "-i", "W=iota", *arguments)
        self.assertEqual(result.returncode, 0, result.told)
        return result.stdout

    def test_every_plan_gives_the_same(self):
        self.write("p.tap", PROGRAM)
        wanted = self.results("--engine", "interp", "--passes=none")
        for plan in PLANS:
            with self.subTest(plan):
                self.write("p.plan", "plan 1\n" + plan)
                for engine in ("interp", "native"):
                    for threads in ("1", "3"):
                        self.assertEqual(self.results("--plan", "p.plan", "--engine", engine, "--threads", threads), wanted)

    def test_splits_of_the_program_itself(self):
        self.write("p.tap", PROGRAM)
        wanted = self.results()
        self.write("p.tap", PROGRAM.replace("    S[i]", "    split H on axis 0 into 2 over data\n    split H on k into 2\n    S[i]"))
        self.assertEqual(self.results(), wanted)
        self.assertEqual(self.results("--engine", "interp"), wanted)

    def test_mistakes(self):
        self.write("p.tap", PROGRAM)
        for line, told in [("split H dim q into 2", "`H` has no dim `q`; it has `i`, `o`, `k`"),
                           ("split Q dim i into 2", "no operation is called `Q`"),
                           ("split H dim i into [0, 8]", r"the blocks \[0, 8\] do not tile i, which runs over 0..7"),
                           ("split H dim i into 0", "a range is cut into at least one block"),
                           ("split H dim o into 2 over axis pod.model:(-1)2", r"`model:\(-1\)2` is not a part of `model`"),
                           ("split H dim o into 2 over axis pod.model:(2)2", r"`model:\(2\)2` is not a part of `model`"),
                           ("split H dim o into 2 over axis pod.model:(9223372036854775807)2", "is not a part of `model`"),
                           ("split H dim i into 3 over axis pod.data", "3 blocks go on the axis `data`, which has 2 places")]:
            with self.subTest(line):
                self.write("p.plan", "plan 1\n" + line + "\n")
                self.expect(1, r"T1402.*" + told, "run", "p.tap", "-i", "X=iota", "-i", "W=iota", "--plan", "p.plan")


if __name__ == "__main__":
    unittest.main()
