#!/usr/bin/env python3
"""Coefficients of the polynomials in backend/maths: nearly minimax, rounded to the format one coefficient at a time,
the others refitted each time. Needs mpmath.

    scripts/minimax.py [NAME …]       prints each table as a line of C++, and its remaining error, as a power of two
"""
import struct
import sys

from mpmath import mp, mpf

mp.dps = 50


def to_format(x, bits):
    """The nearest float (bits 24) or double (53)."""
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0]) if bits == 24 else mpf(float(x))


def approximate(f, weight, low, high, powers, rounds=4):
    """Coefficients c_k of x^k, k in `powers`, for which the greatest |sum c_k x^k - f(x)| weight(x) is nearly least."""
    n = len(powers)
    count = 6 * n + 7
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (k + mpf(1) / 3) / count) for k in range(count)]
    rows = [[weight(x) * x**p for p in powers] + [weight(x) * f(x)] for x in points]
    emphasis = [mpf(1)] * count
    best = None
    for _ in range(rounds):
        normal, right = mp.matrix(n, n), mp.matrix(n, 1)
        for row, w in zip(rows, emphasis):
            for i in range(n):
                right[i] += w * row[i] * row[n]
                for j in range(n):
                    normal[i, j] += w * row[i] * row[j]
        c = list(mp.lu_solve(normal, right))
        errors = [abs(sum(a * r for a, r in zip(c, row)) - row[n]) for row in rows]
        if best is None or max(errors) < best[0]:
            best = (max(errors), c)
        emphasis = [w * e for w, e in zip(emphasis, errors)]  # Lawson: where it is worst it counts more
        total = sum(emphasis)
        emphasis = [w * count / total for w in emphasis]
    return best[1]


def fit(f, weight, low, high, degree, bits):
    fixed = []
    for k in range(degree + 1):
        rest = lambda x, fixed=tuple(fixed): f(x) - sum(a * x**p for p, a in enumerate(fixed))
        fixed.append(to_format(approximate(rest, weight, low, high, list(range(k, degree + 1)))[0], bits))
    steps = [low + (high - low) * k / 499 for k in range(500)]
    return fixed, max(abs(f(x) - sum(a * x**p for p, a in enumerate(fixed))) * weight(x) for x in steps)


def series(term, x, n=40):
    return sum(term(k) * x**k for k in range(n))


def exp_rest(r):  # exp(r) = 1 + r + r² q(r)
    return series(lambda k: 1 / mp.factorial(k + 2), r)


def log_rest(f):  # log(1 + f) = f + f² q(f)
    return series(lambda k: (-1) ** (k + 1) / mpf(k + 2), f, 60) if abs(f) < mpf("0.05") else (mp.log1p(f) - f) / f**2


def sin_rest(z):  # sin(r) = r + r z q(z), z = r²
    return series(lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3), z)


def cos_rest(z):  # cos(r) = 1 - z/2 + z² q(z)
    return series(lambda k: (-1) ** k / mp.factorial(2 * k + 4), z)


def sinh_rest(z):
    return series(lambda k: 1 / mp.factorial(2 * k + 3), z)


def cosh_rest(z):  # cosh(r) = 1 + z q(z)
    return series(lambda k: 1 / mp.factorial(2 * k + 2), z)


def odd_rest(function, slope_series):
    """function(t) = t + t z q(z)"""

    def rest(z):
        if z < mpf("0.001"):
            return slope_series(z)
        t = mp.sqrt(z)
        return (function(t) / t - 1) / z

    return rest


def taylor_odd(function):
    with mp.workdps(120):
        c = mp.taylor(function, 0, 41)
    return lambda z: sum(c[2 * k + 3] * z**k for k in range(18))


def tail_log(s):  # atanh(s) = s + s z/3 + s z² q(z)
    return series(lambda k: 1 / mpf(2 * k + 5), s, 60)


def log_erfc(a):
    return mp.log(mp.erfc(a))


def log2_erfc(a):  # log2(erfc(a)) = a q(a)
    return (-2 / mp.sqrt(mp.pi) if a < mpf("1e-12") else mp.log(mp.erfc(a)) / a) / mp.log(2)


def log2_erfc_weight(a):  # of the relative error of erf
    return mp.log(2) * (a * mp.erfc(a) / mp.erf(a) if a > 0 else mp.sqrt(mp.pi) / 2)


def exp2_rest(f):  # 2^f = 1 + f q(f)
    return mp.log(2) if f == 0 else (mpf(2) ** f - 1) / f


