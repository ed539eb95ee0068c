#!/usr/bin/python3
"""`tapc inspect --shards VALUE` draws for each device exactly the box that `tapc sharding --device` gives: any rank, sub-axes,
uneven and listed devices, partials. Plain ASCII unless colours are asked for. shard_grid_test.py TAPC"""
import math
import re
from itertools import combinations

from tapc import *

PROGRAM = """mesh m = [a: 4, b: 2] devices [7, 6, 5, 4, 3, 2, 1, 0]
program p(A: f32[9, 4] @ m[{a:(1)2, b}, {a:(2)2}], X: f32[10] @ m[{a}], C: f32[2, 9, 4] @ m[{b}, {a}, {}], N: f32[4, 4],
          W: f32[8, 8] @ m[{}, {a}], Q: f32[2, 3, 4, 4] @ m[{b}, {}, {a}, {}], Z: f32[]) ->
        (Y: f32[8] @ m[{b}], D: f32[2, 9, 4] @ m[{b}, {a}, {}], S: f32[], R: f32[4, 4], T: f32[2, 3, 4, 4], U: f32[9, 4]) {
    Y[i] = sum[k] W[i, k]
    D[i, j, k] = 2 * C[i, j, k]
    S[] = (sum[i] X[i]) + Z[]
    R[i, j] = N[i, j] + 1
    T[i, j, k, l] = Q[i, j, k, l] + 1
    U[i, j] = A[i, j] + 1
}
"""


def devices_of(text, count):
    """The numbers that a label means: 0-2,5 or all."""
    if text == "all":
        return set(range(count))
    return {d for part in text.split(",") for d in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}


def cells(text):
    """Each labelled cell of each grid: its ranges, in the order of the axes, and the label."""
    leading, columns = [], []
    for line in text.split("\n"):
        if slice_ := re.fullmatch(r"  \[(.*), :, :\]", line):
            leading = slice_[1].split(", ")
        elif re.fullmatch(r"\s+(\d+\.\.\d+\s*)+", line):
            columns = line.split()
        elif row := re.fullmatch(r"  (\d+\.\.\d+)? *\|(.*)\|", line):
            labels = [label.strip() for label in row[2].split("|")]
            if any(labels):
                for column, label in zip(columns, labels):
                    yield [*leading, *([row[1]] if row[1] else []), column], label


def ranges(box):
    return [tuple(map(int, part.split(".."))) for part in box]


