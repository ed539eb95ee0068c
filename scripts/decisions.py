#!/usr/bin/python3
"""How good the default decisions are: run times and memory of programs under several plans, in turns.
decisions.py TAPC [--machine FILE] [--threads N] [--seconds S] [--rounds N] [--only NAME] [--random N --seed S]

Each row is a program at one size. Columns: the default; no decisions (--evaluations 0); the program as written (--plan none); a
longer search (--evaluations 1000). Every time is the minimum of the medians of several rounds, in which all variants take turns.
With --random, N sizes of each program are drawn instead of those listed: each dim log-uniform between its bounds, until the
product of all is at most MOST_POINTS.
"""
import argparse
import json
import math
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

MODES = {"default": [], "undecided": ["--evaluations", "0"], "none": ["--plan", "none"], "search": ["--evaluations", "1000"]}


def program(signature, body):
    return f"use std\nprogram p({signature}) {{\n    {body}\n}}\n"


QKV = "Q: f32[b, n, d], K: f32[b, n, d], V: f32[b, n, d]) -> (Y: f32[b, n, d]"
PROGRAMS = {
    "softmax": (program("X: f32[n, m]) -> (Y: f32[n, m]", "Y = softmax(X)"),
                [dict(n=64, m=1000), dict(n=4096, m=1000), dict(n=20000, m=33)]),
    "layer_norm": (program("X: f32[n, m], g: f32[m], o: f32[m]) -> (Y: f32[n, m]", "Y = layer_norm(X, g, o)"),
                   [dict(n=16, m=64), dict(n=1024, m=1024), dict(n=4096, m=256)]),
    "attention": (program(QKV, "Y = attention(Q, K, V)"),
                  [dict(b=1, n=64, d=32), dict(b=16, n=1024, d=64), dict(b=1, n=4096, d=128)]),
    "causal": (program(QKV, "Y = attention_causal(Q, K, V)"), [dict(b=1, n=256, d=64), dict(b=8, n=512, d=64), dict(b=1, n=2048, d=64)]),
    "mlp": (program("X: f32[n, d], W1: f32[d, h], b1: f32[h], W2: f32[h, d]) -> (Y: f32[n, d]",
                    "H[i, o] = max((sum[k] X[i, k] * W1[k, o]) + b1[o], 0)\n    Y[i, o] = sum[k] H[i, k] * W2[k, o]"),
            [dict(n=1, d=256, h=1024), dict(n=64, d=256, h=256), dict(n=128, d=512, h=1024)]),
    "maps": (program("X: f32[n], Z: f32[n]) -> (Y: f32[n], s: f32[]", "t[i] = exp(X[i]) * Z[i]\n    Y[i] = t[i] + X[i]\n    s[] = sum[i] t[i]"),
             [dict(n=1000), dict(n=100000), dict(n=10000000)]),
    "distances": (program("X: f32[n, d], C: f32[m, d]) -> (best: f32[n]",
                          "D[i, j] = sum[k] (X[i, k] - C[j, k]) * (X[i, k] - C[j, k])\n    best[i] = min[j] D[i, j]"),
                  [dict(n=100, m=50, d=16), dict(n=4000, m=500, d=16), dict(n=2000, m=2000, d=3)]),
    "stencil": (program("X: f32[n, n]) -> (Y: f32[n, n]",
                        "Y = iterate 8 (u = X) {\n        v[i, j] = (u[i - 1, j else 0] + u[i + 1, j else 0] + u[i, j - 1 else 0]\n"
                        "            + u[i, j + 1 else 0]) / 4\n        w[i, j] = v[i, j] + (u[i, j] - v[i, j]) * 0.5\n        w\n    }"),
                [dict(n=64), dict(n=500), dict(n=2000)]),
    "columns": (program("X: f32[n, m]) -> (Y: f32[n, m]",
                        "mean[j] = (sum[i] X[i, j]) / f32(n)\n    var[j] = sum[i] (X[i, j] - mean[j]) * (X[i, j] - mean[j])\n"
                        "    Y[i, j] = (X[i, j] - mean[j]) / sqrt(var[j] + 1)"),
                [dict(n=100, m=64), dict(n=1000, m=1000), dict(n=5000, m=2000)]),
    "product": (program("A: f32[n, k], B: f32[k, m]) -> (C: f32[n, m]", "C[i, j] = sum[q] A[i, q] * B[q, j]"),
                [dict(n=100, m=300, k=200), dict(n=1, m=2048, k=1024), dict(n=4096, m=8, k=1024)]),
    "images": ("use std\nprogram p(X: f32[b, c, h, h], W: f32[o, c, 3, 3]) -> (Y: f32[b, o, h, h]) {\n"
               "    Z[n, m, i, j] = sum[q, u, v] X[n, q, i + u - 1, j + v - 1 else 0] * W[m, q, u, v] for i in 0..h, j in 0..h\n    Y = relu(Z)\n}\n",
               [dict(b=1, c=3, h=64, o=16), dict(b=4, c=32, h=28, o=32), dict(b=8, c=64, h=14, o=64)]),
    "steps_1d": (program("X: f32[n]) -> (Y: f32[n]",
                         "Y = iterate 20 (u = X) {\n        v[i] = 0.25 * u[i - 1 else 0] + 0.5 * u[i] + 0.25 * u[i + 1 else 1]\n        v\n    }"),
                 [dict(n=1000), dict(n=100000), dict(n=4000000)]),
    "two_sums": (program("X: f32[n, m]) -> (y: f32[n], z: f32[m]", "y[i] = sum[j] X[i, j]\n    z[j] = sum[i] X[i, j] * X[i, j]"),
                 [dict(n=100, m=100), dict(n=10000, m=100), dict(n=4000, m=4000)]),
    "blur": (program("X: f32[n, m]) -> (Y: f32[n, m]",
                     "R[i, j] = (X[i, j - 1 else 0] + X[i, j] + X[i, j + 1 else 0]) / 3\n"
                     "    Y[i, j] = (R[i - 1, j else 0] + R[i, j] + R[i + 1, j else 0]) / 3"),
             [dict(n=64, m=64), dict(n=1000, m=1000), dict(n=4000, m=3000)]),
}