def exp2_weight(f):  # of the relative error of 1 - 2^f, and of 1 - 2^f / 2, to which f > 0 belongs
    return 1 / exp2_rest(f) if f <= 0 else f / (2 - mpf(2) ** f)


def erf_rest(z):  # erf(a) = a + a q(z)
    if z < mpf("1e-6"):
        return 2 / mp.sqrt(mp.pi) * (1 - z / 3 + z * z / 10 - z**3 / 42) - 1
    a = mp.sqrt(z)
    return mp.erf(a) / a - 1


half_ln2 = mp.log(2) / 2 * mpf("1.002")
root = mp.sqrt(mpf("0.5"))
quarter_turn = (mp.pi / 4 * mpf("1.01")) ** 2
tan_rest = odd_rest(mp.tan, taylor_odd(mp.tan))
atan_rest = odd_rest(mp.atan, taylor_odd(mp.atan))
asin_rest = odd_rest(mp.asin, taylor_odd(mp.asin))
tanh_rest = odd_rest(mp.tanh, taylor_odd(mp.tanh))
small, same = (lambda x: abs(x) + mpf("1e-30")), (lambda x: mpf(1))
square = lambda x: x * x + mpf("1e-30")

# name: function, weight of its error, from, to, degree and significant bits
tables = {
    "exp_f32": (exp_rest, square, -half_ln2, half_ln2, 4, 24),
    "expm1_f32": (exp_rest, small, -half_ln2, half_ln2, 5, 24),
    "exp_f64": (exp_rest, small, -half_ln2, half_ln2, 10, 53),
    "log_f32": (log_rest, small, root - 1 - mpf("0.001"), 1 / root - 1 + mpf("0.001"), 8, 24),
    "log_f64": (log_rest, small, root - 1 - mpf("0.00001"), 1 / root - 1 + mpf("0.00001"), 20, 53),
    "sin_f32": (sin_rest, small, mpf(0), quarter_turn, 3, 24),
    "sin_f64": (sin_rest, small, mpf(0), quarter_turn, 6, 53),
    "cos_f32": (cos_rest, square, mpf(0), quarter_turn, 2, 24),
    "cos_f64": (cos_rest, square, mpf(0), quarter_turn, 5, 53),
    "tan_f32": (tan_rest, small, mpf(0), quarter_turn, 5, 24),
    "tan_f64": (tan_rest, small, mpf(0), quarter_turn, 14, 53),
    "atan_f32": (atan_rest, small, mpf(0), mpf("0.2501"), 5, 24),
    "atan_f64": (atan_rest, small, mpf(0), mpf("0.2501"), 13, 53),
    "asin_f32": (asin_rest, small, mpf(0), mpf("0.2501"), 5, 24),
    "asin_f64": (asin_rest, small, mpf(0), mpf("0.2501"), 12, 53),
    "sinh_f32": (sinh_rest, small, mpf(0), half_ln2**2, 2, 24),
    "sinh_f64": (sinh_rest, small, mpf(0), half_ln2**2, 5, 53),
    "cosh_f32": (cosh_rest, small, mpf(0), half_ln2**2, 2, 24),
    "cosh_f64": (cosh_rest, small, mpf(0), half_ln2**2, 6, 53),
    "tanh_f32": (tanh_rest, small, mpf(0), mpf("0.3026"), 4, 24),
    "tanh_f64": (tanh_rest, small, mpf(0), mpf("0.3026"), 11, 53),
    "log2_erfc_f32": (log2_erfc, log2_erfc_weight, mpf(0), mpf(4), 8, 24),
    "exp2_f32": (exp2_rest, exp2_weight, -mpf("0.50001"), mpf("0.50001"), 5, 24),
    "erf_f64": (erf_rest, same, mpf(0), mpf("0.85"), 12, 53),
    "log_tail_f64": (tail_log, square, mpf(0), mpf("0.0296"), 8, 53),
    "erfc_f64": (log_erfc, lambda a: mp.erfc(a) / mp.erf(a), mpf("0.91"), mpf(6), 19, 53),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or tables:
        c, error = fit(*tables[name])
        bits = tables[name][5]
        digits = ", ".join(mp.nstr(x, 9 if bits == 24 else 17, min_fixed=-2, max_fixed=3) for x in c)
        print(f"constexpr double {name}[] = {{{digits}}};  // 2^{float(mp.log(error, 2)):.1f}", flush=True)
