"""Runs cases of the standard operators through tapc and compares them with NumPy.

A case is one call of one operator: its parameters as text, its inputs, and what NumPy says the results are. Many cases
become one program, so that few processes are started; when such a program fails, its cases run one by one.
"""

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

import mlir_library

TYPE_NAMES = {
    np.dtype(np.float64): "f64", np.dtype(np.float32): "f32", np.dtype(np.float16): "f16",
    np.dtype(np.int64): "i64", np.dtype(np.int32): "i32", np.dtype(np.int16): "i16", np.dtype(np.int8): "i8",
    np.dtype(np.uint8): "u8", np.dtype(np.bool_): "bool",
}

# Relative and absolute error by element type of the result. Integers and bool must be equal. The interpreter computes in
# f64 and rounds once; native code computes in the element type.
TOLERANCE = {"interp": {"f64": (1e-10, 1e-11), "f32": (2e-6, 2e-6), "f16": (2e-3, 2e-3), "bf16": (8e-3, 8e-3)},
             "native": {"f64": (1e-10, 1e-11), "f32": (5e-5, 2e-5), "f16": (2e-3, 2e-3), "bf16": (8e-3, 8e-3)}}
TOLERANCE["mlir"] = TOLERANCE["native"]


def round_to_bf16(a):
    """To the nearest f32 whose lower 16 bits are 0, ties to even. NumPy has no bf16."""
    exact = np.array(a, np.float32)
    bits = exact.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(exact), exact, np.asarray(rounded, np.uint32).view(np.float32))


@dataclass
class Case:
    op: str
    params: str
    inputs: list
    expected: list
    rtol: float = 0.0
    number: int = field(default=0)
    bf16: bool = False  # its f16 tensors are bf16 in the program, and f32 outside of it

    def title(self):
        shapes = ", ".join(type_text(a, self.bf16) for a in self.inputs)
        return f"{self.op}{self.params}({shapes})"


def type_text(a, bf16=False):
    name = "bf16" if bf16 and a.dtype == np.float16 else TYPE_NAMES[a.dtype]
    return f"{name}[{', '.join(str(n) for n in a.shape)}]"


class Table:
    """The cases, in order. `add` takes one result or a tuple of them."""

    def __init__(self):
        self.cases = []

    def add(self, op, params, inputs, expected, **options):
        expected = list(expected) if isinstance(expected, tuple) else [expected]
        inputs = [np.array(a, order="C") for a in inputs]  # ascontiguousarray would give a scalar an axis
        expected = [np.array(a, order="C") for a in expected]
        for bf16 in (False, True):
            if bf16 and not self.has_twin(inputs, expected, params):
                return
            case = Case(op, f"<{params}>" if params else "", inputs, expected, number=len(self.cases), bf16=bf16,
                        **options)
            self.cases.append(case)

    @staticmethod
    def has_twin(inputs, expected, params):
        """A case of f16 is one of bf16, too, if its numbers are so few bits long that both types hold them."""
        small = [a for a in inputs + expected if a.dtype == np.float16]
        return bool(small) and "f16" not in params and all(np.isfinite(a).all() for a in small) and all(
            np.array_equal(a.astype(np.float32), round_to_bf16(a)) for a in inputs if a.dtype == np.float16)


def program_of(cases):
    """One program that calls all of them: the inputs of case 3 are A3_0, A3_1 …, its results Y3_0 …"""
    inputs, results, body = [], [], []
    for c in cases:
        narrow = lambda a: c.bf16 and a.dtype == np.float16
        inputs += [f"A{c.number}_{k}: {type_text(outside(c, a))}" for k, a in enumerate(c.inputs)]
        results += [f"Y{c.number}_{k}: {type_text(outside(c, a))}" for k, a in enumerate(c.expected)]
        names = [f"{'B' if narrow(a) else 'Y'}{c.number}_{k}" for k, a in enumerate(c.expected)]
        left = names[0] if len(names) == 1 else f"({', '.join(names)})"
        arguments = ", ".join(f"bf16(A{c.number}_{k})" if narrow(a) else f"A{c.number}_{k}" for k,
                              a in enumerate(c.inputs))
        body.append(f"    {left} = {c.op}{c.params}({arguments})")
        body += [f"    Y{c.number}_{k} = f32({name})" for k, name in enumerate(names) if name[0] == "B"]
    return "use std\nprogram cases({}) -> ({}) {{\n{}\n}}\n".format(
        ",\n              ".join(inputs), ",\n              ".join(results), "\n".join(body))


