#!/usr/bin/python3
"""tapc cmp: what NumPy says of the same two files."""
import json

import numpy as np
from json_schema import problems
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/cmp.schema.json").read_text())


def ulps(a, b):
    """Numbers of the type between two floats: of one sign, by their bits; through zero, the sum."""
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    sign = 1 << (8 * a.dtype.itemsize - 1)

    def rank(x):
        return [-(int(v) - sign) if int(v) & sign else int(v) for v in np.atleast_1d(x).reshape(-1).view(bits)]
    return [abs(x - y) for x, y in zip(rank(a), rank(b))]


class Cmp(TapcTest):
    def cmp(self, code, a, b, *more):
        """The JSON of the sole tensor, and its text."""
        for name, value in (("a.npy", a), ("b.npy", b)):
            np.save(self.folder / name, value)
        output = self.expect(code, "^$", "cmp", "a.npy", "b.npy", "--json", *more).stdout
        found = json.loads(output)
        self.assertEqual(list(problems(found, SCHEMA)), [])
        self.assertEqual(found["within_tolerance"], code == 0)
        differ = found["tensors"][0]["differ"]
        text = self.expect(code, "^$", "cmp", "a.npy", "b.npy", *more).stdout.decode()
        self.assertTrue(text.startswith(f"{differ} of " if differ else "all of "), text)
        return found["tensors"][0]

    def test_like_numpy(self):
        random = np.random.default_rng(7)
        for kind in (np.float64, np.float32, np.float16):
            for shape in ((), (1,), (40,), (3, 5, 7)):
                a = random.normal(size=shape).astype(kind)
                b = np.where(random.random(shape) < 0.5, a, a * kind(1 + 1e-3) + kind(1e-4)).astype(kind)
                found = self.cmp(0 if np.array_equal(a, b) else 5, a, b)
                self.assertEqual(found["differ"], int((a != b).sum()))
                self.assertEqual(found["outside"], found["differ"])
                if not found["differ"]:
                    continue
                absolute = np.abs(a.astype(np.float64) - b.astype(np.float64))
                relative = absolute / np.abs(b.astype(np.float64))
                self.assertEqual(found["absolute"]["by"], absolute.max())
                self.assertEqual(absolute[tuple(found["absolute"]["at"])], absolute.max())
                self.assertAlmostEqual(found["relative"]["by"], relative.max(), places=12)
                self.assertEqual(found["ulp"]["by"], max(ulps(a, b)))
                self.assertEqual(tuple(found["first"]), tuple(np.argwhere(a != b)[0]))

    def test_ulps_at_the_edges(self):
        tiny = np.float32(1e-45)
        for a, b, by in ((0.0, -0.0, None), (tiny, -tiny, 2), (tiny, 0, 1), (1, np.nextafter(np.float32(1), np.float32(2)), 1)):
            found = self.cmp(0 if by is None else 5, np.float32([a]), np.float32([b]))
            self.assertEqual(found["ulp"] and found["ulp"]["by"], by)

    def test_nan_and_infinity(self):
        nan, inf = np.nan, np.inf
        found = self.cmp(5, np.array([nan, nan, inf, inf, -inf, 1]), np.array([nan, 1, inf, -inf, 2, 1]), "--rtol", "9")
        self.assertEqual([found[key] for key in ("differ", "outside", "not_comparable", "nan_in_both", "absolute")], [3, 3, 3, 1, None])

    def test_tolerances_as_allclose(self):
        random = np.random.default_rng(3)
        a = random.normal(size=50)
        b = a * (1 + random.normal(size=50) * 1e-3)
        for rtol, atol in ((0, 0), (1e-3, 0), (0, 1e-3), (1e-3, 1e-4), (1, 0)):
            good = np.isclose(a, b, rtol=rtol, atol=atol)
            found = self.cmp(0 if good.all() else 5, a, b, "--rtol", str(rtol), "--atol", str(atol))
            self.assertEqual(found["outside"], int((~good).sum()))

    def test_integers_and_bool(self):
        found = self.cmp(5, np.array([1, 2**62, -5]), np.array([1, 2**62 + 1, -7]), "--rtol", "1")
        self.assertEqual([found["differ"], found["outside"], found["ulp"], found["absolute"]["by"]], [2, 2, None, 2])
        self.assertEqual(self.cmp(5, np.array([True, False]), np.array([True, True]))["differ"], 1)
        self.assertEqual(self.cmp(0, np.zeros((0, 4), np.int8), np.zeros((0, 4), np.int8))["cells"], 0)

    def test_archives_by_name(self):
        x, y = np.arange(3.0), np.arange(4)
        np.savez(self.folder / "a.npz", x=x, y=y)
        np.savez(self.folder / "b.npz", y=y, x=x + [0, 0, 1])
        self.assertEqual(self.expect(5, "^$", "cmp", "a.npz", "b.npz").stdout.decode(),
                         "x: 1 of 3 cells differ, 1 of them beyond the tolerance; first at [2]: 2.0 and 3.0\n"
                         "  absolute  1 at [2]: 2.0 and 3.0\n  relative  0.333333 at [2]: 2.0 and 3.0\n"
                         "  in ulp    2.2518e+15 at [2]: 2.0 and 3.0\ny: all of 4 cells are equal\n")
        np.savez(self.folder / "c.npz", x=x)
        self.expect(3, r"T1101|`a.npz` contains `y`, but `c.npz` does not", "cmp", "a.npz", "c.npz")
        self.expect(3, r"`a.npz` contains `y`, but `c.npz` does not", "cmp", "c.npz", "a.npz")
        np.save(self.folder / "x.npy", x)
        self.expect(0, "^$", "cmp", "c.npz", "x.npy")

    def test_files_that_cannot_be_compared(self):
        np.save(self.folder / "a.npy", np.zeros(3))
        np.save(self.folder / "b.npy", np.zeros(4))
        np.save(self.folder / "c.npy", np.zeros(3, np.float32))
        self.expect(3, r"the tensor is f64\[3\] in `a.npy`, but f64\[4\] in `b.npy`", "cmp", "a.npy", "b.npy")
        self.expect(3, r"the tensor is f64\[3\] in `a.npy`, but f32\[3\] in `c.npy`", "cmp", "a.npy", "c.npy")
        self.expect(2, r"`a.txt` is not a tensor file", "cmp", "a.txt", "a.npy")
        self.expect(4, r"`none.npy`", "cmp", "none.npy", "a.npy")
        self.expect(2, r"--rtol", "cmp", "a.npy", "a.npy", "--rtol", "-1")


if __name__ == "__main__":
    unittest.main()
