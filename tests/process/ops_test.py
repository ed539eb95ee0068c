#!/usr/bin/python3
"""tapc ops describes every standard operator, and says what is wrong with a request."""
import concurrent.futures
import re

from tapc import *

OWN = """op power(x: T[d..]) -> (y: T[d..]) where T: number { y = iterate 5 (v = x) { w[i..] = 2 * v[i..]; w } }
op countdown<steps: int>(x: f32[n]) -> (y: f32[n]) { y = iterate steps (v = x) { w[i] = v[i] - 1; w } }
op picky<k: int>(x: f32[n]) -> (y: f32[n]) where k == 31 { y[i] = x[i] * f32(k) }
op illegal(x: f32[n]) -> (y: f32[n]) { y[i] = x[i + 1] }
op fill<e..: int>(x: f32[]) -> (y: f32[e..]) { y[i..] = x[] }
"""


class Ops(TapcTest):
    def test_every_standard_operator_is_described(self):
        names = re.findall(r"^op (\w+)", (ROOT / "lib/std.tap").read_text(), re.M)
        self.assertGreater(len(names), 150)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, result in zip(names, pool.map(lambda name: self.tapc("ops", name, timeout=60), names)):
                with self.subTest(name):
                    shown = result.stdout.decode()
                    self.assertEqual(result.returncode, 0, result.output)
                    self.assertRegex(shown, r"(?m)^operator .*\n  index  ")
                    self.assertRegex(shown, r"(?m)^  write  ")

    def test_samples_are_plausible(self):
        """What is shown satisfies the printed `where`, and no index is empty."""
        for name, expected in {"sum_axis": "p = [4], n = 4, q = [4], T = f32, a = 1:", "max_pool2d": "window = 2:",
                             "slice": "a = 1, start = 2, stop = 3:", "roll": "q = [4], T = f32, a = 1, shift = 2:",
                             "cummax": "q = [4], T = f32, a = 1:"}.items():
            with self.subTest(name):
                shown = self.expect(0, "^$", "ops", name).stdout.decode()
                self.assertIn(expected, shown)
                self.assertNotRegex(shown, r": (\d+)\.\.\1\b")

    def test_the_list(self):
        shown = self.expect(0, "^$", "ops").stdout.decode()
        self.assertRegex(shown, r"(?m)^add +y = a \+ b")
        self.assertRegex(shown, r"(?m)^argmax +The maximum and")

    def test_monoids(self):
        shown = self.expect(0, "^$", "ops", "argmax").stdout.decode()
        self.assertIn("monoid argmax(v: T, at: i64) where T: number\n    The maximum and", shown)
        self.assertIn("  identity     (T.min, i64.max)\n  combine      (a, b) = if b.v > a.v or", shown)
        self.assertRegex(shown, r"(?m)^  associative  proved$")
        self.assertRegex(self.expect(0, "^$", "ops", "affine").stdout.decode(),
                         "commutative  no: blocks are combined in order")
        self.expect(2, r"unknown operator or monoid `argmx`.*\nhelp: did you mean `argmax`", "ops", "argmx")

    def own(self, code, pattern, *arguments):
        self.write("own.tap", OWN)
        return self.expect(code, pattern, "ops", arguments[0], "--file", "own.tap", *arguments[1:]).stdout.decode()

    def test_iterates_show_what_they_repeat(self):
        shown = self.own(0, r"^$", "power")
        self.assertIn("iterate 5 times, with the state v: f32[4]:", shown)
        self.assertIn("  shard  i: yes", shown)
        self.assertIn("iterate 2 times,", self.own(0, r"^$", "countdown"))
        self.assertIn("iterate 1 time,", self.own(0, r"^$", "countdown", "--param", "steps=1"))
        self.assertIn("iterate 7 times,", self.own(0, r"^$", "countdown", "--param", "steps=7"))

    def test_int_packs(self):
        self.assertIn("e = [4, 4]", self.own(0, r"^$", "fill"))
        self.assertIn("f32[2, 3, 5]", self.own(0, r"^$", "fill", "--param", "e=2,3, 5"))
        self.own(2, r"`--param e=-2` is not legal for `fill`: .*sizes must not be negative", "fill", "--param", "e=-2")
        self.own(2, r"the parameter `e` is a list of integers", "fill", "--param", "e=2,,3")

    def test_an_int_pack_that_is_no_shape_is_refused_in_programs(self):
        self.write("a.tap", "use std\nprogram main(X: f32[4]) -> (Y: f32[4]) { Y = reshape<-4>(X) }\n")
        self.expect(1, r"error\[T0504\]: `e` has the sizes \[-4\]; sizes must not be negative", "check", "a.tap")

    def test_sizes_of_dims_and_packs(self):
        self.assertIn("n = 100", self.own(0, r"^$", "countdown", "--dim", "n=100"))
        self.assertIn("d = [7]", self.own(0, r"^$", "power", "--dim", "d=7"))

    def test_mismatches_are_reported(self):
        for pattern, arguments in (
                (r"`matmul` has no dim `zz`\nhelp: its dims are in, out, batch", ("matmul", "--dim", "zz=7")),
                (r"`matmul` has no parameter `zz`\nhelp: it has no parameters", ("matmul", "--param", "zz=7")),
                (r"`conv2d` has no parameter `strid`\nhelp: did you mean `stride`", ("conv2d", "--param", "strid=2")),
                (r"`--param stride=0` is not legal for `conv2d`: .*must be positive; `stride` is 0", ("conv2d", "--param", "stride=0")),
                (r"the parameter `stride` is an integer", ("conv2d", "--param", "stride=two")),
                (r"the parameter `to` is a type.*\nhelp: did you mean `f32`", ("cast", "--param", "to=f33")),
                (r"`--param a=99` is not legal for `sum_axis`: .*no split", ("sum_axis", "--param", "a=99")),
                (r"two values, 1 and 2", ("sum_axis", "--param", "a=1", "--param", "a=2")),
                (r"is not a valid value for --param", ("sum_axis", "--param", "a")),
                (r"need the name of an operator", ("--param", "a=1"))):
            with self.subTest(arguments):
                self.expect(2, pattern, "ops", *arguments)
        self.own(2, r"found no sizes for which `picky` is legal: .*requires `k == 31`; here k is 2", "picky")
        self.own(0, r"^$", "picky", "--param", "k=31")
        self.own(1, r"own\.tap:4:\d+: error\[T0601\]", "illegal")


if __name__ == "__main__":
    unittest.main()
