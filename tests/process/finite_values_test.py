#!/usr/bin/python3
"""NaN, infinities and -0 where rewrites assume finite values: with --no-distribute, --strict-fp and --require-proof the result
is that of the program as it is written, interpreted and native; and without, where nothing is assumed."""
import random

from tapc import *

SPECIAL = ["inf", "-inf", "nan", "-0.0", "0", "1", "-2"]
PRODUCT = "program p(A: f32[3, 5], B: f32[5, 3], C: f32[3, 40]) -> (Y: f32[3, 40]) {{ Y[i, l] = {} }}\n"
SHAPES = {"A": (3, 5), "B": (5, 3), "C": (3, 40)}
# What it computes, the shapes of its inputs, and whether another order is taken that assumes finite values, unless the cost
# model finds the program faster as it is written.
PROGRAMS = {
    "product": (PRODUCT.format("sum[j, k] A[i, j] * B[j, k] * C[k, l]"), SHAPES, True),
    "least sum": (PRODUCT.format("min[j, k] A[i, j] + B[j, k] + C[k, l]"), SHAPES, True),
    "greatest least": (PRODUCT.format("max[j, k] min(min(A[i, j], B[j, k]), C[k, l])"), SHAPES, False),
    "product without a sum": ("program p(a: f32[9], b: f32[9], C: f32[9, 30]) -> (Y: f32[9, 30]) {\n"
                              "    Y[i, l] = a[i] * b[i] * C[i, l]\n}\n",
                              {"a": (9,), "b": (9,), "C": (9, 30)}, True),
    "simplified cells": ("program p(A: f32[9]) -> (Y: f32[9], Z: f32[9], W: f32[9]) {\n"
                         "    Y[i] = A[i] * 0\n    Z[i] = A[i] - A[i]\n    W[i] = (A[i] + 0) * 1 - 0 + A[i] / A[i]\n}\n",
                         {"A": (9,)}, False),
    "masked attention": ("use std\nprogram p(T: f32[4, 10], V: f32[10, 3]) -> (Y: f32[4, 3]) {\n"
                         "    (mx[i], s[i], o[i, c]) = online[j] (T[i, j], 1, V[j, c])\n    Y[i, c] = o[i, c] / s[i]\n}\n",
                         {"T": (4, 10), "V": (10, 3)}, True),
}


def cells(shape, draw):
    return "[" + ", ".join(cells(shape[1:], draw) for _ in range(shape[0])) + "]" if shape else draw()


class FiniteValuesTest(TapcTest):
    def printed(self, inputs, *options):
        result = self.tapc("run", "p.tap", *[part for given in inputs for part in ("-i", given)], *options, timeout=60)
        self.assertEqual(result.returncode, 0, result.output)
        return result.stdout

    def test_results_agree_with_the_source(self):
        generator = random.Random(18)
        for name, (text, shapes, assumed) in PROGRAMS.items():
            self.write("p.tap", text)
            output = self.tapc("verify", "p.tap", "--evaluations", "0", timeout=60).stdout.decode()
            self.assertEqual("values are finite" in output, assumed, name + ": " + output)
            for masked in (False, True):
                # A row of -inf, and zeros beside infinities.
                inputs = [key + "=" + cells(shape, lambda: generator.choice(SPECIAL)) for key, shape in shapes.items()]
                if masked:
                    inputs[0] = next(iter(shapes)) + "=const:-inf"
                expected = self.printed(inputs, "--engine", "interp", "--passes=none")
                for options in (["--no-distribute"], ["--strict-fp"], ["--require-proof"], *([] if assumed else [[]])):
                    for engine in ("interp", "native"):
                        with self.subTest(name=name, options=options, engine=engine):
                            self.assertEqual(self.printed(inputs, "--engine", engine, *options), expected)

    def test_a_row_of_zeros_next_to_infinities(self):
        """0 * inf is nan as it is written; in another order it may be anything."""
        self.write("p.tap", PROGRAMS["product"][0])
        inputs = ["A=zeros", "B=ones", "C=const:inf"]
        for options in (["--no-distribute"], ["--strict-fp"], ["--require-proof"]):
            printed = self.printed(inputs, *options)
            self.assertIn(b"nan", printed)
            self.assertNotIn(b"inf", printed.replace(b"nan", b""))


if __name__ == "__main__":
    unittest.main()
