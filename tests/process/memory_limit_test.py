#!/usr/bin/python3
"""tapc run --memory: what a run needs is known before it starts, and is enough. memory_limit_test.py TAPC"""
import re

from mpi_job import *
from tapc import *

MIB = 1024  # KiB
PLAIN = {"TAPC_SELF_CHECK": ""}  # without guards around results, which are copies of them
# Every kind of memory: inputs and results, intermediates, packed messages (columns of y go to other processes), partials, states.
TURNED = """mesh m = [x: 4]
program main(x: f32[n, n] @ m[{x}, {}]) -> (z: f32[n, n] @ m[{x}, {}]) {
    y[i, j] = sum[k in 0..3] x[i, j + k - 1 else 0] for i in 0..n, j in 0..n
    z[i, j] = y[j, i] + x[i, j]
}
"""
SUMS = """mesh m = [x: 4]
program main(a: f32[n, k] @ m[{}, {x}], b: f32[k, n] @ m[{x}, {}]) -> (c: f32[n, n]) { c[i, j] = sum[q] a[i, q] * b[q, j] }
"""
STEPS = """mesh m = [x: 4]
program main(x: f32[n, n] @ m[{x}, {}]) -> (y: f32[n, n] @ m[{x}, {}]) {
    y = iterate 3 (u = x) { v[i, j] = (u[i - 1, j else 0] + u[i, j] + u[i + 1, j else 0]) / 3\n v }
}
"""
UNEVEN = "program main(x: f32[n, n]) -> (z: f32[n, n]) {\n    y[i, j] = sum[k] x[i, k] * x[k, j]\n    z[i, j] = y[j, i] + y[i, j]\n}\n"
UNEVEN_PLAN = "plan 2\nsplit y dim i into [0, 3, 40] over devices {0}, {1}\nsplit z dim i into [0, 3, 40] over devices {0}, {1}\n"


