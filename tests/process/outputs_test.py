#!/usr/bin/python3
"""What a command writes is neither a file that it has read (E12) nor two outputs under one name."""
from tapc import *


class Outputs(TapcTest):
    def test_e12_no_output_is_what_was_read(self):
        self.write("p.tap", PROGRAM)
        self.write("plan.txt", "plan 2\nsplit Y dim i into 2 over threads\n")
        self.write("used.tap", DOUBLE)
        self.write("uses.tap", 'use used\nprogram main(X: f32[4]) -> (Y: f32[4]) { Y = double(X) }\n')
        (self.folder / "hard.txt").hardlink_to(self.folder / "p.tap")
        (self.folder / "soft.txt").symlink_to("p.tap")
        for words in (["opt", "p.tap", "-o", "p.tap"], ["opt", "p.tap", "-o", "./p.tap"], ["opt", "p.tap", "-o", "hard.txt"],
                      ["inspect", "p.tap", "-o", "soft.txt"], ["inspect", "p.tap", "--plan", "plan.txt", "-o", "plan.txt"],
                      ["verify", "p.tap", "--certificate", "p.tap"], ["opt", "uses.tap", "-o", "used.tap"],
                      ["run", "p.tap", "-i", "X=ones", "--certificate", "p.tap"]):
            with self.subTest(words):
                self.expect(3, r"error\[T1106\]: .* is the same file as", *words)
        self.tapc("opt", "p.tap", "-o", "01-inline_calls.txt")
        before = (self.folder / "01-inline_calls.txt").read_bytes()
        self.expect(3, "same file", "opt", "01-inline_calls.txt", "--passes=inline_calls", "--dump-after=all")
        self.write("p.h", PROGRAM)
        self.expect(3, "`p.h`, named as an output, is the same file as `p.h`", "compile", "p.h", "-o", "p.so")
        self.assertEqual((self.folder / "01-inline_calls.txt").read_bytes(), before)
        self.assertEqual((self.folder / "p.tap").read_text(), PROGRAM)
        self.assertEqual((self.folder / "p.h").read_text(), PROGRAM)
        self.assertEqual((self.folder / "used.tap").read_text(), DOUBLE)
        self.assertFalse((self.folder / "p.so").exists())
        self.assertNoTemporaries()

    def test_a_module_of_tapc_itself_is_no_file(self):
        self.write("p.tap", "use std\nprogram main(X: f32[4]) -> (Y: f32[4]) { Y = relu(X) }\n")
        self.write("std.tap", "an earlier output")
        self.expect(0, "^$", "opt", "p.tap", "-o", "std.tap")
        self.assertTrue((self.folder / "std.tap").read_text().startswith("tap-ir 1"))

    def test_two_outputs_of_one_name(self):
        self.write("p.tap", PROGRAM)
        for path in ("x.00.ir", "./x.00.ir"):
            self.expect(2, "is the name of two outputs", "verify", "p.tap", "--certificate", path, "--stages", "x")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["p.tap"])


if __name__ == "__main__":
    unittest.main()
