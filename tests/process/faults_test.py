#!/usr/bin/python3
"""A fault in an outside kernel: told in one line with exit 70, and nothing is written. Faults on other threads are those of
tests/runtime/executor_pool_test.cpp."""
from tapc import *

KERNEL = r"""
static volatile int sink;
static int deep(int n) {  // never ends, and no compiler may make a loop of it
  volatile char used[4096];
  used[n % 4096] = (char)n;
  sink = used[0];
  return deep(n + 1) + used[n % 4096];
}
void fault(const void *box, const void *extents, const void *regions) { (void)box, (void)extents, (void)regions, deep(0); }
"""
PROGRAM = """extern op fault(x: f32[n]) -> (y: f32[n]) {
    index [i: n]  read x at [i] shape [1]  write y at [i] shape [1]  kernel "fault"
}
program main(X: f32[16]) -> (Y: f32[16]) { Y = fault(X) }
"""


@unittest.skipIf(SANITIZED, "sanitizers report faults themselves")
class Faults(TapcTest):
    def test_the_stack_overflows(self):
        self.write("k.c", KERNEL)
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-o", self.folder / "k.so", self.folder / "k.c"], check=True)
        self.write("a.tap", PROGRAM)
        for engine in ("interp", "native"):
            result = subprocess.run([TAPC, "run", "a.tap", "--kernels", "k.so", "-i", "X=iota", "-o", "Y=@y.npy",
                                     "--engine", engine], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                    timeout=60, env={**os.environ, "TMPDIR": str(self.folder), "HOME": str(self.folder)})
            output = result.stderr.decode()
            self.assertEqual(result.returncode, 70, output)
            self.assertRegex(output, r"^tapc: internal error in [^\n]*: segmentation fault; reproducer written to [^\n]*\n$")
            self.assertFalse((self.folder / "y.npy").exists())
            self.assertNoTemporaries()


if __name__ == "__main__":
    unittest.main()
