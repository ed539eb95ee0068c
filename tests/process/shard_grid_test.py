#!/usr/bin/python3
"""`tapc inspect --shards VALUE` draws for each device exactly the box that `tapc sharding --device` gives: any rank, sub-axes,
uneven and listed devices, partials. Plain ASCII unless colours are asked for. shard_grid_test.py TAPC"""
import re

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

    def test_wrong_names(self):
        self.expect(2, "the sharded graph has no value `AA`", "inspect", "p.tap", "--shards", "AA")
        self.expect(2, "contradicts|selects the format svg", "inspect", "p.tap", "--shards", "A", "-o", "a.svg")


if __name__ == "__main__":
    unittest.main()
