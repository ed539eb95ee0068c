"""Convolution and pooling. The references add up shifted views, one for each cell of the window."""

import itertools

import numpy as np

from draw import FLOATS, NUMBERS, draw, wide


def each(value, space):
    """One number for every axis of space, or one for each."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * space


def padded(x, space, pad, value=0):
    return np.pad(x, [(0, 0)] * (x.ndim - space) + [(p, p) for p in each(pad, space)], constant_values=value)


def extents(x, space, window, stride, dilation):
    return [(n - d * (k - 1) - 1) // s + 1
            for n, k, s, d in zip(x.shape[-space:], window, each(stride, space), each(dilation, space))]


def views(x, space, window, stride, dilation):
    """For each offset in the window: the offset and the cells that it contributes, one per result cell."""
    out = extents(x, space, window, stride, dilation)
    for u in itertools.product(*[range(k) for k in window]):
        cut = tuple(slice(d * a, d * a + s * (n - 1) + 1 if n > 0 else 0, s)
                    for a, n, s, d in zip(u, out, each(stride, space), each(dilation, space)))
        yield u, x[(Ellipsis,) + cut]


def conv(x, w, stride=1, pad=0, dilation=1):
    space = w.ndim - 2
    x, window = padded(wide(x), space, pad), w.shape[2:]
    y = np.zeros((x.shape[0], w.shape[0], *extents(x, space, window, stride, dilation)), x.dtype)
    for u, part in views(x, space, window, stride, dilation):
        y += np.einsum("bc...,oc->bo...", part, wide(w)[(slice(None), slice(None)) + u])
    return y


def conv_grouped(x, w, groups, **options):
    parts = zip(np.split(x, groups, axis=1), np.split(w, groups, axis=0))
    return np.concatenate([conv(a, b, **options) for a, b in parts], axis=1)


def conv_transposed(x, w, stride, pad, extra, dilation=1, groups=1):
    """By definition: every cell of x adds its weights to the result, which is then cut."""
    if groups > 1:
        parts = zip(np.split(x, groups, axis=1), np.split(w, groups, axis=0))
        return np.concatenate([conv_transposed(a, b, stride, pad, extra, dilation) for a, b in parts], axis=1)
    space = w.ndim - 2
    x, w = wide(x), wide(w)
    stride, pad, extra, dilation = (each(v, space) for v in (stride, pad, extra, dilation))
    sizes = [s * (n - 1) + d * (k - 1) + 1 - 2 * p + e
             for n, k, s, p, e, d in zip(x.shape[2:], w.shape[2:], stride, pad, extra, dilation)]
    whole = np.zeros((x.shape[0], w.shape[1], *[n + 2 * p for n, p in zip(sizes, pad)]), x.dtype)
    for i in itertools.product(*[range(n) for n in x.shape[2:]]):
        for u in itertools.product(*[range(k) for k in w.shape[2:]]):
            at = tuple(s * a + d * b for a, b, s, d in zip(i, u, stride, dilation))
            whole[(slice(None), slice(None)) + at] += x[(slice(None), slice(None)) + i] @ w[(slice(None), slice(None))
                                                                                            + u]
    return whole[(Ellipsis,) + tuple(slice(p, p + n) for n, p in zip(sizes, pad))]


def fill(table):
    for dtype in NUMBERS + [np.float16]:
        convolutions(table, dtype)
        by_axis(table, dtype)
        transposed(table, dtype)
    for dtype in NUMBERS + [np.float16]:
        max_pools(table, dtype)
    for dtype in FLOATS:
        avg_pools(table, dtype)
    for dtype in FLOATS:
        for shape in [(2, 3, 4), (2, 3, 2, 5), (1, 1, 1), (0, 2, 3), (2, 1, 2, 2, 2)]:
            x = draw(dtype, *shape)
            axes = tuple(range(2, len(shape)))
            table.add("global_max_pool", "", [x], x.max(axis=axes))
            table.add("global_avg_pool", "", [x], wide(x).mean(axis=axes).astype(dtype))


OPTIONS = [(1, 0, 1), (1, 1, 1), (2, 1, 1), (1, 2, 2), (3, 0, 1)]


def convolutions(table, dtype):
    spaces = {1: ((7,), (3,)), 2: ((6, 5), (3, 2)), 3: ((4, 5, 4), (2, 1, 2))}
    for space, (size, window) in spaces.items():
        for stride, pad, dilation in OPTIONS:
            if dtype not in (np.float32, np.int32) and (stride, pad, dilation) != (2, 1, 1):
                continue
            options = dict(stride=stride, pad=pad, dilation=dilation)
            text = f"stride = {stride}, pad = {pad}, dilation = {dilation}"
            x = draw(dtype, 2, 4, *size)
            w = draw(dtype, 3, 4, *window)
            table.add(f"conv{space}d", text, [x, w], conv(x, w, **options).astype(dtype))
            for groups in (2, 4):
                w = draw(dtype, groups * 2, 4 // groups, *window)
                table.add(f"conv{space}d_grouped", f"{groups}, {text}", [x, w],
                          conv_grouped(x, w, groups, **options).astype(dtype))
            w = draw(dtype, 4, *window)
            expected = conv_grouped(x, w[:, None], 4, **options)
            table.add(f"depthwise_conv{space}d", text, [x, w], expected.astype(dtype))
    # No samples, no channels in, no channels out, a window as large as the image.
    for a, b in [((0, 2, 4, 4), (3, 2, 3, 3)), ((1, 0, 4, 4), (2, 0, 3, 3)), ((1, 2, 4, 4), (0, 2, 3, 3)),
                 ((1, 1, 3, 3), (1, 1, 3, 3)),
                 ((1, 1, 2, 2), (1, 1, 3, 3))]:
        x, w = draw(dtype, *a), draw(dtype, *b)
        table.add("conv2d", "", [x, w], conv(x, w).astype(dtype))


def by_axis(table, dtype):
    """Another stride, pad and dilation for each axis of space."""
    for space, axes, size, window in [(2, "hw", (6, 7), (3, 2)), (3, "dhw", (5, 4, 6), (2, 2, 3))]:
        options = dict(stride=(2, 1, 3)[:space], pad=(0, 2, 1)[:space], dilation=(1, 3, 2)[:space])
        text = ", ".join(f"{name}_{axis} = {n}" for name, values in options.items() for axis, n in zip(axes, values))
        x, w = draw(dtype, 2, 4, *size), draw(dtype, 3, 4, *window)
        table.add(f"conv{space}d", text, [x, w], conv(x, w, **options).astype(dtype))
        w = draw(dtype, 4, 2, *window)
        table.add(f"conv{space}d_grouped", f"2, {text}", [x, w], conv_grouped(x, w, 2, **options).astype(dtype))
        w = draw(dtype, 4, *window)
        table.add(f"depthwise_conv{space}d", text, [x, w], conv_grouped(x, w[:, None], 4, **options).astype(dtype))
        options["extra"], options["pad"] = (1, 0, 2)[:space], (0, 1, 1)[:space]
        text = ", ".join(f"{name}_{axis} = {n}" for name, values in options.items() for axis, n in zip(axes, values))
        w = draw(dtype, 4, 3, *window)
        table.add(f"conv{space}d_transposed", f"groups = 2, {text}", [x, w],
                  conv_transposed(x, w, groups=2, **options).astype(dtype))


def transposed(table, dtype):
    for space, size, window in [(1, (5,), (3,)), (2, (3, 4), (3, 2)), (3, (2, 3, 2), (2, 3, 2))]:
        for stride, pad, extra in [(1, 0, 0), (2, 1, 1), (3, 0, 0), (2, 0, 1), (1, 0, 3)]:
            if dtype not in (np.float32, np.int32) and stride != 3:
                continue
            x, w = draw(dtype, 2, 3, *size), draw(dtype, 3, 2, *window)
            table.add(f"conv{space}d_transposed", f"stride = {stride}, pad = {pad}, extra = {extra}", [x, w],
                      conv_transposed(x, w, stride, pad, extra).astype(dtype))
        for stride, dilation, groups in [(1, 2, 1), (2, 3, 1), (3, 2, 2), (1, 1, 4)]:
            x, w = draw(dtype, 1, 4, *size), draw(dtype, 4, 2, *window)
            text = f"stride = {stride}, pad = 1, dilation = {dilation}, groups = {groups}"
            table.add(f"conv{space}d_transposed", text, [x, w],
                      conv_transposed(x, w, stride, 1, 0, dilation, groups).astype(dtype))
        phases(table, draw(dtype, 2, 3, *[k + 1 for k in window]), draw(dtype, 1, 2, *size), space)


def phases(table, w, x, space):
    for stride in (1, 2):
        more = [-k % stride for k in w.shape[2:]]
        full = np.pad(w, [(0, 0), (0, 0)] + [(0, m) for m in more])
        blocks = [n for k in full.shape[2:] for n in (k // stride, stride)]
        z = full.reshape(full.shape[:2] + tuple(blocks))
        z = z.transpose([0, 1] + [2 + 2 * a for a in range(space)] + [3 + 2 * a for a in range(space)])
        each_axis = ", ".join([str(stride)] * space)
        table.add(f"conv{space}d_phases", each_axis, [w], z)
        spread = np.zeros(w.shape[:2] + tuple(stride * k for k in w.shape[2:]), w.dtype)
        spread[(Ellipsis,) + (slice(None, None, stride),) * space] = w
        table.add(f"conv{space}d_spread", each_axis, [w], spread)
        expected = conv_transposed(x, w, stride, 0, 0)
        target = [stride * (n + -(-k // stride) - 1) for n, k in zip(x.shape[2:], w.shape[2:])]
        expected = np.pad(expected, [(0, 0), (0, 0)] + [(0, t - n) for t, n in zip(target, expected.shape[2:])])
        table.add(f"conv{space}d_interleave", f"1, {each_axis}", [x, z], expected.astype(w.dtype))


POOLS = [(2, 1, 0), (2, 2, 0), (3, 2, 1), (1, 3, 0)]
SIZES = {1: (7,), 2: (5, 7), 3: (5, 3, 5)}


def max_pools(table, dtype):
    pools_by_axis(table, dtype, False)
    bottom = -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
    for space, size in SIZES.items():
        for window, stride, pad in POOLS:
            x = draw(dtype, 2, 2, *size)
            parts = [p for _, p in views(padded(x, space, pad, bottom), space, [window] * space, stride, 1)]
            table.add(f"max_pool{space}d", f"window = {window}, stride = {stride}, pad = {pad}", [x],
                      np.max(parts, axis=0))


def pools_by_axis(table, dtype, average):
    for space, axes in [(2, "hw"), (3, "dhw")]:
        window, stride, pad = (3, 2, 1)[:space], (1, 2, 1)[:space], (1, 0, 0)[:space]
        text = "window = 1, " + ", ".join(f"{name}_{axis} = {n}" for name, values in
                                          [("window", window), ("stride", stride), ("pad", pad)] for axis,
                                          n in zip(axes, values))
        x = draw(dtype, 2, 1, *(5, 4, 3)[:space])
        bottom = 0 if average else -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
        parts = [p for _, p in views(padded(x, space, pad, bottom), space, window, stride, 1)]
        if average:
            table.add(f"avg_pool{space}d", text, [x], np.mean([wide(p) for p in parts], axis=0).astype(dtype))
        else:
            table.add(f"max_pool{space}d", text, [x], np.max(parts, axis=0))


def avg_pools(table, dtype):
    pools_by_axis(table, dtype, True)
    for space, size in SIZES.items():
        for window, stride, pad in POOLS:
            x = draw(dtype, 2, 2, *size)
            total, count = (sum(p for _, p in views(padded(a, space, pad), space, [window] * space, stride, 1))
                            for a in (wide(x), np.ones(x.shape)))
            text = f"window = {window}, stride = {stride}, pad = {pad}"
            table.add(f"avg_pool{space}d", text, [x], (total / window**space).astype(dtype))
            table.add(f"avg_pool{space}d", text + ", count_include_pad = false", [x], (total / count).astype(dtype))
