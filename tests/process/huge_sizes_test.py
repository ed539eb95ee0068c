#!/usr/bin/python3
"""Sizes up to 2^63 - 1, wherever a program or a command may have one: what needs no memory works, what does is refused with
numbers, within seconds and little memory. huge_sizes_test.py TAPC"""
import json

from tapc import *

SIZES = [2**31, 2**32 + 1, 2**61, 2**62, 2**63 - 2, 2**63 - 1]
MEMORY = 2 << 30
# With `{n}` for the size.
PROGRAMS = {
    "map": "program main(x: f32[{n}]) -> (y: f32[{n}]) { y[i] = x[i] + 1 }",
    "wider": "program main(x: i8[{n}]) -> (y: f64[{n}]) { y[i] = f64(x[i]) }",
    "reduction": "program main(x: f32[{n}]) -> (y: f32[]) { y[] = sum[i] x[i] }",
    "range": "program main(c: f32[]) -> (y: f32[]) { y[] = sum[i in 0..{n}] c[] }",
    "cube": "program main(c: f32[]) -> (y: f32[]) { y[] = sum[i in 0..{n}, j in 0..{n}, k in 0..{n}] c[] * f32(i + j + k) }",
    "local": "program main(c: f32[]) -> (y: f32[]) { t[i] = sum[k in 0..2] c[] * f32(i + k) for i in 0..{n}; y[] = t[0] + sum[i] t[i] }",
    "steps": "program main(x: f32[4]) -> (y: f32[4]) { y = iterate t in 0..{n} (v = x) { w[i] = v[i] + f32(t); w } }",
    "coefficient": "program main(x: f32[8]) -> (y: f32[8]) { y[i] = x[{n}*i - {n} else 0] }",
    "offset": "program main(x: f32[8]) -> (y: f32[8]) { y[i] = x[i + {n} else 0] }",
    "scan": "program main(x: f32[{n}]) -> (y: f32[{n}]) { y[i] = sum[k in 0..i+1] x[k] }",
    "product": "program main(a: f32[{n}, 4], b: f32[4, {n}]) -> (y: f32[{n}, {n}]) { y[i, j] = sum[k] a[i, k] * b[k, j] }",
    "inner": "program main(a: f32[2, {n}], b: f32[{n}, 2]) -> (y: f32[2, 2]) { y[i, j] = sum[k] a[i, k] * b[k, j] }",
    "split": "program main(x: f32[{n}]) -> (y: f32[{n}]) { y[i] = x[i] + 1\n split y on axis 0 into 4 }",
    "blocks": "program main(x: f32[16]) -> (y: f32[16]) { y[i] = x[i] + 1\n split y on axis 0 into {n} }",
    "uneven": "program main(x: f32[{n}]) -> (y: f32[{n}]) { y[i] = x[i] + 1\n split y on axis 0 into [0..3, 3..{n}] }",
    "partials": "program main(x: f32[{n}]) -> (y: f32[]) { y[] = sum[i] x[i]\n split y on i into 1024 }",
    "bytes": "program main(x: i8[{n}]) -> (y: i8[{n}]) { y[i] = x[i] }",
    "flags": "program main(x: bool[{n}]) -> (y: bool[{n}]) { y[i] = !x[i] }",
    "byte sum": "program main(x: u8[{n}]) -> (y: u8[]) { y[] = sum[i] x[i] }",
    "byte writers": "program main(x: i8[{n}]) -> (y: i8[{n}]) { y[i] = x[i] for i in 0..1; y[i] = -x[i] for i in 1..{n} }",
    "byte gather": "program main(x: i8[{n}], j: i64[4]) -> (y: i8[4]) { y[i] = x[j[i]] }",
    "last points": "program main(c: i32[]) -> (y: i32[]) { y[] = sum[i in {n} - 6..{n}] c[] }",
    "last cells": "program main(c: i32[]) -> (y: i32[6]) { y[i - ({n} - 6)] = c[] for i in {n} - 6..{n} }",
    "mesh": "mesh m = [d: {n}]\nprogram main(x: f32[16] @ m[{d}]) -> (y: f32[16]) { y[i] = x[i] + 1 }",
    "sharded": "mesh m = [d: 4]\nprogram main(x: f32[{n}] @ m[{d}]) -> (y: f32[]) { y[] = sum[i] x[i] }",
    "gather": "program main(x: f32[{n}], j: i64[4]) -> (y: f32[4]) { y[i] = x[j[i]] }",
    "writers": "program main(x: f32[{n}]) -> (y: f32[{n}]) { y[i] = x[i] for i in 0..1; y[i] = -x[i] for i in 1..{n} }",
    "nothing": "program main(x: f32[{n}, {n}, 0]) -> (y: f32[0, {n}]) { y[k, j] = x[0, j, k] }",
    "kernel": 'extern op f(x: f32[n]) -> (y: f32[n]) {\n index [i: n]\n read x at [i - 1] shape [3] else 0\n'
              ' write y at [i] shape [1]\n kernel "f"\n cost flops {n}\n}\n'
              "program main(x: f32[{n}]) -> (y: f32[{n}]) { y = f(x) }",
}
COMMANDS = [["check"], ["sharding"], ["verify"], ["verify", "--stage=sharded"], ["compile", "-o", "p.so"]]
MAP = PROGRAMS["map"].replace("{n}", str(2**62))


