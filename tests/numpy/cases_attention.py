"""Attention, by a softmax over all scores."""

import numpy as np

from draw import FLOATS, draw, wide


def softmax(t):
    with np.errstate(invalid="ignore"):
        e = np.exp(t - t.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attend(q, k, v, see=None):
    q, k, v = wide(q), wide(k), wide(v)
    t = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if see is not None:
        t = np.where(see, t, -np.inf)
    return softmax(t) @ v


def causal(n, m):
    return np.tri(n, m, m - n, dtype=bool)


def fill(table):
    for dtype in FLOATS:
        loose = {"rtol": {np.float64: 1e-9, np.float32: 1e-5, np.float16: 5e-3}[dtype]}
        for lead in [(), (2,), (2, 3), (0, 2)]:
            for n, m, d, e in [(3, 3, 4, 4), (2, 5, 3, 2), (1, 1, 1, 1), (4, 2, 2, 3), (0, 2, 2, 2)]:
                q, k, v = draw(dtype, *lead, n, d), draw(dtype, *lead, m, d), draw(dtype, *lead, m, e)
                table.add("attention", "", [q, k, v], attend(q, k, v).astype(dtype), **loose)
                table.add("attention_two_pass", "", [q, k, v], attend(q, k, v).astype(dtype), **loose)
                scores = wide(q) @ np.swapaxes(wide(k), -1, -2) / np.sqrt(d)
                table.add("attention_scores", "", [q, k], scores.astype(dtype), **loose)
                table.add("causal_mask", "", [q, k], causal(n, m))
                if n <= m:
                    expected = attend(q, k, v, causal(n, m))
                    table.add("attention_causal", "", [q, k, v], expected.astype(dtype), **loose)
                see = draw(np.bool_, n, m)
                see[:, :1] = True
                table.add("attention_masked", "", [q, k, v, see], attend(q, k, v, see).astype(dtype), **loose)
        grouped(table, dtype, loose)
        layers(table, dtype, loose)
        rotations(table, dtype)
    big = np.array([[100.0, 0.0], [0.0, 100.0]], np.float32) * 3
    table.add("attention", "", [big, big, big], attend(big, big, big).astype(np.float32), rtol=1e-5)
    # More queries than keys: the first queries see nothing.
    q, k = draw(np.float32, 3, 2), draw(np.float32, 1, 2)
    expected = np.array([[np.nan, np.nan], [np.nan, np.nan], k[0]], np.float32)
    table.add("attention_causal", "", [q, k, k], expected)


def grouped(table, dtype, loose):
    for lead, heads, group in [((), 2, 2), ((2,), 1, 3), ((2,), 3, 1)]:
        n, m, d, e = 3, 4, 2, 3
        q = draw(dtype, *lead, heads * group, n, d)
        k, v = draw(dtype, *lead, heads, m, d), draw(dtype, *lead, heads, m, e)
        k2, v2 = np.repeat(k, group, axis=-3), np.repeat(v, group, axis=-3)
        table.add("attention_grouped", f"{group}", [q, k, v], attend(q, k2, v2).astype(dtype), **loose)
        expected = attend(q, k2, v2, causal(n, m))
        table.add("attention_grouped_causal", f"{group}", [q, k, v], expected.astype(dtype), **loose)


def layers(table, dtype, loose):
    if dtype == np.float16:
        loose = {"rtol": 2e-2}
    for lead, n, m in [((), 3, 4), ((2,), 2, 3)]:
        x, z = draw(dtype, *lead, n, 4) * dtype(0.5), draw(dtype, *lead, m, 4) * dtype(0.5)
        wq, wk, wv, wo = draw(dtype, 2, 4, 3), draw(dtype, 2, 4, 3), draw(dtype, 2, 4, 2), draw(dtype, 2, 2, 5)
        for op, inputs, other, see in [("multi_head_attention", [x, z], z, None),
                                       ("multi_head_attention_causal", [x], x, causal(n, n))]:
            expected = 0
            for h in range(2):
                q, k, v = wide(x) @ wide(wq[h]), wide(other) @ wide(wk[h]), wide(other) @ wide(wv[h])
                expected = expected + attend(q, k, v, see) @ wide(wo[h])
            table.add(op, "", inputs + [wq, wk, wv, wo], expected.astype(dtype), **loose)


def rotations(table, dtype):
    for shape, base in [((3, 4), 10000.0), ((2, 5, 2), 10000.0), ((2, 2, 3, 6), 100.0)]:
        x = draw(dtype, *shape)
        n, half = shape[-2], shape[-1] // 2
        # As complex numbers: the first half is the real part.
        turn = np.exp(1j * np.arange(n)[:, None] * base**(-np.arange(half) / half))
        y = (wide(x)[..., :half] + 1j * wide(x)[..., half:]) * turn
        expected = np.concatenate([y.real, y.imag], axis=-1)
        table.add("rotary", f"{base}", [x], expected.astype(dtype),
                  rtol={np.float64: 1e-9, np.float32: 1e-5, np.float16: 5e-3}[dtype])
