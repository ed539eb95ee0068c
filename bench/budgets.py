#!/usr/bin/python3
"""Measures everything that has a time or memory budget, prints it, and fails if a budget is exceeded.

    bench/budgets.py TAPC [BENCH_COMPILER] [--runs 11] [--operations 100000] [--random 1000]

Times are CPU time of the process (user and system), so that other work on the machine counts little; memory is the
peak resident set. With fewer operations the time and memory budgets shrink in proportion. Standard library only."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MIB = 1 << 20


class Report:
    def __init__(self):
        self.over = []

    def line(self, what, measured, unit, budget=None):
        verdict = "" if budget is None else f"of {budget:g} {unit}" + ("" if measured <= budget else "  OVER BUDGET")
        print(f"{measured:10.2f} {unit:4} {what}  {verdict}".rstrip(), flush=True)
        if budget is not None and measured > budget:
            self.over.append(what)


def measured(*command):
    """(output, CPU seconds, peak memory in bytes) of a command. Exits if the command fails."""
    with tempfile.TemporaryFile("w+") as output:  # a pipe might fill while the other one is read
        process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=output, text=True)
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}\n{output.read(2000)}")
    return printed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def run(*command):
    """(CPU seconds, peak memory in bytes) of a command."""
    return measured(*command)[1:]


def chain(operations, distinct):
    """Each operation reads the one before; every `distinct`-th has the same equation."""
    lines = ["program main(X: f32[16]) -> (Y: f32[16]) {", "  v0 = X"]
    lines += [f"  v{k + 1}[i] = {k % distinct + 1}.5 * v{k}[i] + {k % distinct}.0" for k in range(operations)]
    return "\n".join(lines + [f"  Y = v{operations}", "}", ""])


def fan(operations, distinct):
    """All operations read one input."""
    lines = [f"  v{k}[i] = {k % distinct + 1}.5 * X[i]" for k in range(operations)]
    return "\n".join(["program main(X: f32[16]) -> (Y: f32[16]) {", *lines, f"  Y = v{operations - 1}", "}", ""])


def pieces(operations, _):
    """All operations write one result, one cell each."""
    lines = [f"  Y[{k}] = {k}.5 * X[{k}]" for k in range(operations)]
    return "\n".join([f"program main(X: f32[{operations}]) -> (Y: f32[{operations}]) {{", *lines, "}", ""])


def examples(report, tapc, runs):
    for path in sorted((ROOT / "examples").glob("*.tap")):
        ms = statistics.median(1000 * run(tapc, "check", path)[0] for _ in range(runs))
        report.line(f"tapc check {path.relative_to(ROOT)}, median of {runs}", ms, "ms", 50 if path.stem == "mlp" else None)


def programs(report, tapc, operations):
    share = operations / 100_000
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        source = Path(folder) / "program.tap"
        for make, distinct in ((chain, 2000), (chain, 1), (fan, 2000), (pieces, 1)):
            times = []
            for n in (operations, 2 * operations):
                source.write_text(make(n, distinct))
                seconds, memory = run(tapc, "check", source)
                what = f"tapc check, {make.__name__} of {n} operations, {distinct} distinct"
                once = n == operations
                report.line(what, seconds, "s", 20 * share if once else None)
                report.line(what, memory / MIB, "MiB", max(2048 * share, 256) if once else None)
                times.append(seconds)
            report.line(f"{make.__name__}, {distinct} distinct: twice as many operations take", times[1] / times[0], "x", 2.5)


def products(operations):
    """Products of three factors, each of which can be reassociated."""
    lines = [f"  v{k + 1}[i, l] = sum[j, k] v{k}[i, j] * A[j, k] * B[k, l]" for k in range(operations)]
    return "\n".join(["program main(X: f32[4, 4], A: f32[4, 4], B: f32[4, 4]) -> (Y: f32[4, 4]) {", "  v0 = X", *lines,
                      f"  Y = v{operations}", "}", ""])


def offers(report, tapc, operations):
    """Listing the choices of a long program."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        source = Path(folder) / "program.tap"
        times = []
        for n in (operations, 2 * operations):
            source.write_text(products(n))
            seconds, memory = run(tapc, "inspect", "--choices", source)
            times.append(seconds)
            report.line(f"tapc inspect --choices, {n} products of three", seconds, "s")
            report.line(f"tapc inspect --choices, {n} products of three", memory / MIB, "MiB")
        report.line("twice as many products take", times[1] / times[0], "x", 2.5)


