"""Softmax and the norms."""

import numpy as np

from draw import FLOATS, draw, positive, wide


def softmax(x, axis):
    if x.shape[axis] == 0:
        return x
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def standardise(x, axes, eps):
    mean, var = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


def channels(v, rank):
    return wide(v).reshape((-1,) + (1,) * (rank - 2))


def fill(table):
    softmaxes(table)
    trailing(table)
    by_channel(table)


def softmaxes(table):
    for dtype in FLOATS:
        for shape in [(5,), (2, 3), (3, 1, 2), (0, 3), (2, 0), (1,)]:
            x = draw(dtype, *shape)
            table.add("softmax", "", [x], softmax(wide(x), -1).astype(dtype))
            table.add("softmax_one_pass", "", [x], softmax(wide(x), -1).astype(dtype))
            with np.errstate(divide="ignore"):
                table.add("log_softmax", "", [x], np.log(softmax(wide(x), -1)).astype(dtype))
                for axis in range(-len(shape), 0):
                    table.add("softmax_axis", f"{axis}", [x], softmax(wide(x), axis).astype(dtype))
                    table.add("log_softmax_axis", f"{axis}", [x], np.log(softmax(wide(x), axis)).astype(dtype))
    far = np.array([[1000.0, 1001.0, -np.inf], [-1000.0, -1000.0, -1000.0]])  # exp of these overflows, or is 0
    table.add("softmax", "", [far], softmax(far, -1))
    table.add("softmax_one_pass", "", [far], softmax(far, -1))
    table.add("softmax_axis", "-1", [far], softmax(far, -1))
    far[0, 2] = 999.0
    table.add("log_softmax", "", [far], np.log(softmax(far, -1)))
    table.add("log_softmax_axis", "-1", [far], np.log(softmax(far, -1)))


def trailing(table):
    for dtype in FLOATS:
        for lead, last in [((2,), (5,)), ((), (4,)), ((2, 3), (3,)), ((2,), (2, 3)), ((0,), (3,)), ((3,), (1,))]:
            x, gamma, beta = draw(dtype, *lead, *last), draw(dtype, *last), draw(dtype, *last)
            axes = tuple(range(-len(last), 0))
            for params, eps in (("", 1e-5), ("eps = 0.125", 0.125)):
                expected = standardise(wide(x), axes, eps) * wide(gamma) + wide(beta)
                for op in ("layer_norm", "layer_norm_one_pass"):
                    table.add(op, params, [x, gamma, beta], expected.astype(dtype), rtol=1e-5 if dtype == np.float32 else 0)
                table.add("standardize", params, [x, gamma], standardise(wide(x), axes, eps).astype(dtype),
                          rtol=1e-5 if dtype == np.float32 else 0)
                expected = wide(x) / np.sqrt((wide(x)**2).mean(axis=axes, keepdims=True) + eps) * wide(gamma)
                table.add("rms_norm", params, [x, gamma], expected.astype(dtype), rtol=1e-5 if dtype == np.float32 else 0)


def by_channel(table):
    for dtype in FLOATS:
        loose = {"rtol": 1e-5} if dtype == np.float32 else {"rtol": 1e-2} if dtype == np.float16 else {}
        for shape in [(3, 4), (2, 4, 5), (2, 4, 3, 2), (1, 2, 2, 2, 3)]:
            rank = len(shape)
            x, gamma, beta = draw(dtype, *shape), draw(dtype, shape[1]), draw(dtype, shape[1])
            mean, var = draw(dtype, shape[1]), positive(dtype, shape[1])
            g, b = channels(gamma, rank), channels(beta, rank)
            axes = (0,) + tuple(range(2, rank))
            expected = standardise(wide(x), axes, 1e-5) * g + b
            table.add("batch_norm", "", [x, gamma, beta],
                      (expected.astype(dtype), wide(x).mean(axis=axes).astype(dtype), wide(x).var(axis=axes).astype(dtype)),
                      **loose)
            expected = (wide(x) - channels(mean, rank)) / np.sqrt(channels(var, rank) + 0.25) * g + b
            table.add("batch_norm_inference", "0.25", [x, mean, var, gamma, beta], expected.astype(dtype), **loose)
            for groups in (1, 2, shape[1]):
                parts = wide(x).reshape((shape[0], groups, -1))
                expected = standardise(parts, (2,), 1e-5).reshape(shape) * g + b
                if parts.shape[2] > 1:
                    table.add("group_norm", f"{groups}", [x, gamma, beta], expected.astype(dtype), **loose)
            if rank > 2:
                expected = standardise(wide(x), tuple(range(2, rank)), 1e-5) * g + b
                table.add("instance_norm", "", [x, gamma, beta], expected.astype(dtype), **loose)
        for shape in [(2, 3), (2, 3, 4), (0, 3, 2), (2, 1, 2, 2)]:
            x, bias = draw(dtype, *shape), draw(dtype, shape[1])
            table.add("channel_bias", "", [x, bias], (wide(x) + channels(bias, len(shape))).astype(dtype))
