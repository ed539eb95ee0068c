"""Reductions over axes, positions of extremes, prefix reductions, recurrences."""

import numpy as np

from draw import FLOATS, NUMBERS, distinct, draw, positive, wide

SHAPES = [(5,), (2, 3), (3, 1, 2), (0, 3), (2, 0), (1,), (2, 2, 2, 3)]


def least(dtype):
    return -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


def greatest(dtype):
    return np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).max


def log_sum_exp(x, axes, keep):
    most = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
    base = np.where(np.isinf(most), 0, most)
    total = np.log(np.sum(np.exp(x - base), axis=axes, keepdims=keep))
    return total + (base if keep else np.squeeze(base, axes))


# How each family reduces a set of axes in NumPy. Sums and products wrap in their own type.
FAMILIES = {
    "sum": lambda x, axes, keep: np.sum(wide(x), axis=axes, keepdims=keep, dtype=wide(x).dtype).astype(x.dtype),
    "prod": lambda x, axes, keep: np.prod(wide(x), axis=axes, keepdims=keep, dtype=wide(x).dtype).astype(x.dtype),
    "max": lambda x, axes, keep: np.max(x, axis=axes, keepdims=keep, initial=least(x.dtype)).astype(x.dtype),
    "min": lambda x, axes, keep: np.min(x, axis=axes, keepdims=keep, initial=greatest(x.dtype)).astype(x.dtype),
    "any": lambda x, axes, keep: np.any(x, axis=axes, keepdims=keep),
    "all": lambda x, axes, keep: np.all(x, axis=axes, keepdims=keep),
    "mean": lambda x, axes, keep: (np.sum(wide(x), axis=axes, keepdims=keep)
                                   / np.float64(np.prod([x.shape[a] for a in axes], dtype=float))).astype(x.dtype),
    "logsumexp": lambda x, axes, keep: log_sum_exp(wide(x), axes, keep).astype(x.dtype),
    "variance": lambda x, axes,
            keep: (np.sum((wide(x) - np.mean(wide(x), axis=axes, keepdims=True))**2, axis=axes, keepdims=keep)
                                       / np.float64(np.prod([x.shape[a] for a in axes], dtype=float))).astype(x.dtype),
}


def fill(table):
    with np.errstate(all="ignore"), np.testing.suppress_warnings() as quiet:
        quiet.filter(RuntimeWarning)
        families(table)
        positions(table)
        logsumexps(table)
        variances(table)
        prefixes(table)
        recurrences(table)


def types_of(family):
    if family in ("any", "all"):
        return [np.bool_]
    if family in ("mean", "variance", "logsumexp"):
        return FLOATS
    return NUMBERS + [np.float16, np.int8]


def families(table):
    for family, f in FAMILIES.items():
        for n, dtype in enumerate(types_of(family)):
            for shape in SHAPES if n < 2 else SHAPES[n:n + 3]:
                x = draw(dtype, *shape)
                rank = len(shape)
                for axis in [*range(-rank, 0), 0, rank - 1]:
                    table.add(f"{family}_axis", f"{axis}", [x], f(x, (axis,), False))
                    table.add(f"{family}_axis_keep", f"{axis}", [x], f(x, (axis,), True))
                for count in range(rank + 1):
                    first, last = tuple(range(count)), tuple(range(rank - count, rank))
                    table.add(f"{family}_leading", f"{count}", [x], f(x, first, False))
                    table.add(f"{family}_trailing", f"{count}", [x], f(x, last, False))
                    if count:
                        ones = ", ".join(["1"] * count)
                        table.add(f"{family}_leading_keep", ones, [x], f(x, first, True))
                        table.add(f"{family}_trailing_keep", ones, [x], f(x, last, True))
                table.add(f"{family}_all", "", [x], np.asarray(f(x, tuple(range(rank)), False)))
            x = draw(dtype)
            table.add(f"{family}_all", "", [x], np.asarray(f(x, (), False)))
    nan = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]], np.float32)
    table.add("max_axis", "-1", [nan], np.max(nan, axis=-1))
    table.add("min_axis", "-1", [nan], np.min(nan, axis=-1))


def positions(table):
    for dtype in NUMBERS + [np.float16, np.int8]:
        for shape in [(5,), (2, 3), (3, 1, 2), (0, 3), (1,), (2, 2, 2, 3)]:
            for x in (distinct(dtype, *shape), draw(dtype, *shape, low=0, high=2)):  # the second has ties
                for axis in range(-len(shape), 0):
                    if x.shape[axis] == 0:
                        continue
                    table.add("argmax_axis", f"{axis}", [x], np.argmax(x, axis=axis))
                    table.add("argmin_axis", f"{axis}", [x], np.argmin(x, axis=axis))
                    table.add("argmax_axis_keep", f"{axis}", [x], np.argmax(x, axis=axis, keepdims=True))
                    table.add("argmin_axis_keep", f"{axis}", [x], np.argmin(x, axis=axis, keepdims=True))
                positions_in_packs(table, x)
                table.add("top1", "", [x], (np.max(x, axis=-1), np.argmax(x, axis=-1)))
                table.add("bottom1", "", [x], (np.min(x, axis=-1), np.argmin(x, axis=-1)))
    nan = np.array([[1.0, np.nan, np.nan], [4.0, -np.inf, 6.0]])
    table.add("argmax_axis", "-1", [nan], np.argmax(nan, axis=-1))
    table.add("argmin_axis", "-1", [nan], np.argmin(nan, axis=-1))