CHECKED = """use std
program main(X: f32[8192, 64], const W: f32[64, 8192], const V: f32[8192, 64]) -> (Y: f32[8192, 64], S: f32[8192]) {
    H = relu(matmul(X, W))
    P = softmax(matmul(H, V))
    S[i] = sum[k in 0..i+1] P[k, 0]
    Y[i, j] = P[i, j] + P[i, 63 - j]
}
"""


# A mesh, a program, what of it is cut over which axis, and two numbers of devices along an axis.
ON_A_MESH = {
    "a product over its rows": (
        "[d: #]", "(X: f32[8192, 16], W: f32[16, 32], V: f32[32, 8]) -> (Y: f32[8192, 8]) {\n"
        "  H[i, o] = sum[k] X[i, k] * W[k, o]\n  R[i, o] = max(H[i, o], 0)\n  Y[i, o] = sum[k] R[i, k] * V[k, o]\n}",
        ("H i d", "R i d", "Y i d"), 4, 4096),
    "a reduction over the devices": (
        "[d: #]", "(X: f32[32, 8192], W: f32[8192, 16], b: f32[16]) -> (Y: f32[32, 16]) {\n"
        "  H[i, o] = sum[k] X[i, k] * W[k, o]\n  Y[i, o] = max(H[i, o] + b[o], 0)\n}", ("H k d",), 4, 4096),
    "neighbours, the last part smaller": (
        "[d: #]", "(X: f32[20000]) -> (Y: f32[20000]) {\n  B[i] = X[i-1 else 0] + X[i]\n"
        "  Y[i] = B[i-1 else 0] + B[i+1 else 0]\n}", ("B i d", "Y i d"), 7, 4096),
    "neighbours on a grid": (
        "[a: #, b: #]", "(X: f32[512, 512]) -> (Y: f32[512, 512]) {\n  A[i, j] = X[i, j] + X[i+1, j else 0]\n"
        "  Y[i, j] = A[i-1, j else 0] + A[i+1, j else 0] + A[i, j-1 else 0] + A[i, j+1 else 0]\n}",
        ("A i a", "A j b", "Y i a", "Y j b"), 4, 64),
    "a product of parts of both factors": (
        "[a: #, b: #]", "(X: f32[2048, 16], W: f32[16, 2048]) -> (Y: f32[2048, 2048]) {\n  A[i, k] = exp(X[i, k])\n"
        "  B[k, j] = exp(W[k, j])\n  Y[i, j] = sum[k] A[i, k] * B[k, j]\n}", ("A i a", "B j b", "Y i a", "Y j b"), 4, 64),
    "a scan over the devices": (
        "[d: #]", "(X: f32[16384]) -> (Y: f32[16384]) { Y[i] = sum[k in 0..i+1] X[k] }", ("Y k d",), 4, 4096),
    "two writers that take turns": (
        "[d: #]", "(A: f32[8192], B: f32[8192]) -> (Z: f32[16384]) {\n  Y[2*i] = exp(A[i])\n"
        "  Y[2*i + 1] = sin(B[8191 - i]) for i in 0..8192\n  Z[i] = sum[k in 0..3] Y[i] * A[k]\n}", ("Y@0 i d", "Y@1 i d", "Z i d"), 8, 4096),
    "an outside kernel, and again": (
        "[d: #]", "(X: f32[8192, 4]) -> (Y: f32[8192, 4]) {\n  A = mean(X)\n  Y = mean(A)\n}\n"
        "extern op mean(x: f32[n, m]) -> (y: f32[n, m]) {\n  index [i: n]\n  read x at [i - 1, 0] shape [3, m] else 0\n"
        "  write y at [i, 0] shape [1, m]\n  kernel \"mean\"\n}", ("A i d", "Y i d"), 4, 4096),
    "rows and columns of a value": (
        "[d: #]", "(X: f32[1024, 1024]) -> (Y: f32[1024, 1024]) {\n  A[i, j] = sum[k in 0..3] X[i, j] * X[k, j]\n"
        "  Y[i, j] = A[i, j] + A[j, i]\n}", ("A i d", "Y i d"), 4, 1024),
    "rows and columns on a grid": (
        "[a: #, b: #]", "(X: f32[512, 512]) -> (Y: f32[512, 512]) {\n  A[i, j] = sum[k in 0..3] X[i, j] * X[k, j]\n"
        "  Y[i, j] = A[i, j] + A[j, i]\n}", ("A i a", "A j b", "Y i a", "Y j b"), 4, 64),
    "cells far apart, two blocks in one": (
        "[d: #]", "(X: f32[16384]) -> (Y: f32[8192]) {\n  A[i] = sum[k in 0..3] X[i] * X[k]\n  Y[i] = A[i] + A[i + 8192]\n}",
        ("A i d", "Y i d"), 8, 4096),
    "one axis of a grid to the other": (
        "[a: #, b: #]", "(X: f32[8192]) -> (Y: f32[8192]) {\n  A[i] = sum[k in 0..3] X[i] * X[k]\n"
        "  Y[i] = A[i-1 else 0] + A[i+1 else 0]\n}", ("A i a", "Y i b"), 4, 64),
}


