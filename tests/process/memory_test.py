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
                self.assertIn(result.returncode, (0, 4), result.told)  # 0: somebody did without
                if result.returncode == 4:
                    self.assertRegex(result.told, r"error\[T1202\]|the system refused")
                    self.assertEqual((self.folder / "y.npy").read_text(), "old")
                self.assertNoTemporaries()

    def moments(self, total, count):
        """The first ones, and others up to the last."""
        return sorted({*random.sample(range(1, 200), count // 4), *random.sample(range(1, total + 1), count)})

    def test_g15_check(self):
        random.seed(15)
        total = self.allocations("check", "a.tap")
        self.assertGreater(total, 1000)
        self.fail(self.moments(total, 60), "check", "a.tap")
        self.fail(self.moments(total, 20), "check", "a.tap", more="+")

    def test_g15_run(self):
        random.seed(16)
        for options in (["--no-cache"], ["--cache-dir", "kernels"]):
            run = ["run", "a.tap", "-i", "X=rand:1", "-o", "Y=@y.npy", "-o", "Z=@z.npy", *options]
            total = self.allocations(*run)
            self.assertGreater(total, 5000)
            self.fail(self.moments(total, 80), *run)
            self.fail(self.moments(total, 20), *run, more="+")

    def test_g15_compile(self):
        random.seed(17)
        self.write("y.npy", "old")
        total = self.allocations("compile", "a.tap", "-o", "a.so", "--emit=obj")
        self.assertGreater(total, 5000)
        self.fail(self.moments(total, 60), "compile", "a.tap", "-o", "a.so", "--emit=obj")
        self.fail(self.moments(total, 20), "compile", "a.tap", "-o", "a.so", "--emit=obj", more="+")


if __name__ == "__main__":
    unittest.main()
