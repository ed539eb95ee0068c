#!/usr/bin/python3
"""E: data files through the command line, written and read by NumPy."""
import time

import numpy as np

from tapc import *

COPY = "program main(X: f32[n]) -> (Y: f32[n]) { Y[i] = X[i] }\n"


class Data(TapcTest):
    def save(self, name, array):
        np.save(self.folder / name, array)
        return name

    def load(self, name):
        return np.load(self.folder / name, allow_pickle=False)

    def test_numpy_reads_what_is_written(self):
        self.write("a.tap", "program main(X: f32[n, m], K: i64[n]) -> (Y: f32[m, n], Z: i64[n]) { Y[j, i] = X[i, j] * 2\n Z[i] = K[i] + 1 }\n")
        x, k = np.arange(12, dtype="f4").reshape(3, 4), np.array([2**40, -5, 7])
        np.savez(self.folder / "in.npz", X=x, K=k)
        self.expect(0, r"^$", "run", "a.tap", "-i", "@in.npz", "-o", "Y=@y.npy", "-o", "@out.npz")
        np.testing.assert_array_equal(self.load("y.npy"), x.T * 2)
        out = np.load(self.folder / "out.npz")
        np.testing.assert_array_equal(out["Z"], k + 1)
        self.assertEqual(self.load("y.npy").dtype, np.float32)

    def test_e09_special_values(self):
        self.write("a.tap", COPY)
        x = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38], "f4")
        for engine in ("interp", "native"):
            self.expect(0, r"^$", "run", "a.tap", "--engine", engine, "-i", "X=@" + self.save("x.npy", x), "-o",
                        "Y=@y.npy")
            y = self.load("y.npy")
            np.testing.assert_array_equal(y, x)
            self.assertTrue(np.signbit(y[3]))

    def test_e01_e06_refused_files(self):
        self.write("a.tap", COPY)
        self.save("x.npy", np.zeros(4, "f4"))
        good = (self.folder / "x.npy").read_bytes()
        np.save(self.folder / "o.npy", np.array([None]), allow_pickle=True)
        for name, code, data in (("cut", "T1101", good[:-1]), ("long", "T1101", good + b"x"),
                                 ("magic", "T1101", b"X" + good[1:]),
                                 ("head", "T1101", good[:40]), ("empty", "T1101", b""),
                                 ("pickle", "T1102", (self.folder / "o.npy").read_bytes())):
            with self.subTest(name):
                self.write("bad.npy", data)
                self.expect(3, rf"error\[{code}\]: .*`bad\.npy`", "run", "a.tap", "-i", "X=@bad.npy", "-o", "Y=@y.npy")
                self.assertFalse((self.folder / "y.npy").exists())

    def test_e07_expected_of_another_shape(self):
        self.write("a.tap", COPY)
        self.expect(3, r"error\[T1103\]: the result `Y` is declared as f32\[4\]", "run", "a.tap", "-i",
                    "X=f32[4]=iota", "--expect", "Y=f32[3]=iota")

    def test_e07_data_that_do_not_fit_dims_without_defaults(self):
        self.write("a.tap", COPY)
        self.expect(3, r"error\[T1103\]: input `X` has shape \[2, 3\]; expected 1 axis", "run", "a.tap", "-i",
                    "X=@" + self.save("x.npy", np.zeros((2, 3), "f4")))
        self.write("b.tap", "program main(X: f32[n], Z: f32[n]) -> (Y: f32[n]) { Y[i] = X[i] + Z[i] }\n")
        self.expect(3, r"error\[T1103\].*`n`", "run", "b.tap", "-i", "X=@" + self.save("x.npy", np.zeros(4, "f4")),
                    "-i", "Z=@" + self.save("z.npy", np.zeros(5, "f4")))
        self.write("c.tap", "program main(X: f32[2*n]) -> (Y: f32[n]) { Y[i] = X[2*i] }\n")
        self.expect(3, r"error\[T1103\].*2\*n = 3", "run", "c.tap", "-i", "X=@" + self.save("x.npy", np.zeros(3, "f4")))
        # The program itself is wrong, whatever the data.
        self.write("d.tap", "program main(X: f32[n], Z: f32[n + 1]) -> (Y: f32[n]) { Y[i] = X[i] + Z[i + 2] }\n")
        self.expect(1, r"error\[T0601\]", "run", "d.tap", "-i", "X=f32[3]=zeros", "-i", "Z=f32[4]=zeros")

    def test_an_entry_of_an_archive(self):
        self.write("a.tap", "program main(X: f32[n], Z: f32[n]) -> (Y: f32[n]) { Y[i] = X[i] - Z[i] }\n")
        np.savez(self.folder / "one.npz", other=np.float32([5, 6]))
        np.savez(self.folder / "two.npz", X=np.float32([1, 2]), Z=np.float32([3, 4]))
        for x, z, expected in (("one.npz", "two.npz", [2, 2]), ("two.npz", "two.npz", [-2, -2]),
                             ("two.npz:Z", "one.npz", [-2, -2])):
            self.expect(0, r"^$", "run", "a.tap", "-i", "X=@" + x, "-i", "Z=@" + z, "--expect", f"Y={expected}")
        self.expect(0, r"^$", "run", "a.tap", "-i", "@two.npz", "-o", "@y.safetensors")
        self.expect(0, r"^$", "run", "a.tap", "-i", "X=@y.safetensors", "-i", "Z=zeros", "--expect", "Y=[-2, -2]")
        np.savez(self.folder / "none.npz", A=np.float32([1]), B=np.float32([3]))
        self.expect(3, r"error\[T1104\]: `none.npz` has 2 entries, none of them `X`", "run", "a.tap", "-i",
                    "X=@none.npz", "-i", "Z=zeros")

    def test_results_have_their_own_names(self):
        self.write("a.tap", "program main(X: f32[3]) -> (Y: f32[3], Z: f32[3], W: f32[3]) { Y = X\n H[i] = 2 * X[i]\n Z = H\n W = H }\n")
        self.expect(0, r"^$", "run", "a.tap", "-i", "X=iota", "--expect", "Y=[0, 1, 2]", "--expect", "Z=[0, 2, 4]",
                    "-o", "@all.npz", "-o", "W=@w.npy")
        self.assertEqual(sorted(np.load(self.folder / "all.npz").files), ["W", "Y", "Z"])
        np.testing.assert_array_equal(self.load("w.npy"), [0, 2, 4])

    def test_nothing_is_published_when_a_check_fails(self):
        self.write("a.tap", COPY)
        self.write("k.npy", b"precious")
        self.expect(5, r"error\[T1302\]", "run", "a.tap", "-i", "X=f32[4]=iota", "-o", "Y=@k.npy", "-o", "@new.npz",
                    "--expect", "Y=[9, 9, 9, 9]")
        self.assertEqual((self.folder / "k.npy").read_bytes(), b"precious")
        self.assertFalse((self.folder / "new.npz").exists())
        self.expect(0, r"^$", "run", "a.tap", "-i", "X=f32[4]=iota", "-o", "Y=@k.npy", "--expect", "Y=[0, 1, 2, 3]")
        np.testing.assert_array_equal(self.load("k.npy"), [0, 1, 2, 3])

    def test_e10_a_bomb(self):
        self.write("a.tap", COPY)
        np.savez_compressed(self.folder / "bomb.npz", X=np.zeros(1 << 25, "f4"))
        self.expect(3, r"error\[T1105\]", "run", "a.tap", "-i", "@bomb.npz", "-o", "Y=@y.npy", memory=10 * GIB)

    def test_e11_a_file_that_shrinks_while_it_is_mapped(self):
        self.write("a.tap", "program main(X: f32[n]) -> (Y: f32[]) { Y = iterate 60 (v = 0) { w[] = v[] + sum[i] X[i]; w } }\n"
                   .replace("(v = 0)", "(v = Z)").replace("X: f32[n]", "X: f32[n], Z: f32[]"))
        self.save("x.npy", np.ones(1 << 20, "f4"))
        process = subprocess.Popen([TAPC, "run", "a.tap", "--engine", "interp", "-i", "X=@x.npy", "-i", "Z=0", "-o",
                                    "Y=@y.npy"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(0.3)
        os.truncate(self.folder / "x.npy", 1000)
        output = process.communicate(timeout=30)[1].decode()
        self.assertEqual(process.returncode, 3, output)
        self.assertRegex(output, r"error\[T1108\]|error\[T1101\]")
        self.assertFalse((self.folder / "y.npy").exists())

    def test_e12_one_file_in_and_out(self):
        self.write("a.tap", COPY)
        self.save("x.npy", np.zeros(4, "f4"))
        before = (self.folder / "x.npy").read_bytes()
        os.symlink("x.npy", self.folder / "soft.npy")
        os.link(self.folder / "x.npy", self.folder / "hard.npy")
        for path in ("x.npy", "./x.npy", "soft.npy", "hard.npy"):
            self.expect(3, r"error\[T1106\]", "run", "a.tap", "-i", "X=@x.npy", "-o", "Y=@" + path)
        self.assertEqual((self.folder / "x.npy").read_bytes(), before)

    def test_e14_bool_bytes(self):
        self.write("a.tap", "program main(X: bool[n]) -> (Y: f32[n]) { Y[i] = if X[i] then 1 else 0 }\n")
        self.save("x.npy", np.zeros(4, "u1"))
        data = (self.folder / "x.npy").read_bytes().replace(b"|u1", b"|b1")[:-4] + bytes([0, 1, 2, 255])
        self.write("b.npy", data)
        for engine in ("interp", "native"):
            result = self.tapc("run", "a.tap", "--engine", engine, "-i", "X=@b.npy", "-o", "Y=@y.npy")
            if result.returncode == 0:
                np.testing.assert_array_equal(self.load("y.npy"), np.array([0, 1, 1, 1], "f4"))
            else:
                self.assertEqual(result.returncode, 3, result.output)

    def test_an_outside_kernel(self):
        compiled = subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", self.folder / "smooth.so",
                                   ROOT / "examples/smooth.c"])
        self.assertEqual(compiled.returncode, 0)
        x = np.random.RandomState(3).randn(7, 5).astype("f4")
        blur = lambda a: (np.vstack([0 * a[:1], a[:-1]]) + a + np.vstack([a[1:], 0 * a[:1]])) / 3
        for engine in ("interp", "native"):
            self.expect(0, r"^$", "run", ROOT / "examples/smooth.tap", "--dim", "n=7", "--dim", "m=5", "--engine",
                        engine, "--kernels", "smooth.so",
                        "-i", "X=@" + self.save("x.npy", x), "-o", "Y=@y.npy")
            np.testing.assert_allclose(self.load("y.npy"), blur(blur(x)), rtol=1e-5, atol=1e-6)
            self.write("p.plan",
                       "plan 2\nsplit Z dim i into 3 over threads\nsplit Y dim i into [0, 2, 7] over sequential\n")
            self.expect(0, r"^$", "run", ROOT / "examples/smooth.tap", "--dim", "n=7", "--dim", "m=5", "--engine",
                        engine, "--kernels", "smooth.so",
                        "-i", "X=@x.npy", "--plan", "p.plan", "--expect", "Y=@y.npy", "--atol", "0", "--rtol", "0")
        self.expect(2, r"error\[T1001\].*smooth_rows(.|\n)*--kernels", "run", ROOT / "examples/smooth.tap", "--dim",
                    "n=7", "--dim", "m=5", "-i", "X=rand:1")
        self.expect(3, r"error\[T1203\]", "run", ROOT / "examples/smooth.tap", "--kernels", "missing.so", "-i",
                    "X=rand:1")

    def test_g7_only_functions_of_the_library_are_kernels(self):
        self.write("k.c", "int variable; static void hidden(void) {} void own(void *a, void *b, void *c) { hidden(); }\n")
        compiled = subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.folder / "k.so", self.folder / "k.c"])
        self.assertEqual(compiled.returncode, 0)
        kernel = ("extern op f(x: f32[n]) -> (y: f32[n]) { index [i: n] read x at [i] shape [1] write y at [i] shape [1] kernel \"NAME\" }\n"
                  "program main(X: f32[4]) -> (Y: f32[4]) { Y = f(X) }\n")
        for name in ("_Exit", "exit", "abort", "system", "printf", "variable", "hidden", "no_such"):
            with self.subTest(name):
                self.write("a.tap", kernel.replace("NAME", name))
                for engine in ("interp", "native"):
                    self.expect(3, rf"error\[T1203\]: the outside kernel `{name}`.* k\.so defines no function of that name",
                                "run", "a.tap", "--engine", engine, "--kernels", "k.so", "-i", "X=zeros")
        self.write("a.tap", kernel.replace("NAME", "own"))
        self.expect(0, r"^$", "run", "a.tap", "--kernels", "k.so", "-i", "X=zeros", "-o", "Y=@y.npy")
        for name in ("a b", "1a", "", "a;b", "../a"):
            with self.subTest(name):
                self.write("a.tap", kernel.replace("NAME", name))
                self.expect(1, r"error\[T0107\]: the name of a kernel must be a C identifier", "check", "a.tap")

    def test_outside_kernels_with_interleaved_writes(self):
        self.write("k.c", r"""
#include <stdint.h>
struct region { void *data; const int64_t *extents; const int64_t *strides; };
void inter(const int64_t *box, const int64_t *extents, const struct region *regions) {
  const float *x = regions[0].data;
  float *y = regions[1].data;
  (void)extents;
  for (int64_t i = box[0]; i < box[1]; ++i)
    for (int64_t r = box[2]; r < box[3]; ++r)
      for (int64_t c = 0; c < 4; ++c)
        y[(2 * (i - box[0]) + (r - box[2])) * regions[1].strides[0] + c] =
            x[(i - box[0]) * regions[0].strides[0] + (r - box[2]) * regions[0].strides[1] + c];
}
""")
        compiled = subprocess.run(["gcc", "-shared", "-fPIC", "-o", self.folder / "k.so", self.folder / "k.c"])
        self.assertEqual(compiled.returncode, 0)
        self.write("a.tap", """extern op inter(x: f32[n, 2, m]) -> (y: f32[2*n, m]) {
    index [i: n, r: 2]
    read  x at [i, r, 0] shape [1, 1, m]
    write y at [2*i + r, 0] shape [1, m]
    kernel "inter"
}
program main(X: f32[8, 2, 4]) -> (Y: f32[16, 4]) { Y = inter(X) }
""")
        x = np.arange(64, dtype=np.float32).reshape(8, 2, 4)
        np.save(self.folder / "x.npy", x)
        for dim, blocks in (("r", 2), ("i", 3)):
            self.write("plan", f"plan 2\nsplit Y dim {dim} into {blocks} over threads\n")
            with self.subTest(dim):
                self.expect(0, r"^$", "run", "a.tap", "--kernels", "k.so", "-i", "X=@x.npy", "-o", "Y=@y.npy", "--plan", "plan")
                np.testing.assert_array_equal(np.load(self.folder / "y.npy"), x.reshape(16, 4))


if __name__ == "__main__":
    unittest.main()
