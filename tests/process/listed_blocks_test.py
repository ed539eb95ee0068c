#!/usr/bin/python3
"""How many blocks there may be: of one split, of all splits of an operation together, and of a program. What lists blocks has
limits, what stays symbolic has none. listed_blocks_test.py TAPC"""
from tapc import *

PROGRAM = "program p(x: f32[4096, 4096, 8]) -> (y: f32[4096, 4096, 8]) { y[i, j, k] = x[i, j, k] + 1 }\n"
LISTING = [["verify"], ["verify", "--stage=block"], ["compile", "-o", "p.so"], ["run", "-i", "x=zeros"],
           ["run", "--engine", "native", "-i", "x=zeros"]]
MEMORY = 2 << 30


class ListedBlocks(TapcTest):
    def plan(self, *lines):
        self.write("p.plan", "plan 2\n" + "".join(f"split {line}\n" for line in lines))

    def test_the_product_of_splits_is_limited(self):
        self.write("p.tap", PROGRAM)
        self.plan("y dim i into 4096", "y dim j into 1024 over threads", "y dim k into 8")
        for command in LISTING:
            self.expect(1, r"p\.plan:4:7: error\[T1402\]: `y` is split into 4096 × 1024 × 8 = 33554432 blocks; at most "
                           r"1048576 per operation can be listed", command[0], "p.tap", *command[1:], "--plan",
                        "p.plan", memory=MEMORY)
        self.expect(0, "^$", "verify", "p.tap", "--stage=sharded", "--plan", "p.plan", memory=MEMORY)

    def test_blocks_of_blocks_count(self):
        self.write("p.tap", PROGRAM)
        self.plan(*["y dim i into 1024"] * 7)
        self.expect(1, r"1024 × 1024 × 1024 × 1024 × 1024 × 1024 × 1024 = 2\^63 or more blocks", "verify", "p.tap",
                    "--plan", "p.plan", memory=MEMORY)

    def test_devices_count(self):
        self.write("p.tap", "mesh m = [a: 1024, b: 1024]\n" + PROGRAM.replace("4096, 4096, 8] { ", "4096, 4096, 8] {\n"))
        self.plan("y dim i into 1024 over m.a", "y dim j into 1024 over m.b", "y dim k into 2")
        self.expect(1, r"`y` is split into 1048576 × 2 = 2097152 blocks", "verify", "p.tap", "--plan", "p.plan",
                    memory=MEMORY)

    def test_splits_of_a_program_are_limited(self):
        self.write("p.tap", PROGRAM.replace(" }", "\n  split y on i into 4096\n  split y on j into 4096 }"))
        self.expect(1, r"p\.tap:1:.*error\[T1402\]: `y` is split into 4096 × 4096 = 16777216 blocks", "verify", "p.tap",
                    memory=MEMORY)

    def test_all_operations_together_are_limited(self):
        names = [f"y{k}" for k in range(6)]
        sums = "\n".join(f"  {name}[i, j] = sum[k] x[i, j, k] * {k + 1}" for k, name in enumerate(names))
        results = ", ".join(f"{name}: f32[4096, 4096]" for name in names)
        self.write("p.tap", f"program p(x: f32[4096, 4096, 2]) -> ({results}) {{\n{sums}\n}}\n")
        self.plan(*(f"{name} dim {dim} into 1024" for name in names for dim in "ij"))
        self.expect(1, r"the operations of the program are split into more than 4194304 blocks in total \(`y0` into 1048576 "
                       r"blocks\), the most that can be listed", "verify", "p.tap", "--plan", "p.plan", memory=MEMORY)

    def test_one_split_is_limited_as_before(self):
        self.write("p.tap", PROGRAM)
        self.plan("y dim i into 1048577")
        self.expect(1, r"`i` is split into 1048577 blocks; 1 to 1048576 are possible", "verify", "p.tap", "--plan",
                    "p.plan")


if __name__ == "__main__":
    unittest.main()
