"""Sizes at random, for each family of workloads. Extents are spread evenly over their logarithms, so that small, large, odd and
skinny shapes occur alike; some are powers of two. A call takes between a few microseconds and about a second."""
import math


def near(rng, lo, hi):
    n = int(math.exp(rng.uniform(math.log(lo), math.log(hi + 1))))
    return 1 << round(math.log2(n)) if rng.random() < 0.25 else n


def drawn(rng, ranges, least, most):
    """Extents within these ranges, whose product lies between `least` and `most`."""
    while True:
        extents = [near(rng, lo, hi) for lo, hi in ranges]
        if least <= math.prod(extents) <= most:
            return "x".join(map(str, extents))


def product(rng):
    return drawn(rng, [(1, 8192)] * 3, 3e4, 2e9)


def batch(rng):
    return drawn(rng, [(4, 4096), (4, 128), (4, 128), (4, 128)], 1e5, 1e9)


def mlp(rng):
    return drawn(rng, [(1, 1024), (16, 2048), (16, 4096), (16, 2048)], 1e6, 4e12)


def image(rng):
    return drawn(rng, [(1, 16), (1, 256), (7, 112), (7, 112), (1, 256)], 1e5, 2e8)


def channels(rng):
    return drawn(rng, [(1, 32), (1, 512), (7, 112), (7, 112)], 1e5, 5e7)


def heads(rng):
    return drawn(rng, [(1, 32), (16, 4096), (8, 128)], 1e4, 4e6)


def vector(rng):
    return drawn(rng, [(1000, 1 << 26)], 1e3, 7e7)


def matrix(rng):
    return drawn(rng, [(1, 1 << 20), (1, 1 << 20)], 1e4, 4e7)


def planes(rng):
    return drawn(rng, [(1, 64), (1, 512), (2, 64), (2, 64)], 1e4, 4e7)


def planes_of_channels(rng):
    return drawn(rng, [(1, 512), (2, 256), (2, 256)], 1e4, 4e7)


def narrow(rng):
    return drawn(rng, [(100, 1 << 22), (2, 40)], 1e4, 4e7)


def cube(rng):
    return drawn(rng, [(3, 512)] * 3, 1e4, 4e7)


def grid_and_steps(rng):
    return drawn(rng, [(64, 4096), (2, 64)], 1e3, 2e5)


def tensor_and_rank(rng):
    return drawn(rng, [(8, 512)] * 3 + [(4, 64)], 1e5, 2e9)


def contraction(rng):
    """Each letter is free in the left operand, free in the right one, summed, or (rarely) in all; axes in any order."""
    while True:
        left, right, out, extents = [], [], [], {}
        for letter in "abcdef"[:rng.randint(3, 6)]:
            kind = rng.choice(["left", "right", "summed"] * 3 + ["batch"])
            extents[letter] = near(rng, 2, 256)
            for name, letters in (("left", left), ("right", right)):
                if kind in (name, "summed", "batch"):
                    letters.append(letter)
            if kind != "summed":
                out.append(letter)
        cells = max(math.prod(extents[letter] for letter in letters) for letters in (left, right, out))
        if not (left and right and out and 1e5 <= math.prod(extents.values()) <= 2e9 and cells <= 4e7):
            continue
        for letters in (left, right, out):
            rng.shuffle(letters)
        return f"{''.join(left)},{''.join(right)}->{''.join(out)}@" + " ".join(f"{c}={n}" for c, n in extents.items())
