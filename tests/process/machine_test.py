#!/usr/bin/python3
"""What machine files decide, what they must not, and what is wrong with them.
machine_test.py TAPC"""
import numpy as np

from bits import PROGRAMS, BitsTest
from tapc import *

SMALL = """# the least that there is
[registers]
bytes = 16
count = 16
[caches]
l1 = "16 KiB"
l2 = 262144
l3 = "1M"
"""
LARGE = """[registers]
bytes = 64
count = 32
[caches]
l1 = "64 KiB"
l2 = "2 MiB"
l3 = "16 MiB"
"""
BAD = [
    ("[cache]\n", r"unknown table: `cache`[\s\S]*did you mean `caches`\?"),
    ("[caches]\nl4 = 1\n", r"unknown key in \[caches\]: `l4`"),
    ("[caches]\nl2 = true\n", r"`l2` is not a size"),
    ("[caches]\nl2 = 1.5\n", r"`l2` is not a size"),
    ("[caches]\nl2 = \"2 MB\"\n", r"`l2` is not a size[\s\S]*48 KiB"),
    ("[caches]\nl2 = 12\n", r"`l2` is 12 bytes; expected 4 KiB to 1 GiB"),
    ("[caches]\nl2 = -4096\n", r"`l2` is -4096 bytes"),
    ("[caches]\nl2 = \"99999999999 GiB\"\n", r"`l2` is not a size"),
    ("[registers]\ncount = \"16\"\n", r"`count` is not an integer"),
    ("[registers]\ncount = 0\n", r"`count` is 0; expected 8 to 64"),
    ("[registers]\nbytes = 48\n", r"the size of a register must be a power of two"),
    ("registers = 4\n", r"`registers` is a table, not a value[\s\S]*\[registers\]"),
    ("[caches\nl2 = 4\n", r"invalid TOML"),
    *((f"threads = 2\n{start}", r":2:\d+: error\[T1101\]: invalid TOML: a table has no name") for start in
      ("[\ncaches]\n", "[[\nlinks]]\n", " [ # caches\n]\n", "[.caches]\n", "[=]\n", "[\u00e9]\n", "[\r\ncaches]", "[[[links]]]")),
    ("\ufeff[\ncaches]\n", r":1:\d+: error\[T1101\]: invalid TOML"),
    ("[]\n", r"invalid TOML"),
    ("[caches]\nl2 = 65536\nl2 = 65536\n", r"invalid TOML"),
]


class Machine(BitsTest):
    def setUp(self):
        super().setUp()
        self.write("small.toml", SMALL)
        self.write("large.toml", LARGE)

    def test_the_same_bits_on_every_machine(self):
        """For a fixed plan: what is decided without one depends on the machine."""
        for name, text in PROGRAMS.items():
            inputs = self.inputs(text)
            self.write("p.tap", text)
            for options in (["--plan", "none"], FUSED, ["--strict-fp", "--plan", "none"]):
                with self.subTest(program=name, options=options):
                    results = []
                    for machine in ("small", "large"):
                        self.expect(0, "^$", "run", "p.tap", *inputs, "-o", "@all.npz", "--no-cache", "--machine",
                                    machine + ".toml", *options)
                        with np.load(self.folder / "all.npz") as file:
                            results.append({key: file[key].tobytes() for key in file.files})
                    self.assertEqual(results[0], results[1])

    def loops(self, target, *options, **how):
        self.write("p.tap", PROGRAMS["matmul"])
        self.expect(0, "^$", "compile", "p.tap", "-o", "p.so", "--emit=loops,obj", "--target", target, *options, **how)
        return (self.folder / "p.loops").read_text()

    def test_decisions_depend_on_the_machine(self):
        small, large = (self.loops("x86-64-v4", "--machine", name) for name in ("small.toml", "large.toml"))
        self.assertNotEqual(small, large)
        self.assertNotEqual(self.loops("x86-64-v3"), self.loops("x86-64-v4"))
        self.write("one.toml", "[registers]\nbytes = 32\ncount = 16\n")
        self.assertEqual(self.loops("x86-64-v3"), self.loops("x86-64-v4", "--machine", "one.toml"))

    def test_only_native_code_depends_on_this_machine(self):
        """hwloc takes a machine's description from its environment."""
        other = {"HWLOC_SYNTHETIC": "l3:1(size=1048576) l2:1(size=131072) l1d:1(size=16384) core:1 pu:1",
                 "HWLOC_THISSYSTEM": "1"}
        self.assertNotEqual(self.loops("native"), self.loops("native", environment=other))
        for target in ("x86-64-v3", "x86-64-v4", "aarch64"):
            self.assertEqual(self.loops(target), self.loops(target, environment=other))

    def test_kernels_depend_on_the_machine(self):
        self.write("p.tap", PROGRAMS["matmul"])
        inputs, output = self.inputs(PROGRAMS["matmul"]), []
        for machine in ("small.toml", "large.toml", "small.toml"):
            self.expect(0, "^$", "run", "p.tap", *inputs, "-o", "z=@z.npy", "--cache-dir", "kernels", "--machine", machine)
            output.append(len([path for path in (self.folder / "kernels").rglob("*") if path.is_file()]))
        self.assertLess(output[0], output[1])
        self.assertEqual(output[1], output[2])

    def test_files_that_are_wrong(self):
        self.write("p.tap", PROGRAM)
        for text, pattern in BAD:
            with self.subTest(text=text):
                self.write("bad.toml", text)
                for command in (["run", "p.tap", "-i", "X=[1, 2, 3, 4]"], ["bench", "p.tap"], ["compile", "p.tap", "-o", "p.so"]):
                    output = self.expect(3, pattern, *command, "--machine", "bad.toml").output
                    self.assertRegex(output, r"bad\.toml:\d+:\d+")
        self.expect(2, "nowhere.toml` cannot be read", "run", "p.tap", "-i", "X=[1, 2, 3, 4]", "--machine", "nowhere.toml")
        self.expect(2, "is a folder|is a directory", "run", "p.tap", "-i", "X=[1, 2, 3, 4]", "--machine", ".")

    def test_compiled_programs_take_no_machine(self):
        self.write("p.tap", PROGRAM)
        self.expect(0, "^$", "compile", "p.tap", "-o", "p.so")
        self.expect(2, "--machine has no effect on a compiled program", "run", "p.json", "-i",
                    "X=[1, 2, 3, 4]", "--machine", "small.toml")


if __name__ == "__main__":
    unittest.main()
