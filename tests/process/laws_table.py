"""Monoids, what tapc must say of their laws, and the same combination in Python: the oracle of laws_test.py.

A row is (name, components, identity, combine in Tap, combine in Python, laws): a letter each for identity, associative and
commutative: p proved, a assumed, n broken (of commutativity: not commutative).
"""
import numpy as np

INF = np.inf


def F(x):
    """f64, or wider where the states are: to see what is computed without overflow."""
    return x if isinstance(x, np.longdouble) else np.float64(x)


def exp(x): return np.exp(F(x))
def log(x): return np.log(F(x))
def sqrt(x): return np.sqrt(F(x))
def div(x, y): return F(x) / F(y)


def wrapped(bits, signed=True):
    def wrap(x):
        x &= (1 << bits) - 1
        return x - (1 << bits) if signed and x >> (bits - 1) else x
    return wrap


w8, w32, w64, u8 = wrapped(8), wrapped(32), wrapped(64), wrapped(8, False)


class Stops(Exception):
    """The program ends here: an integer division by zero."""


def floor_div(x, y):
    if y == 0:
        raise Stops
    return x // y


def shift_right(x, by):
    if by < 0:
        raise Stops
    return x >> min(by, 64)


def online(a, b):
    m = max(a[0], b[0])
    p = 1 if a[0] == m else exp(a[0] - m)
    q = 1 if b[0] == m else exp(b[0] - m)
    return m, a[1] * p + b[1] * q, a[2] * p + b[2] * q


def guarded_lse(a, b):
    m = max(a[0], b[0])
    return (m if m == -INF else m + log(exp(a[0] - m) + exp(b[0] - m)),)


def welford(a, b):
    n, d = a[0] + b[0], b[1] - a[1]
    if a[0] > 0 and b[0] > 0:
        return n, a[1] + d * b[0] / n, a[2] + b[2] + d * d * a[0] * b[0] / n
    return a if a[0] > 0 else b if b[0] > 0 else (n, a[1] + b[1], a[2] + b[2])


def mean(a, b):
    n = a[0] + b[0]
    return n, 0 if n == 0 else div(a[0] * a[1] + b[0] * b[1], n)


def mean_by_parts(a, b):
    if a[0] == 0:
        return b
    return a if b[0] == 0 else (a[0] + b[0], div(a[0] * a[1] + b[0] * b[1], a[0] + b[0]))


def welford_in_range(a, b):
    n, d = a[0] + b[0], b[1] - a[1]
    if a[0] > 0 and b[0] > 0:
        w = div(b[0], n)
        return n, a[1] + d * w, a[2] + b[2] + d * (d * (a[0] * w))
    return a if a[0] > 0 else b if b[0] > 0 else (n, a[1] + b[1], a[2] + b[2])


def parallel(a, b):
    if a[0] > 0 and b[0] > 0:
        return (div(a[0] * b[0], a[0] + b[0]),)
    return (a[0] if a[0] > 0 else b[0] if b[0] > 0 else min(a[0], b[0]),)


def parallel_in_range(a, b):
    if a[0] > 0 and b[0] > 0:
        return (a[0] * div(b[0], a[0] + b[0]),)
    return (a[0] if a[0] > 0 else b[0] if b[0] > 0 else min(a[0], b[0]),)


def kadane(a, b):
    return a[0] + b[0], max(a[1], a[0] + b[1]), max(b[2], a[2] + b[0]), max(a[3], b[3], a[2] + b[1])


def tropical(x, y):
    return (max(x[0] + y[0], x[1] + y[2]), max(x[0] + y[1], x[1] + y[3]),
            max(x[2] + y[0], x[3] + y[2]), max(x[2] + y[1], x[3] + y[3]))


def clamps(a, b):  # the composition of x -> min(max(x, l), h)
    return min(max(a[0], b[0]), b[1]), min(max(a[1], b[0]), b[1])


def argmax(a, b):
    return b if b[0] > a[0] or (b[0] == a[0] and b[1] < a[1]) else a


