#!/usr/bin/python3
"""The programs of docs/guide/in_place_algorithms.md compute what NumPy computes, interpreted and compiled."""
import re

import numpy as np

from tapc import *

PAGE = (ROOT / "docs/guide/in_place_algorithms.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"```tap\n// (\w+)\.tap\n(.*?)```", PAGE, re.S))
N = 6


def lu(a):
    f = a.copy()
    for k in range(len(f)):
        f[k + 1:, k] /= f[k, k]
        f[k + 1:, k + 1:] -= np.outer(f[k + 1:, k], f[k, k + 1:])
    return f


def gram_schmidt(a):
    q, r = np.linalg.qr(a)
    sign = np.sign(np.diag(r))
    return q * sign, r * sign[:, None]


def floyd_warshall(d):
    p = d.copy()
    for k in range(len(p)):
        p = np.minimum(p, p[:, k:k + 1] + p[k:k + 1, :])
    return p


def gauss_seidel(a, b, sweeps):
    x = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(len(b)):
            x[i] = (b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i]
    return x


def seidel_2d(a, sweeps):
    b = a.copy()
    for _ in range(sweeps):
        for i in range(1, len(b) - 1):
            for j in range(1, len(b) - 1):
                b[i, j] = b[i - 1:i + 2, j - 1:j + 2].sum() / 9
    return b


def lcs(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = (table[i - 1, j - 1] + 1 if a[i - 1] == b[j - 1]
                           else max(table[i - 1, j], table[i, j - 1]))
    return table[-1, -1]


class InPlaceAlgorithms(TapcTest):
    def cases(self):
        random = np.random.default_rng(1)
        a, b = random.random((N, N)), random.random(N)
        definite = a @ a.T + N * np.eye(N)
        lower = np.tril(a) + N * np.eye(N)
        tall = random.random((8, 5))
        q, r = gram_schmidt(tall)
        left, right = random.integers(0, 3, 9), random.integers(0, 3, 7)
        return {
            "trisolv": ({"L": lower, "b": b}, {"x": np.linalg.solve(lower, b)}),
            "cholesky": ({"A": definite}, {"L": np.linalg.cholesky(definite)}),
            "lu": ({"A": definite}, {"F": lu(definite)}),
            "gram_schmidt": ({"A": tall}, {"Q": q, "R": r}),
            "floyd_warshall": ({"D": a}, {"P": floyd_warshall(a)}),
            "gauss_seidel": ({"A": definite, "b": b, "x0": np.zeros(N)}, {"x": gauss_seidel(definite, b, 10)}),
            "seidel_2d": ({"A": a}, {"B": seidel_2d(a, 2)}),
            "lcs": ({"a": left, "b": right}, {"length": lcs(left, right)}),
        }

    def test_programs_agree_with_numpy(self):
        cases = self.cases()
        self.assertEqual(set(PROGRAMS), set(cases))
        for name, (inputs, results) in cases.items():
            self.write(f"{name}.tap", PROGRAMS[name])
            arguments = []
            for option, tensors in (("-i", inputs), ("--expect", results)):
                for tensor, value in tensors.items():
                    np.save(self.folder / f"{name}_{tensor}.npy", value)
                    arguments += [option, f"{tensor}=@{name}_{tensor}.npy"]
            for engine in ("interp", "native"):
                with self.subTest(name, engine=engine):
                    self.expect(0, "^$", "run", f"{name}.tap", *arguments, "--engine", engine, "-o", f"@{name}.npz")


if __name__ == "__main__":
    unittest.main()