def devices(report, tapc, runs):
    """Checking time, up to the schedule, as the mesh grows."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        source, plan = Path(folder) / "program.tap", Path(folder) / "p.plan"
        for name, (mesh, program, splits, *numbers) in ON_A_MESH.items():
            times = []
            for n in numbers:
                source.write_text(f"mesh m = {mesh}\nprogram p{program}\n".replace("#", str(n)))
                plan.write_text("plan 2\n" + "".join("split {} dim {} into {} over axis m.{}\n".format(*cut.split()[:2], n, cut[-1])
                                                    for cut in splits))
                times.append(min(checked(tapc, source, "--plan", plan)[0] for _ in range(runs)))
            few, many = (n ** mesh.count("#") for n in numbers)
            report.line(f"checking {name}, {many} devices", times[1], "ms")
            report.line(f"checking {name}, {many} devices to {few} of them", times[1] / times[0], "x", 1.5)


def proofs(report, tapc, runs):
    """Checking time per operation, and of operations that are split into more blocks."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        source, plan = Path(folder) / "program.tap", Path(folder) / "p.plan"
        source.write_text(CHECKED)
        times = []
        for blocks in (4, 4096):
            cut = ("H.matmul dim i", "H on axis 0", "P.matmul dim k", "P.m dim i", "P.e dim i", "P on axis 0", "S dim i", "Y dim i")
            plan.write_text("plan 2\n" + "".join(f"split {what} into {blocks} over threads\n" for what in cut))
            whole, each = zip(*(checked(tapc, source, "--plan", plan) for _ in range(runs)))
            sharded, _ = zip(*(checked(tapc, source, "--plan", plan, "--stage", "sharded") for _ in range(runs)))
            times.append((min(sharded), min(whole)))
            report.line(f"checking, {blocks} blocks of each operation: an operation", min(each), "ms", 10)
            report.line(f"checking, {blocks} blocks of each operation, to the schedule", min(whole), "ms")
        for k, what in enumerate(("sharded graph", "schedule")):
            report.line(f"checking 4096 blocks of each, to the {what}, to 4 of them", times[1][k] / times[0][k], "x", 1.5)


