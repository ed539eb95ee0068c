#!/usr/bin/python3
"""tapc verify and tapc-check: every example is proved, within its time; what is not that program's certificate is refused."""
import random
import re

from tapc import *

EXAMPLES = sorted((ROOT / "examples").glob("*.tap"))
CHECKER = TAPC.parent / "tapc-check"
MS_PER_OPERATION = 10

CHAIN = """program p(X: f32[64, 8], W: f32[8, 4]) -> (Y: f32[64, 4]) {
    H[i, o] = sum[k] X[i, k] * W[k, o] * 1
    Z[i, o] = max(H[i, o], 0)
    Y[i, o] = Z[i, o] * 2 + Z[i, o]
}
"""
PLAN = "plan 1\nsplit Y dim i into 8 over threads\nsplit H dim k into [0, 3, 8]\n"


class VerifyTest(TapcTest):
    def test_examples(self):
        for example in EXAMPLES:
            several = example.stem in {"attention"}
            result = self.tapc("verify", example, "--time-passes", *(["--program", "fused"] if several else []), timeout=60)
            out = result.stdout.decode()
            self.assertEqual(result.returncode, 0, example.name + ": " + out + result.told)
            self.assertNotIn("refused", out)
            if not SANITIZED:
                self.assertLess(float(re.search(r"([0-9.]+) ms an operation", out)[1]), MS_PER_OPERATION, example.name)

    def stages(self):
        """The certificate of a program that is simplified, composed and cut, and the files that it speaks of."""
        self.write("p.tap", CHAIN)
        self.write("p.plan", PLAN)
        result = self.tapc("verify", "p.tap", "--plan", "p.plan", "--certificate", "p.cert", "--stages", "p")
        self.assertEqual(result.returncode, 0, result.stdout.decode() + result.told)
        return sorted(self.folder.glob("p.*.ir"))

    def check(self, source, certificate, stages):
        return subprocess.run([CHECKER, source, certificate, *stages], cwd=self.folder, capture_output=True, text=True, timeout=20)

    def test_certificate_on_disk(self):
        source, *stages = self.stages()
        self.assertGreaterEqual(len(stages), 3)
        result = self.check(source, "p.cert", stages)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("proved reduction-partition", result.stdout)

    def test_c10_of_another_program(self):
        source, *stages = self.stages()
        changed = self.folder / "changed.ir"
        changed.write_text(source.read_text().replace("graph 0 p", "graph 0 q"))
        result = self.check(changed, "p.cert", stages)
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
        self.assertIn("refused chain", result.stdout)
        self.assertEqual(self.check(source, "p.cert", stages[:-1]).returncode, 5)
        self.assertEqual(self.check(source, "p.cert", stages[::-1]).returncode, 5)

    def test_c10_truncated_and_newer(self):
        source, *stages = self.stages()
        text = (self.folder / "p.cert").read_text()
        for length in range(0, len(text) - 1, max(1, len(text) // 40)):
            self.write("cut.cert", text[:length])
            self.assertEqual(self.check(source, "cut.cert", stages).returncode, 3, text[:length][-60:])
        self.write("new.cert", text.replace("tap-certificate 1", "tap-certificate 2"))
        result = self.check(source, "new.cert", stages)
        self.assertEqual(result.returncode, 3)
        self.assertIn("is of version 2, and this program reads version 1", result.stderr)
        self.assertEqual(self.check(source, "missing.cert", stages).returncode, 4)
        self.assertEqual(self.check(source, source, stages).returncode, 3)

    def test_c09_edited_by_hand(self):
        """Numbers of values, operations, dims and hashes changed: refused, all of them."""
        source, *stages = self.stages()
        text = (self.folder / "p.cert").read_text()
        kinds = {"value": r"(    value \d+ is )(\d+)", "operation": r"(    operation \d+ \w+ )(\d+)", "dim": r"( dim )(\d+)",
                 "block": r"( by )(\d+)\n", "partial": r"(combination \d+ of )(\d+)"}
        generator = random.Random(9)
        for kind, pattern in kinds.items():
            places = list(re.finditer(pattern, text))
            self.assertTrue(places, kind)
            for _ in range(20):
                at = generator.choice(places)
                number = int(at[2]) + generator.choice([-1, 1, 2, 7])
                if number < 0:
                    continue
                self.write("edited.cert", text[:at.start(2)] + str(number) + text[at.end(2):])
                result = self.check(source, "edited.cert", stages)
                self.assertEqual(result.returncode, 5, f"{at[0]!r} with {number}\n{result.stdout}{result.stderr}")
                self.assertIn("refused", result.stdout)

    def test_a_plan_that_does_not_fit(self):
        self.write("p.tap", CHAIN)
        self.write("p.plan", "plan 1\nsplit Q dim i into 8\n")
        self.expect(1, "T1402.*no operation is called `Q`", "verify", "p.tap", "--plan", "p.plan")
        self.write("p.plan", "plan 1\ncut Y\n")
        self.expect(1, "T1402", "verify", "p.tap", "--plan", "p.plan")


if __name__ == "__main__":
    unittest.main()
