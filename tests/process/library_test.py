#!/usr/bin/python3
"""What callers hand to a compiled library, in C, C++ and Python: tensors of all strides, of DLPack, wrong ones, missing ones."""
import ctypes
import gc
import importlib.util

import numpy as np

from guarded import guard_results
from tapc import *

P = """program p(A: f32[3, 4], const K: i16[4], s: f64[]) -> (Y: f32[3, 4], t: f64[], e: i32[0, 4]) {
  Y[i, j] = A[i, j] * f32(K[j]) + f32(s[])
  t[] = sum[i, j] f64(A[i, j]) * s[]
  e[i, j] = i32(K[j]) for i in 0..0, j in 0..4
}
"""
# As dlpack.h of 0.6 and 1.1 declares it: the struct has no tag.
DLPACK = """#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#include <stdint.h>
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape; int64_t *strides; uint64_t byte_offset; } DLTensor;
#endif
"""
MAIN = r"""
#ifdef WITH_DLPACK
#include "dlpack.h"
#endif
#include <stdio.h>
#include <string.h>
#include "p.h"
static float A[3][4];
/* A result between bytes that nobody may change. */
static struct { unsigned char before[64]; float Y[40]; unsigned char after[64]; } memory;
#define Y memory.Y
static double s = 0.5, t;
static int16_t K[4] = {1, -2, 3, -4};
static p_context *c;
static void say(const char *what, int32_t status) {
  char text[300] = "";
  p_message(c, text, sizeof text);
  printf("%s: %d %s\n", what, (int)status, status ? text : "");
}
/* A result with these strides, its first cell at `first`. */
static void run(const char *what, float *first, const int64_t *strides) {
  tapestry_tensor in[2] = {{0, 0}, {0, 0}}, out[3] = {{0, 0}, {0, 0}, {0, 0}};
  int64_t i, j;
  int32_t status;
  in[0].data = A; in[1].data = &s; out[0].data = first; out[0].strides = strides; out[1].data = &t;
  status = p_run(c, in, out);
  say(what, status);
  for (i = 0; i < 3; ++i)
    for (j = 0; j < 4 && status == 0 && strides; ++j)
      if (first[i * strides[0] + j * strides[1]] != A[i][j] * (float)K[j] + 0.5f) printf("wrong at %d %d\n", (int)i, (int)j);
}
int main(void) {
  int i, j;
  int64_t backward[] = {-4, -1}, diagonal[] = {1, 1}, woven[] = {3, 4}, twice[] = {3, 2}, down[] = {1, 3}, nowhere[] = {0, 1};
  int64_t shape[] = {3, 4}, turned[] = {4, 3}, none[] = {0, 4};
  tapestry_tensor constants[1] = {{K, 0}}, in[2] = {{A, 0}, {&s, 0}};
  tapestry_dltensor a, d, y, r, e, good;
  const tapestry_dltensor *given[2], *results[3];
  memset(&memory, 0xa7, sizeof memory);
  for (i = 0; i < 3; ++i) for (j = 0; j < 4; ++j) A[i][j] = (float)(10 * i + j);
  say("no context", p_run(c, in, 0));
  if (p_prepare(&c, constants, 0)) return 1;
  run("row-major", Y, 0);
  run("backward", Y + 11, backward);
  run("down", Y, down);
  run("woven", Y, woven);
  run("diagonal", Y, diagonal);
  run("twice", Y, twice);
  run("nowhere", Y, nowhere);
  say("no inputs", p_run(c, 0, in));
  say("no outputs", p_run(c, in, 0));
  memset(&a, 0, sizeof a);
  a.device.device_type = 1;
  d = y = r = e = a;
  a.data = A; a.ndim = 2; a.dtype.code = 2; a.dtype.bits = 32; a.dtype.lanes = 1; a.shape = shape;
  y = a; y.data = Y;
  d.data = &s; d.dtype = a.dtype; d.dtype.bits = 64;
  r = d; r.data = &t;
  e = a; e.data = 0; e.dtype.code = 0; e.shape = none;
  given[0] = &a; given[1] = &d; results[0] = &y; results[1] = &r; results[2] = &e;
  good = a;
#define TRY(what, change) a = good; change; say(what, p_run_dlpack(c, given, results));
  TRY("DLPack", (void)0)
  TRY("offset", (a.data = (char *)a.data - 8, a.byte_offset = 8))
  TRY("device", a.device.device_type = 2)
  TRY("bits", a.dtype.bits = 64)
  TRY("code", a.dtype.code = 0)
  TRY("lanes", a.dtype.lanes = 4)
  TRY("axes", a.ndim = 1)
  TRY("shape", a.shape = turned)
  TRY("null", (a.data = 0, a.byte_offset = 8))
  given[0] = 0;
  say("missing", p_run_dlpack(c, given, results));
  say("no list", p_run_dlpack(c, 0, results));
  p_release(c);
  for (i = 0; i < 64; ++i) if (memory.before[i] != 0xa7 || memory.after[i] != 0xa7) return 2;
  return 0;
}
"""
TOLD = [r"no context: 4 out of memory: the context is null", r"row-major: 0 ", r"backward: 0 ", r"down: 0 ", r"woven: 0 ",
        r"diagonal: 4 `Y` is an output whose cells overlap.*", r"twice: 4 `Y` is an output whose cells overlap.*",
        r"nowhere: 4 `Y` is an output whose cells overlap.*", r"no inputs: 4 `A` is missing: its address is null",
        r"no outputs: 4 `Y` is missing: its address is null", r"DLPack: 0 ", r"offset: 0 ", r"device: 4 `A` is not in CPU memory",
        r"bits: 4 `A` has the wrong element type", r"code: 4 `A` has the wrong element type",
        r"lanes: 4 `A` has the wrong element type", r"axes: 4 `A` has the wrong number of axes",
        r"shape: 4 `A` has the wrong shape", r"null: 4 `A` is missing: its address is null", r"missing: 4 `A` is missing",
        r"no list: 4 `A` is missing"]