class MemoryLimit(MpiTest):
    def started(self, ranks, words, kib=None):
        if ranks:
            return self.job(ranks, "run", *words, "--mpi", data_kib=kib, environment=PLAIN)
        limit = f"ulimit -d {kib}; " if kib else ""
        return subprocess.run(["sh", "-c", limit + 'exec "$@"', "sh", TAPC, "run", *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, env=self.environment(PLAIN))

    def needed(self, ranks, words):
        """What the message of a refused run says is enough, in KiB."""
        result = self.started(ranks, [*words, "--memory", "1KiB"])
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(len(re.findall(r"error\[T\d+\]", result.stderr)), 1, result.stderr)
        number, unit = re.search(r"help: `--memory (\d+)(KiB|MiB)` is enough", result.stderr).groups()
        self.assertRegex(result.stderr, r"note: .* inputs, ")
        return int(number) * (MIB if unit == "MiB" else 1)

    def test_the_limit_is_exact(self):
        for text, inputs, dims in ((TURNED, ["x"], ["n=40"]), (SUMS, ["a", "b"], ["n=33", "k=50"]), (STEPS, ["x"], ["n=41"])):
            self.write("p.tap", text)
            words = ["p.tap", *[w for dim in dims for w in ("--dim", dim)], *[w for k, name in enumerate(inputs) for w in ("-i", f"{name}=rand:{k}")],
                     "-o", "@r.npz", "--threads", "2"]
            for ranks in (0, 1, 2, 4, 5) if text == TURNED else (0, 3):
                with self.subTest(ranks=ranks, text=text):
                    (self.folder / "r.npz").unlink(missing_ok=True)
                    kib = self.needed(ranks, words)
                    refused = self.started(ranks, [*words, "--memory", f"{kib - 1}KiB"])
                    self.assertEqual(refused.returncode, 4, refused.stderr)
                    self.assertFalse((self.folder / "r.npz").exists())
                    self.assertRegex(refused.stderr, rf"process \d of the job \(.*device.*\) needs .*, but `--memory` allows" if ranks else
                                     r"the program needs .*, but `--memory` allows")
                    passed = self.started(ranks, [*words, "--memory", f"{kib}KiB"])
                    self.assertEqual((passed.returncode, passed.stdout), (0, ""), passed.stderr)
                    self.assertNotIn("needs", passed.stderr)

    def test_figures(self):
        """Of a program whose memory can be counted by hand."""
        self.write("p.tap", TURNED)
        words = ["p.tap", "--dim", "n=1024", "-i", "x=zeros", "-o", "z=@z.npy", "--threads", "1", "--memory", "1MiB"]
        # x, y and z. The devices share y: those that compute z read its columns there.
        alone = self.started(0, words).stderr
        self.assertRegex(alone, r"the program needs 12 MiB, but `--memory` allows 1 MiB\n")
        self.assertRegex(alone, r"note: 4 MiB inputs, 4 MiB results, 4 MiB intermediates\n")
        # A quarter of each; three blocks of 256 columns of y are packed for other devices, or arrive from them.
        parts = "1 MiB inputs, 1 MiB results, 2 MiB intermediates, 768 KiB messages\n"
        self.assertRegex(alone, r"note: in a process of its own, device 0 needs 4\.75 MiB, the most of 4 devices: " + parts)
        self.assertRegex(alone, r"help: `--memory 12288KiB` is enough\n")
        four = self.started(4, words).stderr
        self.assertRegex(four, r"process 0 of the job \(device 0\) needs 4\.75 MiB, but `--memory` allows 1 MiB\n")
        self.assertRegex(four, r"note: " + parts)

    def test_the_process_that_needs_most(self):
        self.write("p.tap", UNEVEN)
        self.write("p.plan", UNEVEN_PLAN)
        words = ["p.tap", "--dim", "n=40", "--plan", "p.plan", "-i", "x=zeros", "-o", "z=@z.npy", "--memory", "1KiB"]
        self.assertRegex(self.started(2, words).stderr, r"process 1 of the job \(device 1\) needs ")
        self.assertRegex(self.started(2, [*words, "--map", "1,0"]).stderr, r"process 0 of the job \(device 1\) needs ")
        self.assertRegex(self.started(2, [*words, "--map", "1,1"]).stderr, r"process 1 of the job \(devices 0, 1\) needs ")

    def test_results_that_the_first_process_gathers(self):
        self.write("p.tap", TURNED)
        words = ["p.tap", "--dim", "n=64", "-i", "x=zeros", "--threads", "1"]
        apart, gathered = (self.needed(4, [*words, "-o", where]) for where in ("z=@z.npy", "@z.npz"))
        self.assertGreaterEqual(gathered, apart + 16)

    def test_processes_with_and_without_a_limit(self):
        self.write("p.tap", TURNED)
        words = ["run", "p.tap", "--dim", "n=40", "-i", "x=zeros", "-o", "z=@z.npy", "--mpi"]
        result = self.job(1, *words, "--memory", "1GiB", ":", "-n", "1", TAPC, *words)
        self.assertEqual(result.returncode, 6, result.stderr)
        result = self.job(1, *words, "--memory", "1GiB", ":", "-n", "1", TAPC, *words, "--memory", "1KiB")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertRegex(result.stderr, r"process 1 of the job .* allows 1 KiB")

    def test_wrong_uses(self):
        self.write("p.tap", TURNED)
        words = ["run", "p.tap", "--dim", "n=8", "-i", "x=zeros", "--memory"]
        for size in ("8 gigs", "-1", "0", "1e30GiB", "nan"):
            self.expect(2, r"--memory: expected a size such as 8GiB or 500MiB", *words, size)
        self.expect(2, "`--memory` need a program that runs as native code", *words, "1GiB", "--engine", "interp")

    @unittest.skipIf(SANITIZED, "sanitizers reserve memory of their own")
    def test_what_is_needed_is_enough(self):
        """With a limit of the system just above it, a run passes; with a good part less it does not."""
        own = {}  # what tapc itself needs
        for text, inputs, small, large in ((TURNED, ["x"], ["n=8"], ["n=6000"]), (SUMS, ["a", "b"], ["n=8", "k=8"], ["n=3000", "k=6000"]),
                                           (STEPS, ["x"], ["n=8"], ["n=6001"])):
            self.write("p.tap", text)

            def words(dims):
                return ["p.tap", *[w for dim in dims for w in ("--dim", dim)], *[w for name in inputs for w in ("-i", f"{name}=ones")],
                        "-o", "@r.safetensors", "--threads", "1"]
            for ranks in (0, 2):
                with self.subTest(ranks=ranks, text=text):
                    own[ranks] = own.get(ranks) or self.least_for(ranks, words(small))
                    kib = self.needed(ranks, words(large))
                    self.assertGreater(kib, 150 * MIB)
                    result = self.started(ranks, [*words(large), "--memory", f"{kib}KiB"], own[ranks] + kib + 32 * MIB)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    result = self.started(ranks, words(large), own[ranks] + kib * 3 // 4)
                    self.assertEqual(result.returncode, 4, result.stderr)

    def least_for(self, ranks, words):
        self.assertEqual(self.started(ranks, words).returncode, 0)  # its kernels are cached
        too_small, enough = 4 * MIB, 1024 * MIB
        while enough - too_small > 8 * MIB:
            middle = (too_small + enough) // 2
            if self.started(ranks, words, middle).returncode == 0:
                enough = middle
            else:
                too_small = middle
        return enough


if __name__ == "__main__":
    unittest.main()
