#!/usr/bin/python3
"""Runs every row of an einsum table through tapc and NumPy.

    einsum.py FILE.csv [PATH/TO/tapc] [--engine interp|native]

Rows that NumPy refuses must be refused by tapc. Data are small integers, so results are equal to the last bit. Prints
`N passed, N failed`.
"""

import csv
import itertools
import sys

import numpy as np

from equation import arguments, check, integers, items, sides

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
    passed = failed = 0
    with open(table, newline="") as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        spec = row["spec"]
        ellipses = spec.split("->")[0].count("...")
        variants = EXTRA[:1] if ellipses == 0 else EXTRA if ellipses <= 2 else EXTRA[:2]
        errors = [check(command, spec, list(arrays_of(spec, extra, random))) for extra in variants]
        errors = [e for e in errors if e]
        if errors:
            failed += 1
            print(f"FAILED {spec}: {errors[0]}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
