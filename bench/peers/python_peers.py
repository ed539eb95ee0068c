#!/usr/bin/python3
"""Rivals that are called from Python: NumPy and PyTorch. python_peers.py numpy|torch WORKLOAD SIZE THREADS; protocol.h has
the conversation and the data. An operation that a library lacks is left to loops of whole arrays, as its users write it."""
import json
import re
import resource
import sys
import time

import numpy as np


def filled(shape, seed):
    with np.errstate(over="ignore"):
        x = np.arange(int(np.prod(shape)), dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(seed * 0x85EBCA77 % 2**32)
        x ^= x >> 15
        x *= np.uint32(0x2C1B3C6D)
        x ^= x >> 13
    return ((x >> 8).astype(np.float32) / np.float32(2**24) - np.float32(0.5)).reshape(shape)


def contraction(size):
    """`adb,cd->cba@a=384 b=384 …`: the specification, and the operands."""
    spec, extents = size.split("@")
    extent = {letter: int(n) for letter, n in re.findall(r"([a-z])=(\d+)", extents)}
    left, right = spec.split("->")[0].split(",")
    return spec, [filled([extent[c] for c in letters], seed) for letters, seed in ((left, 1), (right, 2))]


def numpy_call(workload, size):
    n = [int(word) for word in re.findall(r"\d+", size)]
    if workload in ("matmul", "matmul_const"):
        a, b, c = filled((n[0], n[2]), 1), filled((n[2], n[1]), 2), np.empty((n[0], n[1]), np.float32)
        return lambda: np.matmul(a, b, out=c)
    if workload == "contraction":
        spec, (a, b) = contraction(size)
        return lambda: np.einsum(spec, a, b, optimize=True)
    if workload == "batched":
        a, b = filled((n[0], n[1], n[3]), 1), filled((n[0], n[3], n[2]), 2)
        c = np.empty((n[0], n[1], n[2]), np.float32)
        return lambda: np.matmul(a, b, out=c)
    if workload == "magnitudes":
        x = filled((*n, 2), 1).view(np.complex64)[:, 0]
        return lambda: x.real**2 + x.imag**2
    if workload in ("column_sums", "cumsum_rows", "cumsum_columns"):
        x = filled(n, 1)
        y = np.empty(n[1] if workload == "column_sums" else n, np.float32)
        return {"column_sums": lambda: np.sum(x, axis=0, out=y), "cumsum_rows": lambda: np.cumsum(x, axis=1, out=y),
                "cumsum_columns": lambda: np.cumsum(x, axis=0, out=y)}[workload]
    if workload == "transpose":
        x, y = filled(n, 1), np.empty((n[1], n[0]), np.float32)

        def call():
            np.copyto(y, x.T)
            return y
        return call
    if workload == "elementwise":
        x = filled(n, 1)
        y = np.empty_like(x)

        def call():
            np.multiply(x, np.float32(1.5), out=y)
            np.add(y, np.float32(0.25), out=y)
            np.maximum(y, np.float32(0), out=y)
            return np.multiply(y, np.float32(2), out=y)
        return call
    if workload == "sum":
        x = filled(n, 1) + np.float32(0.5)
        return lambda: np.sum(x)
    if workload == "softmax":
        x = filled(n, 1)
        y = np.empty_like(x)

        def call():
            np.subtract(x, x.max(axis=1, keepdims=True), out=y)
            np.exp(y, out=y)
            return np.divide(y, y.sum(axis=1, keepdims=True), out=y)
        return call
    if workload == "layernorm":
        x, gain, offset = filled(n, 1), filled(n[1:], 2), filled(n[1:], 3)
        y = np.empty_like(x)

        def call():
            np.subtract(x, x.mean(axis=1, keepdims=True), out=y)
            np.multiply(y, 1 / np.sqrt(np.square(y).mean(axis=1, keepdims=True) + np.float32(1e-5)), out=y)
            np.multiply(y, gain, out=y)
            return np.add(y, offset, out=y)
        return call
    return None


def torch_call(workload, size, threads):
    import torch
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    n = [int(word) for word in re.findall(r"\d+", size)]

    def tensor(shape, seed):
        return torch.from_numpy(filled(shape, seed))

    if workload in ("matmul", "matmul_const"):
        a, b, c = tensor((n[0], n[2]), 1), tensor((n[2], n[1]), 2), torch.empty(n[0], n[1])
        return lambda: torch.mm(a, b, out=c)
    if workload == "contraction":
        spec, (a, b) = contraction(size)
        a, b = torch.from_numpy(a), torch.from_numpy(b)
        return lambda: torch.einsum(spec, a, b)
    windows = {"conv": (3, 1), "conv_1x1": (1, 1), "conv_7x7": (7, 2)}
    if workload in windows:
        window, stride = windows[workload]
        x, k = tensor(n[:4], 1), tensor((n[4], n[1], window, window), 2)
        return lambda: torch.nn.functional.conv2d(x, k, padding=window // 2, stride=stride)
    if workload == "depthwise":
        x, k = tensor(n, 1), tensor((n[1], 1, 3, 3), 2)
        return lambda: torch.nn.functional.conv2d(x, k, padding=1, groups=n[1])
    if workload == "batched":
        a, b, c = tensor((n[0], n[1], n[3]), 1), tensor((n[0], n[3], n[2]), 2), torch.empty(n[0], n[1], n[2])
        return lambda: torch.bmm(a, b, out=c)
    if workload == "mlp":
        x, w1, b1, w2, b2 = (tensor(shape, seed + 1) for seed, shape in
                             enumerate([(n[0], n[1]), (n[1], n[2]), (n[2],), (n[2], n[3]), (n[3],)]))
        return lambda: torch.relu_(torch.addmm(b2, torch.relu_(torch.addmm(b1, x, w1)), w2))
    if workload == "mttkrp":
        x, a, b = tensor(n[:3], 1), tensor((n[1], n[3]), 2), tensor((n[2], n[3]), 3)
        return lambda: torch.einsum("ijr,jr->ir", torch.matmul(x, b), a)
    if workload == "transpose":
        x, y = tensor(n, 1), torch.empty(n[1], n[0])
        return lambda: y.copy_(x.t())
    if workload in ("column_sums", "cumsum_rows", "cumsum_columns"):
        x = tensor(n, 1)
        y = torch.empty(n[1] if workload == "column_sums" else n)
        return {"column_sums": lambda: torch.sum(x, 0, out=y), "cumsum_rows": lambda: torch.cumsum(x, 1, out=y),
                "cumsum_columns": lambda: torch.cumsum(x, 0, out=y)}[workload]
    if workload == "rmsnorm":
        x, gain = tensor(n, 1), tensor(n[1:], 2)
        return lambda: x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-5) * gain
    if workload == "box3x3":
        x = tensor([1, 1, *n], 1)
        return lambda: torch.nn.functional.avg_pool2d(x, 3, 1, 1, divisor_override=1)
    if workload == "max_pool":
        x = tensor([1, *n], 1)
        return lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)
    if workload == "magnitudes":
        x = torch.view_as_complex(tensor([*n, 2], 1))
        return lambda: x.real.square() + x.imag.square()
    if workload == "stencil27":
        x = tensor([1, 1, *n], 1)
        return lambda: torch.nn.functional.avg_pool3d(x, 3, 1, divisor_override=1)
    if workload == "attention_causal":
        q, k, v = (tensor(n, seed) for seed in (1, 2, 3))
        hidden = torch.full((n[1], n[1]), float("-inf")).triu_(1)
        return lambda: torch.bmm(torch.softmax(torch.baddbmm(hidden, q * n[2] ** -0.5, k.transpose(1, 2)), -1), v)
    if workload == "attention":
        q, k, v = (tensor(n, seed) for seed in (1, 2, 3))
        return lambda: torch.bmm(torch.softmax(torch.bmm(q * n[2] ** -0.5, k.transpose(1, 2)), -1), v)
    if workload in ("elementwise", "gelu", "softmax"):
        x = tensor(n, 1)
        y = torch.empty_like(x)
        return {"elementwise": lambda: torch.mul(x, 1.5, out=y).add_(0.25).relu_().mul_(2),
                "gelu": lambda: torch._C._nn.gelu(x, out=y),
                "softmax": lambda: torch._softmax(x, 1, False, out=y)}[workload]
    if workload == "scaled_images":
        x, gain, offset = tensor(n, 1), tensor(n[1:2], 2).reshape(-1, 1, 1), tensor(n[1:2], 3).reshape(-1, 1, 1)
        y = torch.empty_like(x)
        return lambda: torch.mul(x, gain, out=y).add_(offset).relu_()
    if workload in ("narrow_bias", "narrow_affine"):
        x, bias = tensor(n, 1), tensor(n[1:], 2)
        y = torch.empty_like(x)
        return {"narrow_bias": lambda: torch.add(x, bias, out=y), "narrow_affine": lambda: torch.mul(x, 2, out=y).add_(1)}[workload]
    if workload == "sum":
        x = tensor(n, 1) + 0.5
        return lambda: torch.sum(x)
    if workload == "layernorm":
        x, gain, offset = tensor(n, 1), tensor(n[1:], 2), tensor(n[1:], 3)
        return lambda: torch.nn.functional.layer_norm(x, n[1:], gain, offset)
    return None