def outside(case, a):
    """The array as it is given to tapc and comes back."""
    return a.astype(np.float32) if case.bf16 and a.dtype == np.float16 else a


@dataclass
class Tapc:
    path: str
    engine: str = "interp"


def run_mlir(tapc, cases, folder):
    """The same through MLIR."""
    text = [os.path.abspath(tapc.path), "compile", os.path.join(folder, "cases.tap"), "--emit=mlir", "-o", os.path.join(folder, "cases.mlir")]
    error = mlir_library.run(text, folder) or mlir_library.compile_mlir("cases.mlir", "cases.so", folder)
    if error:
        return error
    names = [f"Y{c.number}_{k}" for c in cases for k in range(len(c.expected))]
    like = [outside(c, a) for c in cases for a in c.expected]
    got = mlir_library.call("cases.so", "cases", [outside(c, a) for c in cases for a in c.inputs], like, folder)
    return dict(zip(names, got)) if isinstance(got, list) else got


def run_program(tapc, cases, folder):
    """Returns an error text, or the results by name."""
    source = os.path.join(folder, "cases.tap")
    with open(source, "w") as f:
        f.write(program_of(cases))
    if tapc.engine == "mlir":
        return run_mlir(tapc, cases, folder)
    command = [tapc.path, "run", "--engine", tapc.engine, source]
    arrays = {f"A{c.number}_{k}": outside(c, a) for c in cases for k, a in enumerate(c.inputs)}
    if arrays:
        np.savez(os.path.join(folder, "in.npz"), **arrays)
        command += ["-i", "@" + os.path.join(folder, "in.npz")]
    names = [f"Y{c.number}_{k}" for c in cases for k in range(len(c.expected))]
    for name in names:
        command += ["-o", f"{name}=@{os.path.join(folder, name + '.npy')}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "timed out"
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip()[:1500]}"
    return {name: np.load(os.path.join(folder, name + ".npy")) for name in names}


def mismatch(case, got, engine):
    """The difference, or None."""
    for k, exact in enumerate(case.expected):
        expected, have = outside(case, exact), got[f"Y{case.number}_{k}"]
        if have.dtype != expected.dtype or have.shape != expected.shape:
            return f"result {k}: expected {type_text(expected)}, got {type_text(have)}"
        is_bf16 = case.bf16 and exact.dtype == np.float16
        name = "bf16" if is_bf16 else TYPE_NAMES[expected.dtype]
        if name not in TOLERANCE[engine]:
            if not np.array_equal(have, expected):
                return f"result {k}: expected {expected.tolist()}, got {have.tolist()}"
            continue
        if is_bf16:
            if not np.array_equal(have, round_to_bf16(have), equal_nan=True):
                return f"result {k}: not rounded to bf16: {have.tolist()}"
            expected = round_to_bf16(expected)
        rtol, atol = TOLERANCE[engine][name]
        least = case.rtol * (8 if is_bf16 else 1)  # bf16 has 3 bits less
        if not np.allclose(have.astype(np.float64), expected.astype(np.float64), rtol=max(rtol, least), atol=atol,
                           equal_nan=True):
            return f"result {k}: expected {expected.tolist()}, got {have.tolist()}"[:1500]
    return None


def run_batch(tapc, cases):
    """Returns (case, error or None) for each."""
    with tempfile.TemporaryDirectory() as folder:
        got = run_program(tapc, cases, folder)
    if isinstance(got, dict):
        return [(c, mismatch(c, got, tapc.engine)) for c in cases]
    if len(cases) == 1:
        return [(cases[0], got)]
    half = len(cases) // 2
    return run_batch(tapc, cases[:half]) + run_batch(tapc, cases[half:])


def run_all(tapc, cases, jobs=2, batch=24):
    batches = [cases[i:i + batch] for i in range(0, len(cases), batch)]
    with ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(lambda b: run_batch(tapc, b), batches):
            yield from outcome
