#!/usr/bin/python3
"""Runs every row of an einsum table through tapc and NumPy.

    einsum.py FILE.csv [PATH/TO/tapc] [--engine interp|native]

Rows that NumPy refuses must be refused by tapc. Data are small integers, so results are equal to the last bit. Prints
`N passed, N failed`.
"""

import itertools
import sys

import numpy as np

from equation import arguments, check, integers, items, run_table, sides

# The extra dims of an ellipsis, for the operands that have one in turn: none, equal, broadcasting (of two only).
EXTRA = [((), ()), ((2,), (2,)), ((2, 1), (3,))]


def arrays_of(spec, extra, random):
    operands, _ = sides(spec)
    letters = sorted({c for s in operands for c in s if c.isalpha()})
    size = {c: 2 + k % 2 for k, c in enumerate(letters)}
    packs = itertools.cycle(extra)
    for subscripts in operands:
        shape = []
        for s in items(subscripts):
            shape += list(next(packs)) if s == "..." else [size[s]] if s.isalpha() else []
        yield integers(random, tuple(shape))


def main():
    table, command = arguments()
    random = np.random.RandomState(7)

    def error_of(row):
        spec = row["spec"]
        ellipses = spec.split("->")[0].count("...")
        variants = EXTRA[:1] if ellipses == 0 else EXTRA if ellipses <= 2 else EXTRA[:2]
        errors = [check(command, spec, list(arrays_of(spec, extra, random))) for extra in variants]
        return next((f"{spec}: {e}" for e in errors if e), None)

    return run_table(table, error_of)


if __name__ == "__main__":
    sys.exit(main())
