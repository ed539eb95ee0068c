#!/usr/bin/python3
"""Products that are large enough to be packed, in forms that have gone wrong, against NumPy; and bits that hang on no plan.
packed_test.py TAPC"""
import re

import numpy as np

from tapc import *

WALKED = """program p(a: f32[37, 2000], b: f32[2000, 600]) -> (Y: f32[37, 600]) {
    Y[i, j] = sum[k] a[i, k] * b[k, j]
}
"""
INVARIANT = """monoid mp(m: f32, o: f32) { identity (-inf, 0) combine (a, b) = (max(a.m, b.m), a.o + b.o) }
program p(t: f32[64, 1500], v: f32[1500, %d]) -> (mx: f32[64], o: f32[64, %d]) {
    (mx[i], o[i, c]) = mp[j] (t[i, j], t[i, j] * v[j, c])
}
"""
CAUSAL = """program p(q: f32[4, 300, 300], v: f32[300, 500]) -> (o: f32[4, 300, 500]) {
    o[h, i, d] = sum[k in 0..i+1] q[h, i, k] * v[k, d]
}
"""
TRIANGLE = """program p(a: f32[64, 400], b: f32[400, 400]) -> (y: f32[64, 400]) {
    y[i, j] = sum[k in 0..400, l in 0..k+1] a[i, k] * b[l, j]
}
"""
FILLED = """program p(a: f32[64, 8, 64], b: f32[400, 64]) -> (Y: f32[64, 400]) {
    Y[i, j] = sum[k, l] a[i, k, l] * b[j, l - 1 else f32(k)]
}
"""
WINDOWS = """program p(x: f32[2, 40, %(n)d], k: f32[48, 40, 3]) -> (Y: f32[2, 48, %(m)d]) {
    Y[b, o, j] = sum[c, v] x[b, c, %(at)s else 2] * k[o, c, v]
}
"""
LAYOUTS = """program p(a: %(t)s[%(a)s], b: %(t)s[%(b)s]) -> (Y: %(t)s[%(y)s]) {
    Y[%(to)s] = sum[f] a[%(left)s] * b[%(right)s]
}
"""
ROWS = """program p(a: f32[64, 1000]) -> (s: f32[64]) {
    s[i] = sum[k] a[i, k]
}
"""


