#!/usr/bin/python3
"""What tapc writes as the text of a stage it takes again: `run`, `verify`, `opt` and `compile` of each text, which give what the
source gives."""
from tapc import *

MESH = "mesh pod = [a: 2, b: 2]\n"
# By name: the program and its plan. All are of integers, so that no order of combination shows.
CASES = {
    "a value with two shardings": (
        MESH + "program p(X: i64[8] @ pod[{a}]) -> (H: i64[8] @ pod[{b}], I: i64[8] @ pod[{a}]) {\n  H[i] = X[i]\n"
        "  I[i] = sum[k] H[k] * X[i]\n}\n", ""),
    "a transfer of an output": (
        MESH + "program p(X: i64[8, 6] @ pod[{a}, {b}]) -> (Y: i64[8] @ pod[{b}], I: i64[8]) {\n  H[i] = sum[k] X[i, k]\n"
        "  Z = H @ pod[{}]\n  Y[i] = Z[i] + X[7 - i, 0]\n  I[i] = Z[i]\n}\n", ""),
    "blocks of blocks of shardings": (
        MESH + "program p(X: i64[16, 6] @ pod[{a, b}, {}]) -> (Y: i64[16] @ pod[{a, b}], Z: i64[16] @ pod[{a}]) {\n"
        "  Y[i] = sum[k] X[i, k]\n  Z[i] = Y[15 - i] + Y[i]\n}\n", ""),
    "blocks of shardings, cut by a plan": (
        MESH + "program p(X: i64[16, 6] @ pod[{a}, {}]) -> (Y: i64[16] @ pod[{a}], Z: i64[16]) {\n"
        "  Y[i] = sum[k] X[i, k]\n  Z[i] = Y[15 - i] + Y[i]\n}\n",
        "split Z dim i into 2 over axis pod.b\nsplit Z dim i into 2 over threads\n"),
    "partials on devices": (
        MESH + "program p(X: i64[16, 6] @ pod[{a}, {b}]) -> (S: i64[], T: i64[6] @ pod[{b}]) {\n  S[] = sum[i, k] X[i, k]\n"
        "  T[k] = sum[i] X[i, k]\n}\n", ""),
    "partials that are scattered": (
        MESH + "program p(X: i64[8, 16] @ pod[{}, {a}], W: i64[16, 8] @ pod[{a}, {}]) -> (Y: i64[8, 8] @ pod[{a}, {}]) {\n"
        "  Y[i, j] = sum[k] X[i, k] * W[k, j]\n}\n", ""),
    "blocks of blocks": ("program p(X: i64[16, 8]) -> (Y: i64[16]) { Y[i] = sum[k] X[i, k] }\n",
                         "split Y dim i into 4 over threads\nsplit Y dim i into 2 over sequential\nsplit Y dim k into 2\n"),
    "blocks on devices of blocks": (
        "mesh m = [d: 4]\nprogram p(X: i64[16, 8]) -> (Y: i64[16], Z: i64[16]) {\n  Y[i] = sum[k] X[i, k]\n  Z[i] = Y[15 - i]\n}\n",
        "split Y dim i into 4 over axis m.d\nsplit Y dim i into 2 over threads\nsplit Z dim i into 4 over axis m.d\n"),
    "a group that is cut": (
        "program p(X: i64[16, 8]) -> (Y: i64[16]) {\n  m[i] = max[k] X[i, k]\n  Y[i] = sum[k] (X[i, k] - m[i])\n}\n",
        "fuse m, Y over i\nsplit Y dim i into 2 over threads\n"),
    "a group that is cut on devices": (
        "mesh m = [d: 4]\nprogram p(X: i64[16, 8]) -> (Y: i64[16], Z: i64[16]) {\n  m[i] = max[k] X[i, k]\n"
        "  Y[i] = sum[k] (X[i, k] - m[i])\n  Z[i] = Y[15 - i] * Y[i]\n}\n",
        "fuse m, Y over i\nsplit Y dim i into 4 over axis m.d\nsplit Y dim i into 2 over threads\n"),
    "a group that streams": (
        "program p(x: i64[12, 3], w: i64[12]) -> (y: i64[]) {\n  v[k] = max[j] x[k, j]\n  y[] = sum[k] v[k] * w[k]\n}\n",
        "fuse v, y over k\nsplit y dim k into 3 over sequential\n"),
    "a repetition on devices": (
        "mesh m = [d: 2]\nprogram p(X: i64[8]) -> (Y: i64[8]) {\n  Y = iterate t in 0..3 (a = X) {\n"
        "    b[i] = a[i - 1 else 0] + a[i] + t\n    b\n  }\n}\n", "split Y/b dim i into 2 over axis m.d\n"),
    "a repetition that is partly written out": (
        "mesh m = [d: 2]\nprogram p(X: i64[8]) -> (Y: i64[8]) {\n  Y = iterate t in 0..5 (a = X) {\n"
        "    b[i] = a[i - 1 else 0] + a[i] * t\n    b\n  }\n}\n", "unroll Y 2\nsplit Y.4/b.0 dim i into 2 over axis m.d\n"),
    "a scan in blocks": ("program p(x: i64[20]) -> (y: i64[20]) { y[i] = sum[k in 0..i + 1] x[k] }\n",
                         "split y dim i into 4 over threads\n"),
    "writers that take turns": (
        "mesh g = [a: 2, b: 2]\nprogram p(A: i64[6, 4], B: i64[6, 4]) -> (Z: i64[12, 4] @ g[{a}, {b}]) {\n"
        "  Y[2*i, j] = A[i, j] + 1\n  Y[2*i + 1, j] = B[i, j] * 3\n  Z[i, j] = Y[i, j] + 1\n}\n", ""),
    "partials of every second cell": (
        "program p(b: i64[5, 3], a: i64[5]) -> (y: i64[10]) { y[2*i] = a[i]; y[2*i + 1] = sum[k] b[i, k] }\n",
        "split y@1 dim k into 2 over threads\n"),
    "partials of every second cell on devices": (
        "program p(b: i64[5, 3], a: i64[5]) -> (y: i64[10]) { y[9 - 2*i] = a[i]; y[2*i] = max[k] b[i, k] }\n",
        "split y@1 dim k into 2 over devices {0}, {1}\n"),
    "partials of the second half": (
        "program p(b: i64[5, 3], a: i64[5]) -> (y: i64[10]) {\n  y[i] = a[i] for i in 0..5\n"
        "  y[i + 5] = sum[k] b[i, k]\n}\n", "split y@1 dim k into 2 over threads\n"),
    "partials of a triangle": (
        "program p(A: i64[5, 3]) -> (Y: i64[5, 5]) {\n  Y[i, j] = sum[k] A[i, k] * A[j, k] for i in 0..5, j in 0..i + 1\n"
        "  Y[i, j] = -A[j, 0] for i in 0..5, j in i + 1..5\n}\n", "split Y@0 dim k into 2 over sequential\n"),
    "devices in an order of their own": (
        "mesh m = [x: 2, y: 4] devices [0, 2, 3, 1, 4, 6, 7, 5]\n"
        "program p(X: i64[8, 4] @ m[{x}, {y:(1)2}]) -> (Z: i64[8, 4]) {\n"
        "  Y[i, j] = sum[k in 0..3] (if i > k then X[i, j] * X[k, j] else 0)\n  Z[i, j] = Y[7 - i, j] + Y[i, j]\n}\n",
        "split Y dim i into 2 over axis m.x\nsplit Z dim i into 2 over axis m.x\n"),
    "lists of devices": (
        "program p(X: i64[12]) -> (Y: i64[12], Z: i64[12]) {\n  Y[i] = sum[k in 0..3] X[i] * X[k]\n  Z[i] = Y[11 - i] + Y[i]\n}\n",
        "split Y dim i into 3 over devices {0, 3}, {1}, {2}\nsplit Z dim i into 2 over devices {1}, {0}\n"),
    "a copy of what is moved": (
        "mesh m = [d: 4]\nprogram p(X: i64[16, 4]) -> (Y: i64[16], Z: i64[16], W: i64[16]) {\n  Y[i] = sum[k] X[i, k]\n  Z[i] = Y[i]\n"
        "  W[i] = Z[i] * Z[15 - i]\n}\n", "split Y dim i into 4 over axis m.d\nsplit W dim i into 4 over axis m.d\n"),
    "a reduction of one point": (
        "mesh m = [d: 4]\nprogram p(X: i64[16, 1]) -> (Y: i64[16], Z: i64[16]) {\n  H[i, j] = sum[k in 0..3] X[i, j] * X[k, j]\n"
        "  Y[i] = sum[j] H[15 - i, j]\n  Z[i] = Y[i] + 1\n}\n",
        "split H dim i into 4 over axis m.d\nsplit Y dim i into 4 over axis m.d\n"),
    "a sharding that a use asks for": (
        MESH + "program p(X: i64[8, 8] @ pod[{a}, {b}]) -> (Y: i64[8, 8]) {\n  H[i, j] = X[i, j] * 2 + X[j, i]\n"
        "  T = H @ pod[{b}, {a}]\n  Y[i, j] = T[i, j] + T[7 - i, j]\n}\n", ""),
}


