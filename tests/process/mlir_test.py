#!/usr/bin/python3
"""`tapc compile --emit=mlir`: MLIR's own mlir-opt accepts every example, and what it makes of one computes what `tapc run` does;
local shapes agree where sizes divide; what MLIR cannot say is refused by name.

mlir-opt-22 is asked for by scripts/install-deps.sh: without it these tests fail.
"""
import re
from pathlib import Path

from tapc import *

import numpy as np

sys.path.insert(0, str(ROOT / "tests/numpy"))
import mlir_library

OPT = "mlir-opt-22"
NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
         "u8": np.uint8, "bool": np.bool_}


class Mlir(TapcTest):
    def emit(self, file, *options):
        self.expect(0, "^", "compile", file, "--emit=mlir", "-o", "out.mlir", *options, timeout=60)
        return (self.folder / "out.mlir").read_text()

    def opt(self, *options, file="out.mlir", code=0):
        done = subprocess.run([OPT, file, *options], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr[:3000])
        return done.stdout

    def same(self, source, program, dims):
        """mlir-opt and clang make of it what `tapc run` computes."""
        options = ["--program", program] + [word for d, n in dims.items() for word in ("--dim", f"{d}={n}")]
        text = self.emit(source, *options)
        head = re.search(r"program " + program + r"\((.*?)\)\s*->\s*\((.*?)\)\s*{", Path(source).read_text(), re.S)
        declared = re.findall(r"(\w+): (\w+)\[", head[1])
        shapes = re.findall(r"%\w+: tensor<([0-9x]*?)x?[a-z]+[0-9]+>", re.search(r"func\.func @.*", text)[0])
        self.assertEqual(len(declared), len(shapes))
        rng = np.random.default_rng(5)
        inputs = {}
        for (name, kind), shape in zip(declared, shapes):
            sizes = tuple(int(n) for n in shape.split("x") if n)
            values = rng.integers(-3, 4, sizes) / 4 if kind in ("f64", "f32") else rng.integers(0, 2, sizes)
            inputs[name] = np.asarray(values, NUMPY[kind])
        np.savez(self.folder / "in.npz", **inputs)
        self.expect(0, "^", "run", source, *options, "-i", "@in.npz", "-o", "@out.npz", "--engine=interp")
        expected = [np.load(self.folder / "out.npz")[name] for name in re.findall(r"(\w+): \w+\[", head[2])]
        self.assertIsNone(mlir_library.compile_mlir("out.mlir", "out.so", self.folder))
        computed = mlir_library.call("out.so", program, inputs.values(), expected, self.folder)
        self.assertIsInstance(computed, list, computed)
        for got, exact in zip(computed, expected):
            if exact.dtype.kind == "f":
                np.testing.assert_allclose(got, exact, rtol=2e-5, atol=1e-5 if exact.dtype == np.float32 else 1e-11)
            else:
                np.testing.assert_array_equal(got, exact)

    def same_text(self, text, dims={}):
        (self.folder / "p.tap").write_text(text)
        self.same(str(self.folder / "p.tap"), re.search(r"program (\w+)", text)[1], dims)

    def test_every_example_is_accepted(self):
        for path in sorted((ROOT / "examples").glob("*.tap")):
            for program in re.findall(r"^program (\w+)", path.read_text(), re.M):
                with self.subTest(path.name, program=program):
                    text = self.emit(str(path), "--program", program)
                    self.assertIn("linalg.generic" if path.name != "smooth.tap" else "func.func private", text)
                    self.opt("-o", os.devnull)

    def test_examples_compute_the_same(self):
        sizes = (ROOT / "tests/examples/sizes.h").read_text()
        for name, listed in re.findall(r'{"(\w+\.tap)", {(.*)}},', sizes):
            if name == "smooth.tap":
                continue  # its kernel is somebody else's
            dims = {dim: int(n) for dim, n in re.findall(r'{"(\w+)", (\d+)}', listed)}
            path = ROOT / "examples" / name
            for program in re.findall(r"^program (\w+)", path.read_text(), re.M):
                with self.subTest(name, program=program):
                    self.same(str(path), program, dims)

    def test_kinds_of_operations(self):
        """What examples lack: each computes the same."""
        programs = (
            # Casts, integer arithmetic that floors, wraps and shifts; a cell that fails is not reached.
            "program p(a: i8[6], b: i64[6], f: f64[6]) -> (Y: i64[6], Z: i8[6], W: u8[6], V: f32[6], B: bool[6]) {\n"
            "    Y[i] = if b[i] != 0 then (i64(a[i]) * 1000 - 7) / b[i] + (i64(a[i]) - 3) % b[i] else -1\n"
            "    Z[i] = i8(f[i] * 300) + shl(a[i], 3)\n    W[i] = u8(f[i] * 100)\n"
            "    V[i] = f32(a[i]) * sign(f32(f[i])) + round(f32(f[i]) * 2) % 3\n    B[i] = f[i] < 0 or a[i] == 1\n}",
            # Functions of floats, min and max, a guarded read, an index as a number.
            "program p(x: f32[8]) -> (Y: f32[8], Z: f32[8]) {\n"
            "    Y[i] = sigmoid(x[i]) + tanh(x[i]) * erf(x[i]) + max(min(x[i], 0.25), -0.5) + f32(i)\n"
            "    Z[i] = if i > 0 and x[i] > 0 then x[i - 1] else exp(x[7 - i])\n}",
            # Halves compute in floats and round once.
            "program p(x: f32[4, 8]) -> (Y: f32[4]) {\n    h[i, k] = f16(x[i, k]) * 1.5\n    s[i] = sum[k] h[i, k] * h[i, k]\n"
            "    Y[i] = f32(s[i])\n}",
            # Windows, strides, padding by another number than 0, parts of one result, a turned read, digits of one axis.
            "program p(x: f32[9], y: f32[4, 3]) -> (A: f32[4], B: f32[12], C: f32[9], D: f32[7], E: f32[18]) {\n"
            "    A[i] = max[u in 0..3] x[2*i + u]\n    B[3*i + j] = y[i, j]\n    C[i] = sum[u in 0..3] x[i + u - 1 else 0.5]\n"
            "    D[i] = x[i + 2] for i in 0..4\n    D[4 + i] = x[8 - i] for i in 0..3\n    E[2*i + r] = x[i] for r in 0..2\n}",
            # A domain that is no box, reductions over nothing and of nothing, cells that only constants fill.
            "program p(x: f64[5], e: f64[0]) -> (A: f64[5], B: f64[], C: f64[5], D: f64[0]) {\n"
            "    A[i] = sum[k in 0..i+1] x[k]\n    B[] = max(-1, sum[i] e[i])\n    C[i] = 3 for i in 0..5\n    D[i] = e[i] + 1\n}",
            # Monoids of tuples, one that does not commute, components with fewer indices.
            "monoid best(v: f64, at: i64) {\n    identity (-inf, i64.max)\n"
            "    combine (a, b) = if b.v > a.v or (b.v == a.v and b.at < a.at) then b else a\n}\n"
            "monoid affine(a: f64, b: f64) {\n    identity (1, 0)\n    combine (x, y) = (x.a * y.a, x.b * y.a + y.b)\n}\n"
            "program p(x: f64[3, 4]) -> (V: f64[3], N: i64[3], H: f64[3]) {\n    (V[i], N[i]) = best[k] (x[i, k], k)\n"
            "    (p[i], H[i]) = affine[k] (x[i, k], 1)\n}",
            # The fold of attention: a map with components that have fewer indices.
            "use std\nprogram p(q: f32[2, 4, 8], k: f32[2, 16, 8], v: f32[2, 16, 12]) -> (Y: f32[2, 4, 12]) { Y = attention(q, k, v) }",
            # Data-dependent reads with and without a fill; a scatter; a repetition that sees its counter.
            "program p(t: f32[2, 3], n: i64[5]) -> (A: f32[5, 3], B: f32[5], C: f32[2], D: f32[3]) {\n"
            "    A[i, d] = t[n[i], d]\n    B[i] = t[0, n[i] + 2 else -1]\n    C[v] = sum[i] (if n[i] == v then f32(i) else 0) for v in 0..2\n"
            "    z[j] = t[0, j]\n    D = iterate k in 0..2 (s = z) {\n        s2[j] = s[j] * t[k, j] + f32(k)\n        s2\n    }\n}",
        )
        for text in programs:
            with self.subTest(text):
                self.same_text(text)

    def test_random_shardings_are_accepted(self):
        """Every standard operator and example, with shardings on meshes of any kind."""
        written = subprocess.run([TAPC.parent / "random_plans", "--plans", "0", "--shardings", "3", "--mlir", self.folder / "all.mlir",
                                  ROOT / "examples"], capture_output=True, text=True, timeout=200)
        self.assertEqual(written.returncode, 0, written.stdout[-3000:])
        text = (self.folder / "all.mlir").read_text()
        self.assertGreater(text.count("module {"), 500)
        self.assertGreater(text.count("shard.shard "), 750)
        self.assertIn("sharded_dims_offsets", text)
        refused = re.findall("^// --emit=mlir: (.*)", text, re.M)
        self.assertEqual({line for line in refused if "its blocks are uneven; uneven blocks are supported only along one mesh axis, and 65536 at most" not in line}, set())
        self.assertLess(len(refused), 280)
        self.opt("--split-input-file", "-o", os.devnull, file="all.mlir")

    def test_local_shapes(self):
        """What MLIR makes of the annotations on one device has the shapes that we list."""
        for text in ("mesh pod = [data: 2, model: 4]\n"
                     "program p(X: f32[8, 16] @ pod[{data}, {}], W: f32[16, 32] @ pod[{}, {model}]) -> (Y: f32[8, 32]) {\n"
                     "    Y[i, o] = sum[k] X[i, k] * W[k, o]\n}",
                     "mesh pod = [a: 8]\n"  # parts of one axis are axes of the grid
                     "program p(X: f32[8, 16] @ pod[{a:(2)2}, {a:(1)2}]) -> (Y: f32[8, 16] @ pod[{a:(2)2}, {a:(1)2}]) "
                     "{ Y[i, j] = X[i, j] + X[i, j] }",
                     "mesh pod = [a: 2, b: 3]\n"
                     "program p(X: f32[12, 5] @ pod[{b, a}, {}]) -> (Y: f32[12, 5]) { Y[i, j] = X[i, j] * X[i, j] }"):
            with self.subTest(text):
                self.write("s.tap", text)
                self.emit("s.tap")
                made = self.opt("--pass-pipeline=builtin.module(func.func(sharding-propagation,shard-partition))")
                local = re.findall(r"tensor<([0-9x]*)x", re.search(r"func\.func @p.*", made)[0])
                listed = self.expect(0, "^$", "sharding", "s.tap").stdout.decode()
                ours = [row[1].replace(", ", "x") for row in re.findall(r"^([XWY]) .*f32\[([0-9, ]+)\], ", listed, re.M)]
                self.assertEqual(local, ours)

    def test_uneven_blocks_are_reported(self):
        self.write("s.tap", "mesh pod = [a: 4]\nprogram p(X: f32[10] @ pod[{a}]) -> (Y: f32[]) { Y[] = sum[i] X[i] * X[i] }")
        self.emit("s.tap")
        self.opt("-o", os.devnull)
        self.write("s.tap", "mesh pod = [a: 4]\nprogram p(X: f32[10]) -> (Y: f32[]) {\n    Z[i] = X[i] + 1\n"
                            "    H = Z @ pod[{a}]\n    Y[] = sum[i] H[i] * H[i]\n}")
        self.assertIn("sharded_dims_offsets = [0, 3, 6, 9, 10]", self.emit("s.tap"))
        self.opt("-o", os.devnull)

    def test_unsupported_programs(self):
        order = "mesh ring = [d: 4] devices [0, 2, 3, 1]\nprogram p(X: f32[8] @ ring[{d}]) -> (Y: f32[8]) { Y[i] = X[i] + 1 }"
        partial = ("mesh pod = [a: 2]\nprogram p(X: f32[4, 8] @ pod[{}, {a}]) -> (Y: f32[4]) {\n    S[i] = sum[k] X[i, k]\n"
                   "    P = S @ pod[{}; unreduced {a} by sum]\n    Y[i] = P[i] + 1\n}")
        several = ("mesh pod = [a: 2, b: 3]\nprogram p(X: f32[10]) -> (Y: f32[10]) {\n    H = floor(X) @ pod[{a, b}]\n"
                   "    Y[i] = H[i] + 1\n}")
        parts = ("mesh pod = [a: 6]\nprogram p(X: f32[6] @ pod[{a:(1)2}], Z: f32[6] @ pod[{a:(1)3}]) -> (Y: f32[6], W: f32[6]) "
                 "{\n    Y[i] = X[i] + 1\n    W[i] = Z[i] + 1\n}")
        for text, message in ((order, "`X` .*: the devices of `ring` are not listed in ascending order"),
                              (partial, "`S` .*: it holds partial results over `a`"),
                              (several, "`H` .*: its blocks are uneven; uneven blocks are supported only along one mesh axis, and 65536 at most"),
                              (parts, "`Z` .*: `a` .size 6. is divided at 3 here and at 2 elsewhere")):
            self.write("s.tap", text)
            self.write("out.mlir", "kept")
            self.expect(2, r"error\[T1001\]: --emit=mlir: the sharding of " + message, "compile", "s.tap", "--emit=mlir", "-o",
                        "out.mlir")
            self.assertEqual((self.folder / "out.mlir").read_text(), "kept")
        self.write("s.tap", "program p(X: f32[8]) -> (Y: f32[8]) {\n    Y[i] = X[i] + 1\n    split Y on i into 2\n}")
        sharded = self.expect(0, "^", "opt", "--stage", "sharded", "s.tap").stdout
        self.write("s.ir", sharded)
        self.expect(2, "--emit=mlir: `Y` is split into blocks", "compile", "s.ir", "--emit=mlir", "-o", "out.mlir")
        self.expect(0, "^", "compile", "s.tap", "--emit=mlir", "-o", "out.mlir")  # before it is cut it can be said

    def test_output_next_to_the_library(self):
        self.write("s.tap", PROGRAM)
        self.expect(0, "^$", "compile", "s.tap", "--emit=mlir", "-o", "s.so")
        self.assertEqual({p.name for p in self.files()}, {"s.tap", "s.so", "s.h", "s.json", "s.mlir"})


if __name__ == "__main__":
    unittest.main()
