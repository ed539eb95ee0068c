#!/usr/bin/python3
"""tapc compile: libraries for C and Python, their manifests, and what must not harm them (G02, G03, G10, G11)."""
import ctypes
import importlib.util
import json
import shutil
import threading

import numpy as np

from guarded import guard_results
from json_schema import problems
from tapc import *
from tapc import TAPC

MLP = """use std
dim batch = 6, hidden = 8
program mlp(X: f32[batch, 5], const W1: f32[5, hidden], const b1: f32[hidden], const W2: f32[hidden, 3]) -> (Y: f32[batch, 3]) {
    H = relu(linear(X, W1, b1))
    Y = matmul(H, W2)
}
"""
DIVIDE = "program divide(a: i64[4], b: i64[4]) -> (q: i64[4]) { q[i] = a[i] / b[i] }\n"
STEPS = """program steps(u: f64[40]) -> (U: f64[40], total: f64[]) {
    U = iterate t in 0..7 (v = u) { w[i] = 0.25 * v[i - 1 else 0] + v[i] / 2 + 0.25 * v[i + 1 else 0] + f64(t) for i in 0..40
        w }
    total[] = sum[i] U[i]
}
"""
MAIN = r"""
#include <stdio.h>
#include <string.h>
#include <pthread.h>
#include "mlp.h"
static float x[2][5][6], w1[5][8], b1[8], w2[8][3];
/* Results between bytes that nobody may change. */
static struct { unsigned char before[64]; float y[2][6][3]; unsigned char after[64]; } results;
#define y results.y
static mlp_context *context;
static void *one(void *n) {
  long k = (long)n;
  int64_t across[] = {1, 6};  /* x is stored the other way round */
  tapestry_tensor in = {x[k], across}, out = {y[k], 0};
  for (int i = 0; i < 50; ++i)
    if (mlp_run(context, &in, &out) != TAPESTRY_DONE) return (void *)1;
  return 0;
}
int main(void) {
  memset(&results, 0xa7, sizeof results);
  for (int k = 0; k < 2; ++k) for (int i = 0; i < 6; ++i) for (int j = 0; j < 5; ++j) x[k][j][i] = (float)(i - 2 * j + k);
  for (int i = 0; i < 5; ++i) for (int j = 0; j < 8; ++j) w1[i][j] = (float)((i * j) % 3 - 1);
  for (int j = 0; j < 8; ++j) b1[j] = (float)j;
  for (int i = 0; i < 8; ++i) for (int j = 0; j < 3; ++j) w2[i][j] = (float)(i - j);
  tapestry_tensor constants[] = {{w1, 0}, {b1, 0}, {w2, 0}};
  tapestry_options options = {2, 0};
  if (mlp_abi_version() != 1 || mlp_prepare(&context, constants, &options) != TAPESTRY_DONE) return 2;
  for (int i = 0; i < 5; ++i) for (int j = 0; j < 8; ++j) w1[i][j] = -99;  /* the context has its own */
  pthread_t threads[2];
  for (long k = 0; k < 2; ++k) pthread_create(&threads[k], 0, one, (void *)k);
  for (int k = 0; k < 2; ++k) { void *bad; pthread_join(threads[k], &bad); if (bad) return 3; }
  tapestry_tensor overlapping = {y[0], 0}, out = {y[0], 0};
  char text[200];
  if (mlp_run(context, &overlapping, &out) != TAPESTRY_WRONG_ARGUMENT) return 4;
  mlp_message(context, text, sizeof text);
  fprintf(stderr, "%s\n", text);
  tapestry_tensor none = {0, 0}, in = {x[0], 0};
  if (mlp_run(context, &none, &out) != TAPESTRY_WRONG_ARGUMENT) return 5;
  mlp_message(context, text, sizeof text);
  fprintf(stderr, "%s\n", text);
  int64_t nowhere[] = {0, 1};
  tapestry_tensor folded = {y[0], nowhere};
  if (mlp_run(context, &in, &folded) != TAPESTRY_WRONG_ARGUMENT) return 6;
  mlp_message(context, text, sizeof text);
  fprintf(stderr, "%s\n", text);
  mlp_release(context);
  for (int k = 0; k < 64; ++k) if (results.before[k] != 0xa7 || results.after[k] != 0xa7) return 7;
  for (int k = 0; k < 2; ++k) for (int i = 0; i < 6; ++i) for (int j = 0; j < 3; ++j) printf("%g ", y[k][i][j]);
  return 0;
}
"""

