#!/usr/bin/python3
"""Bound runs of a compiled library: the same results as run(), with what the tensors contain at each call."""
from tapc import *

PROGRAMS = {
    "one kernel": "program p(A: f32[5, 7], B: f32[7, 6]) -> (Y: f32[5, 6]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }",
    "several kernels": """program p(A: f32[5, 7], B: f32[7, 6]) -> (Y: f32[5, 6]) {
  C[i, j] = sum[k] A[i, k] * B[k, j]
  m[i] = max[j] C[i, j]
  Y[i, j] = C[i, j] - m[i] }""",
    "blocks": "program p(A: f32[5, 7], B: f32[7, 6]) -> (Y: f32[5, 6]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }",
    "an iterate": """program p(A: f32[5, 7], B: f32[7, 6]) -> (Y: f32[5, 6]) {
  C[i, j] = sum[k] A[i, k] * B[k, j]
  Y = iterate 3 (V = C) {
    W[i, j] = V[i, j] + C[i, j]
    W } }""",
    "many cells": """program p(A: f32[5, 7], B: f32[7, 6]) -> (Y: f32[5, 6]) {
  C[i, j, n] = A[i, 0] * B[0, j] + f32(n) for i in 0..5, j in 0..6, n in 0..40000
  Y[i, j] = max[n] C[i, j, n] }""",
}
PLANS = {"blocks": "plan 2\nsplit Y dim i into 3 over sequential\nsplit Y dim k into 2 over sequential\n"}
MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "p.h"
static float A[35], B[42], T[35], Y[30], Z[30];
static void fill(float *cells, int count, int seed) { while (count--) cells[count] = (float)((count * 7 + seed) % 11 - 5); }
int main(int argc, char **argv) {
  const int64_t turned[] = {1, 5};
  tapestry_tensor in[2] = {{A, 0}, {B, 0}}, out[1] = {{Y, 0}}, again[1] = {{Z, 0}};
  tapestry_options options = {0, 0};
  p_context *c;
  p_bound *bound, *other;
  int round, k, strided = argc > 2;
  options.threads = argv[1][0] - '0';
  if (strided) in[0].data = T, in[0].strides = turned;
  if (p_prepare(&c, 0, &options)) return 1;
  if (p_bind(c, in, out, &bound) || p_bind(c, in, out, &other)) return 2;
  in[0].strides = strided ? turned : 0;
  for (round = 0; round < 4; ++round) {
    fill(A, 35, round); fill(T, 35, round); fill(B, 42, 3 * round + 1);
    memset(Y, 0xa7, sizeof Y); memset(Z, 0xa7, sizeof Z);
    if (p_call(round % 2 ? bound : other)) return 3;
    if (p_run(c, in, again)) return 4;
    if (memcmp(Y, Z, sizeof Y) != 0) return 5;
    for (k = 0; k < 30; ++k) if (Y[k] != Y[k]) return 6;
  }
  p_unbind(bound); p_unbind(other); p_unbind(0);
  out[0].data = B;
  if (p_bind(c, in, out, &bound) != TAPESTRY_WRONG_ARGUMENT || bound) return 7;
  p_release(c);
  if (p_bind(0, in, out, &bound) != TAPESTRY_WRONG_ARGUMENT || bound) return 8;
  return 0;
}
"""
LARGE = """program p(A: f32[130, 300], const B: f32[300, 150], k: i64[150]) -> (Y: f32[130, 150], n: i64[130]) {
  Y[i, j] = sum[t] A[i, t] * B[t, j]
  n[i] = sum[j] (if Y[i, j] < 0 then k[j] else 1)
}
"""
AT_ONCE = r"""
#include <pthread.h>
#include <string.h>
#include "p.h"
enum { AT_ONCE = 3 };
static float B[300 * 150];
static struct { float A[130 * 300], Y[130 * 150], Z[130 * 150]; int64_t k[150], n[130], o[130]; int failed; } own[AT_ONCE];
static p_context *c;
static void *work(void *which) {
  int me = (int)(intptr_t)which, round, i;
  tapestry_tensor in[2] = {{own[me].A, 0}, {own[me].k, 0}}, out[2] = {{own[me].Y, 0}, {own[me].n, 0}}, again[2] = {{own[me].Z, 0}, {own[me].o, 0}};
  p_bound *bound;
  if (p_bind(c, in, out, &bound)) { own[me].failed = 1; return 0; }
  for (round = 0; round < 8; ++round) {
    for (i = 0; i < 130 * 300; ++i) own[me].A[i] = (float)((i * 7 + round + me) % 13 - 6);
    for (i = 0; i < 150; ++i) own[me].k[i] = (int64_t)i << (round + 20);
    if (p_call(bound) || p_run(c, in, again)) own[me].failed = 2;
    if (memcmp(own[me].Y, own[me].Z, sizeof own[me].Y) || memcmp(own[me].n, own[me].o, sizeof own[me].n)) own[me].failed = 3;
  }
  p_unbind(bound);
  return 0;
}
int main(int argc, char **argv) {
  tapestry_tensor constants[1] = {{B, 0}};
  tapestry_options options = {0, 0};
  pthread_t threads[AT_ONCE];
  int i, failed = 0;
  options.threads = argv[argc - 1][0] - '0';
  for (i = 0; i < 300 * 150; ++i) B[i] = (float)((i * 5) % 11 - 5) / 8;
  if (p_prepare(&c, constants, &options)) return 9;
  for (i = 0; i < AT_ONCE; ++i) pthread_create(threads + i, 0, work, (void *)(intptr_t)i);
  for (i = 0; i < AT_ONCE; ++i) { pthread_join(threads[i], 0); failed |= own[i].failed; }
  p_release(c);
  return failed;
}
"""
FAILS = r"""
#include <stdio.h>
#include "p.h"
int main(void) {
  int32_t a[3] = {7, 8, 9}, b[3] = {1, 2, 3}, y[3];
  tapestry_tensor in[2] = {{a, 0}, {b, 0}}, out[1] = {{y, 0}};
  char text[300];
  p_context *c;
  p_bound *bound;
  if (p_prepare(&c, 0, 0) || p_bind(c, in, out, &bound) || p_call(bound) || y[1] != 4) return 1;
  b[2] = 0;
  if (p_call(bound) != TAPESTRY_FAILED) return 2;
  p_message(c, text, sizeof text);
  puts(text);
  b[2] = 3;
  if (p_call(bound) || y[2] != 3) return 3;
  p_unbind(bound);
  p_release(c);
  return 0;
}
"""


class Bound(TapcTest):
    def build(self, source, main, plan=None):
        self.write("p.tap", source)
        self.write("main.c", main)
        options = []
        if plan:
            self.write("p.plan", plan)
            options = ["--plan", "p.plan"]
        self.expect(0, "^$", "compile", "p.tap", "-o", "p.so", *options)
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "main.c", "./p.so", "-Wl,-rpath,$ORIGIN", "-pthread", "-o", "main"], cwd=self.folder, check=True)

    def test_results_are_those_of_run(self):
        for what, source in PROGRAMS.items():
            self.build(source, MAIN, PLANS.get(what))
            for arguments in (["1"], ["2"], ["1", "strided"]):
                with self.subTest(program=what, arguments=arguments):
                    done = subprocess.run(["./main", *arguments], cwd=self.folder)
                    self.assertEqual(done.returncode, 0)

    def test_several_threads_have_their_own_at_once(self):
        """With a constant that is packed before, panels in scratch memory, and results of two types."""
        self.build(LARGE, AT_ONCE)
        for threads in ("1", "2"):
            with self.subTest(threads=threads):
                self.assertEqual(subprocess.run(["./main", threads], cwd=self.folder).returncode, 0)

    def test_a_failure_has_its_message(self):
        self.build("program p(a: i32[3], b: i32[3]) -> (y: i32[3]) { y[i] = a[i] / b[i] }", FAILS)
        done = subprocess.run(["./main"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("division by zero", done.stdout)


if __name__ == "__main__":
    unittest.main()
