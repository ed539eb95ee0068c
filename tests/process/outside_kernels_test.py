#!/usr/bin/python3
"""Outside kernels, in C: the blocks of a reduced dim give partials, which the monoid combines, wherever they go; those of a
kernel with halos get the cells around them, filled outside the tensor. outside_kernels_test.py TAPC"""
import random
import shutil
import subprocess

import numpy as np

from tapc import *

KERNELS = r"""
#include <stdint.h>
typedef struct { void *data; const int64_t *extents, *strides; } tap_region;

// y[i, j] = sum[r] x[i, r] * w[r, j] for the rows and the block of r of the box: over no r it gives 0.
void product(const int64_t *box, const int64_t *extents, const tap_region *regions) {
  const tap_region x = regions[0], w = regions[1], y = regions[2];
  (void)extents;
  for (int64_t i = 0; i < box[1] - box[0]; ++i)
    for (int64_t j = 0; j < y.extents[1]; ++j) {
      double sum = 0;
      for (int64_t r = 0; r < box[3] - box[2]; ++r)
        sum += ((double *)x.data)[i * x.strides[0] + r * x.strides[1]] * ((double *)w.data)[r * w.strides[0] + j];
      ((double *)y.data)[i * y.strides[0] + j * y.strides[1]] = sum;
    }
}

// The greatest of a row and where it first is: two results, one for each component.
void top(const int64_t *box, const int64_t *extents, const tap_region *regions) {
  const tap_region x = regions[0], v = regions[1], at = regions[2];
  (void)extents;
  for (int64_t i = 0; i < box[1] - box[0]; ++i) {
    double most = -1.0 / 0.0;
    int64_t where = INT64_MAX;
    for (int64_t r = box[2]; r < box[3]; ++r) {
      double here = ((double *)x.data)[i * x.strides[0] + (r - box[2]) * x.strides[1]];
      if (here > most) most = here, where = r;
    }
    ((double *)v.data)[i * v.strides[0]] = most;
    ((int64_t *)at.data)[i * at.strides[0]] = where;
  }
}

// The composition of x -> a x + b, in order: it does not commute.
void affine(const int64_t *box, const int64_t *extents, const tap_region *regions) {
  const tap_region a = regions[0], b = regions[1];
  (void)extents;
  int64_t p = 1, q = 0;
  for (int64_t r = 0; r < box[1] - box[0]; ++r) {
    q = q * ((int64_t *)a.data)[r] + ((int64_t *)b.data)[r];
    p *= ((int64_t *)a.data)[r];
  }
  *(int64_t *)regions[2].data = p;
  *(int64_t *)regions[3].data = q;
}

// The difference of the cell above and the one two to the left, with what the region was filled with outside.
void slope(const int64_t *box, const int64_t *extents, const tap_region *regions) {
  const tap_region x = regions[0], y = regions[1];
  (void)extents;
  for (int64_t i = 0; i < box[1] - box[0]; ++i)
    for (int64_t j = 0; j < box[3] - box[2]; ++j)
      ((int32_t *)y.data)[i * y.strides[0] + j * y.strides[1]] =
          ((int32_t *)x.data)[i * x.strides[0] + (j + 2) * x.strides[1]] - 3 * ((int32_t *)x.data)[(i + 1) * x.strides[0] + j * x.strides[1]];
}

// The cell before, less three times the one after.
void rise(const int64_t *box, const int64_t *extents, const tap_region *regions) {
  const int32_t *x = regions[0].data;
  (void)extents;
  for (int64_t i = 0; i < box[1] - box[0]; ++i)
    ((int32_t *)regions[1].data)[i * regions[1].strides[0]] = x[i * regions[0].strides[0]] - 3 * x[(i + 2) * regions[0].strides[0]];
}
"""
PRODUCT = """extern op product(x: f64[n, k], w: f64[k, m]) -> (y: f64[n, m]) {{
    index [i: n, reduce r: k by sum]
    read x at [i, r] shape [1, 1]
    read w at [r, 0] shape [1, m]
    write y at [i, 0] shape [1, m]
    kernel "product"
    cost flops 2 * m
}}
mesh pod = [a: 2, b: 3]
program p(X: f64[5, {k}], W: f64[{k}, 3]) -> (Z: f64[5, 3]) {{
    Y = product(X, W)
    Z[i, j] = 2 * Y[i, j] + 1
}}
"""
TOP = """monoid first(v: f64, at: i64) {
    identity (-inf, i64.max)
    combine (a, b) = if b.v > a.v or (b.v == a.v and b.at < a.at) then b else a
}
extern op top(x: f64[n, k]) -> (v: f64[n], at: i64[n]) {
    index [i: n, reduce r: k by first]
    read x at [i, r] shape [1, 1]
    write v at [i] shape [1]
    write at at [i] shape [1]
    kernel "top"
}
program p(X: f64[5, 11]) -> (V: f64[5], A: i64[5]) { (V, A) = top(X) }
"""
AFFINE = """monoid steps(a: i64, b: i64) {
    identity (1, 0)
    combine (f, g) = (f.a * g.a, f.b * g.a + g.b)
}
extern op affine(a: i64[k], b: i64[k]) -> (p: i64[], q: i64[]) {
    index [reduce r: k by steps]
    read a at [r] shape [1]
    read b at [r] shape [1]
    write p at [] shape []
    write q at [] shape []
    kernel "affine"
}
program p(A: i64[11], B: i64[11]) -> (P: i64[], Q: i64[]) { (P, Q) = affine(A, B) }
"""
SLOPE = """mesh pod = [a: 2, b: 3]
extern op slope(x: i32[n, m]) -> (y: i32[n, m]) {
    index [i: n, j: m]
    read x at [i - 1, j - 2] shape [2, 3] else 5
    write y at [i, j] shape [1, 1]
    kernel "slope"
}
program p(X: i32[7, 6]) -> (Z: i32[7, 6]) {
    Y = slope(X)
    Z = slope(Y)
}
"""
RISE = """mesh pod = [a: 2, b: 3]
extern op rise(x: i32[n]) -> (y: i32[n]) {
    index [i: n]
    read x at [i - 1] shape [3] else 5
    write y at [i] shape [1]
    kernel "rise"
}
program p(X: i32[12]) -> (Z: i32[12]) {
    Y = rise(X)
    Z = rise(Y)
}
"""
PLACEMENTS = ["", " over threads", " over sequential"]


