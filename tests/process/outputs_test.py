#!/usr/bin/python3
"""What a command writes is neither a file that it has read (E12) nor two outputs under one name."""
from tapc import *


class Outputs(TapcTest):
    def test_e12_outputs_are_not_inputs(self):
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
        self.expect(3, "the output `p.h` is the same file as `p.h`", "compile", "p.h", "-o", "p.so")
        self.assertEqual((self.folder / "01-inline_calls.txt").read_bytes(), before)
        self.assertEqual((self.folder / "p.tap").read_text(), PROGRAM)
        self.assertEqual((self.folder / "p.h").read_text(), PROGRAM)
        self.assertEqual((self.folder / "used.tap").read_text(), DOUBLE)
        self.assertFalse((self.folder / "p.so").exists())
        self.assertNoTemporaries()

    def test_a_builtin_module_is_not_a_file(self):
        self.write("p.tap", "use std\nprogram main(X: f32[4]) -> (Y: f32[4]) { Y = relu(X) }\n")
        self.write("std.tap", "an earlier output")
        self.expect(0, "^$", "opt", "p.tap", "-o", "std.tap")
        self.assertTrue((self.folder / "std.tap").read_text().startswith("tap-ir 1"))

    def test_a_depfile_names_every_file_that_was_read(self):
        program = "use more\nprogram main(X: f32[n]) -> (Y: f32[n]) { Y = twice(X) }\n"
        self.write("more.tap", "use most\nuse std\nop twice(x: f32[n]) -> (y: f32[n]) { y = double(x) }\n")
        self.write("most.tap", DOUBLE)
        self.write("m.toml", "[caches]\nl1 = 32768\n")
        self.write("x.safetensors", b"\x40" + bytes(7) + b'{"X":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'.ljust(64) + bytes(16))
        names = ("a b.tap", "a\\ # b.tap", "100%$HOME.plan", "out put.so")  # what make gives a meaning to
        for name in names[:2]:
            self.write(name, program)
        self.write(names[2], "plan 2\n")
        self.write("Makefile", "-include p.d\n.DEFAULT_GOAL := all\nall: out\\ put.so\n\t@echo $(words $^) made\nout\\ put.so:\n\t@:\n")
        for name in names[:2]:
            self.expect(0, "^", "compile", name, "-o", names[3], "--depfile", "p.d", "--plan", names[2], "--machine", "m.toml", "-i", "X=@x.safetensors")
            database = subprocess.run(["make", "-pq"], cwd=self.folder, capture_output=True, text=True).stdout
            rule = next(line for line in database.splitlines() if line.startswith("out put.so:"))
            read = [name, names[2], "more.tap", "most.tap", "m.toml", "x.safetensors"]
            self.assertEqual(sorted(rule.split(": ", 1)[1].split()), sorted(" ".join(read).split()))
        self.expect(0, "^", "compile", "a b.tap", "-o", "m.mlir", "--emit=mlir", "--depfile", "p.d", "-i", "X=f32[4]")
        self.assertEqual((self.folder / "p.d").read_text(), "m.mlir: \\\n  a\\ b.tap \\\n  more.tap \\\n  most.tap\n")
        self.expect(0, "^", "compile", "a b.tap", "-o", "m.so", "--emit=obj", "--target=aarch64", "--depfile", "p.d", "-i", "X=f32[4]")
        self.assertRegex((self.folder / "p.d").read_text(), r"^m\.o: ")
        self.expect(2, "is the name of two outputs", "compile", "a b.tap", "-o", "m.so", "--depfile", "m.h", "-i", "X=f32[4]")
        self.expect(3, "is the same file as", "compile", "a b.tap", "-o", "m.so", "--depfile", "most.tap", "-i", "X=f32[4]")
        self.write("line\nbreak.tap", program)
        self.expect(2, "has a line break, which a depfile cannot hold", "compile", "line\nbreak.tap", "-o", "m.so", "--depfile", "p.d", "-i", "X=f32[4]")
        self.assertFalse((self.folder / "m.json").exists())

    def test_two_outputs_of_one_name(self):
        self.write("p.tap", PROGRAM)
        for path in ("x.00.ir", "./x.00.ir"):
            self.expect(2, "is the name of two outputs", "verify", "p.tap", "--certificate", path, "--stages", "x")
        self.assertEqual([p.name for p in self.files()], ["p.tap"])


if __name__ == "__main__":
    unittest.main()
