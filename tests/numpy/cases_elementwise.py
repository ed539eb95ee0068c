"""Arithmetic, comparisons, logic, activations."""

import math

import numpy as np

from draw import FLOATS, WIDE, draw, positive, wide

# Pairs of shapes that broadcast.
PAIRS = [((2, 3), (2, 3)), ((), ()), ((3,), (2, 3)), ((2, 1, 4), (3, 1)), ((0, 3), (3,)), ((1,), (5,)),
         ((4, 0), (1, 1)),
         ((5,), ())]


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def fill(table):
    arithmetic(table)
    comparisons(table)
    single(table)
    activations(table)


def arithmetic(table):
    binary = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
              "squared_difference": lambda a, b: (a - b) * (a - b)}
    for op, f in binary.items():
        for n, (s, t) in enumerate(PAIRS):
            for dtype in WIDE if n == 0 else WIDE[n % 3:n % 3 + 2]:
                a, b = draw(dtype, *s), draw(dtype, *t)
                table.add(op, "", [a, b], f(wide(a), wide(b)).astype(dtype))
    for s, t in PAIRS:
        for dtype in FLOATS:
            a, b = draw(dtype, *s), positive(dtype, *t)
            table.add("div", "", [a, b], (wide(a) / wide(b)).astype(dtype))
            table.add("power", "", [np.abs(a) + dtype(0.5), b], ((np.abs(wide(a)) + 0.5) ** wide(b)).astype(dtype))
        for dtype in (np.int32, np.int64, np.int8):
            a, b = draw(dtype, *s, low=-20, high=20), draw(dtype, *t, low=1, high=6) * dtype(-1 if len(t) == 2 else 1)
            table.add("div", "", [a, b], a // b)
            table.add("mod", "", [a, b], a % b)
    # Integers wrap; nan wins in maxima; division of floats by zero.
    top = np.array([127, -128, 100], np.int8)
    table.add("add", "", [top, top], top + top)
    table.add("mul", "", [top, top], top * top)
    odd = np.array([np.nan, 1.0, np.inf, -np.inf], np.float32)
    table.add("maximum", "", [odd, np.float32(2)], np.maximum(odd, np.float32(2)))
    table.add("minimum", "", [np.float32(2), odd], np.minimum(odd, np.float32(2)))
    with np.errstate(all="ignore"):
        table.add("div", "", [np.array([1.0, -1.0, 0.0]), np.array(0.0)], np.array([1.0, -1.0, 0.0]) / 0.0)


def comparisons(table):
    binary = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
              "greater": np.greater, "greater_equal": np.greater_equal}
    for op, f in binary.items():
        for n, (s, t) in enumerate(PAIRS):
            for dtype in (WIDE[n % len(WIDE)], np.float32):
                a, b = draw(dtype, *s), draw(dtype, *t)
                table.add(op, "", [a, b], f(a, b))
        nans = np.array([np.nan, 1.0])
        table.add(op, "", [nans, nans], f(nans, nans))
    for s, t in PAIRS:
        a, b = draw(np.bool_, *s), draw(np.bool_, *t)
        table.add("logical_and", "", [a, b], a & b)
        table.add("logical_or", "", [a, b], a | b)
        table.add("logical_not", "", [a], ~a)
        table.add("equal", "", [a, b], a == b)
        table.add("not_equal", "", [a, b], a != b)
        for dtype in (np.float32, np.int64, np.bool_):
            x, y = draw(dtype, *t), draw(dtype, *t)
            table.add("select", "", [a, x, y], np.where(a, x, y))


