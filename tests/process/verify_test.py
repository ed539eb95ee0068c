#!/usr/bin/python3
"""tapc verify and tapc-check: every example is proved, within its time; what is not that program's certificate is refused."""
import random
import re

from stage_chain import hash_of
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
PLAN = "plan 2\nsplit Y dim i into 8 over threads\nsplit H dim k into [0, 3, 8]\n"


class VerifyTest(TapcTest):
    def test_examples(self):
        for example in EXAMPLES:
            several = example.stem in {"attention"}
            result = self.tapc("verify", example, "--time-passes", *(["--program", "fused"] if several else []),
                               timeout=60)
            out = result.stdout.decode()
            self.assertEqual(result.returncode, 0, example.name + ": " + out + result.output)
            self.assertNotIn("refused", out)
            if not SANITIZED:
                self.assertLess(float(re.search(r"([0-9.]+) ms per operation", out)[1]), MS_PER_OPERATION, example.name)

    def stages(self, *options):
        """The certificate of a program that is simplified, composed and cut, and the files that it speaks of."""
        self.write("p.tap", CHAIN)
        self.write("p.plan", PLAN)
        result = self.tapc("verify", "p.tap", "--plan", "p.plan", "--certificate", "p.cert", "--stages", "p",
                           *options)
        self.assertEqual(result.returncode, 0, result.stdout.decode() + result.output)
        return sorted(self.folder.glob("p.*.ir"))

    def check(self, source, certificate, stages):
        return subprocess.run([CHECKER, source, certificate, *stages], cwd=self.folder, capture_output=True, text=True,
                              timeout=20)

    def test_files_that_are_none(self):
        for path in (self.folder, "/dev/zero", "missing.ir"):
            self.assertEqual(self.check(path, path, [path]).returncode, 4)
        source, *stages = self.stages()
        with open("/dev/full", "w") as full:
            self.assertEqual(subprocess.run([CHECKER, source, "p.cert", *stages], cwd=self.folder, stdout=full,
                                            stderr=subprocess.DEVNULL).returncode, 4)

    def test_help_and_version_of_the_checker(self):
        usage = r"^usage: tapc-check \[--rules=RULES.ir\] SOURCE"
        for option, pattern in (("--help", usage), ("-h", r"^usage: "), ("--version", r"^tapc-check \d+\.\d+")):
            result = subprocess.run([CHECKER, option], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, pattern)
        result = subprocess.run([CHECKER, "a.ir"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("usage: tapc-check", result.stderr)

    def test_certificate_on_disk(self):
        source, *stages = self.stages()
        self.assertGreaterEqual(len(stages), 3)
        result = self.check(source, "p.cert", stages)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("proved reduction-partition", result.stdout)
        self.assertIn("proved expansion: 1\n", result.stdout)
        self.assertIn("proved schedule: 1\n", result.stdout)
        self.assertEqual([path.read_text().split()[0] for path in stages[-3:]],
                         ["tap-ir", "tap-blocks", "tap-schedule"])

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
        self.write("new.cert", text.replace("tap-certificate 2", "tap-certificate 3"))
        result = self.check(source, "new.cert", stages)
        self.assertEqual(result.returncode, 3)
        self.assertIn("has version 3; the supported version is 2", result.stderr)
        self.assertEqual(self.check(source, "missing.cert", stages).returncode, 4)
        self.assertEqual(self.check(source, source, stages).returncode, 3)

    def test_c09_edited_by_hand(self):
        """Numbers of values, operations, dims and hashes changed: refused, all of them."""
        source, *stages = self.stages()
        text = (self.folder / "p.cert").read_text()
        kinds = {"value": r"(    value \d+ is )(\d+)", "operation": r"(    operation \d+ \w+ )(\d+)",
                 "dim": r"( dim )(\d+)",
                 "block": r"( by )(\d+)\n", "partial": r"(combination \d+ of )(\d+)"}
        generator = random.Random(9)
        for kind, pattern in kinds.items():
            matches = list(re.finditer(pattern, text))
            self.assertTrue(matches, kind)
            for _ in range(20):
                at = generator.choice(matches)
                number = int(at[2]) + generator.choice([-1, 1, 2, 7])
                if number < 0:
                    continue
                self.write("edited.cert", text[:at.start(2)] + str(number) + text[at.end(2):])
                result = self.check(source, "edited.cert", stages)
                self.assertEqual(result.returncode, 5, f"{at[0]!r} with {number}\n{result.stdout}{result.stderr}")
                self.assertIn("refused", result.stdout)

    def test_c09_cells_of_another_operator(self):
        """Terms of a rewrite read what the operator that is claimed instead does not have."""
        source, *stages = self.stages()
        text = (self.folder / "p.cert").read_text()
        self.assertIn("operation 0 simplified 0", text)
        self.write("edited.cert", text.replace("operation 0 simplified 0", "operation 0 simplified 1", 1))
        result = self.check(source, "edited.cert", stages)
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)

    def test_c09_another_program_with_the_right_hash(self):
        """What a step made is edited, and the certificate names the edited text: every kind is refused by what it breaks."""
        source, *stages = self.stages("--stage", "sharded")
        text, certificate = stages[-1].read_text(), (self.folder / "p.cert").read_text()
        self.assertIn(hash_of(text), certificate)
        generator = random.Random(10)
        other = lambda number: str(int(number) + generator.choice([-2, -1, 1, 2, 5]))
        kinds = {
            "a block is lost": (r"into \[0, 3, (8)\]", other, "blocks-partition"),
            "a block is there twice": (r"into \[0, (3), 8\]", lambda n: "8" if generator.random() < 0.5 else "0", ""),
            "bounds are off by one": (r"(?:read|write) \d at \[(?:\w+, )*(\w+)", lambda name: name + " + 1", ""),
            "a map is transposed": (r"(?:read|write) \d at \[(?:k_block, )?(\w+, \w+)\]",
                                    lambda pair: ", ".join(reversed(pair.split(", "))), ""),
            "an identity is another": (r"(?s)monoid 0 sum.*?constant f32 (0)", other, ""),
            "a constant is another": (r"cell 3 = constant f32 (2)", other, ""),
            "operands are exchanged": (r"do \d \((0, 1)\)", lambda pair: "1, 0", ""),
        }
        for kind, (pattern, change, obligation) in kinds.items():
            # Only where it matters: operators of earlier stages are kept, though nobody uses them.
            owner = lambda at: ([""] + re.findall(r"(?m)^(operator \d+|monoid \d+|graph \d+)", text[:at.start(1)]))[-1]
            used = {"operator " + number for number in re.findall(r"(?m)^  do (\d+)", text)}
            matches = [at for at in re.finditer(pattern, text) if not owner(at).startswith("operator")
                      or owner(at) in used]
            self.assertTrue(matches, kind)
            for _ in range(20):
                at = generator.choice(matches)
                edited = text[:at.start(1)] + change(at[1]) + text[at.end(1):]
                with self.subTest(kind, row=text[:at.start(1)].count("\n") + 1, change=change(at[1])):
                    self.write("edited.ir", edited)
                    self.write("edited.cert", certificate.replace(hash_of(text), hash_of(edited)))
                    result = self.check(source, "edited.cert", [*stages[:-1], "edited.ir"])
                    if edited == text or kind == "a block is there twice" and result.returncode == 0:
                        continue  # an empty block beside a whole one is another plan, and right
                    self.assertIn(result.returncode, (3, 5), result.stdout + result.stderr)
                    if result.returncode == 5:
                        self.assertRegex(result.stdout, "refused (?!chain)" + obligation)

    def test_c09_tasks_with_the_right_hash(self):
        """Block graphs and schedules are edited, and the certificate names the edited text."""
        source, *stages = self.stages()
        certificate = (self.folder / "p.cert").read_text()
        generator = random.Random(11)
        kinds = {"a box of a task": (-2, r"apply \d+ on \[(\d+)\.\.", "expansion|held"),
                 "what is reduced": (-2, r"apply 0 on \[.*?, .*?, \d+\.\.(\d+)", "expansion"),
                 "a memory": (-2, r"apply \d+ on \[[^]]*\](?: device \d+)? \((\d+)", "well-formed"),
                 "how many are in a row": (-2, r"apply .* times (\d+) by", "well-formed|expansion|held"),
                 "a step of a row": (-2, r"apply .* by \((\d+)", "well-formed|expansion|held"),
                 "an output": (-2, r"output \((\d+)", "well-formed"),
                 "a box of a call": (-1, r"  kernel \d+ of \d+ on \[(\d+)\.\.", "well-formed|schedule|memory"),
                 "another kernel": (-1, r"  kernel (\d+)", "well-formed"),
                 "another operation": (-1, r"operation \d+ of (\d+) is", "well-formed"),
                 "a buffer": (-1, r"  kernel .* \(b(\d+)", "well-formed|schedule|memory"),
                 "a place in the arena": (-1, r"\] arena (\d+)", "well-formed|schedule|memory"),
                 "how much memory": (-1, r"arena (\d+) bytes", "well-formed"),
                 "what messages say": (-1, r"operation .* from \(\S+ \[(\d+)", "well-formed")}
        for kind, (stage, pattern, obligations) in kinds.items():
            text = stages[stage].read_text()
            matches = list(re.finditer(pattern, text))
            self.assertTrue(matches, kind)
            for _ in range(10):
                at = generator.choice(matches)
                number = max(0, int(at[1]) + generator.choice([-1, 1, 2]))
                edited = text[:at.start(1)] + str(number) + text[at.end(1):]
                if edited == text:
                    continue
                with self.subTest(kind, line=text[:at.start(1)].count("\n") + 1, number=number):
                    self.write("edited.ir", edited)
                    self.write("edited.cert", certificate.replace(hash_of(text), hash_of(edited)))
                    paths = list(stages)
                    paths[stage] = "edited.ir"
                    result = self.check(source, "edited.cert", paths)
                    self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
                    self.assertRegex(result.stdout, f"refused ({obligations})")

    def test_c11_impossible_schedules(self):
        self.write("p.tap", """program p(X: f32[8, 6], V: f32[6]) -> (Y: f32[8, 6], Z: f32[6]) {
    S[i] = sum[k] X[i, k]
    Y[i, k] = X[i, k] / S[i]
    Z = iterate 4 (v = V) { w[i] = v[i] * t; w } with t
}
""".replace(" * t; w } with t", " * 2; w }"))
        for line, output in [("split S dim i into 0", "at least one block"),
                           ("split S dim i into -1", "at least one block"),
                           ("split S dim i into 1099511627776", "1 to 1048576 are possible"),
                           ("split S dim i into 99999999999999999999", "is outside"),
                           ("split S dim i into [0, 9]", r"do not tile i, which runs over 0\.\.8"),
                           ("split Z dim t into 2", "`Z` has no dim `t`"),
                           ("fuse S, Y over k", "")]:
            with self.subTest(line):
                self.write("p.plan", "plan 2\n" + line + "\n")
                self.expect(1, r"p\.plan:2:\d+: error\[T1402\]: .*" + output, "verify", "p.tap", "--plan", "p.plan")
        # More blocks than points are legal, and the last ones empty.
        self.write("p.plan", "plan 2\nsplit S dim k into 100 over threads\nsplit Y dim i into 9 over threads\n")
        self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")

    def test_a_plan_that_does_not_fit(self):
        self.write("p.tap", CHAIN)
        self.write("p.plan", "plan 2\nsplit Q dim i into 8\n")
        self.expect(1, "T1402.*unknown operation `Q`", "verify", "p.tap", "--plan", "p.plan")
        self.write("p.plan", "plan 2\ncut Y\n")
        self.expect(1, "T1402", "verify", "p.tap", "--plan", "p.plan")


if __name__ == "__main__":
    unittest.main()