class HugeSizes(TapcTest):
    def test_no_size_is_too_large_for_a_message(self):
        for k, (name, program) in enumerate(PROGRAMS.items()):
            for size in SIZES:
                self.write("p.tap", program.replace("{n}", str(size)))
                # Each program with each size, and by turns with each command: the first and the last always.
                for command in (COMMANDS[0], COMMANDS[1 + (k + SIZES.index(size)) % 3], COMMANDS[4]):
                    with self.subTest(program=name, size=size, command=command):
                        result = self.tapc(command[0], "p.tap", *command[1:], memory=MEMORY)
                        self.assertIn(result.returncode, (0, 1, 4), result.output)

    def test_huge_sizes_without_memory_work(self):
        self.write("p.tap", MAP)
        for command in (["check"], ["inspect"], ["sharding"], ["verify", "--stage=sharded"], ["opt"]):
            self.expect(0, ".*", command[0], "p.tap", *command[1:], memory=MEMORY)

    def test_out_of_memory_reports_the_size(self):
        self.write("p.tap", MAP)
        output = r"T1202\]: `x` is f32\[4611686018427387904\], which takes 18446744073709551616 bytes; a buffer has at most " \
               r"72057594037927936"
        for command in (["verify"], ["compile", "-o", "p.so"]):
            self.expect(4, output, command[0], "p.tap", *command[1:], memory=MEMORY)

    def test_loops_near_the_largest_index(self):
        """Native loops stay far from 2^63; the interpreter counts up to it."""
        for text, result in ((PROGRAMS["last points"], "6"), (PROGRAMS["last cells"], "[1, 1, 1, 1, 1, 1]")):
            for last in (2**63 - 2, 2**63 - 4, 2**61 + 3):
                self.write("p.tap", text.replace("{n}", str(last)))
                self.expect(4, r"T0408.*loops of native code count", "run", "p.tap", "-i", "c=1", memory=MEMORY)
                output = self.expect(0, ".*", "run", "p.tap", "-i", "c=1", "--engine", "interp", memory=MEMORY).stdout.decode()
                self.assertIn(result, output)
            self.write("p.tap", text.replace("{n}", str(2**59)))
            self.assertIn(result, self.expect(0, ".*", "run", "p.tap", "-i", "c=1", memory=MEMORY).stdout.decode())

    def test_sizes_of_the_command_line(self):
        self.write("p.tap", "dim n = 4\nprogram main(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] + 1 }\n")
        for size in SIZES:
            for arguments in (["verify", "p.tap", "--dim", f"n={size}"], ["check", "p.tap", "-i", f"x=f32[{size}]"],
                              ["compile", "p.tap", "-o", "p.so", "--dim", f"n={size}"],
                              ["run", "p.tap", "--dim", f"n={size}", "-i", "x=[1, 2]"]):
                with self.subTest(arguments):
                    self.assertIn(self.tapc(*arguments, memory=MEMORY).returncode, (0, 1, 3, 4))

    def test_blocks_of_the_largest_range(self):
        """Four blocks of ceil(n / 4) points end behind 2^63 - 1."""
        self.write("p.tap", PROGRAMS["split"].replace("{n}", str(2**63 - 1)))
        self.expect(0, ".*", "verify", "p.tap", "--stage=sharded")

    def test_a_manifest_describes_the_library(self):
        self.write("p.tap", "program main(x: f32[4], const c: f32[2]) -> (y: f32[4]) { y[i] = x[i] + c[0] }\n")
        self.expect(0, ".*", "compile", "p.tap", "-o", "p.so")
        manifest = json.loads((self.folder / "p.json").read_text())
        for which, number in (("inputs", 0), ("inputs", 1), ("outputs", 0)):
            for shape in ([2**31], [2**31, 2**31], [2**40], [2**50], [3], [4, 1]):
                changed = json.loads(json.dumps(manifest))
                changed[which][number]["shape"] = shape
                name = changed[which][number]["name"]
                self.write("p.json", json.dumps(changed))
                with self.subTest(which=which, shape=shape):
                    self.expect(3, f"`{name}` has the wrong (shape|number of axes)|a tensor of 2.63 bytes or more", "run", "p.json",
                                "-i", "x=rand:1", "-i", "c=zeros", memory=64 << 30)
        self.write("p.json", json.dumps(manifest))
        self.expect(0, ".*", "run", "p.json", "-i", "x=rand:1", "-i", "c=zeros")

    def test_no_points_take_no_time(self):
        self.write("p.tap", "program main(x: f32[2147483648, 2147483648, 0]) -> (y: f32[2147483648, 2147483648, 0]) {\n"
                            "  y[i, j, k] = x[i, j, k] + 1 }\n")
        for engine in ("native", "interp"):
            self.expect(0, ".*", "run", "p.tap", "--engine", engine, "-i", "x=rand:1", memory=MEMORY)


if __name__ == "__main__":
    unittest.main()
