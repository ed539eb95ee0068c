#!/usr/bin/python3
"""What tapc sharding says that the busiest device receives, and what it receives in an MPI job. collective_bytes_test.py TAPC"""
import json
from collections import Counter

from mpi_job import *
from tapc import *

PRODUCT = "t[i, j] = sum[k] a[i, k] * b[k, j]"


def program(mesh, t, c, inputs, equation, a=None):
    return (f"mesh m = [{mesh}]\nprogram main(a: f32[64, 32] @ m[{a or t}], b: f32[32, 96]{inputs})\n"
            f"        -> (t: f32[64, 96] @ m[{t}], c: f32[64, 96] @ m[{c}]) {{\n    {PRODUCT}\n    c[i, j] = {equation}\n}}\n")


def reduced(c, devices):
    return (f"mesh m = [x: {devices}]\nprogram main(a: f32[64, 96] @ m[{{}}, {{x}}], b: f32[96, 64] @ m[{{x}}, {{}}])\n"
            f"        -> (c: f32[64, 64] @ m[{c}]) {{ c[i, j] = sum[k] a[i, k] * b[k, j] }}\n")


def read_whole(devices, n=64):
    """Every device needs all of c, and keeps a part of d."""
    return (f"mesh m = [x: {devices}]\nprogram main(a: f32[{n}, 96] @ m[{{}}, {{x}}], b: f32[96, 64] @ m[{{x}}, {{}}], w: f32[64, 48] @ m[{{}}, {{x}}])\n"
            f"        -> (d: f32[{n}, 48] @ m[{{}}, {{x}}]) {{\n    c[i, j] = sum[k] a[i, k] * b[k, j]\n    d[i, j] = sum[k] c[i, k] * w[k, j]\n}}\n")


