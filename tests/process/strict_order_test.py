#!/usr/bin/python3
"""--strict-fp combines floats in the order that is written: increasing indices, of several variables the last one fastest. The
numbers are large and small and of both signs, so that another order gives another sum."""
import itertools

import numpy as np

from tapc import *

N, M, K = 37, 40, 67
MONOID = "monoid plus(v: T) where T: float { identity 0 combine (a, b) = a.v + b.v }\n"
ROWS, ROW, MAP = {"x": (N, K)}, {"x": (K,)}, {"x": (N, M)}
PRODUCT = {"x": (N, K), "z": (K, M)}
# What it is, the inputs, the result's shape, what is written, and the numbers whose sum a cell is.
PROGRAMS = [
    ("along rows", ROWS, (N,), "y[i] = sum[j] x[i, j]", lambda x, i: x[i]),
    ("along columns", {"x": (K, M)}, (M,), "y[i] = sum[j] x[j, i]", lambda x, i: x[:, i]),
    ("of all", MAP, (), "y[] = sum[i, j] x[i, j]", lambda x: x),
    ("of all, column by column", MAP, (), "y[] = sum[j, i] x[i, j]", lambda x: x.T),
    ("from the left", ROWS, (N, K), "y[i, j] = sum[t in 0..j+1] x[i, t]", lambda x, i, j: x[i, :j + 1]),
    ("what stands before", ROW, (K,), "y[j] = sum[t in 0..j] x[t]", lambda x, j: x[:j]),
    ("from the right", ROWS, (N, K), f"y[i, j] = sum[t in j..{K}] x[i, t]", lambda x, i, j: x[i, j:]),
    ("what stands behind", ROW, (K,), f"y[j] = sum[t in j+1..{K}] x[t]", lambda x, j: x[j + 1:]),
    ("read from the right", ROW, (K,), f"y[j] = sum[t in 0..j+1] x[{K - 1} - t]", lambda x, j: x[::-1][:j + 1]),
    ("fewer and fewer", ROW, (K,), f"y[j] = sum[t in 0..{K}-j] x[t]", lambda x, j: x[:K - j]),
    ("windows", ROW, (K - 4,), "y[j] = sum[t in j..j+5] x[t]", lambda x, j: x[j:j + 5]),
    ("windows of two dims", MAP, (N - 4, M - 4), "y[i, j] = sum[a in 0..5, b in 0..5] x[i + a, j + b]",
     lambda x, i, j: x[i:i + 5, j:j + 5]),
    ("above the diagonal", MAP, (N,), f"y[i] = sum[j in i..{M}] x[i, j]", lambda x, i: x[i, i:]),
    ("a product", PRODUCT, (N, M), "y[i, j] = sum[t] x[i, t] * z[t, j]", lambda x, z, i, j: x[i] * z[:, j]),
    ("a product, transposed", {"x": (N, K), "z": (M, K)}, (N, M), "y[i, j] = sum[t] x[i, t] * z[j, t]",
     lambda x, z, i, j: x[i] * z[j]),
    ("by two dims", {"x": (N, 5, K), "z": (5, K, M)}, (N, M), "y[i, j] = sum[a, t] x[i, a, t] * z[a, t, j]",
     lambda x, z, i, j: x[i] * z[:, :, j]),
    ("where it goes", MAP, (5,), "y[v] = sum[i, j] (if (i + j) % 5 == v then x[i, j] else 0)",
     lambda x, v: [x[i, j] for i in range(N) for j in range(M) if (i + j) % 5 == v]),
    ("a user's sum", ROWS, (N,), "y[i] = plus[j] (x[i, j])", lambda x, i: x[i]),
    ("a user's, from the right", ROW, (K,), f"y[j] = plus[t in j..{K}] (x[t])", lambda x, j: x[j:]),
    ("after a map", ROWS, (N,), "w[i, j] = x[i, j] * 2\n    y[i] = sum[j] w[i, j]", lambda x, i: x[i] * 2),
    ("a sum of sums", ROWS, (), "w[i] = sum[j] x[i, j]\n    y[] = sum[i] w[i]",
     lambda x: [in_order(row) for row in x]),
]


def in_order(values):
    total = values.dtype.type(0)
    for value in values:
        total = values.dtype.type(total + value)
    return total


def mixed(shape, dtype):
    generator = np.random.default_rng(7)
    return (generator.standard_normal(shape) * generator.choice([1, 1e6, 1e-3], shape)).astype(dtype)


class StrictOrder(TapcTest):
    def test_the_order_is_kept(self):
        for (name, inputs, shape, body, terms), dtype in itertools.product(PROGRAMS, (np.float64, np.float32)):
            kind = f"f{8 * np.dtype(dtype).itemsize}"
            declared = ", ".join(f"{key}: {kind}{list(size)}" for key, size in inputs.items())
            self.write("p.tap", f"{MONOID}program p({declared}) -> (y: {kind}{list(shape)}) {{\n    {body}\n}}\n")
            given, arrays = [], []
            for key, size in inputs.items():
                arrays.append(mixed(size, dtype))
                np.save(self.folder / f"{key}.npy", arrays[-1])
                given += ["-i", f"{key}=@{key}.npy"]
            expected = np.empty(shape, dtype)
            for at in np.ndindex(*shape):
                expected[at] = in_order(np.array(terms(*arrays, *at), dtype).reshape(-1))
            for options in ([], FUSED):
                with self.subTest(name=name, type=kind, options=options):
                    self.expect(0, "^$", "run", "p.tap", "--strict-fp", *given, "-o", "y=@y.npy", *options)
                    np.testing.assert_array_equal(np.load(self.folder / "y.npy"), expected)

    def test_the_order_shows(self):
        x = mixed((K,), np.float64)
        self.assertNotEqual(in_order(x), in_order(x[::-1]))


if __name__ == "__main__":
    unittest.main()
