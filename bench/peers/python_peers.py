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
    if workload == "matmul":
        a, b, c = filled((n[0], n[2]), 1), filled((n[2], n[1]), 2), np.empty((n[0], n[1]), np.float32)
        return lambda: np.matmul(a, b, out=c)
    if workload == "contraction":
        spec, (a, b) = contraction(size)
        return lambda: np.einsum(spec, a, b, optimize=True)
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

    if workload == "matmul":
        a, b, c = tensor((n[0], n[2]), 1), tensor((n[2], n[1]), 2), torch.empty(n[0], n[1])
        return lambda: torch.mm(a, b, out=c)
    if workload == "contraction":
        spec, (a, b) = contraction(size)
        a, b = torch.from_numpy(a), torch.from_numpy(b)
        return lambda: torch.einsum(spec, a, b)
    if workload == "conv":
        x, k = tensor(n[:4], 1), tensor((n[4], n[1], 3, 3), 2)
        return lambda: torch.nn.functional.conv2d(x, k, padding=1)
    if workload == "attention":
        q, k, v = (tensor(n, seed) for seed in (1, 2, 3))
        return lambda: torch.bmm(torch.softmax(torch.bmm(q * n[2] ** -0.5, k.transpose(1, 2)), -1), v)
    if workload in ("elementwise", "gelu", "softmax"):
        x = tensor(n, 1)
        y = torch.empty_like(x)
        return {"elementwise": lambda: torch.mul(x, 1.5, out=y).add_(0.25).relu_().mul_(2),
                "gelu": lambda: torch._C._nn.gelu(x, out=y),
                "softmax": lambda: torch._softmax(x, 1, False, out=y)}[workload]
    if workload == "sum":
        x = tensor(n, 1) + 0.5
        return lambda: torch.sum(x)
    if workload == "layernorm":
        x, gain, offset = tensor(n, 1), tensor(n[1:], 2), tensor(n[1:], 3)
        return lambda: torch.nn.functional.layer_norm(x, n[1:], gain, offset)
    return None


def answer(call, budget):
    """As protocol.h does it."""
    start = time.perf_counter()
    call()
    wall, cpu = [], []
    while not wall or (time.perf_counter() - start < budget and len(wall) < 1000):
        before = time.perf_counter(), time.process_time()
        result = call()
        after = time.perf_counter(), time.process_time()
        wall.append(after[0] - before[0])
        cpu.append(after[1] - before[1])
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
