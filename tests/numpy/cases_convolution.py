"""Convolution and pooling. The references add up shifted views, one for each cell of the window."""

import itertools

import numpy as np

from draw import FLOATS, NUMBERS, draw, wide


def padded(x, space, pad, value=0):
    return np.pad(x, [(0, 0)] * (x.ndim - space) + [(pad, pad)] * space, constant_values=value)


def extents(x, space, window, stride, dilation):
    return [(n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[-space:], window)]


def views(x, space, window, stride, dilation):
    """For each offset in the window: the offset and the cells that it contributes, one per result cell."""
    out = extents(x, space, window, stride, dilation)
    for u in itertools.product(*[range(k) for k in window]):
        cut = tuple(slice(dilation * a, dilation * a + stride * (n - 1) + 1 if n > 0 else 0, stride) for a, n in zip(u, out))
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


def conv_transposed(x, w, stride, pad, extra):
    """By definition: every cell of x adds its weights to the result, which is then cut."""
    space = w.ndim - 2
    x, w = wide(x), wide(w)
    sizes = [stride * (n - 1) + k - 2 * pad + extra for n, k in zip(x.shape[2:], w.shape[2:])]
    whole = np.zeros((x.shape[0], w.shape[1], *[n + 2 * pad for n in sizes]), x.dtype)
    for i in itertools.product(*[range(n) for n in x.shape[2:]]):
        for u in itertools.product(*[range(k) for k in w.shape[2:]]):
            at = tuple(stride * a + b for a, b in zip(i, u))
            whole[(slice(None), slice(None)) + at] += x[(slice(None), slice(None)) + i] @ w[(slice(None), slice(None)) + u]
    return whole[(Ellipsis,) + tuple(slice(pad, pad + n) for n in sizes)]


def fill(table):
    for dtype in NUMBERS + [np.float16]:
        convolutions(table, dtype)
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
                table.add(f"conv{space}d_grouped", f"{groups}, {text}", [x, w], conv_grouped(x, w, groups, **options).astype(dtype))
            w = draw(dtype, 4, *window)
            want = conv_grouped(x, w[:, None], 4, **options)
            table.add(f"depthwise_conv{space}d", text, [x, w], want.astype(dtype))
    # No samples, no channels in, no channels out, a window as large as the image.
    for a, b in [((0, 2, 4, 4), (3, 2, 3, 3)), ((1, 0, 4, 4), (2, 0, 3, 3)), ((1, 2, 4, 4), (0, 2, 3, 3)), ((1, 1, 3, 3), (1, 1, 3, 3)),
                 ((1, 1, 2, 2), (1, 1, 3, 3))]:
        x, w = draw(dtype, *a), draw(dtype, *b)
        table.add("conv2d", "", [x, w], conv(x, w).astype(dtype))


def transposed(table, dtype):
    for space, size, window in [(1, (5,), (3,)), (2, (3, 4), (3, 2)), (3, (2, 3, 2), (2, 3, 2))]:
        for stride, pad, extra in [(1, 0, 0), (2, 1, 1), (3, 0, 0), (2, 0, 1), (1, 0, 3)]:
            if dtype not in (np.float32, np.int32) and stride != 3:
                continue
            x, w = draw(dtype, 2, 3, *size), draw(dtype, 3, 2, *window)
            table.add(f"conv{space}d_transposed", f"stride = {stride}, pad = {pad}, extra = {extra}", [x, w],
                      conv_transposed(x, w, stride, pad, extra).astype(dtype))
        phases(table, draw(dtype, 2, 3, *[k + 1 for k in window]), draw(dtype, 1, 2, *size), space)


def phases(table, w, x, space):
    for stride in (1, 2):
        more = [-k % stride for k in w.shape[2:]]
        full = np.pad(w, [(0, 0), (0, 0)] + [(0, m) for m in more])
        blocks = [n for k in full.shape[2:] for n in (k // stride, stride)]
        z = full.reshape(full.shape[:2] + tuple(blocks))
        z = z.transpose([0, 1] + [2 + 2 * a for a in range(space)] + [3 + 2 * a for a in range(space)])
        table.add(f"conv{space}d_phases", f"{stride}", [w], z)
        want = conv_transposed(x, w, stride, 0, 0)
        target = [stride * (n + -(-k // stride) - 1) for n, k in zip(x.shape[2:], w.shape[2:])]
        want = np.pad(want, [(0, 0), (0, 0)] + [(0, t - n) for t, n in zip(target, want.shape[2:])])
        table.add(f"conv{space}d_interleave", f"{stride}", [x, z], want.astype(w.dtype))


POOLS = [(2, 1, 0), (2, 2, 0), (3, 2, 1), (1, 3, 0)]
SIZES = {1: (7,), 2: (5, 7), 3: (5, 3, 5)}


def max_pools(table, dtype):
    bottom = -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min
    for space, size in SIZES.items():
        for window, stride, pad in POOLS:
            x = draw(dtype, 2, 2, *size)
            parts = [p for _, p in views(padded(x, space, pad, bottom), space, [window] * space, stride, 1)]
            table.add(f"max_pool{space}d", f"window = {window}, stride = {stride}, pad = {pad}", [x], np.max(parts, axis=0))


def avg_pools(table, dtype):
    for space, size in SIZES.items():
        for window, stride, pad in POOLS:
            x = draw(dtype, 2, 2, *size)
            total, count = (sum(p for _, p in views(padded(a, space, pad), space, [window] * space, stride, 1))
                            for a in (wide(x), np.ones(x.shape)))
            text = f"window = {window}, stride = {stride}, pad = {pad}"
            table.add(f"avg_pool{space}d", text, [x], (total / window**space).astype(dtype))
            table.add(f"avg_pool{space}d", text + ", count_include_pad = false", [x], (total / count).astype(dtype))