OUTSIDE = """extern op twice(x: f32[n]) -> (y: f32[n]) {
    index [i: n]
    read  x at [i] shape [1]
    write y at [i] shape [1]
    kernel "twice"
}
program main(X: f32[6]) -> (Y: f32[6]) { Y = twice(X) }
"""
KERNEL = """#include <stdint.h>
typedef struct { void *data; const int64_t *extents, *strides; } region;
void twice(const int64_t *box, const int64_t *extents, const region *r) {
  (void)extents;
  for (int64_t i = 0; i < box[1] - box[0]; ++i) ((float *)r[1].data)[i] = 2 * ((float *)r[0].data)[i];
}
"""


class Library(TapcTest):
    def compile(self, text, name, *more):
        self.write(name + ".tap", text)
        self.expect(0, "^$", "compile", name + ".tap", "-o", name + ".so", *more)

    def module(self, name):
        spec = importlib.util.spec_from_file_location(name, self.folder / (name + "_program.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return guard_results(self, module)

    def ran(self, *words):
        result = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_in_c_and_cpp_with_dlpack_and_without(self):
        self.compile(P, "p")
        self.write("dlpack.h", DLPACK)
        self.write("main.c", MAIN)
        warned = ("-Wall", "-Wextra", "-Werror", "-pedantic")
        for compiler in (("gcc", "-std=c99"), ("g++", "-std=c++17", "-x", "c++")):
            for more in ((), ("-DWITH_DLPACK",)):
                with self.subTest(compiler=compiler, more=more):
                    self.ran(*compiler, *warned, *more, "main.c", "-x", "none", "./p.so", "-Wl,-rpath,$ORIGIN", "-o", "main")
                    lines = self.ran("./main").splitlines()
                    self.assertEqual(len(lines), len(TOLD), lines)
                    for line, pattern in zip(lines, TOLD):
                        self.assertRegex(line, f"^{pattern}$")

    def setUpProgram(self):
        self.compile(P, "p", "--emit=py")
        module = self.module("p")
        a, k = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([1, -2, 3, -4], np.int16)
        return module, a, k, np.float64(0.5), a * k + np.float32(0.5)

    def test_arrays_of_all_layouts_in_python(self):
        module, a, k, s, expected = self.setUpProgram()
        program = module.Program(k)
        field = np.zeros((3, 4), [("byte", "i1"), ("cell", "f4")])["cell"]  # cells 5 bytes apart
        field[:] = a
        wide = np.zeros((6, 4), np.float32)[::2]
        wide[:] = a
        for layout in (a, field, wide, np.asfortranarray(a), a[::-1, ::-1].copy()[::-1, ::-1]):
            y, t, e = program(layout, s)
            np.testing.assert_array_equal(y, expected)
            self.assertEqual((float(t), e.shape), (33, (0, 4)))
        np.testing.assert_array_equal(program(np.broadcast_to(np.float32(7), (3, 4)), s)[0], np.tile(7 * k + 0.5, (3, 1)))
        np.testing.assert_array_equal(program(a.tolist(), 0.5)[0], expected)
        np.testing.assert_array_equal(module.Program([1, -2, 3, -4])(a, s)[0], expected)

    def test_arguments_that_python_refuses(self):
        module, a, k, s, expected = self.setUpProgram()
        program = module.Program(k)
        rest = np.zeros(()), np.zeros((0, 4), np.int32)
        fixed = np.zeros((3, 4), np.float32)
        fixed.flags.writeable = False
        field = np.zeros((3, 4), [("byte", "i1"), ("cell", "f4")])["cell"]
        folded = np.lib.stride_tricks.as_strided(np.zeros(40, np.float32), (3, 4), (4, 4))
        for out, error, pattern in ((fixed, ValueError, "an array is read-only"), (field, ValueError, "not multiples of the element size"),
                                    (folded, module.Error, "an output whose cells overlap"), ([[0] * 4] * 3, TypeError, "expected one array per result"),
                                    (np.zeros((3, 4)), TypeError, "has type float64, expected f32")):
            with self.assertRaisesRegex(error, pattern):
                program(a, s, out=(out, *rest))
        self.assertEqual(float(fixed.sum()), 0)
        for constants, error in ((([1.5, 2, 3, 4],), TypeError), (([70000, 2, 3, 4],), OverflowError), ((k.astype(np.int64),), TypeError)):
            with self.assertRaises(error):
                module.Program(*constants)
        for inputs in ((a, None), (a, "1"), (a.astype(">f4"), s), (a, np.float32(0.5))):
            with self.assertRaises((TypeError, ValueError)):
                program(*inputs)
        program.close()
        with self.assertRaisesRegex(module.Error, "the program is closed"):
            program(a, s)

    def test_one_result_into_a_dlpack_array(self):
        self.compile("program q(self: f32[4]) -> (out: f32[4]) { out[i] = self[i] + 1 }\n", "q", "--emit=py")

        class Speaks:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **how):
                return self.array.__dlpack__(**how)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        program = self.module("q").Program()
        out = np.zeros(4, np.float32)
        program(self=Speaks(np.arange(4, dtype=np.float32)), out=Speaks(out))
        np.testing.assert_array_equal(out, [1, 2, 3, 4])

    def test_addresses_of_outside_kernels_are_copied(self):
        self.compile(OUTSIDE, "main", "--emit=py")
        self.write("kernel.c", KERNEL)
        self.ran("gcc", "-shared", "-fPIC", "kernel.c", "-o", "kernel.so")
        address = ctypes.cast(ctypes.CDLL(str(self.folder / "kernel.so")).twice, ctypes.c_void_p).value
        module = self.module("main")
        program = module.Program(kernels=[address])
        gc.collect()
        taken = [(ctypes.c_void_p * 1)(1) for _ in range(1000)]  # in the place of the array that was handed over
        np.testing.assert_array_equal(program(np.arange(6, dtype=np.float32)), 2 * np.arange(6))
        self.assertEqual(len(taken), 1000)
        with self.assertRaisesRegex(module.Error, "the outside kernel `twice` is not available"):
            module.Program(kernels=[None])(np.arange(6, dtype=np.float32))


if __name__ == "__main__":
    unittest.main()
