"""Random arrays for cases. One generator with a fixed seed: the cases are the same on every run."""

import numpy as np

_random = np.random.RandomState(20240)

FLOATS = [np.float32, np.float64, np.float16]
NUMBERS = [np.float32, np.float64, np.int32]
WIDE = NUMBERS + [np.float16, np.int64, np.int8, np.uint8]


def draw(dtype, *shape, low=-3, high=4):
    """Floats are normal and rounded to eighths, so that f16 holds them; integers from low..high."""
    if dtype == np.bool_:
        return _random.rand(*shape) < 0.5 if shape else np.array(_random.rand() < 0.5)
    if np.issubdtype(dtype, np.floating):
        return np.array(np.round(_random.randn(*shape) * 8) / 8, dtype=dtype)
    if np.issubdtype(dtype, np.unsignedinteger):
        low = max(low, 0)
    return np.array(_random.randint(low, high, size=shape), dtype=dtype)


def positive(dtype, *shape):
    return np.array(np.abs(draw(np.float64, *shape)) + 0.125, dtype=dtype)


def distinct(dtype, *shape):
    """No two cells are equal: for arguments of maxima."""
    size = int(np.prod(shape, dtype=np.int64))
    return np.array(_random.permutation(size).reshape(shape) - size // 2, dtype=dtype)


def wide(a):
    """For references: floats in f64, so that rounding is done once, at the end."""
    return a.astype(np.float64) if np.issubdtype(a.dtype, np.floating) else a
