#!/usr/bin/python3
"""E: data files through the command line, written and read by NumPy."""
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
            self.expect(0, r"^$", "run", "a.tap", "--engine", engine, "-i", "X=@" + self.save("x.npy", x), "-o", "Y=@y.npy")
            y = self.load("y.npy")
            np.testing.assert_array_equal(y, x)
            self.assertTrue(np.signbit(y[3]))

    def test_e01_e06_refused_files(self):
        self.write("a.tap", COPY)
        self.save("x.npy", np.zeros(4, "f4"))
        good = (self.folder / "x.npy").read_bytes()
        np.save(self.folder / "o.npy", np.array([None]), allow_pickle=True)
        for name, data in (("cut", good[:-1]), ("long", good + b"x"), ("magic", b"X" + good[1:]), ("head", good[:40]), ("empty", b""),
                           ("pickle", (self.folder / "o.npy").read_bytes())):
            with self.subTest(name):
                self.write("bad.npy", data)
                self.expect(3, r"error\[T110[12]\]: .*`bad\.npy`", "run", "a.tap", "-i", "X=@bad.npy", "-o", "Y=@y.npy")
                self.assertFalse((self.folder / "y.npy").exists())

    def test_e12_one_file_in_and_out(self):
        self.write("a.tap", COPY)
        self.save("x.npy", np.zeros(4, "f4"))
        before = (self.folder / "x.npy").read_bytes()
        os.symlink("x.npy", self.folder / "soft.npy")
        os.link(self.folder / "x.npy", self.folder / "hard.npy")
        for place in ("x.npy", "./x.npy", "soft.npy", "hard.npy"):
            self.expect(3, r"error\[T1106\]", "run", "a.tap", "-i", "X=@x.npy", "-o", "Y=@" + place)
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
                self.assertEqual(result.returncode, 3, result.told)

    def test_an_outside_kernel(self):
        compiled = subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", self.folder / "smooth.so", ROOT / "examples/smooth.c"])
        self.assertEqual(compiled.returncode, 0)
        x = np.random.RandomState(3).randn(7, 5).astype("f4")
        blur = lambda a: (np.vstack([0 * a[:1], a[:-1]]) + a + np.vstack([a[1:], 0 * a[:1]])) / 3
        for engine in ("interp", "native"):
            self.expect(0, r"^$", "run", ROOT / "examples/smooth.tap", "--dim", "n=7", "--dim", "m=5", "--engine", engine, "--kernels", "smooth.so",
                        "-i", "X=@" + self.save("x.npy", x), "-o", "Y=@y.npy")
            np.testing.assert_allclose(self.load("y.npy"), blur(blur(x)), rtol=1e-5, atol=1e-6)
        self.expect(6, r"error\[T1301\].*smooth_rows", "run", ROOT / "examples/smooth.tap", "--dim", "n=7", "--dim", "m=5", "-i", "X=rand:1")
        self.expect(3, r"error\[T1203\]", "run", ROOT / "examples/smooth.tap", "--kernels", "missing.so", "-i", "X=rand:1")


if __name__ == "__main__":
    unittest.main()