# What people without one kind of cones see, on linear RGB: Machado, Oliveira and Fernandes, "A physiologically-based model for
# simulation of color vision deficiency", 2009, severity 1. report/tests/colour_checks.mjs judges the colours of reports by the same.
SEEN_BY = {"everyone": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
           "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
           "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
           "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039))}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.072175), (0.0193339, 0.119192, 0.9503041))


def times(matrix, vector):
    return [sum(factor * x for factor, x in zip(row, vector)) for row in matrix]


def linear(code):
    """The light of a colour of the cube or of the grey scale of terminals."""
    if code >= 232:
        channels = [8 + 10 * (code - 232)] * 3
    else:
        channels = [(0, 95, 135, 175, 215, 255)[(code - 16) // place % 6] for place in (36, 6, 1)]
    return [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]


def lab(light):
    ratios = [x / white for x, white in zip(times(TO_XYZ, [min(1, max(0, c)) for c in light]), times(TO_XYZ, (1, 1, 1)))]
    x, y, z = (math.cbrt(r) if r > 216 / 24389 else (24389 / 27 * r + 16) / 116 for r in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(a, b, matrix):
    return math.dist(lab(times(matrix, linear(a))), lab(times(matrix, linear(b))))


class ShardGrid(TapcTest):
    def setUp(self):
        super().setUp()
        self.write("p.tap", PROGRAM)

    def grid(self, value, *options):
        return self.expect(0, "^$", "inspect", "p.tap", "--shards", value, *options).stdout.decode()

    def boxes(self, device):
        """name → the box of a device, or nothing."""
        text = self.expect(0, "^$", "sharding", "p.tap", "--device", str(device)).stdout.decode()
        return {name: None if held == "nothing" else [part for part in box.split(", ") if part] for name, held, box in
                re.findall(r"(?m)^(\w+) .*?  (nothing|\[([^\]@{]*)\], \d+ bytes)$", text)}

    def test_each_device_has_its_box(self):
        held = [self.boxes(device) for device in range(8)]
        for value in ("A", "X", "C", "N", "Q", "Z", "R", "D", "T"):
            with self.subTest(value):
                drawn = list(cells(self.grid(value)))
                for device in range(8):
                    box = held[device][value]
                    own = {tuple(ranges(at)) for at, label in drawn if device in devices_of(label, 8)}
                    if value == "Z":
                        self.assertEqual(own, {((0, 1),)})
                        continue
                    expected = set() if box is None else {tuple(ranges(at)) for at, _ in drawn
                                                          if all(lo <= a and b <= hi for (a, b), (lo, hi) in zip(ranges(at), ranges(box)))}
                    self.assertEqual(own, expected, (device, box))
                    self.assertEqual(bool(expected), box is not None)

    def test_partials(self):
        said = self.grid("Y.partial")
        self.assertIn("axis 0 counts partials of the reduction over `k`", said)
        self.assertEqual([(at[0], label) for at, label in cells(said)], [("0..1", "6,7"), ("1..2", "4,5"), ("2..3", "2,3"), ("3..4", "0,1")])

    def test_colours_only_where_they_are_wanted(self):
        plain = self.grid("A")
        self.assertTrue(plain.isascii())
        self.assertNotIn("\x1b", plain)
        self.assertEqual(self.grid("A", "--color=never"), plain)
        painted = self.grid("A", "--color=always")
        self.assertIn("\x1b[48;5;", painted)
        self.assertEqual(re.sub(r"\x1b\[[\d;]*m", "", painted), plain)
        self.expect(0, "wrote", "inspect", "p.tap", "--shards", "A", "--color=always", "-o", "a.txt")
        self.assertEqual((self.folder / "a.txt").read_text(), plain)

    def test_colours_are_distinct_whichever_cones_are_missing(self):
        self.write("twelve.tap", "mesh m = [x: 12]\nprogram p(X: f32[24] @ m[{x}]) -> (Y: f32[24] @ m[{x}]) {\n    Y[i] = 2 * X[i]\n}\n")
        painted = self.expect(0, "^$", "inspect", "twelve.tap", "--shards", "Y", "--color=always").stdout.decode()
        found = {int(device): int(code) for code, device in re.findall(r"\x1b\[48;5;(\d+)m\x1b\[30m (\d+) ", painted)}
        self.assertEqual(sorted(found), list(range(12)))
        for code in found.values():
            self.assertTrue(16 <= code < 256, code)  # the others are what the terminal's theme says
            self.assertGreaterEqual((times(TO_XYZ, linear(code))[1] + 0.05) / 0.05, 4.5, code)  # to black letters
        for (a, one), (b, other) in combinations(found.items(), 2):
            for kind, matrix in SEEN_BY.items():
                self.assertGreaterEqual(distance(one, other, matrix), 20, f"devices {a} and {b} as seen with {kind}")
        # The measure itself: black and white are 100 apart; two colours that differ in red and green are alike without M cones.
        self.assertAlmostEqual(distance(16, 231, SEEN_BY["everyone"]), 100, delta=0.1)
        self.assertLess(distance(173, 143, SEEN_BY["deuteranopia"]), 10)
        self.assertGreater(distance(173, 143, SEEN_BY["everyone"]), 30)

    def test_wrong_names(self):
        self.expect(2, "the sharded graph has no value `AA`", "inspect", "p.tap", "--shards", "AA")
        self.expect(2, "contradicts|selects the format svg", "inspect", "p.tap", "--shards", "A", "-o", "a.svg")


if __name__ == "__main__":
    unittest.main()