class OutsideKernels(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("k.c", KERNELS)
        compiler = next(name for name in ("cc", "gcc", "clang-22") if shutil.which(name))
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "k.c", "-o", "k.so"], cwd=self.folder, check=True)

    def results(self, names, inputs, *more):
        """With both engines: they agree to the bit, and the checker certifies each step."""
        given = []
        for name, values in inputs.items():
            np.save(self.folder / f"{name}.npy", values)
            given += ["-i", f"{name}=@{name}.npy"]
        out = []
        for engine in ("native", "interp"):
            outputs = [word for name in names for word in ("-o", f"{name}=@{name}.{engine}.npy")]
            self.expect(0, ".*", "run", "p.tap", "--kernels", "k.so", "--engine", engine, *given, *outputs, *more)
            out.append([np.load(self.folder / f"{name}.{engine}.npy") for name in names])
        for native, interpreted in zip(*out):
            np.testing.assert_array_equal(native, interpreted)
        return out[0]

    def plan(self, *lines):
        self.write("p.plan", "plan 2\n" + "".join(line + "\n" for line in lines))
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")

    def test_blocks_of_a_product(self):
        drawn = np.random.default_rng(1)
        plans = [[f"split Y dim r into {blocks}{placement}"] for placement in PLACEMENTS
                 for blocks in ("2", "3", "[0, 1, 5, 7]", "[0, 0, 7, 7]", "5")]
        plans += [["split Y dim r into 4 tree 2"], ["split Y dim r into 2 over pod.a"],
                  ["split Y dim r into 3 over devices {0}, {2}, {5}"],
                  ["split Y dim i into 2 over pod.a", "split Y dim r into 3 over pod.b"],
                  ["split Y dim r into 3 over pod.b", "split Y dim i into 2 over pod.a"],
                  ["split Y dim i into [0, 1, 5] over threads", "split Y dim r into [0, 6, 7] over sequential"],
                  ["split Y dim r into 2", "split Y.partial dim i into 3 over threads"]]
        for k in (7, 1, 0):
            self.write("p.tap", PRODUCT.format(k=k))
            x, w = (np.floor(drawn.uniform(-8, 8, shape)) for shape in ((5, k), (k, 3)))
            for lines in [[]] + [p for p in plans if k == 7 or "[" not in p[0] + p[-1]]:
                if k < 7 and any(word in line for line in lines for word in ("into 5", "into 4")):
                    continue
                self.plan(*lines)
                for threads in ([] if k < 7 else [["--threads", "3"]]) + [[]]:
                    with self.subTest(k=k, plan=lines, threads=threads):
                        found = self.results(["Z"], {"X": x, "W": w}, "--plan", "p.plan", *threads)[0]
                        np.testing.assert_array_equal(found, 2 * (x @ w) + 1)

    def test_two_components(self):
        self.write("p.tap", TOP)
        x = np.floor(np.random.default_rng(2).uniform(0, 6, (5, 11)))
        for lines in ([], ["split V dim r into 4"], ["split V dim r into 3 over threads", "split V dim i into 2"],
                      ["split V dim r into [0, 2, 2, 11] over sequential"]):
            self.plan(*lines)
            v, at = self.results(["V", "A"], {"X": x}, "--plan", "p.plan")
            np.testing.assert_array_equal(v, x.max(axis=1))
            np.testing.assert_array_equal(at, x.argmax(axis=1))

    def test_partials_stay_in_order(self):
        self.write("p.tap", AFFINE)
        a, b = (np.random.default_rng(seed).integers(-3, 4, 11) for seed in (3, 4))
        p, q = 1, 0
        for f, g in zip(a, b):
            p, q = p * f, q * f + g
        for lines in ([], ["split P dim r into 4"], ["split P dim r into [0, 1, 1, 9, 11] over threads"],
                      ["split P dim r into 6 over threads tree 2"]):
            self.plan(*lines)
            found = self.results(["P", "Q"], {"A": a, "B": b}, "--plan", "p.plan")
            self.assertEqual([int(one) for one in found], [p, q])

    def test_a_program_may_split_it(self):
        text = PRODUCT.format(k=7).replace("    Z[i", "    split Y on r into 3\n    Z[i")
        self.write("p.tap", text)
        x, w = np.ones((5, 7)), np.ones((7, 3))
        np.testing.assert_array_equal(self.results(["Z"], {"X": x, "W": w})[0], np.full((5, 3), 15.0))

    def test_shardings_split_it(self):
        text = PRODUCT.format(k=7)
        self.write("p.tap", text.replace("X: f64[5, 7]", "X: f64[5, 7] @ pod[{a}, {b}]")
                   .replace("W: f64[7, 3]", "W: f64[7, 3] @ pod[{b}, {}]"))
        x, w = np.arange(35.0).reshape(5, 7), np.arange(21.0).reshape(7, 3)
        np.testing.assert_array_equal(self.results(["Z"], {"X": x, "W": w})[0], 2 * (x @ w) + 1)
        output = self.tapc("verify", "p.tap").stdout.decode()
        self.assertRegex(output, r"proved  reduction-partition +2 times")

    def compare_under_random_splits(self, x, expected, dims, seed):
        draw = random.Random(seed)
        for _ in range(10):
            lines, axes = [], {"Y": ["a", "b"], "Z": ["a", "b"]}
            for _ in range(draw.choice([1, 2, 2, 3, 4])):
                value, dim, count = draw.choice("YZ"), draw.choice(dims), draw.choice([2, 3])
                axis = "ab"[count - 2]
                placement = draw.choice(PLACEMENTS)
                if draw.random() < 0.4 and axis in axes[value]:
                    axes[value].remove(axis)
                    placement = f" over axis pod.{axis}"
                lines.append(f"split {value} dim {dim} into {count}{placement}")
            lines.sort(key=lambda line: "axis" not in line)  # meshes first
            with self.subTest(plan=lines):
                self.plan(*lines)
                found = self.results(["Z"], {"X": x}, "--plan", "p.plan", *draw.choice([[], ["--threads", "3"]]))[0]
                np.testing.assert_array_equal(found, expected)

    def test_halos_on_one_side(self):
        self.write("p.tap", SLOPE)
        x = np.random.default_rng(5).integers(-9, 9, (7, 6), np.int32)
        expected = x
        for _ in range(2):
            around = np.pad(expected, ((1, 0), (2, 0)), constant_values=5)
            expected = around[:-1, 2:] - 3 * around[1:, :-2]
        self.compare_under_random_splits(x, expected, "ij", 1)

    def test_halos_on_both_sides(self):
        """Of blocks of blocks only the first and the last are filled, which are no row: of 2 by 3, members 0 and 5."""
        self.write("p.tap", RISE)
        x = np.random.default_rng(6).integers(-9, 9, 12, np.int32)
        expected = x
        for _ in range(2):
            around = np.pad(expected, 1, constant_values=5)
            expected = around[:-2] - 3 * around[2:]
        for placement, inner in ((" over threads", " over threads"), (" over axis pod.a", " over axis pod.b"), ("", "")):
            self.plan(f"split Z dim i into 2{placement}", f"split Z dim i into 3{inner}")
        self.compare_under_random_splits(x, expected, "i", 2)

    def test_ordered_floats_are_not_split(self):
        self.write("p.tap", PRODUCT.format(k=7))
        self.write("p.plan", "plan 2\nsplit Y dim r into 3\n")
        self.expect(1, r"T1402\]: `r` of `Y` cannot be split: `sum` rounds, and --strict-fp keeps the written order", "verify", "p.tap", "--plan",
                    "p.plan", "--strict-fp")

    def test_kernels_without_partials_give_the_reason(self):
        self.write("p.tap", TOP.replace("at: i64[n])", "at: i64[n, 1])").replace("at at [i] shape [1]",
                                                                               "at at [i, 0] shape [1, 1]")
                   .replace("A: i64[5]", "A: i64[5, 1]"))
        self.write("p.plan", "plan 2\nsplit V dim r into 4\n")
        self.expect(1, r"T1402\]: `r` of `V` cannot be split: the results of `top` have different shapes", "verify",
                    "p.tap", "--plan", "p.plan")


if __name__ == "__main__":
    unittest.main()