ASKING = r"""
#include <stdio.h>
#include "divide.h"
int main(void) {
  int64_t a[4] = {6, 6, 6, 6}, b[4] = {2, 2, 2, 2}, q[4] = {-1, -1, -1, -1};
  tapestry_tensor in[] = {{a, 0}, {b, 0}}, out = {q, 0};
  divide_context *context;
  char text[400] = "";
  int status = divide_prepare(&context, 0, 0);
  divide_message(context, text, sizeof text);
  divide_run(context, in, &out);
  divide_release(context);
  printf("%d %s %d", status, text, (int)q[3]);
  return 0;
}
"""


def mlp(k):
    x = np.array([[i - 2 * j + k for j in range(5)] for i in range(6)], np.float32)
    w1 = np.array([[(i * j) % 3 - 1 for j in range(8)] for i in range(5)], np.float32)
    w2 = np.array([[i - j for j in range(3)] for i in range(8)], np.float32)
    return x, w1, np.arange(8, dtype=np.float32), w2


def expected_mlp(x, w1, b1, w2):
    return np.maximum(x @ w1 + b1, 0) @ w2


class Compile(TapcTest):
    def compile(self, text, *arguments, name="p"):
        self.write(name + ".tap", text)
        return self.expect(0, "^$", "compile", name + ".tap", "-o", name + ".so", *arguments)

    def module(self, name):
        spec = importlib.util.spec_from_file_location(name, self.folder / (name + "_program.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return guard_results(self, module)

    def test_a_program_in_c(self):
        self.compile(MLP, name="mlp")
        self.write("main.c", MAIN)
        subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.c", "./mlp.so", "-Wl,-rpath,$ORIGIN", "-pthread", "-o", "main"],
                       cwd=self.folder, check=True)
        result = subprocess.run(["./main"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("`Y` and `X` overlap or interleave in memory; outputs must not alias", result.stderr.replace("`X` and `Y`", "`Y` and `X`"))
        self.assertIn("`X` is missing: its address is null", result.stderr)
        self.assertIn("`Y` is an output whose cells overlap", result.stderr)
        expected = np.concatenate([expected_mlp(*mlp(k)).ravel() for k in range(2)])
        np.testing.assert_array_equal(np.array(result.stdout.split(), np.float32), expected)

    def test_objects_of_two_programs_in_one(self):
        for name, factor in (("one", 2), ("two", 3)):
            self.compile(f"program {name}(X: f32[4]) -> (Y: f32[4]) {{ Y[i] = X[i] * {factor} }}\n", "--emit=obj", name=name)
        self.write("main.c", "".join(f'#include "{name}.h"\n' for name in ("one", "two")) + r"""
#include <stdio.h>
#define RUN(p) { p##_context *c; tapestry_tensor a = {x, 0}, b = {y, 0}; if (p##_prepare(&c, 0, 0) || p##_run(c, &a, &b)) return 1; \
  p##_release(c); for (int i = 0; i < 4; ++i) printf("%g ", y[i]); }
int main(void) { float x[4] = {1, 2, 3, 4}, y[4]; RUN(one) RUN(two) return 0; }
""")
        subprocess.run(["gcc", "-std=c11", "main.c", "one.o", "two.o", "-pthread", "-lm", "-o", "main"], cwd=self.folder, check=True)
        result = subprocess.run(["./main"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stdout, "2 4 6 8 3 6 9 12 ")

    def test_a_header_for_cpp(self):
        self.compile(MLP, name="mlp")
        self.write("main.cpp", '#include "mlp.h"\n#include "mlp.h"\nint main() { return mlp_abi_version() - 1; }\n')
        subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.cpp", "./mlp.so", "-Wl,-rpath,$ORIGIN", "-o", "main"], cwd=self.folder, check=True)
        self.assertEqual(subprocess.run(["./main"], cwd=self.folder).returncode, 0)

    def test_python_and_numpy(self):
        self.compile(MLP, "--emit=py", name="mlp")
        module = self.module("mlp")
        x, w1, b1, w2 = mlp(3)
        with module.Program(w1, b1, W2=w2, threads=2) as program:
            expected = expected_mlp(x, w1, b1, w2)
            np.testing.assert_array_equal(program(x), expected)
            np.testing.assert_array_equal(program(X=np.asfortranarray(x)), expected)
            out = np.zeros((6, 6), np.float32)
            self.assertIs(program(x, out=out[:, ::2]).base, out)
            np.testing.assert_array_equal(out[:, ::2], expected)
            np.testing.assert_array_equal(out[:, 1::2], np.zeros((6, 3)))
            for wrong, error in (((x[:5],), ValueError), ((x.astype(np.float64),), TypeError), ((), TypeError), ((x, x), TypeError)):
                with self.assertRaises(error):
                    program(*wrong)
            results = [None] * 4

            def work(n):
                results[n] = all(np.array_equal(program(x), expected) for _ in range(20))
            threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(results, [True] * 4)

    def test_iterates_and_results_of_no_axes(self):
        self.compile(STEPS, "--emit=py", name="steps")
        u = np.random.default_rng(1).integers(-4, 5, 40).astype(np.float64)
        v = u
        for t in range(7):
            w = np.concatenate([[0], v, [0]])
            v = 0.25 * w[:-2] + v / 2 + 0.25 * w[2:] + t
        found, total = self.module("steps").Program()(u)
        np.testing.assert_array_equal(found, v)
        self.assertEqual(total.shape, ())
        self.assertAlmostEqual(float(total), v.sum())

    def test_failures_are_reported_as_by_run(self):
        self.compile(DIVIDE, "--emit=py", name="divide")
        module = self.module("divide")
        with self.assertRaises(module.Error) as caught:
            module.Program()(np.arange(4), np.array([1, 2, 0, 0]))
        self.assertEqual(str(caught.exception), "division by zero in `q` at i=2")
        self.assertEqual(caught.exception.status, 1)

    def test_the_same_bytes_every_time(self):
        outputs = ("py", "loops", "schedule", "llvm", "asm", "obj", "cmake", "pc")
        self.compile(MLP, "--emit=" + ",".join(outputs), name="mlp")
        first = {p.name: p.read_bytes() for p in self.files()}
        self.assertEqual(sorted(first), ["mlp-config.cmake", "mlp.h", "mlp.json", "mlp.ll", "mlp.loops", "mlp.o", "mlp.pc", "mlp.s",
                                         "mlp.schedule", "mlp.so", "mlp.tap", "mlp_program.py"])
        self.compile(MLP, "--emit=" + ",".join(outputs), name="mlp")
        self.assertEqual({p.name: p.read_bytes() for p in self.files()}, first)
        for name, text in first.items():
            self.assertNotIn(str(ROOT).encode(), text, name)

    def test_a_library_does_not_depend_on_other_outputs(self):
        self.compile(MLP, name="mlp")
        alone = (self.folder / "mlp.so").read_bytes()
        for kind in ("exe", "obj", "llvm", "mlir", "exe,py,loops,schedule,asm,cmake,pc"):
            self.compile(MLP, "--emit=" + kind, name="mlp")
            self.assertTrue((self.folder / "mlp.so").read_bytes() == alone, kind)

    def test_exports_and_dependencies_of_a_library(self):
        self.compile(MLP, name="mlp")
        listed = subprocess.run(["nm", "-D", "--defined-only", "mlp.so"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        words = ("abi_version", "bind", "call", "message", "prepare", "prepare_dlpack", "release", "run", "run_dlpack", "unbind")
        self.assertEqual(sorted(line.split()[2] for line in listed.splitlines()), ["mlp_" + w for w in words])
        needed = subprocess.run(["readelf", "-d", "mlp.so"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertEqual([l.split("[")[1].rstrip("]") for l in needed.splitlines() if "NEEDED" in l], ["libc.so.6"])

    def test_an_object_has_no_other_global_symbols(self):
        for target in ("native", "aarch64"):
            self.write("mlp.tap", MLP)
            self.expect(0, "^$", "compile", "mlp.tap", "-o", "mlp.o", "--target", target)
            symbols = subprocess.run(["nm", "mlp.o"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
            shown = [line.split()[-2:] for line in symbols.splitlines()]
            words = ("abi_version", "bind", "call", "message", "prepare", "prepare_dlpack", "release", "run", "run_dlpack", "unbind")
            self.assertEqual(sorted(name for kind, name in shown if kind.isupper() and kind != "U"), ["mlp_" + w for w in words])
            self.assertTrue(any(name.startswith("k_") for _, name in shown))

    def test_the_manifest_follows_its_schema(self):
        self.compile(MLP, name="mlp")
        manifest = json.loads((self.folder / "mlp.json").read_text())
        schema = json.loads((ROOT / "docs/schema/manifest.schema.json").read_text())
        self.assertEqual(list(problems(manifest, schema)), [])
        self.assertEqual(sorted(manifest), sorted(schema["properties"]))
        self.assertEqual([t["name"] for t in manifest["inputs"]], ["X", "W1", "b1", "W2"])
        self.assertEqual([t["constant"] for t in manifest["inputs"]], [False, True, True, True])
        import hashlib
        self.assertEqual(manifest["library"]["sha256"], hashlib.sha256((self.folder / "mlp.so").read_bytes()).hexdigest())

    def test_run_takes_a_manifest(self):
        self.compile(MLP, name="mlp")
        inputs = [word for name in ("X", "W1", "b1", "W2") for word in ("-i", name + "=rand:1")]
        plain = self.tapc("run", "mlp.tap", *inputs)
        for threads in ("1", "3"):
            self.assertEqual(self.tapc("run", "mlp.json", *inputs, "--threads", threads).stdout, plain.stdout)
        self.expect(3, "`W1` is missing|W1: f32", "run", "mlp.json", "-i", "X=rand:1")
        self.compile(DIVIDE, name="divide")
        self.expect(6, "division by zero in `q` at i=0", "run", "divide.json", "-i", "a=iota", "-i", "b=zeros")
        for option in (["--engine", "interp"], ["--strict-fp"], ["--require-proof"], ["--dump-after=all"], ["--plan-out", "p"],
                       ["--certificate", "c"], ["--time-passes"], ["--remarks"], ["--no-verify"], ["--passes=none"]):
            self.expect(2, option[0].split("=")[0] + " has no effect on a compiled program",
                        "run", "divide.json", "-i", "a=iota", "-i", "b=ones", *option)
        for command in (["bench"], ["opt"], ["compile", "-o", "again.so"]):
            self.expect(2, "`divide.json` is the manifest of a compiled program, not a source", *command, "divide.json")

    def test_g11_libraries_that_do_not_fit(self):
        self.compile(DIVIDE, name="divide")
        good = json.loads((self.folder / "divide.json").read_text())

        def edited(pattern, change):
            manifest = json.loads(json.dumps(good))
            change(manifest)
            self.write("edited.json", json.dumps(manifest))
            self.expect(3, pattern, "run", "edited.json", "-i", "a=iota", "-i", "b=ones")

        edited("ABI has version 7; this tapc supports version 1", lambda m: m.update(abi=7))
        edited("compiled for native, and this processor lacks avx1024f", lambda m: m["target"]["features"].append("avx1024f"))
        edited("SHA-256", lambda m: m["library"].update(sha256="0" * 64))
        edited("lacks the function `other_abi_version`", lambda m: m.update(prefix="other"))
        edited("must be the name of a file in the manifest's folder", lambda m: m["library"].update(file="../divide.so"))
        edited("No such file", lambda m: m["library"].update(file="missing.so"))
        edited("it has version 9", lambda m: m.update(version=9))
        edited("`outputs` is missing", lambda m: m.pop("outputs"))
        edited("the wrong shape", lambda m: [t.update(shape=[3]) for t in m["inputs"]])
        edited("number of outputs differs from that in the manifest", lambda m: m["outputs"].append(m["outputs"][0]))
        for element, shape, is_too_large in (("f64", [2**30, 2**30], True), ("f64", [2**60], True), ("u8", [2**62, 2], True), ("u8", [2**62], False),
                                             ("f64", [2**59], False)):
            change = lambda m: m["outputs"][0].update(element=element, shape=shape)
            edited("a tensor of 2.63 bytes or more" if is_too_large else "the wrong", change)
        edited("`q` is missing", lambda m: m["outputs"].clear())
        self.write("text.so", "not a library")
        edited("not an ELF file", lambda m: m["library"].update(file="text.so"))
        self.write("broken.json", '{"format": ')
        self.expect(3, "not the manifest of a compiled program", "run", "broken.json")

    def test_g10_names_are_not_executed(self):
        text = "program malloc(a: f32[2]) -> (memcpy: f32[2]) { memcpy[i] = a[i] + 1 }\n"
        self.compile(text, "--emit=py,cmake,pc", name="free")
        self.assertEqual(self.tapc("run", "free.json", "-i", "a=[1, 2]").stdout, b"memcpy: f32[2] =\n[2.0, 3.0]\n")
        for name in ("; rm -rf x", "$(x)", "`x`", "-x", "", "a b", "_x", "1a", "tap_library", "\u00e9", "a" * 300):
            with self.subTest(name):
                if name:
                    self.expect(2, r"error\[T1001\]", "compile", "free.tap", "-o", "new.so", "--name=" + name)
                self.assertFalse((self.folder / "new.so").exists())
        odd = "$(touch x); `y`.so"
        self.expect(0, "^$", "compile", "free.tap", "-o", odd)
        self.assertTrue((self.folder / odd).exists())
        self.assertFalse((self.folder / "x").exists())
        self.expect(2, "CMake and pkg-config", "compile", "free.tap", "-o", odd, "--emit=cmake")

    def test_g02_g03_outputs_are_all_old_or_all_new(self):
        self.compile(DIVIDE, "--emit=py,loops,schedule", name="divide")
        before = {p.name: p.read_bytes() for p in self.files()}
        self.write("divide.tap", DIVIDE.replace("/", "*"))
        before["divide.tap"] = (self.folder / "divide.tap").read_bytes()
        result = self.tapc("compile", "divide.tap", "-o", "divide.so", "--emit=py,loops,schedule",
                           before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)))
        self.assertEqual(result.returncode, 4, result.output)
        self.assertEqual({p.name: p.read_bytes() for p in self.files()}, before)
        self.write("file", "x")
        for path in ("missing/p.so", "file/p.so", "n" * 300 + ".so", "/proc/p.so"):
            self.expect(4, r"error\[T1201\]: .*(No such file|Not a directory|File name too long|denied)", "compile", "divide.tap", "-o", path)
        for path in ("folder/", ".", "..", "folder/.."):
            self.expect(2, "does not name a file", "compile", "divide.tap", "-o", path)
        self.assertNoTemporaries()

    def test_g04_an_error_reported_by_fsync(self):
        self.compile(DIVIDE, name="divide")
        before = {p.name: p.read_bytes() for p in self.files()}
        self.write("fail.c", "#include <errno.h>\nint fsync(int fd) { (void)fd; errno = EIO; return -1; }\nint fdatasync(int fd) { return fsync(fd); }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "fail.c", "-o", "fail.so"], cwd=self.folder, check=True)
        self.write("divide.tap", DIVIDE.replace("/", "*"))
        self.expect(4, r"error\[T1201\]: .*Input/output error", "compile", "divide.tap", "-o", "divide.so",
                    environment={"LD_PRELOAD": str(self.folder / "fail.so")})
        for name in ("divide.so", "divide.h", "divide.json"):
            self.assertEqual((self.folder / name).read_bytes(), before[name])
        self.assertNoTemporaries()

    def test_g12_no_tool_is_needed(self):
        self.write("p.tap", DIVIDE)
        self.expect(0, "^$", "compile", "p.tap", "-o", "p.so", environment={"PATH": "/nowhere"})

    def test_results_larger_than_the_last_cache_bypass_it(self):
        for cells, bypasses in (5_000_000, True), (1_000_000, False):
            text = f"program scale(x: f32[{cells}]) -> (y: f32[{cells}]) {{ y[i] = 2 * x[i] }}\n"
            for target in "x86-64-v3", "x86-64-v4":
                self.compile(text, f"--target={target}", "--machine=builtin", "--emit=asm", name="scale")
                code = (self.folder / "scale.s").read_text()
                self.assertEqual("movntp" in code, bypasses, target)
                self.assertEqual("sfence" in code, bypasses, target)

    def test_sums_of_rows_are_folded_together(self):
        """No lane is added alone."""
        self.compile("program p(x: f32[160, 32]) -> (y: f32[160]) { y[i] = sum[j] x[i, j] }", "--target=x86-64-v4", "--machine=builtin",
                     "--emit=llvm", name="rows")
        code = (self.folder / "rows.ll").read_text()
        self.assertRegex(code, r"fadd (\w+ )*<16 x float>")
        self.assertNotRegex(code, r"fadd (\w+ )*<2 x float>")

    def test_targets(self):
        self.compile(MLP, "--target=x86-64-v3", "--emit=asm", name="mlp")
        self.assertNotIn("zmm", (self.folder / "mlp.s").read_text())
        self.expect(2, "emit the object", "compile", "mlp.tap", "-o", "arm.so", "--target=aarch64")
        self.expect(0, "^$", "compile", "mlp.tap", "-o", "arm.so", "--target=aarch64", "--emit=obj")
        for word in ("py", "cmake", "pc"):
            self.expect(2, f"--emit={word} describes a library, and tapc cannot link one for aarch64", "compile", "mlp.tap", "-o",
                        "arm.so", "--target=aarch64", f"--emit=obj,{word}")
        self.assertEqual((self.folder / "arm.o").read_bytes()[18:20], b"\xb7\x00")  # EM_AARCH64
        self.assertFalse((self.folder / "arm.so").exists())

    def test_a_processor_that_lacks_what_the_code_uses(self):
        """It is reported before any of the code runs, which would end in a signal."""
        emulator = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
        self.assertTrue(emulator, "scripts/install-deps.sh installs it")
        self.write("main.c", ASKING)
        for target, processor, pattern in (("x86-64-v4", "Haswell", "^5 .*a different processor; this one lacks .*avx512f.* -1$"),
                                           ("x86-64-v3", "Nehalem", "^5 .*a different processor; this one lacks .*avx2.* -1$"),
                                           ("x86-64-v3", "Haswell", "^0  3$")):
            with self.subTest(target=target, processor=processor):
                self.compile(DIVIDE, "--target=" + target, name="divide")
                subprocess.run(["gcc", "main.c", "./divide.so", "-Wl,-rpath,$ORIGIN", "-o", "main"], cwd=self.folder, check=True)
                ran = subprocess.run([emulator, "-cpu", processor, "./main"], cwd=self.folder, capture_output=True, text=True, timeout=60)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertRegex(ran.stdout, pattern)

    def ran(self, *words):
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=60)

    def test_a_program_of_its_own(self):
        """It needs no compiler, no tapc and no library but C's, and is linked without a tool of the system."""
        self.write("mlp.tap", MLP)
        self.expect(0, "^$", "compile", "mlp.tap", "-o", "mlp.so", "--emit=exe", environment={"PATH": "/nowhere"})
        needed = self.ran("readelf", "-d", "mlp").stdout
        self.assertEqual([l.split("[")[1].rstrip("]") for l in needed.splitlines() if "NEEDED" in l], ["libc.so.6"])
        tensors = mlp(1)
        for name, array in zip(("X", "W1", "b1", "W2"), tensors):
            np.save(self.folder / f"{name}.npy", np.asfortranarray(array) if name == "W1" else array)
        inputs = [word for name in ("X", "W1", "b1", "W2") for word in ("-i", f"{name}=@{name}.npy")]
        for threads in ("1", "3"):
            done = self.ran("./mlp", *inputs, "-o", "Y=@Y.npy", "--threads", threads)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            np.testing.assert_array_equal(np.load(self.folder / "Y.npy"), expected_mlp(*tensors))
        self.assertRegex(self.ran("./mlp", "--help").stdout, r"(?s)usage: .*-i X=@FILE.npy +an input, <f4 \(6, 5\)\n.*-o Y=@FILE.npy +a result, <f4 \(6, 3\)\n$")

        np.save(self.folder / "wrong.npy", np.zeros((5, 6), np.float32))
        np.save(self.folder / "double.npy", np.zeros((6, 5)))
        self.write("text.npy", "not a file of NumPy's")
        self.write("list.npy", (self.folder / "X.npy").read_bytes().replace(b"(6, 5)", b"(6  5)"))
        os.mkfifo(self.folder / "pipe")
        self.write("short.npy", (self.folder / "X.npy").read_bytes()[:-1])
        self.write("long.npy", (self.folder / "X.npy").read_bytes() + b"1")
        for code, pattern, words in (
                (2, "the input W2 is missing", inputs[:-2]), (2, "`-x` is not an option", ["-x"]), (2, "`-i` needs a value", ["-i"]),
                (2, "is not in the program", [*inputs, "-i", "Z=@X.npy"]), (2, "is given twice", [*inputs, "-i", "X=@X.npy"]),
                (2, "NAME=@FILE", ["-i", "X=X.npy"]), (2, "from 1 to 4096", ["--threads", "0"]),
                (3, r"the wrong shape; expected \(6, 5\)", ["-i", "X=@wrong.npy", *inputs[2:]]),
                (3, "has type <f8, expected <f4", ["-i", "X=@double.npy", *inputs[2:]]),
                (3, "is not a .npy file", ["-i", "X=@text.npy", *inputs[2:]]), (3, "too few cells", ["-i", "X=@short.npy", *inputs[2:]]),
                (3, "has data after", ["-i", "X=@long.npy", *inputs[2:]]), (3, "No such file", ["-i", "X=@none.npy", *inputs[2:]]),
                (3, "the wrong shape", ["-i", "X=@list.npy", *inputs[2:]]),
                (4, "cannot be written: No such file", [*inputs, "-o", "Y=@none/Y.npy"]),
                (4, "it exists and is not a regular file", [*inputs, "-o", "Y=@pipe"])):
            with self.subTest(words=words):
                done = self.ran("./mlp", *words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertRegex(done.stderr, pattern)

    def test_programs_of_their_own_of_all_kinds(self):
        self.compile(DIVIDE, "--emit=exe,obj", name="divide")
        np.save(self.folder / "a.npy", np.arange(4))
        np.save(self.folder / "b.npy", np.array([1, 1, 0, 1]))
        done = self.ran("./divide", "-i", "a=@a.npy", "-i", "b=@b.npy", "-o", "q=@q.npy")
        self.assertEqual((done.returncode, done.stderr), (6, "./divide: division by zero in `q` at i=2\n"))
        self.assertFalse((self.folder / "q.npy").exists())
        self.compile(STEPS, "--emit=exe", name="steps")
        u = np.linspace(-1, 1, 40)
        np.save(self.folder / "u.npy", u)
        self.assertEqual(self.ran("./steps", "-i", "u=@u.npy", "-o", "U=@U.npy", "-o", "total=@t.npy").stderr, "")
        self.expect(0, "^$", "run", "steps.tap", "-i", "u=@u.npy", "-o", "U=@V.npy", "-o", "total=@s.npy")
        before = {p.name: p.read_bytes() for p in self.folder.glob("*.npy")}
        for words, pattern in ((["-o", "U=@U.npy", "-o", "total=@none/t.npy"], "cannot be written"),
                               (["-o", "U=@U.npy", "-o", "total=@U.npy"], "two results have the same file `U.npy`")):
            self.assertRegex(self.ran("./steps", "-i", "u=@V.npy", *words).stderr, pattern)
            self.assertEqual({p.name: p.read_bytes() for p in self.folder.glob("*.npy*")}, before)
        for ours, theirs in (("U", "V"), ("t", "s")):
            self.assertEqual((self.folder / f"{ours}.npy").read_bytes(), (self.folder / f"{theirs}.npy").read_bytes())
        self.expect(2, "tapc links programs only for processors of this machine's architecture, not for aarch64", "compile", "divide.tap",
                    "-o", "arm.so", "--target=aarch64", "--emit=exe,obj")
        self.write("brain.tap", "program p(x: bf16[4]) -> (y: f32[4]) { y[i] = f32(x[i]) }\n")
        self.expect(2, "`x` has type bf16, which .npy files cannot hold", "compile", "brain.tap", "-o", "p.so", "--emit=exe")
        outside = ROOT / "examples/smooth.tap"
        self.expect(2, "outside kernel .* does not load", "compile", str(outside), "-o", "s.so", "--emit=exe")

    def test_fused_operations(self):
        self.write("p.plan", "plan 2\nfuse a, Y over i\nsplit Y dim i into 2 over threads\n")
        self.compile("program p(X: i64[6]) -> (Y: i64[6]) { a[i] = 60 / X[i]  Y[i] = a[i] + a[i - 1 else 0] }\n",
                     "--plan", "p.plan", "--emit=py")
        module = self.module("p")
        x = np.arange(1, 7)
        with module.Program() as program:
            np.testing.assert_array_equal(program(X=x), 60 // x + np.concatenate([[0], 60 // x[:-1]]))
            x[4] = 0
            with self.assertRaisesRegex(Exception, "division by zero in `a` at i=4"):
                program(X=x)

    def test_streamed_attention(self):
        self.write("p.plan", 'plan 2\nfuse "Y.t.sum", "Y.t", "Y.mx" over i, j\nsplit "Y.s" dim j into 8 over sequential\n')
        self.compile("use std\nprogram p(Q: f64[9, 4], K: f64[50, 4], V: f64[50, 3]) -> (Y: f64[9, 3]) { Y = attention(Q, K, V) }\n",
                     "--plan", "p.plan", "--emit=py")
        module = self.module("p")
        q, k, v = (np.random.default_rng(n).standard_normal(shape) for n, shape in enumerate(((9, 4), (50, 4), (50, 3))))
        e = np.exp(q @ k.T / 2)
        with module.Program() as program:
            np.testing.assert_allclose(program(Q=q, K=k, V=v), e @ v / e.sum(1, keepdims=True), rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
