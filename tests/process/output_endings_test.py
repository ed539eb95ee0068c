#!/usr/bin/python3
"""The ending of an output decides its format or is refused, and every command lists the files it wrote."""
import json

from tapc import *

MESH = "mesh m = [a: 2]\nprogram main(X: f32[4] @ m[{a}]) -> (Y: f32[4]) { Y[i] = 2 * X[i] }\n"


class OutputEndings(TapcTest):
    def outputs(self):
        return sorted(p.name for p in self.files() if p.name != "p.tap")

    def clean(self):
        for name in self.outputs():
            (self.folder / name).unlink()

    def test_compile(self):
        self.write("p.tap", PROGRAM)
        for output, files in (("m", ["m.h", "m.json", "m.so"]), ("m.so", ["m.h", "m.json", "m.so"]), ("m.o", ["m.h", "m.o"]),
                              ("m.ll", ["m.ll"]), ("m.s", ["m.s"]), ("m.loops", ["m.loops"]), ("m.schedule", ["m.schedule"]),
                              ("m.mlir", ["m.mlir"])):
            with self.subTest(output):
                self.clean()
                result = self.expect(0, "^wrote `m", "compile", "p.tap", "-o", output)
                self.assertEqual(self.outputs(), files)
                for name in files:
                    self.assertIn(f"`{name}`", result.output)
        self.clean()
        self.expect(0, "^wrote `m.h`, `m.o`, `m.s`$", "compile", "p.tap", "-o", "m.o", "--emit=asm")
        self.assertEqual((self.folder / "m.o").read_bytes()[:4], b"\x7fELF")
        self.expect(0, "^wrote `arm.s`$", "compile", "p.tap", "-o", "arm.s", "--target=aarch64")

    def test_compile_refuses(self):
        self.write("p.tap", PROGRAM)
        for output in ("m.xyz", "m.py", "m.h", "m.pc", "m.dll", "lib.so.1"):
            with self.subTest(output):
                self.expect(2, r"(?s)error\[T1001\]: `tapc compile` cannot write `.*`: unknown ending `\..*`.*use \.so for a library, \.o ",
                            "compile", "p.tap", "-o", output)
        self.expect(2, "--emit=py describes a library, and `m.o` is an object file", "compile", "p.tap", "-o", "m.o", "--emit=py")
        self.assertEqual(self.outputs(), [])

    def test_inspect(self):
        self.write("p.tap", MESH)
        for ending, begin in (("txt", "mesh"), ("ir", "tap-ir 1"), ("html", "<!doctype html>"), ("htm", "<!doctype html>"), ("dot", "digraph"), ("gv", "digraph"), ("svg", "<svg"),
                              ("json", "{"), ("graphml", "<?xml")):
            with self.subTest(ending):
                self.expect(0, f"^wrote `g.{ending}`$", "inspect", "p.tap", "-o", "g." + ending)
                self.assertTrue((self.folder / ("g." + ending)).read_text().startswith(begin))
        self.expect(0, "^wrote `g`$", "inspect", "p.tap", "-o", "g", "--format", "svg")
        self.assertTrue((self.folder / "g").read_text().startswith("<svg"))
        self.expect(0, "^wrote `g.svg`$", "inspect", "p.tap", "-o", "g.svg", "--format", "svg")
        self.expect(0, "^wrote `s.txt`$", "inspect", "p.tap", "--splits", "-o", "s.txt")

    def test_inspect_refuses(self):
        self.write("p.tap", MESH)
        self.expect(2, "--format=svg contradicts the ending of `x.dot`", "inspect", "p.tap", "--format", "svg", "-o", "x.dot")
        self.expect(2, "(?s)unknown ending `.png`.*use .txt for text, .ir for text that tapc reads back", "inspect", "p.tap", "--format", "svg", "-o", "x.png")
        for option in (["--splits"], ["--device", "0"]):
            self.expect(2, "the list is text, but the ending of `x.svg` selects the format svg", "inspect", "p.tap", *option, "-o", "x.svg")
        self.expect(2, "unknown ending `.svg`", "opt", "p.tap", "-o", "x.svg")
        self.assertEqual(self.outputs(), [])

    def test_every_command_reports_its_files(self):
        self.write("p.tap", PROGRAM)
        self.expect(0, "^wrote `y.npy`, `all.npz`$", "run", "p.tap", "-i", "X=iota", "-o", "Y=@y.npy", "-o", "@all.npz")
        self.expect(0, "^wrote `p.ir`$", "opt", "p.tap", "-o", "p.ir")
        self.expect(0, "^wrote `p.cert`, `s.00.ir`", "verify", "p.tap", "--certificate", "p.cert", "--stages", "s")
        self.expect(0, "^wrote `d/01-.*and [0-9]+ more$", "opt", "p.tap", "--dump-after=all", "--dump-dir=d")
        self.write("u.tap", "program main(X:f32[4])->(Y:f32[4]){Y[i]=X[i]}")
        self.expect(0, "^wrote `u.tap`$", "fmt", "u.tap")
        self.expect(0, "^$", "fmt", "u.tap")  # nothing to change
        self.expect(0, "^$", "run", "p.tap", "-i", "X=iota")
        messages = self.tapc("run", "p.tap", "-i", "X=iota", "-o", "Y=@y.npy", "--message-format=json").output
        self.assertEqual(json.loads(messages), {"wrote": ["y.npy"]})


if __name__ == "__main__":
    unittest.main()
