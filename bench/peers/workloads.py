"""What is measured: for each workload its sizes, how others are drawn, the program in Tap, what one call amounts to, and the floor
that we have set ourselves: our speed over that of the best rival."""
import csv
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import shapes

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Workload:
    name: str
    sizes: list
    quick: list  # of the sizes, those that --quick takes
    program: object  # size → text in Tap
    amount: object  # size → flops or bytes of a call; bytes: each input read once, each result written once
    draw: object = None  # random numbers → a size (shapes.py)
    unit: str = "GFLOP/s"
    floor: float = 0.9
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


def pooled(size):
    c, h, w = numbers(size)
    return f"{c}x{(h + 1) // 2}x{(w + 1) // 2}"


def max_pool(size):
    return program(size, f"X: f32[c, h, w]) -> (Y: f32[{pooled(size).replace('x', ', ')}])",
                   "Y[k, i, j] = max[u in 0..3, v in 0..3] X[k, 2 * i + u - 1, 2 * j + v - 1 else -inf]", "c h w")


def contraction(size):
    spec, extents = size.split("@")
    left, right, out = re.fullmatch(r"(\w+),(\w+)->(\w+)", spec).groups()
    extent = dict(re.findall(r"([a-z])=(\d+)", extents))
    typed = {letters: ", ".join(f"n{c}" for c in letters) for letters in (left, right, out)}
    dims = ", ".join(f"n{c} = {n}" for c, n in extent.items())
    summed = ", ".join(c for c in extent if c not in out)
    body = f"C[{', '.join(out)}] = {f'sum[{summed}] ' if summed else ''}A[{', '.join(left)}] * B[{', '.join(right)}]"
    return (f"dim {dims}\n\nprogram bench(A: f32[{typed[left]}], B: f32[{typed[right]}]) -> (C: f32[{typed[out]}]) {{\n"
            f"    {body}\n}}\n")


def tccg():
    with open(ROOT / "tests" / "conformance" / "tccg.csv", encoding="ascii") as file:
        return [f"{row['einsum_rowmajor']}@{row['upstream_sizes_f32']}" for row in csv.DictReader(file)]


def contraction_flops(size):
    return 2 * math.prod(int(n) for n in re.findall(r"=(\d+)", size))


TCCG = tccg()

def rows(op):
    """A standard operator along the last axis."""
    return lambda s: program(s, "X: f32[m, n]) -> (Y: f32[m, n])", f"Y = {op}(X)", "m n")


def convolution(window, call):
    return lambda s: program(s, f"X: f32[n, c, h, w], const K: f32[o, c, {window}, {window}]) -> (Y: f32[n, o, {call[1]}])",
                             f"Y = conv2d<{call[0]}>(X, K)", "n c h w o")


def attention(op):
    return lambda s: program(s, "Q: f32[g, n, d], K: f32[g, n, d], V: f32[g, n, d]) -> (Y: f32[g, n, d])", f"Y = {op}(Q, K, V)",
                             "g n d")