F1 = "v: f64"
I64 = "v: i64"
LOG_EXP = "log(exp(a.v) + exp(b.v))"
ROWS = [
    # built of what every float has
    ("plus", F1, "0", "a.v + b.v", lambda a, b: (a[0] + b[0],), "ppp"),
    ("plus_f32", "v: f32", "0", "a.v + b.v", lambda a, b: (a[0] + b[0],), "ppp"),
    ("plus_bf16", "v: bf16", "0", "a.v + b.v", lambda a, b: (a[0] + b[0],), "ppp"),
    ("plus_f16", "v: f16", "0", "b.v + a.v", lambda a, b: (a[0] + b[0],), "ppp"),
    ("times", F1, "1", "a.v * b.v", lambda a, b: (a[0] * b[0],), "ppp"),
    ("greatest", F1, "-inf", "max(a.v, b.v)", lambda a, b: (max(a[0], b[0]),), "ppp"),
    ("least", F1, "inf", "if a.v < b.v then a.v else b.v", lambda a, b: (min(a[0], b[0]),), "ppp"),
    ("probably", F1, "0", "a.v + b.v - a.v * b.v", lambda a, b: (a[0] + b[0] - a[0] * b[0],), "ppp"),
    ("negated", F1, "0", "-(-a.v - b.v)", lambda a, b: (a[0] + b[0],), "ppp"),
    ("cut_at_zero", F1, "0", "max(a.v + b.v, 0)", lambda a, b: (max(a[0] + b[0], 0),), "nnp"),
    ("absolute", F1, "0", "abs(a.v) + abs(b.v)", lambda a, b: (abs(a[0]) + abs(b[0]),), "npp"),
    ("signs", F1, "1", "sign(a.v) * sign(b.v)", lambda a, b: (np.sign(a[0]) * np.sign(b[0]),), "npp"),
    ("farthest", F1, "0", "if abs(a.v) >= abs(b.v) then a.v else b.v",
     lambda a, b: (a[0] if abs(a[0]) >= abs(b[0]) else b[0],), "ppn"),
    ("affine_of", "c: f64, d: f64", "(1, 0)", "(a.c * b.c, b.c * a.d + b.d)",
     lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), "ppn"),
    # maxima of sums
    ("kadane", "s: f64, p: f64, q: f64, m: f64", "(0, -inf, -inf, -inf)",
     "let p = if a.p > a.s + b.p then a.p else a.s + b.p, q = max(b.q, a.q + b.s)"
     " in (a.s + b.s, p, q, max(a.m, max(b.m, a.q + b.p)))", kadane, "ppn"),
    ("tropical", "a: f64, b: f64, c: f64, d: f64", "(0, -inf, -inf, 0)",
     "(max(a.a + b.a, a.b + b.c), max(a.a + b.b, a.b + b.d), max(a.c + b.a, a.d + b.c), max(a.c + b.b, a.d + b.d))",
     tropical, "ppn"),
    ("lowest_prefix", "s: f32, m: f32", "(0, inf)", "(a.s + b.s, min(a.m, a.s + b.m))",
     lambda a, b: (a[0] + b[0], min(a[1], a[0] + b[1])), "ppn"),
    ("clamps", "l: f64, h: f64", "(-inf, inf)", "(min(max(a.l, b.l), b.h), min(max(a.h, b.l), b.h))", clamps, "npn"),
    ("prefix_that_wraps", "s: i8, m: i8", "(0, 127)", "(a.s + b.s, min(a.m, a.s + b.m))",
     lambda a, b: (w8(a[0] + b[0]), min(a[1], w8(a[0] + b[1]))), "nnn"),
    ("extent", "l: i32, h: i32", "(i32.max, i32.min)", "(min(a.l, b.l), max(a.h, b.h))",
     lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), "ppp"),
    # exponentials and logarithms
    ("lse_less_one", F1, "0", "log(exp(a.v) + exp(b.v) - 1)", lambda a, b: (log(exp(a[0]) + exp(b[0]) - 1),), "ana"),
    ("lse_expm1", F1, "0", "log1p(expm1(a.v) + expm1(b.v))",
     lambda a, b: (np.log1p(np.expm1(a[0]) + np.expm1(b[0])),), "ana"),
    ("lse_plain", F1, "-inf", LOG_EXP, lambda a, b: (log(exp(a[0]) + exp(b[0])),), "aap"),
    ("lse_guarded", F1, "-inf",
     "let m = max(a.v, b.v) in if m == -inf then m else m + log(exp(a.v - m) + exp(b.v - m))", guarded_lse, "ppp"),
    ("lse_one_sided", F1, "-inf", "let m = max(a.v, b.v) in m + log(exp(a.v - m) + exp(b.v - m))",
     lambda a, b: (max(a[0], b[0]) + log(exp(a[0] - max(a[0], b[0])) + exp(b[0] - max(a[0], b[0]))),), "nnp"),
    ("sum_by_product", F1, "0", "log(exp(a.v) * exp(b.v))", lambda a, b: (log(exp(a[0]) * exp(b[0])),), "aap"),
    ("product_by_sum", F1, "1", "if a.v > 0 and b.v > 0 then exp(log(a.v) + log(b.v)) else a.v * b.v",
     lambda a, b: (exp(log(a[0]) + log(b[0])) if a[0] > 0 and b[0] > 0 else a[0] * b[0],), "aaa"),
    ("online", "m: f64, s: f64, o: f64", "(-inf, 0, 0)",
     "let m = max(a.m, b.m), p = if a.m == m then 1 else exp(a.m - m), q = if b.m == m then 1 else exp(b.m - m)"
     " in (m, a.s * p + b.s * q, a.o * p + b.o * q)", online, "ppp"),
    ("greatest_log", F1, "-inf", "if log(a.v) > log(b.v) then a.v else b.v",
     lambda a, b: (a[0] if log(a[0]) > log(b[0]) else b[0],), "nnn"),
    ("greatest_exp", F1, "-inf", "if exp(a.v) > exp(b.v) then a.v else b.v",
     lambda a, b: (a[0] if exp(a[0]) > exp(b[0]) else b[0],), "aaa"),
    ("log_and_add", F1, "0", "log(a.v) + b.v", lambda a, b: (log(a[0]) + b[0],), "nnn"),
    ("vanishing", F1, "0", "let m = max(a.v, b.v) in if m - a.v - b.v > 0 then a.v + b.v else log(exp(a.v + b.v))",
     lambda a, b: (a[0] + b[0] if max(a[0], b[0]) - a[0] - b[0] > 0 else log(exp(a[0] + b[0])),), "aaa"),
    ("underflowing", F1, "0", "if a.v + b.v > 0 then a.v + b.v else log(exp(a.v + b.v))",
     lambda a, b: (a[0] + b[0] if a[0] + b[0] > 0 else log(exp(a[0] + b[0])),), "aap"),
    # roots, powers, functions with a domain
    ("length", F1, "0", "sqrt(a.v * a.v + b.v * b.v)", lambda a, b: (sqrt(a[0] * a[0] + b[0] * b[0]),), "nap"),
    ("length_by_powers", F1, "0", "pow(pow(a.v, 2) + pow(b.v, 2), 0.5)",
     lambda a, b: (sqrt(a[0] * a[0] + b[0] * b[0]),), "naa"),
    ("roots", F1, "0", "let r = sqrt(a.v) + sqrt(b.v) in r * r",
     lambda a, b: ((sqrt(a[0]) + sqrt(b[0])) ** 2,), "npp"),
    ("geometric", F1, "1", "sqrt(a.v * b.v)", lambda a, b: (sqrt(a[0] * b[0]),), "nnp"),
    ("inverse_root", F1, "0", "rsqrt(a.v + b.v)", lambda a, b: (div(1, sqrt(a[0] + b[0])),), "nnp"),
    ("by_arcsine", F1, "-1", "if asin(a.v) > asin(b.v) then a.v else b.v",
     lambda a, b: (a[0] if np.arcsin(a[0]) > np.arcsin(b[0]) else b[0],), "nnn"),
    ("speeds", F1, "0", "tanh(atanh(a.v) + atanh(b.v))",
     lambda a, b: (np.tanh(np.arctanh(a[0]) + np.arctanh(b[0])),), "naa"),
    ("by_arcosh", F1, "1", "acosh(a.v) + acosh(b.v)", lambda a, b: (np.arccosh(a[0]) + np.arccosh(b[0]),), "nnp"),
    ("by_tanh", F1, "0", "if tanh(a.v) > tanh(b.v) then a.v else b.v",
     lambda a, b: (a[0] if np.tanh(a[0]) > np.tanh(b[0]) else b[0],), "npa"),
    ("powers", F1, "1", "pow(a.v, b.v)", lambda a, b: (np.power(F(a[0]), F(b[0])),), "nnn"),
    ("cubes", F1, "0", "if pow(a.v, 3) > pow(b.v, 3) then a.v else b.v",
     lambda a, b: (a[0] if F(a[0]) ** 3 > F(b[0]) ** 3 else b[0],), "naa"),
    ("floors", F1, "0", "floor(a.v) + b.v", lambda a, b: (np.floor(a[0]) + b[0],), "npn"),
    ("remainders", F1, "0", "(a.v + b.v) % 2", lambda a, b: ((a[0] + b[0]) % 2,), "nap"),
    ("by_nan", F1, "-1", "if isnan(sqrt(a.v)) then b.v else a.v",
     lambda a, b: (b[0] if np.isnan(sqrt(a[0])) else a[0],), "npn"),
    # divisions
    ("harmonic", F1, "inf", "1 / (1 / a.v + 1 / b.v)", lambda a, b: (div(1, div(1, a[0]) + div(1, b[0])),), "aap"),
    ("velocities", F1, "0", "(a.v + b.v) / (1 + a.v * b.v)",
     lambda a, b: (div(a[0] + b[0], 1 + a[0] * b[0]),), "pap"),
    ("parallel", F1, "0",
     "if a.v > 0 and b.v > 0 then a.v * b.v / (a.v + b.v) else if a.v > 0 then a.v else if b.v > 0 then b.v"
     " else min(a.v, b.v)", parallel, "paa"),
    ("parallel_in_range", F1, "0",
     "if a.v > 0 and b.v > 0 then a.v * (b.v / (a.v + b.v)) else if a.v > 0 then a.v else if b.v > 0 then b.v"
     " else min(a.v, b.v)", parallel_in_range, "ppp"),
    ("ratio", F1, "1", "a.v / b.v", lambda a, b: (div(a[0], b[0]),), "nnn"),
    ("welford", "n: f64, mean: f64, m2: f64", "(0, 0, 0)",
     "let n = a.n + b.n, d = b.mean - a.mean in if a.n > 0 and b.n > 0"
     " then (n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n)"
     " else if a.n > 0 then a else if b.n > 0 then b else (n, a.mean + b.mean, a.m2 + b.m2)", welford, "paa"),
    ("welford_in_range", "n: f64, mean: f64, m2: f64", "(0, 0, 0)",
     "let n = a.n + b.n, d = b.mean - a.mean, w = b.n / n in if a.n > 0 and b.n > 0"
     " then (n, a.mean + d * w, a.m2 + b.m2 + d * (d * (a.n * w)))"
     " else if a.n > 0 then a else if b.n > 0 then b else (n, a.mean + b.mean, a.m2 + b.m2)", welford_in_range, "ppp"),
    ("mean", "n: f64, m: f64", "(0, 0)",
     "let n = a.n + b.n in (n, if n == 0 then 0 else (a.n * a.m + b.n * b.m) / n)", mean, "aap"),
    ("mean_by_parts", "n: f64, m: f64", "(0, 0)",
     "if a.n == 0 then b else if b.n == 0 then a else (a.n + b.n, (a.n * a.m + b.n * b.m) / (a.n + b.n))",
     mean_by_parts, "aaa"),
    ("unguarded_mean", "n: f64, m: f64", "(0, 0)", "(a.n + b.n, (a.n * a.m + b.n * b.m) / (a.n + b.n))",
     lambda a, b: (a[0] + b[0], div(a[0] * a[1] + b[0] * b[1], a[0] + b[0])), "nna"),
    # what leaves the range of floats though states and results do not
    ("cubes_cancel", F1, "0", "a.v + b.v + (a.v * a.v * a.v - a.v * a.v * a.v) * 1000000",
     lambda a, b: (a[0] + b[0] + (a[0] * a[0] * a[0] - a[0] * a[0] * a[0]) * 1000000,), "aaa"),
    ("multiples_cancel", F1, "0", "a.v + b.v + (1e18 * a.v - 1e18 * a.v)",
     lambda a, b: (a[0] + b[0] + (1e18 * a[0] - 1e18 * a[0]),), "aaa"),
    ("states_cancel", F1, "0", "a.v + b.v + (a.v - a.v) + 4 * (b.v - b.v)",
     lambda a, b: (a[0] + b[0] + (a[0] - a[0]) + 4 * (b[0] - b[0]),), "ppp"),
    ("factors_cancel", F1, "1", "if a.v == 0 or b.v == 0 then 0 else a.v * b.v * b.v / b.v",
     lambda a, b: (0 if a[0] == 0 or b[0] == 0 else div(a[0] * b[0] * b[0], b[0]),), "aaa"),
    ("times_zero", F1, "0", "a.v + b.v + 0 * (a.v * b.v)", lambda a, b: (a[0] + b[0] + 0 * (a[0] * b[0]),), "pap"),
    ("squares_compared", F1, "0", "if a.v * a.v == b.v * b.v + 1 - 1 then a.v + b.v else a.v + b.v + 0 * (a.v * a.v)",
     lambda a, b: (a[0] + b[0] if a[0] * a[0] == b[0] * b[0] + 1 - 1 else a[0] + b[0] + 0 * (a[0] * a[0]),), "aaa"),
    ("no_number_if_large", F1, "0", "if isinf(a.v * b.v * 1e10) then 0 else a.v + b.v",
     lambda a, b: (0 if np.isinf(F(a[0]) * b[0] * 1e10) else a[0] + b[0],), "pap"),
    ("doubled_and_halved", F1, "0", "(a.v * 2 + b.v * 2) / 2", lambda a, b: ((F(a[0]) * 2 + F(b[0]) * 2) / 2,), "aap"),
    ("tripled_and_divided", F1, "0", "(a.v * 3 + b.v * 3) / 3", lambda a, b: ((F(a[0]) * 3 + F(b[0]) * 3) / 3,), "aap"),
    ("scaled_back", F1, "0", "(a.v + b.v) * 1024 * 0.0009765625", lambda a, b: ((F(a[0]) + b[0]) * 1024 * 0.0009765625,), "aap"),
    ("double_product_halved", F1, "1", "a.v * b.v * 2 / 2", lambda a, b: (F(a[0]) * b[0] * 2 / 2,), "aap"),
    ("greatest_eightfold", F1, "-inf", "max(a.v * 8, b.v * 8) * 0.125", lambda a, b: (max(F(a[0]) * 8, F(b[0]) * 8) * 0.125,), "aap"),
    ("logarithm_of_a_cancelled_sum", F1, "0", "a.v + b.v + log(1 + abs(a.v) - abs(a.v))",
     lambda a, b: (a[0] + b[0] + log(1 + abs(F(a[0])) - abs(F(a[0]))),), "aaa"),
    ("quotient_by_a_cancelled_sum", F1, "0", "b.v + a.v / (1 + abs(a.v) - abs(a.v))",
     lambda a, b: (b[0] + div(a[0], 1 + abs(F(a[0])) - abs(F(a[0]))),), "aaa"),
    ("guarded_cancelled_sum", F1, "0", "if 1 + abs(a.v) - abs(a.v) > 0 then a.v / (1 + abs(a.v) - abs(a.v)) + b.v else a.v + b.v",
     lambda a, b: (div(a[0], 1 + abs(F(a[0])) - abs(F(a[0]))) + b[0] if 1 + abs(F(a[0])) - abs(F(a[0])) > 0
                   else a[0] + b[0],), "ppp"),
    ("longest_by_squares", F1, "0", "sqrt(max(a.v * a.v, b.v * b.v))",
     lambda a, b: (sqrt(max(a[0] * a[0], b[0] * b[0])),), "nap"),
    # integers
    ("plus_i8", "v: i8", "0", "a.v + b.v", lambda a, b: (w8(a[0] + b[0]),), "ppp"),
    ("times_u8", "v: u8", "1", "a.v * b.v", lambda a, b: (u8(a[0] * b[0]),), "ppp"),
    ("greatest_i64", I64, "i64.min", "max(a.v, b.v)", lambda a, b: (max(a[0], b[0]),), "ppp"),
    ("largest_u8", "v: u8", "0", "if b.v < a.v then a.v else b.v", lambda a, b: (max(a[0], b[0]),), "ppp"),
    ("saturating", "v: i32", "0", "min(a.v + b.v, 100)", lambda a, b: (min(w32(a[0] + b[0]), 100),), "nnp"),
    ("absolute_i8", "v: i8", "0", "abs(a.v) + abs(b.v)", lambda a, b: (w8(abs(a[0]) + abs(b[0])),), "nnp"),
    ("farthest_i64", I64, "0", "if abs(a.v) > abs(b.v) then a.v else b.v",
     lambda a, b: (a[0] if w64(abs(a[0])) > w64(abs(b[0])) else b[0],), "npn"),
    ("quotients", I64, "1", "a.v / b.v", lambda a, b: (w64(floor_div(a[0], b[0])),), "nnn"),
    ("even", I64, "0", "(a.v + b.v) / 2 * 2", lambda a, b: (w64(w64(a[0] + b[0]) // 2 * 2),), "nnp"),
    ("shifted", "v: i32", "0", "a.v + shl(b.v, 1)", lambda a, b: (w32(a[0] + (b[0] << 1)),), "nnn"),
    ("shifts", I64, "0", "shr(a.v, b.v)", lambda a, b: (shift_right(a[0], b[0]),), "nnn"),
    ("bits_or", "v: u8", "0", "bitor(a.v, b.v)", lambda a, b: (a[0] | b[0],), "ppp"),
    ("bits_and", "v: i16", "-1", "bitand(a.v, b.v)", lambda a, b: (a[0] & b[0],), "ppp"),
    ("bits_xor", I64, "0", "bitxor(a.v, b.v)", lambda a, b: (a[0] ^ b[0],), "ppp"),
    ("modulo", I64, "0", "(a.v + b.v) % 7", lambda a, b: (w64(a[0] + b[0]) % 7,), "nnp"),
    ("sign_of", "v: i8", "1", "sign(a.v) * sign(b.v)",
     lambda a, b: (((a[0] > 0) - (a[0] < 0)) * ((b[0] > 0) - (b[0] < 0)),), "naa"),
    # mixtures
    ("counted", "n: i64, s: f32", "(0, 0)", "(a.n + b.n, a.s + b.s)",
     lambda a, b: (w64(a[0] + b[0]), a[1] + b[1]), "ppp"),
    ("argmax", "v: f32, at: i64", "(-inf, i64.max)", "if b.v > a.v or (b.v == a.v and b.at < a.at) then b else a",
     argmax, "ppp"),
    ("segmented", "new: bool, s: f64", "(false, 0)", "(a.new or b.new, if b.new then b.s else a.s + b.s)",
     lambda a, b: (a[0] or b[0], b[1] if b[0] else a[1] + b[1]), "ppn"),
    ("differs", "t: bool", "false", "a.t != b.t", lambda a, b: (a[0] != b[0],), "ppp"),
    ("by_whole", F1, "0", "f64(i32(a.v)) + b.v", lambda a, b: (F(np.trunc(a[0])) + b[0],), "nnn"),
    ("by_half", "v: f32", "0", "f32(f16(a.v + b.v))",
     lambda a, b: (F(np.float16(a[0] + b[0])),), "aap"),
    ("count_in_i8", "n: i8", "0", "i8(i32(a.n) + i32(b.n))", lambda a, b: (w8(a[0] + b[0]),), "ppp"),
]
# Of a fold: (name, components, identity, combine, fold, the letter of its law)
FOLDS = [
    ("sums", F1, "0", "a.v + b.v", "fold[j] (v) = sum[j] v[j]", "p"),
    ("up_to_six", F1, "0", "a.v + b.v", "fold[j] (v) = let n = sum[j] f64(1) in if n > 6 then 0 else sum[j] v[j]", "a"),
    ("up_to_two", F1, "0", "a.v + b.v", "fold[j] (v) = let n = sum[j] f64(1) in if n > 2 then 0 else sum[j] v[j]", "n"),
    ("logs", "m: f64, s: f64", "(-inf, 0)",
     "let m = max(a.m, b.m), p = if a.m == m then 1 else exp(a.m - m), q = if b.m == m then 1 else exp(b.m - m)"
     " in (m, a.s * p + b.s * q)",
     "fold[j] (t, w) = let m = max[j] t[j], e[j] = if t[j] == m then 1 else exp(t[j] - m) in (m, sum[j] e[j] * w[j])",
     "p"),
    ("cubes_that_cancel", F1, "0", "a.v + b.v", "fold[j] (v) = sum[j] (v[j] + (v[j] * v[j] * v[j] - v[j] * v[j] * v[j]))",
     "a"),
    ("by_logs", F1, "1", "a.v * b.v", "fold[j] (v) = exp(sum[j] log(v[j]))", "n"),
]