class Packed(TapcTest):
    def whole(self, *shape):
        """Numbers whose sums are exact, in any order."""
        return np.random.default_rng(len(shape)).integers(-3, 4, shape).astype(np.float32)

    def run_on(self, program, inputs, results, *options):
        self.write("p.tap", program)
        words = []
        for name, value in inputs.items():
            np.save(self.folder / f"{name}.npy", value)
            words += ["-i", f"{name}=@{name}.npy"]
        for name in results:
            words += ["-o", f"{name}=@{name}.out.npy"]
        self.expect(0, "^$", "run", "p.tap", *words, *options)
        return [np.load(self.folder / f"{name}.out.npy") for name in results]

    def test_a_streamed_reduction(self):
        self.write("plan", "plan 2\nsplit Y dim k into 8 over sequential\n")
        a, b = self.whole(37, 2000), self.whole(2000, 600)
        y, = self.run_on(WALKED, {"a": a, "b": b}, ["Y"], "--plan", "plan")
        np.testing.assert_array_equal(y, a @ b)

    def test_windows_that_overlap_and_reach_beyond_the_tensor(self):
        k = self.whole(48, 40, 3)
        for at, step, first, along in (("j + v - 1", 1, -1, 1), ("2 * j + v - 3", 2, -3, 1), ("3 * j + 2 * v", 3, 0, 2),
                                       ("j - v + 1", 1, 1, -1), ("40 - 2 * j - v", -2, 40, -1)):
            for n, m in ((29, 28), (17, 31), (60, 1), (7, 14)):
                with self.subTest(at=at, n=n, m=m):
                    x = self.whole(2, 40, n)
                    places = first + step * np.arange(m)[:, None] + along * np.arange(3)[None, :]
                    inside = (places >= 0) & (places < n)
                    windows = np.where(inside, x[:, :, np.clip(places, 0, n - 1)], np.float32(2))
                    y, = self.run_on(WINDOWS % {"n": n, "m": m, "at": at}, {"x": x, "k": k}, ["Y"])
                    np.testing.assert_array_equal(y, np.einsum("bcjv,ocv->boj", windows, k))
        self.write("plan", "plan 2\nsplit Y dim j into 3 over threads\nsplit Y dim c into 4 over sequential\n")
        self.write("p.tap", WINDOWS % {"n": 58, "m": 56, "at": "j + v - 1"})
        self.expect(0, "(?s).*", "compile", "p.tap", "--emit=loops", "-o", "p", "--plan", "plan")
        self.assertRegex((self.folder / "p.loops").read_text(), r"p5\[w, w_1, w_2\] = t0\[.*\? else 2\.0\]")
        x = self.whole(2, 40, 58)
        y, = self.run_on(WINDOWS % {"n": 58, "m": 56, "at": "j + v - 1"}, {"x": x, "k": k}, ["Y"], "--plan", "plan")
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1)), constant_values=2)
        windows = np.stack([padded[:, :, v:v + 56] for v in range(3)], -1)
        np.testing.assert_array_equal(y, np.einsum("bcjv,ocv->boj", windows, k))

    def test_vectors_that_are_copied_and_stored_across(self):
        for spec in ("if,jf->ij", "fi,fj->ij", "fi,jf->ij", "if,fj->ji", "afbe,df->edba", "aebf,df->bdea"):
            left, right, to = spec.replace("->", ",").split(",")
            for sizes in ((48, 70, 33), (17, 31, 16)):
                for kind, of in (("f32", np.float32), ("f64", np.float64), ("f16", np.float16), ("i8", np.int8)):
                    if kind != "f32" and (len(to) > 2 or sizes[0] == 17):
                        continue
                    with self.subTest(spec=spec, sizes=sizes, kind=kind):
                        size = dict(zip("idebajf", (sizes[0], sizes[1], 24, 3, sizes[0], sizes[1], sizes[2])))
                        size["d"] = min(sizes[1], 40)
                        shape = lambda axes: [size[x] for x in axes]
                        a, b = self.whole(*shape(left)).astype(of), self.whole(*shape(right)).astype(of)
                        words = {"t": kind, "a": str(shape(left))[1:-1], "b": str(shape(right))[1:-1],
                                 "y": str(shape(to))[1:-1], "to": ", ".join(to), "left": ", ".join(left),
                                 "right": ", ".join(right)}
                        y, = self.run_on(LAYOUTS % words, {"a": a, "b": b}, ["Y"])
                        expected = np.einsum(spec, a.astype(np.int64), b.astype(np.int64)).astype(of)
                        np.testing.assert_array_equal(y, expected)

    def test_rows_at_a_power_of_two_stride(self):
        self.write("machine.toml", '[registers]\nbytes = 64\ncount = 32\n[caches]\nl1 = "48 KiB"\nl2 = "512 KiB"\n')
        for depth, copied in ((1024, True), (2048, True), (1040, False)):
            with self.subTest(depth=depth):
                a, b = self.whole(261, depth), self.whole(depth, 256)
                sizes = {"t": "f32", "a": f"261, {depth}", "b": f"{depth}, 256", "y": "261, 256", "to": "i, j",
                         "left": "i, f", "right": "f, j"}
                y, = self.run_on(LAYOUTS % sizes, {"a": a, "b": b}, ["Y"], "--machine", "machine.toml")
                np.testing.assert_array_equal(y, a @ b)
                self.expect(0, "(?s).*", "compile", "p.tap", "--emit=loops", "-o", "p", "--machine", "machine.toml")
                copies = re.findall(r"p\d+\[.*\] = t0\[", (self.folder / "p.loops").read_text())
                self.assertEqual(len(copies) > 0, copied)

    def test_lines_along_the_outer_reduction(self):
        for c, d in ((40, 300), (17, 500), (3, 2000)):
            with self.subTest(c=c, d=d):
                a, b = self.whole(d, 64, c), self.whole(60, c, d)
                text = (f"program p(A: f32[{d}, 64, {c}], B: f32[60, {c}, {d}]) -> (Y: f32[60, 64]) {{\n"
                        "    Y[b, a] = sum[c, d] A[d, a, c] * B[b, c, d]\n}\n")
                y, = self.run_on(text, {"A": a, "B": b}, ["Y"])
                np.testing.assert_array_equal(y, np.einsum("dac,bcd->ba", a, b, optimize=True))

    def test_a_component_that_does_not_follow_the_lanes(self):
        for columns in (33, 100, 130):
            with self.subTest(columns=columns):
                t, v = self.whole(64, 1500), self.whole(1500, columns)
                t -= 10 * np.arange(64, dtype=np.float32)[:, None]
                m, o = self.run_on(INVARIANT % (columns, columns), {"t": t, "v": v}, ["mx", "o"])
                np.testing.assert_array_equal(m, t.max(axis=1))
                np.testing.assert_array_equal(o, t @ v)

    def test_causal_sums(self):
        q, v = self.whole(4, 300, 300), self.whole(300, 500)
        for options in ([], ["--strict-fp"]):
            o, = self.run_on(CAUSAL, {"q": q, "v": v}, ["o"], *options)
            np.testing.assert_array_equal(o, np.tril(q) @ v)

    def test_a_reduction_under_another(self):
        a, b = self.whole(64, 400), self.whole(400, 400)
        for options in ([], ["--strict-fp"]):
            y, = self.run_on(TRIANGLE, {"a": a, "b": b}, ["y"], *options)
            np.testing.assert_array_equal(y, a @ np.cumsum(b, axis=0))

    def test_a_fill_that_is_no_constant(self):
        a, b = self.whole(64, 8, 64), self.whole(400, 64)
        y, = self.run_on(FILLED, {"a": a, "b": b}, ["Y"], "--strict-fp")
        shifted = np.zeros((8, 400, 64), np.float32)
        shifted[:, :, 1:] = b[:, :-1]
        shifted[:, :, 0] = np.arange(8)[:, None]
        np.testing.assert_array_equal(y, np.einsum("ikl,kjl->ij", a, shifted))

    def test_bits_do_not_depend_on_row_shards(self):
        a = np.random.default_rng(5).standard_normal((64, 1000)).astype(np.float32)
        whole, = self.run_on(ROWS, {"a": a}, ["s"])
        for blocks in (4, 8, 16, 32, 64):
            with self.subTest(blocks=blocks):
                self.write("plan", f"plan 2\nsplit s dim i into {blocks} over threads\n")
                cut, = self.run_on(ROWS, {"a": a}, ["s"], "--plan", "plan")
                np.testing.assert_array_equal(cut.view(np.int32), whole.view(np.int32))


if __name__ == "__main__":
    unittest.main()