class StagesAgain(TapcTest):
    def taken(self, *arguments):
        result = self.tapc(*arguments)
        self.assertEqual(result.returncode, 0, result.output[:2000])
        self.assertNotIn("T1403", result.output)  # no step was left out
        return result

    def inputs(self, source):
        given = source[source.index("program"):]
        names = [part.split(":")[0].strip() for part in given[given.index("(") + 1:given.index(") ->")].split("],")]
        return [part for k, name in enumerate(names) for part in ("-i", f"{name}=rand:{k + 1}")]

    def texts(self, file, plan):
        """Of all stages that are graphs, and what `opt` prints."""
        for old in self.folder.glob("s.*.ir"):
            old.unlink()
        self.taken("verify", file, "--plan", plan, "--stages", "s")
        self.taken("opt", file, "--plan", plan, "--stage", "sharded", "-o", "s.opt.ir")
        return [path.name for path in sorted(self.folder.glob("s.*.ir")) if path.read_text().startswith("tap-ir")]

    def test_each_text_of_each_case(self):
        for name, (source, lines) in CASES.items():
            file, plan, inputs = self.write("p.tap", source), self.write("p.plan", "plan 2\n" + lines), self.inputs(source)
            expected = self.taken("run", file, "--engine", "interp", "--passes", "none", *inputs).stdout
            for text in self.texts(file, plan):
                for command in (["verify"], ["opt"], ["opt", "--stage", "sharded"], ["opt", "--stage", "block"]):
                    with self.subTest(name=name, text=text, command=command):
                        self.taken(*command, text)
                for options in ([], ["--engine", "interp"], ["--passes", "none"], FUSED):
                    with self.subTest(name=name, text=text, options=options):
                        result = self.taken("run", text, *inputs, *options)
                        self.assertEqual(result.stdout, expected)
            with self.subTest(name=name):
                self.taken("compile", "s.opt.ir", "-o", "p.so")


if __name__ == "__main__":
    unittest.main()
