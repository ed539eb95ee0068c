#!/usr/bin/python3
"""Choices: `inspect --choices` lists what rewrites and orders of products offer, a plan picks, `run` and `verify` follow it."""
import json

from tapc import *

PROGRAM = """use std
op product(x: T[n, k], w: T[k, m]) -> (y: T[n, m]) where T: number { y[a, b] = sum[c] x[a, c] * w[c, b] }
rewrite product(x, w) => sum_axis<-2>(products(x, w))
program p(A: f32[3, 4], B: f32[4, 5]) -> (C: f32[3, 5]) { C[i, j] = sum[k] B[k, j] * A[i, k] }
"""
CHAIN = """program p(A: f32[2, 9], B: f32[9, 3], C: f32[3, 8]) -> (Y: f32[2, 8]) {
    Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l]
}
"""
RULE = "rewrite product(x, w) => sum_axis<-2>(products(x, w))"
ORDER = "product in the order ((A B) C): 204 operations instead of 1296, by a * (b + c) = a * b + a * c"


class ChoicesTest(TapcTest):
    def given(self, program, lines=None):
        self.write("p.tap", program)
        if lines is not None:
            self.write("p.plan", "plan 2\n" + lines)

    def check(self, *arguments):
        return subprocess.run([TAPC.parent / "tapc-check", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=20)

    def printed(self, *arguments, code=0):
        result = self.tapc(*arguments)
        self.assertEqual(result.returncode, code, result.output)
        return result.stdout.decode()

    def results(self, inputs, *arguments):
        given = [part for name in inputs for part in ("-i", name + "=iota")]
        result = self.tapc("run", "p.tap", *given, *arguments)
        self.assertEqual(result.returncode, 0, result.output)
        return result.stdout

    def test_choices_are_listed_by_their_plan_names(self):
        self.given(PROGRAM)
        text = self.printed("inspect", "--choices", "p.tap")
        self.assertEqual(text.splitlines()[:6], [
            "C: choose 0 or 1", "  0  as written", "       C: f32[3, 5] = C(B, A)", "  1  " + RULE,
            "       C.products: f32[3, 4, 5] = products(A, B)", "       C: f32[3, 5] = sum_axis(C.products)"])
        self.assertIn("note: C: `rewrite matmul(x, w) => sum_axis<-2>(products(x, w)) when matmul.in > 4096` is not "
                      "offered: `matmul.in > 4096` is false: `matmul.in` is 4", text)

    def test_other_formats_show_choices_in_the_graph(self):
        self.given(CHAIN)
        self.assertIn(ORDER, json.dumps(json.loads(self.printed("inspect", "--choices", "p.tap", "--format", "json"))))

    def test_nothing_to_choose(self):
        self.given("program p(A: f32[3]) -> (B: f32[3]) { B[i] = A[i] + 1 }\n")
        self.assertEqual(self.printed("inspect", "--choices", "p.tap"), "no choices\n")

    def test_every_pick_gives_the_same(self):
        self.given(PROGRAM)
        expected = self.results("AB", "--engine", "interp")
        for lines in ["choose C 0\n", "choose C 1\n", "choose C 1\nsplit C dim #2 into 2\n"]:
            self.given(PROGRAM, lines)
            for engine in ["native", "interp"]:
                with self.subTest(lines=lines, engine=engine):
                    self.assertEqual(self.results("AB", "--plan", "p.plan", "--engine", engine), expected)

    def test_products_are_reassociated_unless_a_plan_keeps_them(self):
        self.given(CHAIN)
        expected = self.results("ABC", "--engine", "interp", "--passes=none")
        self.assertEqual(self.results("ABC"), expected)
        self.assertIn("Y.t0", self.printed("opt", "p.tap"))
        for lines in ["choose Y 0\n", "choose Y 1\nsplit Y.t0 dim j into 4\n", "choose Y 0\nsplit Y dim j into 3\n",
                      "split Y dim k into 3\nsplit Y.t0 dim k into 2\n"]:
            self.given(CHAIN, lines)
            with self.subTest(lines=lines):
                self.assertEqual(self.results("ABC", "--plan", "p.plan"), expected)

    def test_assumptions_are_reported(self):
        self.given(PROGRAM, "choose C 1\n")
        self.assertNotIn("assumed", self.printed("verify", "p.tap"))
        self.assertIn("the rule `" + RULE + "`", self.printed("verify", "p.tap", "--plan", "p.plan"))
        result = self.tapc("verify", "p.tap", "--plan", "p.plan", "--require-proof")
        self.assertEqual(result.returncode, 5)
        self.assertIn("is assumed, not proved: the rule `" + RULE + "`", result.output)

    def test_required_proof_keeps_products_as_written(self):
        self.given(CHAIN)
        self.assertRegex(self.printed("verify", "p.tap"), r"assumed choice: .*: values are finite and the sign of a zero does not matter \(product in the order")
        for option in ["--require-proof", "--no-distribute", "--strict-fp"]:
            self.assertNotIn("assumed", self.printed("verify", "p.tap", option))
            self.assertNotIn("Y.t0", self.printed("opt", "p.tap", option))
        # Integers wrap: nothing is assumed, and the order is another.
        self.given(CHAIN.replace("f32", "i32"))
        self.assertIn("Y.t0", self.printed("opt", "p.tap"))
        self.assertNotIn("assumed", self.printed("verify", "p.tap"))

    def test_kept_products_have_the_infinities_of_the_source(self):
        """A row of zeros times inf is nan as it is written, and 0 or inf in another order."""
        self.given(CHAIN)
        inputs = ["-i", "A=zeros", "-i", "B=ones", "-i", "C=const:inf"]
        expected = self.tapc("run", "p.tap", *inputs, "--engine", "interp", "--passes=none")
        self.assertEqual(expected.returncode, 0, expected.output)
        self.assertIn(b"nan", expected.stdout)
        for option in ["--require-proof", "--no-distribute", "--strict-fp"]:
            for engine in ["interp", "native"]:
                with self.subTest(option=option, engine=engine):
                    kept = self.tapc("run", "p.tap", *inputs, "--engine", engine, option)
                    self.assertEqual(kept.stdout, expected.stdout, kept.output)
        self.write("p.plan", "plan 2\nchoose Y 1\n")
        self.assertEqual(self.tapc("run", "p.tap", *inputs, "--plan", "p.plan", "--no-distribute").returncode, 1)

    def test_rules_are_written_next_to_the_certificate(self):
        self.given(PROGRAM, "choose C 1\n")
        self.printed("verify", "p.tap", "--plan", "p.plan", "--certificate", "p.cert", "--stages", "p")
        source, *stages = sorted(path.name for path in self.folder.glob("p.[0-9]*.ir"))
        checked = self.check("--rules=p.cert.rules.ir", source, "p.cert", *stages)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("the rule `" + RULE + "`", checked.stdout)
        self.assertEqual(self.check(source, "p.cert", *stages).returncode, 5)

    def test_as_a_pass(self):
        self.given(PROGRAM)
        result = self.tapc("opt", "p.tap", "--passes=inline_calls,offer_choices", "--remarks", "-o", "stage.txt")
        self.assertIn("offer_choices kept `C` of `p` unchanged: `rewrite matmul(x, w) =>", result.output)
        self.assertNotIn("choice", self.printed("opt", "stage.txt", "--passes=pick_choices"))
        self.write("p.plan", "plan 2\nchoose C 1\n")
        self.assertIn("C.products", self.printed("opt", "stage.txt", "--passes=pick_choices", "--plan", "p.plan"))

    def test_mistakes_of_a_plan(self):
        for lines, message in [("choose C 2\n", "`C` has no alternative 2; it has 0 to 1"),
                               ("choose D 1\n", "unknown operation `D`"),
                               ("choose C 1\nchoose C 1\n", "`C` offers no choice")]:
            self.given(PROGRAM, lines)
            with self.subTest(lines=lines):
                result = self.tapc("run", "p.tap", "-i", "A=iota", "-i", "B=iota", "--plan", "p.plan")
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.output)


if __name__ == "__main__":
    unittest.main()