def single(table):
    for shape in [(2, 3), (), (0,), (1, 5)]:
        for dtype in WIDE:
            x = draw(dtype, *shape)
            table.add("neg", "", [x], np.negative(x))
            table.add("square", "", [x], (wide(x) * wide(x)).astype(dtype))
            table.add("zeros_like", "", [x], np.zeros_like(x))
            table.add("ones_like", "", [x], np.ones_like(x))
        x = draw(np.bool_, *shape)
        table.add("zeros_like", "", [x], np.zeros_like(x))
        table.add("ones_like", "", [x], np.ones_like(x))
        table.add("cast", "f32", [x], x.astype(np.float32))
        table.add("cast", "bool", [x.astype(np.int32)], x)
        for dtype in FLOATS:
            x = positive(dtype, *shape)
            table.add("reciprocal", "", [x], (1 / wide(x)).astype(dtype))
            x = draw(dtype, *shape)
            table.add("scale", "2.5", [x], (2.5 * wide(x)).astype(dtype))
            table.add("clip", "lo = -0.5, hi = 1.25", [x], np.clip(wide(x), -0.5, 1.25).astype(dtype))
    x = np.array([-1.75, 2.5, 0.0, 100.0, 1e10, np.nan, -np.inf])
    table.add("cast", "f32", [x], x.astype(np.float32))
    table.add("cast", "i32", [x], np.array([-1, 2, 0, 100, 2**31 - 1, 0, -(2**31)], np.int32))
    y = draw(np.int32, 7, low=-500, high=500)
    table.add("cast", "i8", [y], y.astype(np.int8))
    table.add("cast", "f64", [y], y.astype(np.float64))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


ACTIVATIONS = [
    ("leaky_relu", "", lambda x: np.where(x > 0, x, 0.01 * x)),
    ("leaky_relu", "0.25", lambda x: np.where(x > 0, x, 0.25 * x)),
    ("elu", "", lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    ("elu", "alpha = 0.5", lambda x: np.where(x > 0, x, 0.5 * (np.exp(x) - 1))),
    ("celu", "2.0", lambda x: np.maximum(x, 0) + np.minimum(0, 2 * (np.exp(x / 2) - 1))),
    ("selu", "", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1))),
    ("gelu", "", lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))),
    ("gelu_tanh", "", lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    ("silu", "", lambda x: x * sigmoid(x)),
    ("softplus", "", softplus),
    ("log_sigmoid", "", lambda x: -softplus(-x)),
    ("softsign", "", lambda x: x / (1 + np.abs(x))),
    ("mish", "", lambda x: x * np.tanh(softplus(x))),
    ("hard_tanh", "", lambda x: np.clip(x, -1, 1)),
    ("hard_sigmoid", "", lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    ("hard_swish", "", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ("tanh_shrink", "", lambda x: x - np.tanh(x)),
    ("soft_shrink", "", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    ("soft_shrink", "1.25", lambda x: np.sign(x) * np.maximum(np.abs(x) - 1.25, 0)),
]


def activations(table):
    for op, params, f in ACTIVATIONS:
        for dtype in FLOATS:
            for shape in [(3, 5), (), (0, 2), (1,)]:
                x = draw(dtype, *shape) * dtype(2)
                table.add(op, params, [x], np.asarray(f(wide(x))).astype(dtype))
        big = np.array([-80.0, -30.0, 30.0, 80.0])
        table.add(op, params, [big], np.asarray(f(big)))
    for dtype in WIDE:
        x = draw(dtype, 4, 3) * dtype(3)
        table.add("relu", "", [x], np.maximum(x, dtype(0)))
        table.add("relu6", "", [x], np.clip(x, dtype(0), dtype(6)))
    for dtype in FLOATS:
        for shape in [(2, 3, 4), (1, 2), (0, 3, 2), (2, 3, 2, 2)]:
            x, s = draw(dtype, *shape), draw(dtype, shape[1])
            along = wide(s).reshape((-1,) + (1,) * (len(shape) - 2))
            table.add("prelu", "", [x, s], np.where(x > 0, wide(x), along * wide(x)).astype(dtype))
        for shape in [(2, 6), (4,), (0, 2), (3, 1, 2)]:
            x = draw(dtype, *shape)
            half = shape[-1] // 2
            table.add("glu", "", [x], (wide(x)[..., :half] * sigmoid(wide(x)[..., half:])).astype(dtype))
            g, u = draw(dtype, *shape), draw(dtype, *shape)
            table.add("swiglu", "", [g, u], (wide(g) * sigmoid(wide(g)) * wide(u)).astype(dtype))
