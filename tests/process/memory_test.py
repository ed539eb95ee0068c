#!/usr/bin/python3
"""Row G15: whichever allocation fails, tapc says so, exits with 4, and leaves what was there. memory_test.py TAPC SO"""
import random

from tapc import *

PRELOADED = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
PROGRAM = """program main(X: f32[8, 9]) -> (Y: f32[8], Z: f32[8, 9]) {
    Y[i] = sum[k] X[i, k] * X[i, k]
    Z[i, j] = X[i, j] / Y[i]
}
"""

PROVED = """dim g = 2, og = 3, cg = 2, n = 7
program main(x: f32[g*cg, n], w: f32[g*og, cg, 3], a: f32[4]) -> (y: f32[g*og, n - 2], z: f32[8]) {
    y[q*og + o, p] = sum[c, u] x[q*cg + c, p + u] * w[q*og + o, c, u] for q in 0..g, o in 0..og
    z[2*i + r] = a[i] for r in 0..2
}
"""


@unittest.skipIf(SANITIZED, "sanitizers allocate for themselves")
class Memory(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("a.tap", PROGRAM)
        self.write("y.npy", "old")

    def allocations(self, *arguments):
        self.expect(0, "^$", *arguments, environment={"LD_PRELOAD": PRELOADED, "TAP_COUNT_MALLOC": "count"})
        return int((self.folder / "count").read_text())

    def fail(self, moments, *arguments, more=""):
        for k in moments:
            with self.subTest(arguments[0], k=k, more=more):
                self.write("y.npy", "old")
                result = self.tapc(*arguments, environment={"LD_PRELOAD": PRELOADED, "TAP_FAIL_MALLOC": f"{k}{more}"})
                self.assertIn(result.returncode, (0, 4), result.output)  # 0: somebody did without
                if result.returncode == 4:
                    self.assertRegex(result.output, r"error\[T1202\]|a system call failed")
                    self.assertEqual((self.folder / "y.npy").read_text(), "old")
                self.assertNoTemporaries()

    def moments(self, total, count):
        """The first ones, and others up to the last."""
        return sorted({*random.sample(range(1, 200), count // 4), *random.sample(range(1, total + 1), count)})

    def test_g15_start(self):
        """Every command is declared, with all its options: many small steps, so that a few samples would miss one."""
        total = self.allocations("check", "a.tap")
        self.fail(range(1, total + 1, 50), "check", "a.tap")

    def test_g15_check(self):
        random.seed(15)
        total = self.allocations("check", "a.tap")
        self.assertGreater(total, 1000)
        self.fail(self.moments(total, 30), "check", "a.tap")
        self.fail(self.moments(total, 20), "check", "a.tap", more="+")

    def test_g15_proofs(self):
        """Those of affine left sides are isl's, and its numbers GMP's: most of the last allocations are theirs."""
        random.seed(18)
        self.write("a.tap", PROVED)
        total = self.allocations("check", "a.tap")
        self.fail(random.sample(range(total - 1000, total + 1), 40), "check", "a.tap")
        self.fail(random.sample(range(total - 1000, total + 1), 20), "check", "a.tap", more="+")

    def test_g15_json(self):
        """Its values allocate while they are destroyed."""
        random.seed(19)
        for name in ("y.npz", "x.npz"):
            self.expect(0, "^$", "run", "a.tap", "-i", "X=rand:1", "-o", f"@{name}")
        for command in (["inspect", "a.tap", "--format", "json"], ["cmp", "--json", "x.npz", "y.npz"]):
            total = self.allocations(*command)
            last = range(max(1, total - 600), total + 1)
            self.fail(random.sample(last, 30), *command)
            self.fail(random.sample(last, 20), *command, more="+")

    def test_g15_run(self):
        random.seed(16)
        for options in (["--no-cache"], ["--cache-dir", "kernels"]):
            run = ["run", "a.tap", "-i", "X=rand:1", "-o", "Y=@y.npy", "-o", "Z=@z.npy", *options]
            total = self.allocations(*run)
            self.assertGreater(total, 5000)
            self.fail(self.moments(total, 40), *run)
            self.fail(self.moments(total, 20), *run, more="+")

    def test_g15_compile(self):
        random.seed(17)
        self.write("y.npy", "old")
        total = self.allocations("compile", "a.tap", "-o", "a.so", "--emit=obj")
        self.assertGreater(total, 5000)
        self.fail(self.moments(total, 30), "compile", "a.tap", "-o", "a.so", "--emit=obj")
        self.fail(self.moments(total, 20), "compile", "a.tap", "-o", "a.so", "--emit=obj", more="+")


if __name__ == "__main__":
    unittest.main()
