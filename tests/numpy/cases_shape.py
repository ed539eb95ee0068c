"""Operators that only move cells."""

import numpy as np

from draw import NUMBERS, draw

TYPES = NUMBERS + [np.float16, np.uint8, np.bool_]
SHAPES = [(4,), (2, 3), (2, 1, 3), (0, 2), (3, 0), (1,), (2, 3, 2, 2)]


def fill(table):
    permutations(table)
    shapes(table)
    along_axis(table)


def permutations(table):
    for dtype in TYPES:
        for shape in [(2, 3), (1, 4), (0, 3), (3, 1)]:
            x = draw(dtype, *shape)
            table.add("transpose", "", [x], x.T)
        for shape in [(2, 3), (4, 2, 3), (2, 0, 3), (2, 2, 1, 3)]:
            x = draw(dtype, *shape)
            table.add("transpose_last", "", [x], np.swapaxes(x, -1, -2))
        for a, b in [(-3, -1), (-2, -1), (-3, -2), (-4, -1), (-4, -3), (0, 1), (1, 3), (0, -1)]:
            x = draw(dtype, 2, 3, 4, 5)
            table.add("swap_axes", f"{a}, {b}", [x], np.swapaxes(x, a, b))
        for count in range(4):
            x = draw(dtype, 2, 3, 4)
            table.add("rotate_axes", f"{count}", [x], np.transpose(x, [*range(count, 3), *range(count)]))
        for shape in [(2, 3), (2, 3, 4), (2, 3, 4, 5), (1, 0, 2), (0, 2, 3)]:
            x = draw(dtype, *shape)
            table.add("channels_last", "", [x], np.moveaxis(x, 1, -1))
            table.add("channels_first", "", [x], np.moveaxis(x, -1, 1))


def shapes(table):
    for dtype in TYPES:
        for shape in SHAPES + [()]:
            x = draw(dtype, *shape)
            table.add("flatten", "", [x], x.reshape(-1))
            for count in range(len(shape) + 1):
                rest = int(np.prod(shape[count:], dtype=int))
                table.add("flatten_trailing", f"{count}", [x], x.reshape(shape[:count] + (rest,)))
                table.add("expand", f"{count - len(shape) - 1}", [x], np.expand_dims(x, count))
                y = np.expand_dims(x, count)
                table.add("squeeze", f"{count - len(shape) - 1}", [y], x)
        for old, new in [((4, 3), (2, 6)), ((12,), (3, 2, 2)), ((2, 3, 2), (12,)), ((1, 1), (1,)), ((0, 3), (3, 0)),
                         ((6,), (6,))]:
            x = draw(dtype, *old)
            table.add("reshape", ", ".join(map(str, new)), [x], x.reshape(new))
        for shape, m in [((6,), 2), ((2, 6), 3), ((0, 4), 4), ((3, 0), 2), ((5,), 1)]:
            x = draw(dtype, *shape)
            y = x.reshape(shape[:-1] + (shape[-1] // m, m))
            table.add("split_last", f"m = {m}", [x], y)
            table.add("merge_last", "", [y], x)
        for old, new in [((3,), (2, 3)), ((2, 1), (2, 4)), ((1,), (0,)), ((), (2,)), ((3,), (3,)), ((1, 3), (4, 2, 3))]:
            x = draw(dtype, *old)
            table.add("broadcast_to", ", ".join(map(str, new)), [x], np.broadcast_to(x, new))


def along_axis(table):
    for n, dtype in enumerate(TYPES):
        for shape in SHAPES if n < 2 else SHAPES[n:n + 2]:
            for axis in (range(-len(shape), 0) if n else range(len(shape))):
                on_axis(table, draw(dtype, *shape), axis)
        for m, n in [((2, 3), (2, 1)), ((2, 0), (2, 3)), ((0, 2), (0, 2))]:
            x, z = draw(dtype, *m), draw(dtype, *n)
            table.add("concat", "-1", [x, z], np.concatenate([x, z], axis=-1))
        x, z = draw(dtype, 2, 3, 2), draw(dtype, 4, 3, 2)
        table.add("concat", "-3", [x, z], np.concatenate([x, z], axis=-3))
        for axis in (-1, -2, -3):
            x, z = draw(dtype, 2, 3), draw(dtype, 2, 3)
            table.add("stack", f"{axis}", [x, z], np.stack([x, z], axis=axis))
        table.add("stack", "-1", [x[0, 0], z[0, 0]], np.stack([x[0, 0], z[0, 0]]))
        for shape in [(3, 3), (2, 4), (4, 2), (2, 3, 3), (0, 2)]:
            x = draw(dtype, *shape)
            for shift in (0, 1, -1):
                table.add("lower_triangle", f"{shift}", [x],
                          np.where(np.tri(*shape[-2:], shift, dtype=bool), x, dtype(0)))
                upper = ~np.tri(*shape[-2:], shift - 1, dtype=bool)
                table.add("upper_triangle", f"{shift}", [x], np.where(upper, x, dtype(0)))
    for n in (0, 1, 5):
        table.add("iota", f"{n}", [], np.arange(n))


def on_axis(table, x, axis):
    n = x.shape[axis]
    around = lambda before, after: [(before, after) if k == axis % x.ndim else (0, 0) for k in range(x.ndim)]
    for before, after in [(0, 0), (2, 1)]:
        both = f"{axis}, before = {before}, after = {after}"
        table.add("pad", both, [x], np.pad(x, around(before, after)))
        if n > 0:
            table.add("pad_edge", both, [x], np.pad(x, around(before, after), mode="edge"))
        if n > 2:
            table.add("pad_reflect", both, [x], np.pad(x, around(before, after), mode="reflect"))
    value = 1 if x.dtype == bool else 7  # what is no value of the type is refused
    table.add("pad", f"{axis}, 1, 0, {value}.0", [x], np.pad(x, around(1, 0), constant_values=value))
    take = lambda s: x[tuple(s if k == axis % x.ndim else slice(None) for k in range(x.ndim))]
    for start, stop, step in [(0, n, 1), (min(1, n), n, 2), (0, n // 2, 3)]:
        table.add("slice", f"{axis}, {start}, {stop}, step = {step}", [x], take(slice(start, stop, step)))
    table.add("reverse", f"{axis}", [x], np.flip(x, axis))
    for shift in {0, min(1, n), n}:
        table.add("roll", f"{axis}, shift = {shift}", [x], np.roll(x, shift, axis))
    for reps in (0, 1, 3):
        tiles = [reps if k == axis % x.ndim else 1 for k in range(x.ndim)]
        table.add("tile", f"{axis}, reps = {reps}", [x], np.tile(x, tiles))
        table.add("repeat", f"{axis}, reps = {reps}", [x], np.repeat(x, reps, axis))
