"""Gathers and scatters, losses, stencils."""

import itertools

import numpy as np

from draw import FLOATS, NUMBERS, draw, positive, wide


def fill(table):
    gathers(table)
    losses(table)
    stencils(table)


def ids(high, *shape):
    return draw(np.int64, *shape, low=0, high=high)


def gathers(table):
    for dtype in NUMBERS + [np.float16]:
        t, g, at = draw(dtype, 4, 2), draw(dtype, 3, 2), ids(4, 3).astype(np.int32)
        table.add("embedding", "", [t, at], t[at])
        table.add("take", "0", [t, at], t[at])
        expected = np.zeros((4, 2), wide(g).dtype)
        np.add.at(expected, at, wide(g))
        table.add("embedding_gradient", "4", [at, g], expected.astype(dtype))
        for shape, rows, d in [((3,), 5, 2), ((2, 3), 4, 1), ((), 3, 2), ((0,), 2, 3), ((4,), 1, 0)]:
            t, at = draw(dtype, rows, d), ids(rows, *shape)
            table.add("embedding", "", [t, at], t[at])
            g = draw(dtype, *shape, d)
            expected = np.zeros((rows, d), wide(g).dtype)
            np.add.at(expected, at, wide(g))
            table.add("embedding_gradient", f"{rows}", [at, g], expected.astype(dtype))
        for axis in (-1, -2, -3):
            x = draw(dtype, 2, 3, 4)
            at = ids(x.shape[axis], 5)
            table.add("take", f"{axis}", [x, at], np.take(x, at, axis=axis))
        for shape, segments in [((6, 2), 3), ((4,), 5), ((0, 2), 2), ((5, 2, 2), 1)]:
            x, at = draw(dtype, *shape), ids(segments, shape[0])
            expected = np.zeros((segments, *shape[1:]), wide(x).dtype)
            np.add.at(expected, at, wide(x))
            table.add("segment_sum", f"{segments}", [x, at], expected.astype(dtype))
    mask, at = draw(np.bool_, 4, 2), ids(4, 3)
    table.add("embedding", "", [mask, at], mask[at])
    table.add("take", "0", [mask, at], mask[at])
    for shape, classes in [((5,), 3), ((2, 3), 4), ((), 2), ((0,), 3)]:
        at = ids(classes, *shape)
        table.add("one_hot", f"{classes}", [at], np.eye(classes, dtype=np.float32)[at])
        table.add("one_hot", f"{classes}, to = i32", [at], np.eye(classes, dtype=np.int32)[at])
        table.add("histogram", f"{classes}", [at], np.bincount(at.reshape(-1), minlength=classes))
    outside = np.array([-1, 0, 7], np.int64)  # adds to no row and is not an error
    table.add("histogram", "2", [outside], np.array([1, 0]))


def losses(table):
    for dtype in FLOATS:
        loose = {"rtol": 1e-5} if dtype == np.float32 else {}
        for shape in [(5,), (2, 3), (1,), (2, 1, 2)]:
            x, t = draw(dtype, *shape), draw(dtype, *shape)
            a, b = wide(x), wide(t)
            e = np.abs(a - b)
            table.add("mse_loss", "", [x, t], np.asarray((e**2).mean()).astype(dtype), **loose)
            table.add("mae_loss", "", [x, t], np.asarray(e.mean()).astype(dtype), **loose)
            for params, delta in (("", 1.0), ("delta = 0.5", 0.5)):
                expected = np.where(e <= delta, 0.5 * e**2, delta * (e - 0.5 * delta)).mean()
                table.add("huber_loss", params, [x, t], np.asarray(expected).astype(dtype), **loose)
            truth = draw(np.bool_, *shape).astype(dtype)
            p = 1 / (1 + np.exp(-a))
            expected = -(wide(truth) * np.log(p) + (1 - wide(truth)) * np.log(1 - p)).mean()
            table.add("bce_with_logits_loss", "", [x, truth], np.asarray(expected).astype(dtype), **loose)
            sign = truth * dtype(2) - dtype(1)
            expected = np.maximum(0, 1 - wide(sign) * a).mean()
            table.add("hinge_loss", "", [x, sign], np.asarray(expected).astype(dtype), **loose)
            p, q = positive(dtype, *shape), positive(dtype, *shape)
            p.reshape(-1)[0] = 0
            with np.errstate(all="ignore"):
                expected = np.where(p > 0, wide(p) * np.log(wide(p) / wide(q)), 0).sum()
            table.add("kl_divergence", "", [p, q], np.asarray(expected).astype(dtype), **loose)
        for shape, classes in [((4,), 3), ((2, 3), 4), ((1,), 1)]:
            x, label = draw(dtype, *shape, classes), ids(classes, *shape)
            chosen = np.take_along_axis(wide(x), label[..., None], -1)[..., 0]
            expected = (np.log(np.exp(wide(x)).sum(-1)) - chosen).mean()
            table.add("cross_entropy_loss", "", [x, label], np.asarray(expected).astype(dtype), **loose)
            table.add("nll_loss", "", [x, label], np.asarray(-chosen.mean()).astype(dtype), **loose)
        empty = np.zeros((0, 2), dtype)
        table.add("mse_loss", "", [empty, empty], np.asarray(np.nan, dtype))


def stencils(table):
    for dtype in NUMBERS + [np.float16]:
        for shape in [(4, 5), (1, 3), (1, 1), (0, 3)]:
            x, f, k = draw(dtype, *shape), draw(dtype, *shape), draw(dtype, 5)
            p = np.pad(wide(x), 1)
            h, w = shape
            centre, north, south = p[1:h + 1, 1:w + 1], p[:h, 1:w + 1], p[2:h + 2, 1:w + 1]
            west, east = p[1:h + 1, :w], p[1:h + 1, 2:w + 2]
            kk = wide(k)
            expected = kk[0] * centre + kk[1] * north + kk[2] * south + kk[3] * west + kk[4] * east
            table.add("stencil5", "", [x, k], expected.astype(dtype))
            table.add("laplace5", "", [x], (north + south + west + east - 4 * centre).astype(dtype))
            if np.issubdtype(dtype, np.floating):
                table.add("jacobi5", "", [x, f], ((north + south + west + east + wide(f)) / 4).astype(dtype))
        for shape in [(3, 4, 2), (1, 1, 1), (2, 0, 3)]:
            x, k = draw(dtype, *shape), draw(dtype, 3, 3, 3)
            p = np.pad(wide(x), 1)
            expected = sum(wide(k)[u] * p[u[0]:u[0] + shape[0], u[1]:u[1] + shape[1], u[2]:u[2] + shape[2]]
                       for u in itertools.product(range(3), repeat=3))
            table.add("stencil27", "", [x, k], expected.astype(dtype))
