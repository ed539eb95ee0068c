#!/usr/bin/python3
"""tapc run with one thread, and with many more than there are processors. threads_test.py TAPC"""
from tapc import *

MESHED = """mesh pod = [x: 6]
program main(X: f32[90, 64] @ pod[{x}, {}], W: f32[64, 70]) -> (Y: f32[90, 70], s: f32[90]) {
    Y[i, j] = sum[k] X[i, k] * W[k, j]
    s[i] = sum[j] exp(Y[i, j] / 64)
}
"""
ITERATED = """program main(X: f32[500, 3]) -> (Y: f32[500, 3]) {
    Y = iterate 300 (u = X) { v[i, j] = (u[i - 1, j else 0] + u[i, j]) / 2; v }
}
"""
FAILING = "program main(a: i32[4000], b: i32[4000]) -> (c: i32[4000]) { c[i] = a[i] / b[i] }\n"
# The last row fails in the fourth trip, the first ones in the sixth. To find the first failure the tiles of the fourth run again: with
# what the fifth has left in the place of what they read, the first rows would fail.
FAILING_LATER = """program main(x: i64[700, 300]) -> (y: i64[700, 300]) {
    start[i, j] = if i == 699 then 3 else if i < 200 then 5 else 9 for i in 0..700, j in 0..300
    y = iterate 40 (s = start) { t[i, j] = s[i, j] - 1 + 0 * s[i - 1, j else 1] + 0 * (x[i, j] / s[i, j]); t }
}
"""
COUNTS = ("1", "2", "7", "1000")


class Threads(TapcTest):
    def test_h14_the_same_bits(self):
        for text, inputs in ((MESHED, ["-i", "X=rand:1", "-i", "W=rand:2"]), (ITERATED, ["-i", "X=rand:1"])):
            self.write("p.tap", text)
            self.expect(0, ".*", "run", "p.tap", *inputs, "--plan-out", "p.plan", "-o", "@plain.safetensors")
            found = set()
            for count in COUNTS:
                self.expect(0, ".*", "run", "p.tap", *inputs, "--plan", "p.plan", "--threads", count, "-o", "@r.safetensors")
                found.add((self.folder / "r.safetensors").read_bytes())
            self.assertEqual(len(found), 1)

    def test_h14_the_same_error(self):
        self.write("p.tap", FAILING)
        for zeros in ((3999,), (17, 2000, 3999), (0,)):
            divisors = ", ".join("0" if i in zeros else "1" for i in range(4000))
            for count in COUNTS:
                self.expect(6, rf"T1301\]: division by zero in `c` at i={zeros[0]}\n", "run", "p.tap", "-i", "a=iota", "-i", f"b=[{divisors}]",
                            "--threads", count, "-o", "@r.npz")
                self.assertFalse((self.folder / "r.npz").exists())

    def test_the_same_error_in_a_loop(self):
        self.write("p.tap", FAILING_LATER)
        for count in ("1", "2", "2", "2", "2", "3", "5"):
            self.expect(6, r"T1301\]: division by zero in `t` at i=699, j=0\n", "run", "p.tap", "-i", "x=iota", "--plan", "none",
                        "--threads", count, "-o", "@r.npz")

    def test_h14_threads_that_the_system_refuses(self):
        self.write("p.tap", MESHED)
        inputs = ["-i", "X=rand:1", "-i", "W=rand:2"]

        def few_processes():
            os.setgid(65534)
            os.setuid(65534)
            resource.setrlimit(resource.RLIMIT_NPROC, (4, 4))
        os.chmod(self.folder, 0o777)
        self.expect(0, ".*", "run", "p.tap", *inputs, "--threads", "1", "--plan", "none", "-o", "@one.safetensors")
        if os.geteuid() == 0:  # the limit does not hold for root, and only root can become someone else
            self.expect(0, ".*", "run", "p.tap", *inputs, "--threads", "1000", "--plan", "none", "-o", "@few.safetensors", "--no-cache",
                        before=few_processes)
            self.assertEqual((self.folder / "one.safetensors").read_bytes(), (self.folder / "few.safetensors").read_bytes())


if __name__ == "__main__":
    unittest.main()
