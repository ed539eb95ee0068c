"""Native code of a program out of its MLIR, without any of tapc's own: mlir-opt lowers it, mlir-translate and clang do the
rest. Arrays go in and out as memref descriptors, in a process of its own, which cf.assert may end.

    mlir_library.py LIBRARY FUNCTION IN.npz OUT.npz        OUT.npz holds a zero array for each result, and then the results
"""
import ctypes
import os
import subprocess
import sys

import numpy as np

# From tensors to LLVM's dialect: buffers, loops, branches.
LOWERING = ["--llvm-request-c-wrappers",
            "--one-shot-bufferize=bufferize-function-boundaries=1 allow-return-allocs-from-loops=1",
            "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf",
            "--arith-expand", "--convert-math-to-llvm", "--convert-math-to-libm", "--convert-cf-to-llvm",
            "--finalize-memref-to-llvm", "--convert-func-to-llvm", "--convert-arith-to-llvm", "--convert-index-to-llvm",
            "--reconcile-unrealized-casts"]
RUNNER_UTILS = "/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1"  # copies of buffers with strides


def run(command, folder):
    """Nothing, or what it says against it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return None if done.returncode == 0 else f"{command[0]}: exit {done.returncode}: {done.stderr.strip()[:2000]}"


def compile_mlir(text, library, folder):
    """Nothing, or an error text."""
    low, llvm = library + ".low.mlir", library + ".ll"
    return (run(["mlir-opt-22", text, *LOWERING, "-o", low], folder) or
            run(["mlir-translate-22", "--mlir-to-llvmir", low, "-o", llvm], folder) or
            run(["clang-22", "-O1", "-w", "-shared", "-fPIC", "--rtlib=compiler-rt", llvm, "-o", library, "-lm"], folder))


def call(library, function, inputs, like, folder):
    """The results, of the types and shapes of `like`; or an error text."""
    np.savez(os.path.join(folder, "mlir_in.npz"), *inputs)
    np.savez(os.path.join(folder, "mlir_out.npz"), *(np.zeros_like(a) for a in like))
    error = run([sys.executable, os.path.abspath(__file__), os.path.join(folder, library), function, "mlir_in.npz",
                 "mlir_out.npz"], folder)
    return error or arrays_in(os.path.join(folder, "mlir_out.npz"))


def arrays_in(path):
    with np.load(path) as archive:
        return [archive[f"arr_{k}"] for k in range(len(archive.files))]


def descriptor(rank):
    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                    ("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    return Descriptor


def descriptor_of(array):
    described = descriptor(array.ndim)(array.ctypes.data, array.ctypes.data, 0)
    described.sizes[:] = array.shape
    described.strides[:] = [stride // array.itemsize for stride in array.strides]
    return described


def array_of(described, like):
    size = like.dtype.itemsize
    if like.size == 0:
        return like
    strides = [stride * size for stride in described.strides]
    span = sum((n - 1) * s for n, s in zip(like.shape, strides)) + size
    cells = np.frombuffer((ctypes.c_char * span).from_address(described.aligned + described.offset * size), like.dtype)
    return np.lib.stride_tricks.as_strided(cells, like.shape, strides).copy()


def main(library, function, given, expected):
    inputs, like = arrays_in(given), arrays_in(expected)
    fields = [(f"r{k}", descriptor(a.ndim)) for k, a in enumerate(like)]
    results = type("Results", (ctypes.Structure,), {"_fields_": fields})()
    ctypes.CDLL(RUNNER_UTILS, ctypes.RTLD_GLOBAL)
    descriptors = [descriptor_of(a) for a in inputs]
    getattr(ctypes.CDLL(library), "_mlir_ciface_" + function)(ctypes.byref(results), *map(ctypes.byref, descriptors))
    np.savez(expected, *(array_of(getattr(results, f"r{k}"), a) for k, a in enumerate(like)))


if __name__ == "__main__":
    main(*sys.argv[1:])
