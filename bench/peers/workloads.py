"""What is measured: for each workload its sizes, the program in Tap, what one call amounts to, and the floor that we have set
ourselves: our speed over that of a rival, or of the best of them."""
import csv
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Workload:
    name: str
    sizes: list
    quick: list  # of the sizes, those that --quick takes
    program: object  # size → text in Tap
    amount: object  # size → flops or bytes of a call; bytes: each input read once, each result written once
    unit: str = "GFLOP/s"
    floor: float = 0.0
    against: str = "the best"  # whom the floor speaks of
    options: list = field(default_factory=list)  # of tapestry_peer
    few: bool = False  # one call takes seconds


def numbers(size):
    return [int(word) for word in re.findall(r"\d+", size)]


def product(size):
    return math.prod(numbers(size))


def program(size, head, body, names):
    dims = ", ".join(f"{name} = {n}" for name, n in zip(names.split(), numbers(size)))
    return f"use std\n\ndim {dims}\n\nprogram bench({head} {{\n    {body}\n}}\n"


def contraction(size):
    spec, extents = size.split("@")
    left, right, out = re.fullmatch(r"(\w+),(\w+)->(\w+)", spec).groups()
    extent = dict(re.findall(r"([a-z])=(\d+)", extents))
    typed = {letters: ", ".join(f"n{c}" for c in letters) for letters in (left, right, out)}
    dims = ", ".join(f"n{c} = {n}" for c, n in extent.items())
    summed = ", ".join(c for c in extent if c not in out)
    body = f"C[{', '.join(out)}] = sum[{summed}] A[{', '.join(left)}] * B[{', '.join(right)}]"
    return (f"dim {dims}\n\nprogram bench(A: f32[{typed[left]}], B: f32[{typed[right]}]) -> (C: f32[{typed[out]}]) {{\n"
            f"    {body}\n}}\n")


def tccg():
    with open(ROOT / "tests" / "conformance" / "tccg.csv", encoding="ascii") as file:
        return [f"{row['einsum_rowmajor']}@{row['upstream_sizes_f32']}" for row in csv.DictReader(file)]


def contraction_flops(size):
    return 2 * math.prod(int(n) for n in re.findall(r"=(\d+)", size))


TCCG = tccg()

WORKLOADS = [
    Workload("matmul", ["256x256x256", "512x512x512", "1024x1024x1024", "2048x2048x2048", "997x1003x1009"],
             ["256x256x256", "1024x1024x1024"],
             lambda s: program(s, "A: f32[m, k], B: f32[k, n]) -> (C: f32[m, n])", "C = matmul(A, B)", "m n k"),
             lambda s: 2 * product(s), floor=0.9, against="openblas"),
    Workload("conv", ["32x64x56x56x64", "32x128x28x28x128", "32x256x14x14x256", "8x3x224x224x64"], ["32x64x56x56x64"],
             lambda s: program(s, "X: f32[n, c, h, w], const K: f32[o, c, 3, 3]) -> (Y: f32[n, o, h, w])",
                               "Y = conv2d<pad = 1>(X, K)", "n c h w o"),
             lambda s: 18 * product(s), floor=0.6),
    # Of the 24 rows those that a rival does in less than about two seconds.
    Workload("contraction", [s for s in TCCG if contraction_flops(s) < 5e10], [TCCG[0], TCCG[8], TCCG[20]],
             contraction, contraction_flops, floor=0.6),
    Workload("contraction_large", [s for s in TCCG if contraction_flops(s) >= 5e10], [],
             contraction, contraction_flops, floor=0.6, few=True),
    Workload("elementwise", ["67108864"], ["67108864"],
             lambda s: program(s, "X: f32[n]) -> (Y: f32[n])", "Y[i] = 2 * max(1.5 * X[i] + 0.25, 0)", "n"),
             lambda s: 8 * product(s), "GB/s", 0.8),
    Workload("gelu", ["67108864"], ["67108864"],
             lambda s: program(s, "X: f32[n]) -> (Y: f32[n])", "Y = gelu(X)", "n"),
             lambda s: 8 * product(s), "GB/s", 0.8),
    Workload("sum", ["67108864"], ["67108864"],
             lambda s: program(s, "X: f32[n]) -> (Y: f32[])", "Y[] = sum[i] X[i]", "n"),
             lambda s: 4 * product(s), "GB/s", 0.8, options=["shift=0.5"]),
    Workload("softmax", ["8192x4096"], ["8192x4096"],
             lambda s: program(s, "X: f32[m, n]) -> (Y: f32[m, n])", "Y = softmax(X)", "m n"),
             lambda s: 8 * product(s), "GB/s", 0.8, options=[]),
    Workload("layernorm", ["8192x4096"], ["8192x4096"],
             lambda s: program(s, "X: f32[m, n], gain: f32[n], offset: f32[n]) -> (Y: f32[m, n])",
                               "Y = layer_norm(X, gain, offset)", "m n"),
             lambda s: 8 * product(s), "GB/s", 0.8, options=[]),
    Workload("attention", ["16x1024x64"], ["16x1024x64"],
             lambda s: program(s, "Q: f32[g, n, d], K: f32[g, n, d], V: f32[g, n, d]) -> (Y: f32[g, n, d])",
                               "Y = attention(Q, K, V)", "g n d"),
             lambda s: 4 * product(s) * numbers(s)[1], options=[]),
    # Its floor is one of memory: 400 MB for the whole process (README.md).
    Workload("attention_long", ["1x32768x64"], [],
             lambda s: program(s, "Q: f32[g, n, d], K: f32[g, n, d], V: f32[g, n, d]) -> (Y: f32[g, n, d])",
                               "Y = attention(Q, K, V)", "g n d"),
             lambda s: 4 * product(s) * numbers(s)[1], options=[f"plan={ROOT}/bench/peers/attention_long.plan"], few=True),
]
