#!/usr/bin/python3
"""Compares every standard operator with NumPy.

    run.py PATH/TO/tapc [--engine interp|native|mlir] [--library lib/std.tap] [--only WORD] [--every N] [--list]

Fails for an operator of the library that has no case. Prints `N passed, N failed`.
"""

import argparse
import collections
import os
import re
import sys

import cases_attention
import cases_convolution
import cases_elementwise
import cases_indexing
import cases_normalisation
import cases_products
import cases_reductions
import cases_shape
import harness

TABLES = [cases_elementwise, cases_products, cases_shape, cases_reductions, cases_normalisation, cases_convolution,
          cases_attention, cases_indexing]


def operators_of(library):
    with open(library, encoding="utf-8") as f:
        return re.findall(r"^op (\w+)", f.read(), re.MULTILINE)


def sample(cases, every):
    seen = collections.Counter()
    chosen = []
    for c in cases:
        if seen[c.op] % every == 0:
            chosen.append(c)
        seen[c.op] += 1
    return chosen


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("tapc")
    parser.add_argument("--library", default=os.path.join(here, "..", "..", "lib", "std.tap"))
    parser.add_argument("--only", default="", help="only operators whose name matches this regular expression")
    parser.add_argument("--engine", default="interp", help="what `tapc run` evaluates with, interp or native; or mlir, by way of `--emit=mlir` and clang")
    parser.add_argument("--every", type=int, default=1, help="only the first and then every n-th case of each operator")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    options = parser.parse_args()

    table = harness.Table()
    for module in TABLES:
        module.fill(table)
    cases = sample([c for c in table.cases if re.search(options.only, c.op)], options.every)
    if options.list:
        print("\n".join(c.title() for c in cases))
        return 0

    failed = 0
    for op in operators_of(options.library):
        if not any(c.op == op for c in table.cases):
            print(f"FAILED {op}: no case compares it with NumPy")
            failed += 1
    passed = 0
    for case, error in harness.run_all(harness.Tapc(options.tapc, options.engine), cases, options.jobs):
        if error is None:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {case.title()}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
