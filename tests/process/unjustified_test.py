#!/usr/bin/python3
"""A step of tapc itself that its certificate does not justify: exit 70 with the source line and a reproducer; `tapc run` warns, runs
what was made before the step, and its result is right. The fault is planted by tests/process/tapc_with_fault.cpp."""
import re
import sys
from pathlib import Path

FAULTY = sys.argv.pop(2) if len(sys.argv) > 2 else None

from tapc import *

SOURCE = """program p(X: f32[6, 4], W: f32[4, 3]) -> (Y: f32[6, 3]) {
    H[i, o] = sum[k] X[i, k] * W[k, o] * 1
    Z[i, o] = max(H[i, o], 0)
    Y[i, o] = Z[i, o] * 2 + Z[i, o]
}
"""
PLAN = "plan 2\nsplit Y dim i into 3 over devices {0}, {1}, {2}\nsplit H dim o into 3 over devices {0}, {1}, {2}\n"
INPUTS = ["-i", "X=iota", "-i", "W=ones"]
WITH_CERTIFICATE = ["simplify_cells", "compose_maps", "apply_splits", "realise"]


class UnjustifiedTest(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("p.tap", SOURCE)
        self.write("p.plan", PLAN)
        result = self.tapc("run", "p.tap", *INPUTS, "--no-summary")
        self.assertEqual(result.returncode, 0, result.output)
        self.right = result.stdout

    def faulty(self, fault, *arguments):
        env = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "TMPDIR": str(self.folder),
               "TAP_FAULT_IN": fault}
        result = subprocess.run([FAULTY, *arguments], cwd=self.folder, env=env, timeout=60, stdin=subprocess.DEVNULL,
                                capture_output=True)
        result.output = result.stderr.decode()
        return result

    def reproducer(self, output):
        """The reproducer of each: if a step is removed, a later step may depend on it and be removed, too."""
        found = re.findall(r"reproducer written to (\S+)", output)
        self.assertTrue(found, output)
        texts = [Path(name).read_text() for name in found]
        for name in found:
            Path(name).unlink()
        return "".join(texts)

    def test_without_a_fault_it_is_tapc(self):
        result = self.faulty("", "run", "p.tap", "--plan", "p.plan", *INPUTS, "--no-summary")
        self.assertEqual((result.returncode, result.stdout, result.output), (0, self.right, ""))

    def test_run_warns_and_continues(self):
        for fault in [*WITH_CERTIFICATE, "expand", "schedule", "expand,schedule", "compose_maps,expand"]:
            with self.subTest(fault=fault):
                result = self.faulty(fault, "run", "p.tap", "--plan", "p.plan", *INPUTS, "--no-summary")
                self.assertEqual(result.returncode, 0, result.output)
                self.assertEqual(result.stdout, self.right)
                self.assertIn("warning[T1403]", result.output)
                self.assertNotIn("error", result.output)
                text = self.reproducer(result.output)
                for part in (SOURCE, PLAN, "'--plan' 'p.plan'", "---- before the step\ntap-ir", "---- after the step\ntap-"):
                    self.assertIn(part, text)
                if fault.split(",")[0] in WITH_CERTIFICATE:
                    self.assertIn("---- the certificate\ntap-certificate", text)

    def test_the_source_line(self):
        result = self.faulty("compose_maps", "run", "p.tap", *INPUTS, "--no-summary")
        self.assertRegex(result.output, r"^p\.tap:4:5: warning\[T1403\]: step \d+ \(compose_maps\), graph 0, operation")
        result = self.faulty("compose_maps", "verify", "p.tap")
        self.assertRegex(result.output, r"^p\.tap:4:5: error\[T1401\]: step \d+ \(compose_maps\), graph 0, operation")

    def test_other_commands_stop(self):
        compile = ["compile", "p.tap", "-o", "made"]
        commands = {"verify": ["verify", "p.tap", "--plan", "p.plan"], "compile": [*compile, "--plan", "p.plan"],
                    "opt": ["opt", "p.tap", "--plan", "p.plan", "--stage", "block"],
                    "require-proof": ["run", "p.tap", "--plan", "p.plan", "--require-proof", *INPUTS],
                    "bench": ["bench", "p.tap", "--plan", "p.plan", "--runs", "1"]}
        for name, command in commands.items():
            for fault in [*WITH_CERTIFICATE, "expand"] + (["schedule"] if name != "opt" else []):
                with self.subTest(command=name, fault=fault):
                    result = self.faulty(fault, *command)
                    self.assertEqual(result.returncode, 70, result.output)
                    self.assertIn("error[T1401]", result.output)
                    self.assertRegex(result.output, r"\ntapc: internal error in checking the certificate: [^\n]* does not hold: "
                                                  r"[^\n]*; reproducer written to [^\n]*\n$")
                    self.assertIn(SOURCE, self.reproducer(result.output))
                    self.assertNotIn(b"Y:", result.stdout)
                    self.assertFalse((self.folder / "made").exists())

    def test_a_stage_from_outside(self):
        """The text of a stage was looked at when it was read, so that a step from it is a fault of tapc like any other."""
        result = self.tapc("opt", "p.tap", "--plan", "p.plan", "--stage", "sharded", "-o", "p.ir")
        self.assertEqual(result.returncode, 0, result.output)
        for command in (["verify", "p.ir"], ["run", "p.ir", *INPUTS, "--require-proof"]):
            result = self.faulty("expand", *command)
            self.assertEqual(result.returncode, 70, result.output)
            self.assertIn("error[T1401]", result.output)
            self.assertIn("reproducer written to", result.output)
        expected = self.tapc("run", "p.ir", *INPUTS)
        self.assertEqual(expected.returncode, 0, expected.output)
        result = self.faulty("expand", "run", "p.ir", *INPUTS)
        self.assertEqual((result.returncode, result.stdout), (0, expected.stdout), result.output)
        self.assertIn("warning[T1403]", result.output)


if __name__ == "__main__":
    unittest.main()
