"""Translates an einsum specification into a Tap equation, and runs it.

    "ab,bc->ac"   becomes   op contract(A0: T[n_a, n_b], A1: T[n_b, n_c]) -> (Y: T[n_a, n_c]) where T: number {
                                Y[a, c] = sum[b] A0[a, b] * A1[b, c]
                            }

The sizes of the result are named, not given, so they must come from the operands: an index that occurs only after the
arrow has none, and tapc rejects it like NumPy. An ellipsis is a pack; two operands with one each broadcast. Anything
else is copied unchanged.
"""

import argparse
import csv
import os
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "forks"))
import forks  # noqa: E402


def sides(spec):
    """The subscripts of operands and result; without an arrow, by NumPy's rule."""
    if "->" in spec:
        left, right = spec.split("->")
        return left.split(","), right
    letters = re.sub(r"[^A-Za-z]", "", spec)
    once = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return spec.split(","), ("..." if "..." in spec else "") + once


def items(subscripts):
    return re.findall(r"\.\.\.|.", subscripts)


def translate(spec):
    """The operator's text, without a program."""
    operands, result = sides(spec)
    with_pack = [k for k, s in enumerate(operands) if "..." in s]
    shared = len(with_pack) != 2  # three or more are one pack: equal, not broadcasting
    pack = {k: "p.." if shared else f"p{k}.." for k in with_pack}
    whole = "p.." if shared else f"broadcast(p{with_pack[0]}, p{with_pack[1]}).."

    def dims(subscripts, ellipsis):
        return ", ".join(ellipsis if s == "..." else f"n_{s}" if s.isalpha() else s for s in items(subscripts))

    def indices(subscripts):
        return ", ".join("rest.." if s == "..." else s for s in items(subscripts))

    inputs = ", ".join(f"A{k}: T[{dims(s, pack.get(k))}]" for k, s in enumerate(operands))
    factors = " * ".join(f"A{k}[{indices(s)}]" for k, s in enumerate(operands))
    summed = sorted({c for s in operands for c in s if c.isalpha()} - set(result))
    if with_pack and "..." not in result:
        summed.append("rest..")
    reduction = f"sum[{', '.join(summed)}] " if summed else ""
    return (f"op contract({inputs}) -> (Y: T[{dims(result, whole)}]) where T: number {{\n"
            f"    Y[{indices(result)}] = {reduction}{factors}\n}}\n")


def arguments():
    """FILE.csv [TAPC] [--engine NAME]"""
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("tapc", nargs="?", default=os.path.join(here, "..", "..", "build", "bin", "tapc"))
    parser.add_argument("--engine", default="interp", help="what `tapc run` evaluates with: interp or native")
    options = parser.parse_args()
    return options.file, [options.tapc, "run", "--engine", options.engine]


def run(command, spec, arrays, result_shape):
    """The result Y of tapc, or an error text."""
    inputs = ", ".join(f"A{k}: f64[{', '.join(map(str, a.shape))}]" for k, a in enumerate(arrays))
    names = ", ".join(f"A{k}" for k in range(len(arrays)))
    text = translate(spec) + (f"program main({inputs}) -> (Y: f64[{', '.join(map(str, result_shape))}]) {{\n"
                              f"    Y = contract({names})\n}}\n")
    with tempfile.TemporaryDirectory() as folder:
        source, data, out = (os.path.join(folder, name) for name in ("main.tap", "in.npz", "y.npy"))
        with open(source, "w") as f:
            f.write(text)
        np.savez(data, **{f"A{k}": a for k, a in enumerate(arrays)})
        done = forks.run(command + [source, "-i", "@" + data, "-o", "Y=@" + out], text=True, timeout=120)
        if done.returncode != 0:
            return Refused(done.returncode, done.stderr)
        return np.load(out)


class Refused:
    def __init__(self, code, message):
        self.code, self.message = code, message

    def __str__(self):
        return f"exit {self.code}: {self.message.strip()[:600]}"


def integers(random, shape):
    return random.randint(-2, 4, size=shape).astype(np.float64)


def check(command, spec, arrays):
    """None if tapc and NumPy agree: in the values, or in rejecting the specification."""
    try:
        expected = np.asarray(np.einsum(spec, *arrays))
    except ValueError as reason:
        got = run(command, spec, arrays, [2] * (len(items(sides(spec)[1])) or 1))
        if isinstance(got, Refused) and got.code == 1:
            return None
        return f"NumPy refuses ({reason}), tapc gave {got}"
    got = run(command, spec, arrays, expected.shape)
    if isinstance(got, Refused):
        return str(got)
    if got.shape != expected.shape or not np.array_equal(got, expected):
        return f"expected {expected.tolist()}, got {got.tolist()}"[:600]
    return None


def run_table(path, error_of):
    """Prints what `error_of(row)` says of each row of a table, if anything, and the counts. The exit code."""
    with open(path, newline="") as f:
        errors = [error_of(row) for row in csv.DictReader(f)]
    output = [e for e in errors if e]
    for error in output:
        print(f"FAILED {error}")
    print(f"{len(errors) - len(output)} passed, {len(output)} failed")
    return 1 if output or not errors else 0