def shards(report, tapc, operations, count):
    """Expands every application of every operation, and every transfer, of a plan over a mesh."""
    lines = [f"  v{k + 1}[i, j] = {'X' if k == 0 else f'v{k}'}[i, j] * {k % 7 + 2}.0 + {'0.5' if k % 2 else 'X[i, j]'}"
             for k in range(operations)]
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        source, plan = Path(folder) / "program.tap", Path(folder) / "p.plan"
        source.write_text("\n".join([f"mesh m = [d: {count}]", "program main(X: f32[200, 200]) -> (Y: f32[200, 200]) {", *lines,
                                     f"  Y = v{operations}", "}", ""]))
        plan.write_text("plan 2\n" + "".join(f"split {'Y' if k == operations else f'v{k}'} dim {'j' if k % 50 == 0 else 'i'} "
                                            f"into {count} over m.d\n" for k in range(1, operations + 1)))
        # Without the passes: they would make one operation of all.
        seconds, memory = run(tapc, "opt", source, "--passes=none", "--plan", plan, "--stage", "block", "-o", Path(folder) / "blocks")
        what = f"{operations} operations on {count} shards, expanded and printed"
        report.line(what, seconds, "s", 10)
        report.line(what, memory / MIB, "MiB", 2048)


def compiled_programs(folder):
    """The programs on which compile time is measured: file, sizes of its dims, budget in seconds."""
    softmax = Path(folder) / "softmax.tap"
    softmax.write_text("use std\nprogram main(X: f32[64, 96]) -> (Y: f32[64, 96]) { Y = softmax(X) }\n")
    conv = Path(folder) / "conv.tap"
    conv.write_text("use std\nprogram main(X: f32[2, 8, 14, 14], const K: f32[8, 8, 3, 3]) -> (Y: f32[2, 8, 14, 14]) "
                    "{ Y = conv2d<pad = 1>(X, K) }\n")
    small = {"mlp": "batch=4 width=8 hidden=8", "jacobi": "n=16 steps=2",
             "transformer": "layers=96 n=4 model=8 heads=2 d=4 wide=8"}
    cases = [(ROOT / "examples/mlp.tap", 0.3), (softmax, 0.3), (conv, 0.3), (ROOT / "examples/jacobi.tap", 0.3),
             (ROOT / "examples/transformer.tap", 3)]
    for path, budget in cases:
        yield path, [word for dim in small.get(path.stem, "").split() for word in ("--dim", dim)], budget