# Bounds of drawn sizes; dims that are not listed: 1 to 4096.
BOUNDS = {"b": (1, 32), "d": (2, 256), "k": (1, 1024), "h": (4, 1024), "c": (1, 128), "o": (1, 128)}
BOUNDS_OF = {"maps": {"n": (100, 20_000_000)}, "softmax": {"n": (1, 100_000)}, "layer_norm": {"n": (1, 100_000)},
             "stencil": {"n": (16, 3000)}, "steps_1d": {"n": (100, 5_000_000)}, "images": {"h": (3, 128)}}
MOST_POINTS = 100_000_000


def drawn(name, sizes, random_from):
    while True:
        drawn_sizes = {}
        for dim in sizes:
            least, most = BOUNDS_OF.get(name, {}).get(dim) or BOUNDS.get(dim, (1, 4096))
            drawn_sizes[dim] = round(math.exp(random_from.uniform(math.log(least), math.log(most))))
        if math.prod(drawn_sizes.values()) <= MOST_POINTS:
            return drawn_sizes


class Measure:
    def __init__(self, arguments):
        self.arguments = arguments
        self.common = ["--threads", str(arguments.threads)] + (["--machine", arguments.machine] if arguments.machine else [])

    def json(self, *words):
        done = subprocess.run([self.arguments.tapc, *words, *self.common, "--json"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout)

    def row(self, file, sizes):
        dims = [w for k, v in sizes.items() for w in ("--dim", f"{k}={v}")]
        times = {mode: [] for mode in MODES}
        for _ in range(self.arguments.rounds):
            for mode, options in MODES.items():
                run = self.json("bench", file, *dims, *options, "--seconds", str(self.arguments.seconds), "--runs", "3")["run"]
                times[mode].append(run["median"])
        memory = {mode: self.memory(file, dims, options) for mode, options in MODES.items()}
        return {mode: min(t) for mode, t in times.items()}, memory

    def memory(self, file, dims, options):
        output = self.json("cost", file, *dims, *options)["memory"]
        return output["arena"] + output["scratch"] if "arena" in output else sum(output.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tapc")
    parser.add_argument("--machine")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random_from = random.Random(arguments.seed)
    measure, over_best, over_none = Measure(arguments), [], []
    print(f"{'program':12}{'sizes':24}" + "".join(f"{mode:>12}" for mode in MODES) + "   to best  to none  memory, to none")
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, all_sizes) in PROGRAMS.items():
            if arguments.only and name != arguments.only:
                continue
            file = Path(folder) / f"{name}.tap"
            file.write_text(text)
            if arguments.random:
                all_sizes = [drawn(name, all_sizes[0], random_from) for _ in range(arguments.random)]
            for sizes in all_sizes:
                times, memory = measure.row(str(file), sizes)
                best = min(times.values())
                over_best.append(times["default"] / best)
                over_none.append(times["default"] / times["none"])
                print(f"{name:12}{' '.join(f'{k}={v}' for k, v in sizes.items()):24}" +
                      "".join(f"{t * 1e6:9.1f} us" for t in times.values()) +
                      f"{over_best[-1]:10.2f}{over_none[-1]:9.2f}{memory['default'] / 2**20:10.1f} MiB, "
                      f"{memory['default'] / max(memory['none'], 1):.2f}", flush=True)
    print(f"time to best: median {statistics.median(over_best):.2f}, worst {max(over_best):.2f}; "
          f"to none: median {statistics.median(over_none):.2f}, worst {max(over_none):.2f}")


if __name__ == "__main__":
    main()
