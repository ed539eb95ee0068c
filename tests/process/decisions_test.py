#!/usr/bin/python3
"""What the cost model decides, from the command line. decisions_test.py TAPC"""
import json
import re

import numpy as np

from json_schema import problems
from tapc import *

ROWS = """program p(X: f32[n, k]) -> (Y: f32[n, k]) {
  m[i] = max[j] X[i, j]
  s[i] = sum[j] exp(X[i, j] - m[i])
  Y[i, j] = exp(X[i, j] - m[i]) / s[i]
}
"""
ATTENTION = """use std
program p(Q: f32[b, n, d], K: f32[b, n, d], V: f32[b, n, d]) -> (Y: f32[b, n, d]) { Y = attention(Q, K, V) }
"""
CHOICE = """use std
op product(x: T[n, k], w: T[k, m]) -> (y: T[n, m]) where T: number { y[a, b] = sum[c] x[a, c] * w[c, b] }
rewrite product(x, w) => sum_axis<-2>(products(x, w))
program p(A: f32[3, 4], B: f32[4, 5]) -> (C: f32[3, 5]) { C[i, j] = sum[k] B[k, j] * A[i, k] }
"""
SIZES = ["--dim", "n=2048", "--dim", "k=4096"]


class Decisions(TapcTest):
    def plan(self, *arguments):
        self.expect(0, "^$", "cost", "p.tap", *arguments, "--plan-out", "out.plan")
        return (self.folder / "out.plan").read_text()

    def test_a_complete_plan_gives_the_same_bits(self):
        self.write("p.tap", ATTENTION)
        given = ["--dim", "b=2", "--dim", "n=300", "--dim", "d=32"] + [w for x in "QKV" for w in ("-i", x + "=rand:1")]
        self.expect(0, "^$", "run", "p.tap", *given, "-o", "Y=@a.npy", "--plan-out", "out.plan")
        plan = (self.folder / "out.plan").read_text()
        self.assertRegex(plan, r"(?s)^plan 2\n.*evaluations 32\n$")
        self.write("slow.toml", '[rates.f32]\narithmetic = "1 G/s"\n[caches]\nl1 = 8192\n')
        for options in ([], ["--threads", "2"], ["--machine", "slow.toml"], ["--evaluations", "1000"]):
            self.expect(0, "^$", "run", "p.tap", *given, "-o", "Y=@b.npy", "--plan", "out.plan", "--plan-out", "again.plan", *options)
            self.assertEqual((self.folder / "again.plan").read_text(), plan)
            self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes())

    def test_every_command_that_decides_writes_the_plan(self):
        self.write("p.tap", ATTENTION)
        sizes = ["--dim", "b=2", "--dim", "n=300", "--dim", "d=32"]
        plan = self.plan(*sizes)
        for words in (["compile", "-o", "p.so"], ["compile", "-o", "p.so", "--emit=mlir"], ["compile", "-o", "p.loops"], ["verify"], ["simulate"],
                      ["bench", "--seconds", "0.01"]):
            with self.subTest(words=words):
                self.expect(0, ".*", words[0], "p.tap", *sizes, *words[1:], "--plan-out", "again.plan")
                self.assertEqual((self.folder / "again.plan").read_text(), plan)
                (self.folder / "again.plan").unlink()
        self.expect(0, ".*", "compile", "p.tap", *sizes, "-o", "p.mlir", "--plan-out", "again.plan")  # which nothing is decided for
        self.assertRegex((self.folder / "again.plan").read_text(), "^plan 2\n")

    def test_results_are_right(self):
        self.write("p.tap", ATTENTION)
        b, n, d = 2, 300, 32
        random = np.random.default_rng(1)
        q, k, v = (random.standard_normal((b, n, d)).astype("f4") for _ in range(3))
        for name, array in zip("QKV", (q, k, v)):
            np.save(self.folder / f"{name}.npy", array)
        given = [w for x in "QKV" for w in ("-i", f"{x}=@{x}.npy")]
        t = np.einsum("bic,bjc->bij", q.astype("f8"), k) / np.sqrt(d)
        t = np.exp(t - t.max(-1, keepdims=True))
        expected = np.einsum("bij,bjc->bic", t / t.sum(-1, keepdims=True), v)
        for options in ([], ["--plan", "none"], ["--evaluations", "0"], ["--evaluations", "500"], ["--engine", "interp"]):
            with self.subTest(options=options):
                self.expect(0, "^$", "run", "p.tap", *given, "-o", "Y=@y.npy", *options)
                np.testing.assert_allclose(np.load(self.folder / "y.npy"), expected, rtol=1e-4, atol=1e-5)

    def test_none_is_the_program_as_written(self):
        self.write("p.tap", ROWS)
        self.assertEqual(self.plan(*SIZES, "--plan", "none"), "plan 2\nevaluations 0\n")
        self.write("none", "plan 2\nfuse m, s over i\nevaluations 0\n")
        self.assertEqual(self.plan(*SIZES, "--plan", "./none"), "plan 2\nfuse m, s over i\nevaluations 0\n")

    def test_none_keeps_no_earlier_plan(self):
        """It would keep nothing of it: a user who names one wants something else."""
        self.write("p.tap", ROWS)
        self.write("old.plan", "plan 2\nfuse m, s over i\nevaluations 7\n")
        for command in (["cost"], ["verify"], ["run", "-i", "X=rand:1"], ["compile", "-o", "p.so"], ["simulate"], ["explain"]):
            where = "p.tap:m" if command == ["explain"] else "p.tap"
            with self.subTest(command=command):
                self.expect(2, "`--plan none` keeps nothing of the plan that `--start-from` gives", *command, where, *SIZES, "--plan", "none",
                            "--start-from", "old.plan")
        self.assertEqual([p.name for p in self.files()], ["old.plan", "p.tap"])

    def test_lines_of_the_user_stay(self):
        self.write("p.tap", ROWS)
        self.assertEqual(self.plan(*SIZES), "plan 2\nfuse m, s, Y over i\nevaluations 32\n")
        self.write("u.plan", "plan 2\nsplit m dim i into 4 over threads\n")
        self.assertTrue(self.plan(*SIZES, "--plan", "u.plan").startswith("plan 2\nsplit m dim i into 4 over threads\n"))

    def test_a_budget_counts_its_evaluations(self):
        self.write("p.tap", ATTENTION)
        sizes = ["--dim", "b=2", "--dim", "n=300", "--dim", "d=32"]
        for budget in ("5s", "20ms", "1ns"):
            plan = self.plan(*sizes, "--budget", budget)
            number = re.search(r"evaluations (\d+)\n$", plan)[1]
            self.assertEqual(self.plan(*sizes, "--evaluations", number), plan)
        # Blocks of reductions take no evaluation, but `--evaluations 0` decides nothing.
        self.write("p.tap", "dim n = 256\nprogram p(X: f32[n, n], W: f32[n, n]) -> (s: f32[]) {\n    H[i, j] = sum[k] X[i, k] * W[k, j]\n"
                            "    s[] = sum[i, j] H[i, j]\n}\n")
        for budget in ("5s", "1ns"):
            plan = self.plan("--budget", budget)
            self.assertIn("over threads", plan)
            self.assertEqual(self.plan("--evaluations", re.search(r"evaluations (\d+)\n$", plan)[1]), plan)
        self.write("p.tap", ATTENTION)
        for text in ("soon", "0", "-1s", "nan", "inf", "3 apples"):
            self.expect(2, "is not a time", "cost", "p.tap", *sizes, "--budget", text)
        self.expect(2, "1e30s is more than 1000000 s", "cost", "p.tap", *sizes, "--budget", "1e30s")
        self.expect(2, "(?s)--budget.*--evaluations|--evaluations.*--budget", "cost", "p.tap", *sizes, "--budget", "1s", "--evaluations", "3")

    def test_start_from_keeps_applicable_lines(self):
        self.write("p.tap", ROWS)
        self.write("old.plan", "plan 2\nfuse m, s over i\nsplit Y dim i into 3 over threads\nsplit Z dim i into 2\nfuse Q, Y over i\nevaluations 7\n")
        expected = "plan 2\nfuse m, s over i\nsplit Y dim i into 3 over threads\nevaluations 32\n"
        self.assertEqual(self.plan(*SIZES, "--start-from", "old.plan"), expected)
        self.write("u.plan", "plan 2\nsplit m dim i into 4 over threads\n")
        plan = self.plan(*SIZES, "--plan", "u.plan", "--start-from", "old.plan")
        self.assertTrue(plan.startswith("plan 2\nsplit m dim i into 4 over threads\n"), plan)
        self.assertIn("split Y dim i into 3 over threads\n", plan)
        self.write("wrong.plan", "plan 2\nsplit nowhere dim i into 4\n")
        output = self.expect(1, "unknown operation `nowhere`", "cost", "p.tap", *SIZES, "--plan", "wrong.plan", "--start-from", "old.plan")
        self.assertIn("wrong.plan:2:7", output.output)

    def test_start_from_keeps_a_rewrite(self):
        """Rules are offered only where a plan chooses one: an earlier plan does so, too."""
        self.write("p.tap", CHOICE)
        self.write("old.plan", "plan 2\nchoose C 1\nevaluations 3\n")
        expected = "plan 2\nchoose C 1\nevaluations 0\n"
        self.assertEqual(self.plan("--start-from", "old.plan", "--evaluations", "0"), expected)
        self.expect(0, "^$", "run", "p.tap", "-i", "A=rand:1", "-i", "B=rand:2", "--start-from", "old.plan", "--evaluations", "0", "--plan-out",
                    "out.plan")
        self.assertEqual((self.folder / "out.plan").read_text(), expected)

    def test_a_decided_plan_is_remembered(self):
        self.write("p.tap", ATTENTION)
        sizes = ["--dim", "b=2", "--dim", "n=300", "--dim", "d=32"]
        cache = self.folder / "cache"
        env = {"XDG_CACHE_HOME": str(cache)}

        def plan(*options):
            self.expect(0, "^$", "cost", "p.tap", *sizes, "--plan-out", "out.plan", *options, environment=env)
            return (self.folder / "out.plan").read_text(), len(list((cache / "tapc/plans").glob("*"))) if cache.exists() else 0

        first, none = plan("--no-cache")
        self.assertEqual(none, 0)
        self.assertEqual(plan()[0], first)
        again, entries = plan()
        self.assertEqual(again, first)
        self.write("slow.toml", '[rates.f32]\narithmetic = "1 G/s"\n')
        for options in (["--machine", "slow.toml"], ["--evaluations", "3"], ["--strict-fp"]):
            more = plan(*options)[1]
            self.assertGreater(more, entries)
            entries = more
        self.write("p.tap", ATTENTION + "// a comment\n")
        self.assertEqual(plan()[1], entries)

    def test_threads_change_no_decision(self):
        self.write("p.tap", ATTENTION)
        sizes = ["--dim", "b=1", "--dim", "n=1024", "--dim", "d=64"]
        self.assertEqual(self.plan(*sizes), self.plan(*sizes, "--threads", "8"))

    def test_long_attention_needs_little_memory(self):
        """Its scores alone would take 4 GiB."""
        self.write("p.tap", ATTENTION)
        output = self.expect(0, "^$", "cost", "p.tap", "--dim", "b=1", "--dim", "n=32768", "--dim", "d=64", "--json")
        memory = json.loads(output.stdout)["memory"]
        self.assertLess(sum(memory.values()) if isinstance(memory, dict) else memory, 400e6)

    def test_a_decided_program_is_certified(self):
        self.write("p.tap", ATTENTION)
        self.expect(0, "^$", "verify", "p.tap", "--dim", "b=2", "--dim", "n=1024", "--dim", "d=64", "--certificate", "c",
                    "--stages", "s")
        self.assertIn("fuse", (self.folder / "c").read_text())

    def test_explain_lists_considered_alternatives(self):
        self.write("p.tap", ROWS)
        lines = self.plan(*SIZES).splitlines()[1:-1]
        output = self.expect(0, "^$", "explain", "p.tap:s", *SIZES).stdout.decode()
        self.assertRegex(output, r"the cost model considered \d+ alternatives for m, s, Y:\n")
        rows = output.split("alternatives for m, s, Y:\n")[1].splitlines()
        self.assertRegex(rows[1], r"^ *" + re.escape("; ".join(lines)) + r" +taken  ")  # first, as the plan has it
        self.assertRegex(output, r"\n *as they are +(\d+\.\d\d x the time|within the accuracy|more memory)")
        # What a plan says is not considered.
        self.write("by_hand.plan", "plan 2\nfuse m, s over i\n")
        output = self.expect(0, "^$", "explain", "p.tap:s", *SIZES, "--plan", "by_hand.plan").stdout.decode()
        self.assertIn("  by the plan: fuse m, s over i\n", output)
        self.assertNotIn("considered", output)

    def test_explain_knows_what_the_plan_makes(self):
        self.write("p.tap", ROWS)
        sizes = ["--dim", "n=64", "--dim", "k=128"]
        self.write("p.plan", "plan 2\nmesh g = [x: 4]\nsplit s dim j into 4 over g.x\nsplit s.partial dim i into 2 over threads\n")
        ask = ["explain", "p.tap:s.partial", *sizes]
        text = self.expect(0, "^$", *ask, "--plan", "p.plan").stdout.decode()
        self.assertRegex(text, r"^s\.partial: f32\[4, 64\]\n  made by the plan: split s dim j into 4 over (axis )?g\.x\n")
        self.assertIn("  by the plan: split s.partial dim i into 2 over threads\n", text)
        found = json.loads(self.expect(0, "^$", *ask, "--plan", "p.plan", "--json").stdout)
        self.assertEqual(list(problems(found, json.loads((ROOT / "docs/schema/explain.schema.json").read_text()))), [])
        self.expect(2, "has no value `s.partial`", *ask)
        self.expect(2, "has no value `s.partiall`(.|\n)*did you mean `s.partial`", "explain", "p.tap:s.partiall", *sizes, "--plan", "p.plan")
        self.write("u.tap", "program p(x: f32[64]) -> (y: f32[64]) { y = iterate 8 (u = x) { v[i] = u[i - 1 else 0] + u[i]; v } }\n")
        self.write("u.plan", "plan 2\nunroll y 4\n")
        text = self.expect(0, "^$", "explain", "u.tap:y/v.2", "--plan", "u.plan").stdout.decode()
        self.assertTrue(text.startswith("y/v.2: f32[64]\n  made by the plan: unroll y 4\n"), text)
        self.write("c.tap", "use std\nprogram p(A: f32[30, 400], B: f32[400, 50], C: f32[50, 2]) -> (D: f32[30, 2]) {\n"
                            "    D = matmul(matmul(A, B), C)\n}\n")
        self.write("c.plan", "plan 2\nchoose D 1\n")
        text = self.expect(0, "^$", "explain", "c.tap:D.matmul", "--plan", "c.plan").stdout.decode()
        self.assertTrue(text.startswith("D.matmul: f32[400, 2]"), text)  # B C; A B without the plan

    def test_wrong_plans(self):
        self.write("p.tap", ROWS)
        for line, message in (("evaluations", "a number is missing"), ("evaluations -1", "error.T1402"),
                              ("evaluations 3\nevaluations 4", "`evaluations` occurs twice")):
            self.write("w.plan", "plan 2\n" + line + "\n")
            self.expect(1, message, "cost", "p.tap", *SIZES, "--plan", "w.plan")


if __name__ == "__main__":
    unittest.main()