def checked(tapc, *arguments):
    """Milliseconds of the checker, up to the schedule: in total, and per operation."""
    output = subprocess.run([tapc, "verify", *arguments, "--time-passes"], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    return tuple(map(float, re.search(r"checked in ([0-9.]+) ms, ([0-9.]+) ms", output).groups()))


def share(report, tapc, runs):
    """The share of checking in compile time: every compilation is checked."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        for path, dims, _ in compiled_programs(folder):
            ms = min(checked(tapc, path, *dims)[0] for _ in range(runs))
            whole = min(run(tapc, "compile", path, *dims, "-o", Path(folder) / "library.so")[0] for _ in range(runs))
            report.line(f"checking {path.stem}, of {whole:.2f} s of CPU time that compiling takes", ms / whole / 10, "%", 10)


def self_check(report, tapc, runs):
    """The share of the self-check of kernels in compile time, over all programs."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        times = {"--self-check": 0.0, "--no-self-check": 0.0}
        for path, dims, _ in compiled_programs(folder):
            each = {option: [] for option in times}
            for _ in range(runs):  # in turns
                for option in times:
                    each[option].append(run(tapc, "compile", path, *dims, "-o", Path(folder) / "library.so", "--no-cache", option)[0])
            for option in times:
                times[option] += min(each[option])
        whole, without = times.values()
        report.line(f"self-check, of {whole:.2f} s of CPU time that compiling takes", 100 * (whole - without) / whole, "%", 5)


def compiling(*command):
    """What `tapc bench` tells of compiling. Where other work made it wait, the CPU time of the whole process stands for the
    clock's: alone, its threads take no longer than that."""
    text, seconds, _ = measured(*command)
    output = json.loads(text)["compile"]
    return output | {"cold": min(output["cold"], seconds)}


def native(report, tapc):
    """Native code with a cold cache, as `tapc bench` tells it: by the clock, since several threads compile. The least of
    three, since other work on the machine counts."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        for path, dims, budget in compiled_programs(folder):
            output = [compiling(tapc, "bench", path, *dims, "--runs", "1", "--seconds", "0", "--json", "--cache-dir",
                              Path(folder) / "kernels") for _ in range(3)]
            what = f"native code of {path.stem}, {output[0]['kernels']} kernels"
            report.line(f"{what}, cold cache", min(one["cold"] for one in output), "s", budget)
            report.line(f"{what}, from the cache", min(one["warm"] for one in output), "s")


BLOCKS = """program p(X: f32[8192, 16], W: f32[16, 16], V: f32[16, 16]) -> (Y: f32[8192, 16]) {
  H[i, j] = sum[k] X[i, k] * W[k, j]
  Y[i, j] = sum[k] max(H[i, k], 0) * V[k, j]
}
"""


def blocks(report, tapc, runs):
    """Native code of a program that is split into more blocks: kernels, bytes, CPU time."""
    with tempfile.TemporaryDirectory(prefix="tap-bench-") as folder:
        source, plan, library = Path(folder) / "p.tap", Path(folder) / "p.plan", Path(folder) / "p.so"
        source.write_text(BLOCKS)
        times, sizes, kernels = [], [], []
        for count in (4, 4096):
            plan.write_text("plan 2\n" + "".join(f"split {name} dim i into {count} over threads\n" for name in "HY"))
            command = (tapc, "compile", source, "-o", library, "--plan", plan, "--emit=loops")
            times.append(min(run(*command)[0] for _ in range(runs)))
            sizes.append(library.stat().st_size)
            kernels.append(library.with_suffix(".loops").read_text().count("\nkernel") + 1)
            report.line(f"tapc compile, {count} blocks of each of 2 operations, {kernels[-1]} kernels", times[-1], "s")
            report.line(f"the library of {count} blocks", sizes[-1] / 1024, "KiB")
        for what, values in (("kernels", kernels), ("bytes", sizes), ("CPU time", times)):
            report.line(f"{what} of 4096 blocks, to those of 4", values[1] / values[0], "x", 1.2)


def parts(report, bench, cases):
    for line in subprocess.run([bench, str(cases)], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        ms, what = re.fullmatch(r" *([0-9.]+) ms  (.*)", line).groups()
        budget = 1 if what.startswith("outline") else 20
        report.line(what, float(ms), "ms", budget)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tapc", type=Path)
    parser.add_argument("bench", type=Path, nargs="?", help="bench_compiler")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--random", type=int, default=1000)
    options = parser.parse_args()
    report = Report()
    examples(report, options.tapc.resolve(), options.runs)
    native(report, options.tapc.resolve())
    share(report, options.tapc.resolve(), options.runs)
    self_check(report, options.tapc.resolve(), options.runs)
    blocks(report, options.tapc.resolve(), options.runs)
    if options.bench:
        parts(report, options.bench.resolve(), options.random)
    proofs(report, options.tapc.resolve(), options.runs)
    devices(report, options.tapc.resolve(), options.runs)
    shards(report, options.tapc.resolve(), 1000, 100)
    programs(report, options.tapc.resolve(), options.operations)
    offers(report, options.tapc.resolve(), options.operations)
    print(f"{len(report.over)} over budget" + "".join("\n  " + what for what in report.over))
    return 1 if report.over else 0


if __name__ == "__main__":
    sys.exit(main())