class CollectiveBytes(MpiTest):
    def moves(self, text, devices):
        """Of a program: the collectives with their figures, and what each process of a job with a process for each device received."""
        self.write("p.tap", text)
        moves = json.loads(self.expect(0, ".*", "sharding", "p.tap", "--json").stdout)["moves"]
        inputs = [word for name in "abw" if f"{name}: " in text for word in ("-i", f"{name}=rand:1")]
        result = self.job(devices, "run", "p.tap", *inputs, "-o", "@r.safetensors", "--metrics", "m.json", "--mpi")
        self.assertEqual(result.returncode, 0, result.stderr)
        received = Counter()
        for transfer in json.loads((self.folder / "m.json").read_text())["transfers"]:
            if transfer["what"] == "message":
                received[transfer["process"]] += transfer["bytes"]
        return [(move["step"].split(" ")[0], move["bytes"]) for move in moves], received

    def same(self, text, devices, step, cells):
        moves, received = self.moves(text, devices)
        self.assertEqual(moves, [(step, 4 * cells)])
        self.assertEqual(max(received.values()), 4 * cells)

    def test_reduce_scatter(self):
        for devices in (2, 4):
            for to in ("{x}, {}", "{}, {x}"):
                self.same(reduced(to, devices), devices, "reduce_scatter", 64 * 64 * (devices - 1) // devices)

    def test_reduce_scatter_over_two_axes(self):
        """Partials are combined along y, then along x; each device combines a slice of both. In the other order the slices along x are not
        parts of those along y."""
        both = reduced("C", 4).replace("x: 4", "x: 2, y: 2").replace("a: f32[64, 96] @ m[{}, {x}]", "a: f32[64, 96] @ m[{}, {x, y}]").replace("@ m[{x}, {}]", "@ m[{x, y}, {}]")
        for to, cells in (("{y, x}, {}", 64 * 64 * 3 // 4), ("{x}, {y}", 64 * 64 * 3 // 4), ("{x, y}, {}", 64 * 64)):
            self.same(both.replace("C", to), 4, "reduce_scatter", cells)

    def test_values_that_two_operations_read(self):
        text = ("mesh m = [x: 4]\nprogram main(a: f32[64, 32] @ m[{x}, {}], b: f32[32, 96], w: f32[64, 96] @ m[{}, {x}])\n"
                "        -> (t: f32[64, 96] @ m[{x}, {}], c: f32[64, 96] @ m[{}, {x}], d: f32[64, 96] @ m[{}, {x}]) {\n"
                "    t[i, j] = sum[k] a[i, k] * b[k, j]\n    c[i, j] = t[i, j] * w[i, j]\n    d[i, j] = t[i, j] - w[i, j]\n}\n")
        moves, received = self.moves(text, 4)
        self.assertEqual(moves, [("all_to_all", 64 * 96 * 3 // 16 * 4), ("all_to_all", 0)])
        self.assertEqual(max(received.values()), 64 * 96 * 3 // 16 * 4)

    def test_all_gather(self):
        for devices in (2, 4):
            self.same(program(f"x: {devices}", "{x}, {}", "{}, {x}", ", w: f32[96, 96] @ m[{}, {x}]", "sum[k] t[i, k] * w[k, j]"), devices,
                      "all_gather", 64 * 96 * (devices - 1) // devices)

    def test_all_to_all(self):
        for devices in (2, 4):
            self.same(program(f"x: {devices}", "{x}, {}", "{}, {x}", ", w: f32[64, 96] @ m[{}, {x}]", "t[i, j] * w[i, j]"), devices,
                      "all_to_all", 64 * 96 * (devices - 1) // devices ** 2)

    def test_collective_permute(self):
        self.same(program("x: 2, y: 2", "{x, y}, {}", "{y, x}, {}", ", w: f32[64, 96] @ m[{y, x}, {}]", "t[i, j] * w[i, j]"), 4,
                  "collective_permute", 16 * 96)

    def test_halo(self):
        stencil = program("x: 4", "{x}, {}", "{x}, {}", "", "t[i - 1, j else 0] + t[i + 2, j else 0]")
        self.same(stencil, 4, "halo_exchange", 3 * 96)  # a device in the middle has two neighbours

    def test_halo_of_devices_at_the_ends(self):
        """With two devices none has two neighbours."""
        moves, received = self.moves(program("x: 2", "{x}, {}", "{x}, {}", "", "t[i - 1, j else 0] + t[i + 2, j else 0]"), 2)
        self.assertEqual(moves, [("halo_exchange", 2 * 96 * 4)])
        self.assertEqual(received, {0: 2 * 96 * 4, 1: 96 * 4})

    def test_reads_of_other_blocks(self):
        """Windows wider than a block, shifts by more than one, reversed reads, and a row that all read."""
        for equation, step, rows in (("t[i - 17, j else 0] + t[i + 20, j else 0]", "halo_exchange", 36),
                                     ("t[i - 40, j else 0]", "halo_exchange", 16), ("t[63 - i, j]", "copy", 16)):
            self.same(program("x: 4", "{x}, {}", "{x}, {}", "", equation), 4, step, rows * 96)
        self.same(program("x: 4", "{x}, {}", "{x}, {}", ", w: f32[64, 96] @ m[{x}, {}]", "t[0, j] * w[i, j]"), 4, "all_gather", 96)

    def test_scan_along_what_is_divided(self):
        """Each device receives the totals of the blocks of the others."""
        text = ("mesh m = [x: 4]\nprogram main(a: i64[8, 64]) -> (c: i64[8, 64] @ m[{}, {x}]) {\n"
                "    c[r, i] = sum[k in 0..i + 1] a[r, k]\n}\n")
        moves, received = self.moves(text, 4)
        self.assertEqual([move for move in moves if move[1] > 0], [("all_gather", 3 * 8 * 8)])
        self.assertEqual(max(received.values()), 3 * 8 * 8)

    def test_results_of_iterates(self):
        """What a later operation reads is gathered, whatever part of it each device needs."""
        for rows, others in ((64, 48), (10, 9)):  # 10: in blocks of 3, 3, 3 and 1
            for read in (f"Z[{rows - 1} - i, j] * 2", "Z[i, j] * 2"):
                text = (f"mesh m = [x: 4]\nprogram main(a: f32[{rows}, 32] @ m[{{x}}, {{}}], b: f32[{rows}, 32]) -> (c: f32[{rows}, 32] @ m[{{x}}, {{}}]) {{\n"
                        "    Z = iterate 3 (u = a) { v[i, j] = u[i, j] * b[i, j]\n v }\n"
                        f"    c[i, j] = {read} for i in 0..{rows}, j in 0..32\n}}\n")
                moves, received = self.moves(text, 4)
                self.assertEqual([move for move in moves if move[1] > 0], [("all_gather", 4 * others * 32)])
                self.assertEqual(max(received.values()), 4 * others * 32)

    def test_all_reduce(self):
        """Each device combines a slice of the partials, and the slices are gathered where all of them are read."""
        for devices in (2, 4):
            figure = 64 * 64 * 4 * 2 * (devices - 1) // devices
            moves, received = self.moves(read_whole(devices), devices)
            self.assertEqual(moves, [("all_reduce", figure)])
            self.assertEqual(received, {process: figure for process in range(devices)})

    def test_all_reduce_of_a_result(self):
        """A result is not gathered: each process writes its slice."""
        for devices in (2, 4):
            moves, received = self.moves(reduced("{}, {}", devices), devices)
            self.assertEqual(moves, [("all_reduce", 64 * 64 * 4 * 2 * (devices - 1) // devices)])
            self.assertEqual(received, {process: 64 * 64 * 4 * (devices - 1) // devices for process in range(devices)})

    def test_all_reduce_of_sizes_that_do_not_divide(self):
        """The figure counts the largest slice for each device."""
        for devices, n in ((3, 64), (4, 63), (3, 2)):
            moves, received = self.moves(read_whole(devices, n), devices)
            self.assertLessEqual(max(received.values()), moves[0][1] + 4 * 64 * devices)

    def test_results_are_not_moved(self):
        """A result lies in the file, whatever its sharding: each process writes the boxes that it computes."""
        for devices in (2, 4):
            for to in ("{}, {}", "{}, {x}"):
                moves, received = self.moves(program(f"x: {devices}", "{x}, {}", to, "", "t[i, j] * 2"), devices)
                self.assertEqual(len(moves), 1)
                self.assertGreater(moves[0][1], 0)
                self.assertEqual(received, {})


if __name__ == "__main__":
    unittest.main()
