#!/usr/bin/python3
"""Runs every tensor contraction of a TCCG table, at its small sizes, through tapc and NumPy.

    tccg.py FILE.csv [PATH/TO/tapc] [--engine interp|native]

Prints `N passed, N failed`.
"""

import sys

import numpy as np

from equation import arguments, check, integers, run_table, sides


def main():
    table, command = arguments()
    random = np.random.RandomState(8)

    def error_of(row):
        spec = row["einsum_rowmajor"]
        size = {name: int(n) for name, n in (part.split("=") for part in row["small_sizes"].split())}
        error = check(command, spec, [integers(random, tuple(size[c] for c in s)) for s in sides(spec)[0]])
        return error and f"{spec}: {error}"

    return run_table(table, error_of)


if __name__ == "__main__":
    sys.exit(main())