def halves(size):
    """Rows and columns of a window of 7 × 7 with stride 2."""
    n, c, h, w, o = numbers(size)
    return n * o * c * ((h + 1) // 2) * ((w + 1) // 2)


PRODUCTS = ["256x256x256", "384x384x384", "512x512x512", "1024x1024x1024", "2048x2048x2048", "997x1003x1009", "3000x500x2000",
            "12288x128x128", "65536x64x64", "64x4096x4096", "4096x8x4096", "4096x4096x8", "1x4096x4096", "4096x1x4096"]
MATMUL = "A: f32[m, k], B: f32[k, n]) -> (C: f32[m, n])"

WORKLOADS = [
    Workload("matmul", PRODUCTS, ["256x256x256", "1024x1024x1024"], lambda s: program(s, MATMUL, "C = matmul(A, B)", "m n k"),
             lambda s: 2 * product(s), shapes.product, floor=0.97),
    Workload("matmul_const", ["64x4096x4096", "512x512x512", "8x1024x4096"], ["64x4096x4096"],
             lambda s: program(s, MATMUL.replace("B:", "const B:"), "C = matmul(A, B)", "m n k"), lambda s: 2 * product(s),
             shapes.product, floor=0.97),
    Workload("batched", ["4096x16x16x16", "1024x32x32x32", "1024x31x37x41", "256x64x64x64", "64x128x128x64"], ["256x64x64x64"],
             lambda s: program(s, "A: f32[b, m, k], B: f32[b, k, n]) -> (C: f32[b, m, n])",
                               "C[r, i, j] = sum[t] A[r, i, t] * B[r, t, j]", "b m n k"), lambda s: 2 * product(s), shapes.batch,
             floor=0.95),
    Workload("mlp", ["64x1024x4096x1024", "1024x1024x4096x1024"], ["64x1024x4096x1024"],
             lambda s: program(s, "X: f32[b, i], const W1: f32[i, h], b1: f32[h], const W2: f32[h, o], b2: f32[o]) -> (Y: f32[b, o])",
                               "H[r, j] = max((sum[k] X[r, k] * W1[k, j]) + b1[j], 0)\n"
                               "    Y[r, j] = max((sum[k] H[r, k] * W2[k, j]) + b2[j], 0)", "b i h o"),
             lambda s: 2 * numbers(s)[0] * numbers(s)[2] * (numbers(s)[1] + numbers(s)[3]), shapes.mlp, floor=1.0),
    Workload("minplus", ["1024x1024x1024"], ["512x512x512"],
             lambda s: program(s, MATMUL, "C[i, j] = min[t] A[i, t] + B[t, j]", "m n k"), lambda s: 2 * product(s), shapes.product),
    Workload("conv", ["32x64x56x56x64", "32x128x28x28x128", "32x256x14x14x256", "8x3x224x224x64"], ["32x64x56x56x64"],
             convolution(3, ("pad = 1", "h, w")), lambda s: 18 * product(s), shapes.image, floor=0.97),
    Workload("conv_1x1", ["32x256x56x56x64", "8x64x56x56x256"], ["8x64x56x56x256"], convolution(1, ("stride = 1", "h, w")),
             lambda s: 2 * product(s), shapes.image, floor=0.97),
    Workload("conv_7x7", ["8x3x224x224x64"], ["8x3x224x224x64"], convolution(7, ("stride = 2, pad = 3", "(h + 1) / 2, (w + 1) / 2")),
             lambda s: 98 * halves(s), shapes.image, floor=0.97),
    Workload("depthwise", ["8x128x56x56", "32x256x28x28"], ["8x128x56x56"],
             lambda s: program(s, "X: f32[n, c, h, w], const K: f32[c, 3, 3]) -> (Y: f32[n, c, h, w])",
                               "Y = depthwise_conv2d<pad = 1>(X, K)", "n c h w"), lambda s: 18 * product(s), shapes.channels, floor=0.97),
    # Of the 24 rows of TCCG those that a rival does in less than about two seconds.
    Workload("contraction", [s for s in TCCG if contraction_flops(s) < 5e10], [TCCG[0], TCCG[8], TCCG[20]],
             contraction, contraction_flops, shapes.contraction, floor=0.95),
    Workload("contraction_large", [s for s in TCCG if contraction_flops(s) >= 5e10], [],
             contraction, contraction_flops, floor=0.95, few=True),
    Workload("mttkrp", ["384x384x384x32"], ["192x192x192x32"],
             lambda s: program(s, "X: f32[l, m, n], A: f32[m, r], B: f32[n, r]) -> (Y: f32[l, r])",
                               "Y[i, c] = sum[j, k] X[i, j, k] * A[j, c] * B[k, c]", "l m n r"),
             lambda s: 2 * numbers(s)[0] * numbers(s)[1] * (numbers(s)[2] + 1) * numbers(s)[3], shapes.tensor_and_rank, floor=1.5),
    Workload("attention", ["16x1024x64", "8x512x64", "1x8192x128"], ["16x1024x64"], attention("attention"),
             lambda s: 4 * product(s) * numbers(s)[1], shapes.heads, floor=1.0),
    Workload("attention_causal", ["16x1024x64"], ["16x1024x64"], attention("attention_causal"),
             lambda s: 2 * product(s) * (numbers(s)[1] + 1), shapes.heads, floor=1.3),
    # Its floor is one of memory: 400 MB for the whole process (README.md).
    Workload("attention_long", ["1x32768x64"], [], attention("attention"), lambda s: 4 * product(s) * numbers(s)[1],
             options=[f"plan={ROOT}/bench/peers/attention_long.plan"], few=True, floor=0.0),
    Workload("elementwise", ["67108864", "1000000"], ["67108864"],
             lambda s: program(s, "X: f32[n]) -> (Y: f32[n])", "Y[i] = 2 * max(1.5 * X[i] + 0.25, 0)", "n"),
             lambda s: 8 * product(s), shapes.vector, "GB/s", 0.97),
    Workload("gelu", ["67108864"], ["67108864"], lambda s: program(s, "X: f32[n]) -> (Y: f32[n])", "Y = gelu(X)", "n"),
             lambda s: 8 * product(s), shapes.vector, "GB/s", 1.0),
    Workload("sum", ["67108864"], ["67108864"], lambda s: program(s, "X: f32[n]) -> (Y: f32[])", "Y[] = sum[i] X[i]", "n"),
             lambda s: 4 * product(s), shapes.vector, "GB/s", 1.0, options=["shift=0.5"]),
    Workload("column_sums", ["8192x4096"], ["8192x4096"],
             lambda s: program(s, "X: f32[m, n]) -> (Y: f32[n])", "Y[j] = sum[i] X[i, j]", "m n"), lambda s: 4 * product(s),
             shapes.matrix, "GB/s", 1.0),
    Workload("softmax", ["8192x4096", "4096x1000", "100000x33"], ["8192x4096"], rows("softmax"), lambda s: 8 * product(s),
             shapes.matrix, "GB/s", 1.0),
    Workload("layernorm", ["8192x4096"], ["8192x4096"],
             lambda s: program(s, "X: f32[m, n], gain: f32[n], offset: f32[n]) -> (Y: f32[m, n])",
                               "Y = layer_norm(X, gain, offset)", "m n"), lambda s: 8 * product(s), shapes.matrix, "GB/s", 1.0),
    Workload("rmsnorm", ["8192x4096"], ["8192x4096"],
             lambda s: program(s, "X: f32[m, n], gain: f32[n]) -> (Y: f32[m, n])", "Y = rms_norm(X, gain)", "m n"),
             lambda s: 8 * product(s), shapes.matrix, "GB/s", 1.0),
    Workload("scaled_images", ["64x256x7x7", "32x64x56x56"], ["64x256x7x7"],
             lambda s: program(s, "X: f32[n, c, h, w], gain: f32[c], offset: f32[c]) -> (Y: f32[n, c, h, w])",
                               "Y[r, k, i, j] = max(gain[k] * X[r, k, i, j] + offset[k], 0)", "n c h w"),
             lambda s: 8 * product(s), shapes.planes, "GB/s", 1.0),
    Workload("narrow_bias", ["1000000x3", "1000000x10"], ["1000000x3"],
             lambda s: program(s, "X: f32[m, n], bias: f32[n]) -> (Y: f32[m, n])", "Y[i, j] = X[i, j] + bias[j]", "m n"),
             lambda s: 8 * product(s), shapes.narrow, "GB/s", 1.0),
    Workload("narrow_affine", ["1000000x3", "1000000x10"], ["1000000x3"],
             lambda s: program(s, "X: f32[m, n]) -> (Y: f32[m, n])", "Y[i, j] = 2 * X[i, j] + 1", "m n"),
             lambda s: 8 * product(s), shapes.narrow, "GB/s", 1.0),
    Workload("cumsum_rows", ["4096x4096", "1x16777216"], ["4096x4096"], rows("cumsum<-1>"), lambda s: 8 * product(s), shapes.matrix,
             "GB/s", 1.0),
    Workload("cumsum_columns", ["4096x4096"], ["4096x4096"], rows("cumsum<0>"), lambda s: 8 * product(s), shapes.matrix, "GB/s", 1.0),
    Workload("transpose", ["4096x4096"], ["4096x4096"], lambda s: program(s, "X: f32[m, n]) -> (Y: f32[n, m])", "Y = transpose(X)", "m n"),
             lambda s: 8 * product(s), shapes.matrix, "GB/s", 1.0),
    Workload("box3x3", ["4096x4096"], ["4096x4096"],
             lambda s: program(s, "X: f32[m, n]) -> (Y: f32[m, n])", "Y[i, j] = sum[u in 0..3, v in 0..3] X[i + u - 1, j + v - 1 else 0]",
                               "m n"), lambda s: 8 * product(s), shapes.matrix, "GB/s"),
    Workload("max_pool", ["64x112x112", "512x28x28"], ["64x112x112"], max_pool,
             lambda s: 4 * (product(s) + product(pooled(s))), shapes.planes_of_channels, "GB/s", 1.0),
    Workload("magnitudes", ["1000000"], ["1000000"],
             lambda s: program(s, "X: f32[n, 2]) -> (Y: f32[n])", "Y[i] = X[i, 0] * X[i, 0] + X[i, 1] * X[i, 1]", "n"),
             lambda s: 12 * product(s), shapes.vector, "GB/s", 1.0),
    Workload("stencil27", ["256x256x256"], ["256x256x256"],
             lambda s: program(s, "X: f32[a, b, c]) -> (Y: f32[a - 2, b - 2, c - 2])",
                               "Y[i, j, k] = sum[u in 0..3, v in 0..3, w in 0..3] X[i + u, j + v, k + w]", "a b c"),
             lambda s: 8 * product(s), shapes.cube, "GB/s", 1.0),
    Workload("jacobi", ["4096x50"], ["2048x20"],
             lambda s: program(s, "X: f32[n, n]) -> (Y: f32[n, n])",
                               "Y = iterate t (x = X) {\n"
                               "        y[i, j] = 0.2 * (x[i, j] + x[i, j - 1] + x[i, j + 1] + x[i - 1, j] + x[i + 1, j]) for i in 1..n - 1, j in 1..n - 1\n"
                               "        y[i, j] = x[i, j] for i in 0..1, j in 0..n\n        y[i, j] = x[i, j] for i in n - 1..n, j in 0..n\n"
                               "        y[i, j] = x[i, j] for i in 1..n - 1, j in 0..1\n        y[i, j] = x[i, j] for i in 1..n - 1, j in n - 1..n\n"
                               "        y\n    }", "n t"), lambda s: 8 * numbers(s)[0] ** 2 * numbers(s)[1], shapes.grid_and_steps, "GB/s", 1.0),
]
