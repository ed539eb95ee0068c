#!/usr/bin/python3
"""Runs every tensor contraction of a TCCG table, at its small sizes, through tapc and NumPy.

    tccg.py FILE.csv [PATH/TO/tapc] [--engine interp|native]

Prints `N passed, N failed`.
"""

import csv
import sys

import numpy as np

from equation import arguments, check, integers, sides


def main():
    table, command = arguments()
    random = np.random.RandomState(8)
    passed = failed = 0
    with open(table, newline="") as f:
        rows = list(csv.DictReader(f))
    for row in rows:
        spec = row["einsum_rowmajor"]
        size = {name: int(n) for name, n in (part.split("=") for part in row["small_sizes"].split())}
        arrays = [integers(random, tuple(size[c] for c in s)) for s in sides(spec)[0]]
        error = check(command, spec, arrays)
        if error:
            failed += 1
            print(f"FAILED {spec}: {error}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