def seconds_of(call, calls):
    before = time.perf_counter(), time.process_time()
    for _ in range(calls):
        result = call()
    after = time.perf_counter(), time.process_time()
    return (after[0] - before[0]) / calls, (after[1] - before[1]) / calls, result


def calls_together(call):
    """As protocol.h does it."""
    calls = 1
    if seconds_of(call, 1)[0] < 1e-3:
        while seconds_of(call, calls)[0] * calls < 50e-6:
            calls *= 2
    return calls


def answer(call, budget):
    """As protocol.h does it."""
    start = time.perf_counter()
    calls = calls_together(call)
    wall, cpu = [], []
    while not wall or (time.perf_counter() - start < budget and len(wall) < 1000):
        one_wall, one_cpu, result = seconds_of(call, calls)
        wall.append(one_wall)
        cpu.append(one_cpu)
    cells = np.asarray(result, np.float32).reshape(-1)
    probes = [float(cells[(k * cells.size // 64 + 7 * k) % cells.size]) for k in range(64)]
    norm = float(np.abs(cells).mean(dtype=np.float64))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"wall": wall, "cpu": cpu, "probes": probes, "norm": norm, "peak": peak}


def main():
    library, workload, size, threads = sys.argv[1:5]
    try:
        call = numpy_call(workload, size) if library == "numpy" else torch_call(workload, size, int(threads))
    except ImportError as missing:
        print(missing, file=sys.stderr)
        call = None
    print("offers", library if call else "", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(call, float(line.split()[1]))), flush=True)


if __name__ == "__main__":
    main()