def positions_in_packs(table, x):
    """Over several axes: the position in them as if they were one."""
    rank = x.ndim
    for name, find in (("argmax", np.argmax), ("argmin", np.argmin)):
        for count in range(1, rank + 1):
            lead, rest = x.shape[:count], x.shape[count:]
            if np.prod(lead) > 0:
                expected = find(x.reshape((-1,) + rest), axis=0)
                table.add(f"{name}_leading", f"{count}", [x], expected)
                table.add(f"{name}_leading_keep", ", ".join(["1"] * count), [x], np.reshape(expected, (1,) * count + rest))
            rest, last = x.shape[:rank - count], x.shape[rank - count:]
            if np.prod(last) > 0:
                expected = find(x.reshape(rest + (int(np.prod(last)),)), axis=-1)
                table.add(f"{name}_trailing", f"{count}", [x], expected)
                table.add(f"{name}_trailing_keep", ", ".join(["1"] * count), [x], np.reshape(expected, rest + (1,) * count))
        if x.size:
            table.add(f"{name}_all", "", [x], np.asarray(find(x)))


def logsumexps(table):
    for dtype in FLOATS:
        for shape in [(5,), (2, 3), (3, 1, 2), (2, 0), (0, 2)]:
            x = draw(dtype, *shape)
            for axis in range(-len(shape), 0):
                for keep, op in ((False, "logsumexp_axis"), (True, "logsumexp_axis_keep")):
                    expected = np.logaddexp.reduce(wide(x), axis=axis, keepdims=keep)
                    table.add(op, f"{axis}", [x], expected.astype(dtype))
            table.add("logsumexp_one_pass", "", [x], np.logaddexp.reduce(wide(x), axis=-1).astype(dtype))
    for values, expected in [([1000.0, 1000.0, -np.inf], 1000 + np.log(2)), ([-np.inf, -np.inf], -np.inf),
                         ([np.inf, 0.0], np.inf)]:
        table.add("logsumexp_axis", "-1", [np.array(values)], np.float64(expected))
        table.add("logsumexp_axis_keep", "-1", [np.array(values)], np.array([expected]))


def variances(table):
    for dtype in FLOATS:
        x = draw(dtype, 4, 3, 5)
        for axis in (-1, -2, -3):
            expected = np.var(wide(x), axis=axis, ddof=1)
            table.add("variance_axis", f"{axis}, ddof = 1", [x], expected.astype(dtype))
            table.add("variance_axis_keep", f"{axis}, ddof = 1", [x], np.expand_dims(expected, axis).astype(dtype))
        table.add("variance_leading", "2, ddof = 1", [x], np.var(wide(x), axis=(0, 1), ddof=1).astype(dtype))
        table.add("variance_trailing", "2, ddof = 1", [x], np.var(wide(x), axis=(1, 2), ddof=1).astype(dtype))
        table.add("variance_leading_keep", "1, 1, ddof = 1", [x],
                  np.var(wide(x), axis=(0, 1), ddof=1, keepdims=True).astype(dtype))
        table.add("variance_trailing_keep", "1, ddof = 1", [x],
                  np.var(wide(x), axis=-1, ddof=1, keepdims=True).astype(dtype))
        for ddof in (0, 1):
            table.add("variance_two_pass", f"ddof = {ddof}", [x], np.var(wide(x), axis=-1, ddof=ddof).astype(dtype))
        table.add("variance_all", "ddof = 1", [x], np.asarray(np.var(wide(x), ddof=1)).astype(dtype))
        for shape in [(2, 3), (), (0,), (1,)]:
            x = draw(dtype, *shape)
            table.add("norm2", "", [x], np.asarray(np.sqrt((wide(x)**2).sum())).astype(dtype))
    far = np.array([1e8 + 1, 1e8 + 2, 1e8 + 3, 1e8 + 4])
    table.add("variance_axis", "-1", [far], np.float64(1.25), rtol=1e-7)


def prefixes(table):
    scans = {
        "cumsum": lambda x, a: np.cumsum(x, axis=a, dtype=x.dtype),
        "cumsum_exclusive": lambda x, a: np.cumsum(x, axis=a, dtype=x.dtype) - x,
        "cumsum_reverse": lambda x, a: np.flip(np.cumsum(np.flip(x, a), axis=a, dtype=x.dtype), a),
        "cumprod": lambda x, a: np.cumprod(x, axis=a, dtype=x.dtype),
        "cummax": np.maximum.accumulate,
        "cummin": np.minimum.accumulate,
    }
    for op, f in scans.items():
        for dtype in NUMBERS + [np.float16]:
            for shape in [(5,), (2, 3), (3, 1, 2), (0, 3), (1,)]:
                x = draw(dtype, *shape)
                for axis in [*range(-len(shape), 0), 0]:
                    table.add(op, f"{axis}", [x], np.asarray(f(wide(x), axis)).astype(dtype))
    for dtype in FLOATS:
        for shape in [(5,), (3, 2), (0, 2), (1,), (4, 2, 2)]:
            x = draw(dtype, *shape)
            table.add("cumlogsumexp", "", [x], np.logaddexp.accumulate(wide(x), axis=0).astype(dtype))


def recurrences(table):
    for dtype in [*FLOATS, np.int32, np.int64]:
        for shape in [(6,), (4, 3), (1, 2), (0, 2), (3, 2, 2)]:
            a, b, start = draw(dtype, *shape), draw(dtype, *shape), draw(dtype, *shape[1:])
            h, expected = wide(start), np.zeros(shape, wide(start).dtype)
            for t in range(shape[0]):
                h = wide(a[t]) * h + wide(b[t])
                expected[t] = h
            table.add("linear_recurrence", "", [a, b, start], expected.astype(dtype),
                      rtol=1e-5 if dtype == np.float32 else 0)
