#!/usr/bin/python3
"""Results of narrow types whose rows leave some lanes over: right, and nothing behind them is overwritten."""
import importlib.util

from guarded import guard_results
from tapc import *

NARROWED = """program main(X: bf16[3, 2], W: bf16[2, %(n)d], A: i32[3, 2], B: i32[2, %(n)d], F: f64[2, %(n)d], L: i64[2, %(n)d])
    -> (Y: bf16[3, %(n)d], s: f32[3], Z: i8[3, %(n)d], t: i32[3], U: bf16[3, %(n)d], u: f32[3], V: i32[3, %(n)d], v: i64[3]) {
  Y[i, j] = sum[k] X[i, k] * W[k, j]
  s[i] = sum[j] f32(Y[i, j])
  z[i, j] = sum[k] A[i, k] * B[k, j]
  Z[i, j] = i8(z[i, j])
  t[i] = sum[j] i32(Z[i, j])
  f[i, j] = sum[k] f64(A[i, k]) * F[k, j]
  U[i, j] = bf16(f[i, j])
  u[i] = sum[j] f32(U[i, j])
  w[i, j] = sum[k] i64(A[i, k]) * L[k, j]
  V[i, j] = i32(w[i, j])
  v[i] = sum[j] i64(V[i, j])
}
"""
INPUTS = [word for name in "XWABFL" for word in ("-i", name + "=ones")]


class NarrowStores(TapcTest):
    # The smallest that was found: LLVM stored four bytes for the last cell of a row of 17.
    def test_a_fused_product_of_bf16(self):
        self.write("a.tap", "program main(X: bf16[3, 2], W: bf16[2, 17]) -> (Y: bf16[3, 17], s: f32[3]) {\n"
                            "  Y[i, j] = sum[k] X[i, k] * W[k, j]\n  s[i] = sum[j] f32(Y[i, j])\n}\n")
        given = ("run", "a.tap", *FUSED, "-i", "X=ones", "-i", "W=ones")
        expected = self.tapc(*given, "--engine", "interp").stdout
        self.assertEqual(self.tapc(*given, "--no-cache").stdout, expected)
        self.assertEqual(self.tapc(*given, "--no-cache", "--no-self-check", environment={"TAPC_SELF_CHECK": ""}).stdout, expected)

    def test_narrowed_rows_of_all_tails(self):
        for n in (1, 2, 3, 5, 9, 15, 17, 33):
            with self.subTest(n=n):
                self.write("a.tap", NARROWED % {"n": n})
                expected = self.tapc("run", "a.tap", "--engine", "interp", *INPUTS).stdout
                self.assertEqual(self.tapc("run", "a.tap", *FUSED, "--no-cache", *INPUTS).stdout, expected)

    def test_a_library_does_not_write_past_its_results(self):
        for target in ("native", "x86-64-v3"):
            for n in (9, 17):
                with self.subTest(target=target, n=n):
                    name = f"{target.replace('-', '_')}_{n}"
                    self.write("a.tap", NARROWED % {"n": n})
                    self.expect(0, "^$", "compile", "a.tap", *FUSED, "-o", name + ".so", "--emit=py", "--target", target)
                    spec = importlib.util.spec_from_file_location(name, self.folder / (name + "_program.py"))
                    module = importlib.util.module_from_spec(spec)
                    spec.loader.exec_module(module)
                    guarded = guard_results(self, module).numpy
                    ones = {"X": (3, 2), "W": (2, n), "A": (3, 2), "B": (2, n), "F": (2, n), "L": (2, n)}
                    types = {"X": "u2", "W": "u2", "A": "i4", "B": "i4", "F": "f8", "L": "i8"}
                    one = {"u2": 0x3f80}  # bf16
                    inputs = [guarded.full(shape, one.get(types[k], 1), types[k]) for k, shape in ones.items()]
                    results = module.Program()(*inputs)
                    self.assertEqual([float(r.astype("f8").sum()) for r in results[1::2]], [6.0 * n] * 4)
                    guarded.check()

    def test_idle_halves_are_not_read(self):
        """LLVM 22 takes the mask of a half that is never active for one that is always true, without mask registers. The
        self-check runs the kernels wherever the processor can."""
        self.write("t.tap", "use std\nprogram p(X: f64[1, 4, 3, 4], K: f64[4, 2, 3, 2]) -> (Y: f64[1, 2, 5, 4]) {\n"
                            "    Y = conv2d_transposed<pad = 1, dilation = 2>(X, K)\n}\n")
        self.expect(0, ".*", "compile", "t.tap", "--target", "x86-64-v3", "-o", "t", "--no-cache")

    def test_all_tails_without_mask_registers(self):
        """Vectors are stored in parts there (emit_leading.h): rows of all types, transposes, products whose lanes run along a dim
        that is not contiguous in the result. The self-check compares each kernel with the interpreter."""
        types = ("f32", "f64", "bf16", "i8", "i16", "i64")
        results = ", ".join(f"Y{k}: {t}[5, %(n)d]" for k, t in enumerate(types))
        rows = "\n".join(f"  Y{k}[i, j] = {t}(X[i, j]) + {t}(1)" for k, t in enumerate(types))
        text = (f"program p(X: i32[5, %(n)d], A: f32[6, %(n)d, 3], B: f32[6, 3, 7])\n"
                f"    -> (T: i32[%(n)d, 5], C: f32[6, %(n)d, 7], D: f32[6, 7, %(n)d], {results}) {{\n"
                f"  T[j, i] = X[i, j]\n  C[r, i, j] = sum[t] A[r, i, t] * B[r, t, j]\n"
                f"  D[r, j, i] = sum[t] A[r, i, t] * B[r, t, j]\n{rows}\n}}\n")
        for n in (1, 2, 3, 5, 7, 8, 9, 13, 15, 17, 31, 33):
            with self.subTest(n=n):
                self.write("t.tap", text % {"n": n})
                self.expect(0, ".*", "compile", "t.tap", "--target", "x86-64-v3", "-o", "t", "--no-cache")


if __name__ == "__main__":
    unittest.main()
