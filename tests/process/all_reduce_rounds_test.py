#!/usr/bin/python3
"""Small all-reduces in rounds: one message a round, bits that do not depend on processes and threads, and what tapc-check refuses.
all_reduce_rounds_test.py TAPC"""
import json
import re
from collections import Counter

import numpy as np
from mpi_job import *
from stage_chain import sealed
from tapc import *

CHECKER = TAPC.parent / "tapc-check"
ROUNDS = {2: 1, 3: 2, 4: 2, 6: 3, 8: 3}  # messages that a device receives: one for each pair, two where three meet


def program(devices, element, equation="sum[k] a[i, k] * b[k, j]", n=8):
    """Each device has a part of every c, and needs all of it."""
    return (f"mesh m = [x: {devices}]\nprogram p(a: {element}[{n}, 24] @ m[{{}}, {{x}}], b: {element}[24, 7] @ m[{{x}}, {{}}], w: {element}[7, 24] @ m[{{}}, {{x}}])\n"
            f"        -> (d: {element}[{n}, 24] @ m[{{}}, {{x}}]) {{\n    c[i, j] = {equation}\n    d[i, j] = sum[k] c[i, k] * w[k, j]\n}}\n")


class AllReduceRounds(MpiTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(1)
        for kind in (np.int32, np.float32):
            for name, shape in zip("abw", ((8, 24), (24, 7), (7, 24))):
                array = rng.integers(-9, 9, shape) if kind == np.int32 else rng.standard_normal(shape)
                np.save(self.folder / f"{name}_{kind.__name__}.npy", array.astype(kind))

    def inputs(self, kind):
        return [word for name in "abw" for word in ("-i", f"{name}=@{name}_{kind}.npy")], [
            np.load(self.folder / f"{name}_{kind}.npy") for name in "abw"]

    def lines(self, *options):
        """Of the plan about c, after the one for its blocks."""
        return self.expect(0, ".*", "sharding", "p.tap", "--plan", *options).stdout.decode().splitlines()[2:-1]

    def result(self, *arguments):
        self.expect(0, ".*", "run", "p.tap", *arguments, "-o", "d=@d.npy")
        return np.load(self.folder / "d.npy")

    def test_integers(self):
        words, (a, b, w) = self.inputs("int32")
        for equation, c in (("sum[k] a[i, k] * b[k, j]", a @ b), ("max[k] a[i, k] * b[k, j]", (a[:, :, None] * b).max(1))):
            for devices in (2, 3, 4, 5, 6, 8, 12):
                self.write("p.tap", program(devices, "i32", equation))
                for threads in ("1", "2", "3"):
                    with self.subTest(equation=equation, devices=devices, threads=threads):
                        self.assertTrue((self.result(*words, "--threads", threads) == c @ w).all())

    def stages(self, text, *options):
        """The collectives that the sharded graph and the block graph name, in order."""
        self.write("p.tap", text)
        sharded, block = (self.expect(0, ".*", "opt", "p.tap", f"--stage={stage}", *options).stdout.decode() for stage in ("sharded", "block"))
        names = re.findall(r"// \S+\.moved = (\w+)\(", sharded)
        self.assertEqual(re.findall(r"^  move .*// (\w+) ", block, re.M), names)
        return names

    def test_names(self):
        """A round within groups is no gathering of a tensor; an all-reduce by slices is a reduce-scatter and an all-gather."""
        for devices, rounds in ((2, 1), (3, 1), (4, 2), (6, 2), (8, 3), (12, 3)):
            self.assertEqual(self.stages(program(devices, "i32")), ["all_reduce_round"] * rounds, devices)
        self.assertEqual(self.stages(program(3, "f32")), ["all_reduce_round"])
        for devices, element, n in ((8, "f32", 8), (5, "i32", 8), (4, "i32", 512)):
            self.assertEqual(self.stages(program(devices, element, n=n)), ["reduce_scatter", "all_gather"], (devices, element, n))
        # Two axes: those along the last one are combined first, in slices as well. A whole operand is gathered, also where each device sums over
        # all of it.
        both = program(4, "f32").replace("[x: 4]", "[y: 2, x: 2]").replace("{x}", "{y, x}")
        self.assertEqual(self.stages(both), ["reduce_scatter", "reduce_scatter", "all_gather"])
        gathered = ("mesh m = [x: 2]\nprogram p(a: f32[8, 6] @ m[{x}, {}], b: f32[6, 4] @ m[{x}, {}]) -> (c: f32[8, 4] @ m[{x}, {}]) {\n"
                    "    d[k, j] = b[k, j] + 1\n    c[i, j] = sum[k] a[i, k] * d[k, j]\n}\n")
        self.assertEqual(self.stages(gathered), ["all_gather"])

    def test_lines_of_plans(self):
        """Pairs first; the last round is the combination itself. Floats keep the order of their blocks, if nothing else is asked for."""
        slices = ["split c dim i into 8 over axis m.x"]
        pairs = ["split c dim k_block into 4 over axis m.x:(1)4", "split c dim k_block_block into 2 over axis m.x:(1)2"]
        for element, options, expected in (("i32", [], pairs), ("f32", [], slices), ("f32", ["--fast-reduce"], pairs)):
            self.write("p.tap", program(8, element))
            self.assertEqual(self.lines(*options), expected)
        self.write("p.tap", program(4, "f32", "max[k] a[i, k] * b[k, j]"))
        self.assertEqual(self.lines(), ["split c dim k_block into 2 over axis m.x:(1)2"])
        self.write("p.tap", program(2, "f32"))
        self.assertEqual(self.lines(), [])
        self.write("p.tap", program(4, "i32", n=512))  # 14 KiB
        self.assertEqual(self.lines(), ["split c dim i into 4 over axis m.x"])
        self.write("p.tap", program(5, "i32"))
        self.assertEqual(self.lines(), ["split c dim i into 5 over axis m.x"])

    def test_results_of_the_program_are_not_gathered(self):
        self.write("p.tap", "mesh m = [x: 4]\nprogram p(a: i32[8, 24] @ m[{}, {x}]) -> (c: i32[8]) { c[i] = sum[k] a[i, k] }\n")
        self.assertIn("split c dim i into 4 over axis m.x", self.expect(0, ".*", "sharding", "p.tap", "--plan").stdout.decode())

    def test_floats(self):
        """The plan determines the bits: of threads, of processes, and without the option where its lines are in a file."""
        words, (a, b, w) = self.inputs("float32")
        for devices in (2, 4, 8):
            self.write("p.tap", program(devices, "f32"))
            first = self.result(*words, "--fast-reduce")
            self.write("p.plan", self.expect(0, ".*", "sharding", "p.tap", "--plan", "--fast-reduce").stdout.decode())
            exact = a.astype(float) @ b @ w
            self.assertLess(abs(first - exact).max(), 1e-4 * abs(exact).max())
            for threads in ("1", "2", "3"):
                self.assertEqual(self.result(*words, "--fast-reduce", "--threads", threads).tobytes(), first.tobytes())
            self.assertEqual(self.result(*words, "--plan", "p.plan").tobytes(), first.tobytes())
            for ranks in (1, 2, 3, 4):
                with self.subTest(devices=devices, ranks=ranks):
                    made = self.job(ranks, "run", "p.tap", *words, "--fast-reduce", "-o", "d=@d.npy", "--mpi")
                    self.assertEqual(made.returncode, 0, made.stderr)
                    self.assertEqual(np.load(self.folder / "d.npy").tobytes(), first.tobytes())

    def test_complete_plans(self):
        """A plan that was written with the option gives the same bits without it, also one that a search found."""
        words, _ = self.inputs("float32")
        self.write("p.tap", program(8, "f32"))
        fast = self.result(*words, "--fast-reduce", "--plan-out", "fast.plan")
        usual = self.result(*words, "--plan-out", "usual.plan")
        self.assertNotEqual(fast.tobytes(), usual.tobytes())
        self.assertIn("\nfast_reduce\n", (self.folder / "fast.plan").read_text())
        self.assertNotIn("fast_reduce", (self.folder / "usual.plan").read_text())
        for plan, expected in (("fast.plan", fast), ("usual.plan", usual)):
            self.assertEqual(self.result(*words, "--plan", plan, "--plan-out", "again.plan").tobytes(), expected.tobytes())
            self.assertEqual((self.folder / "again.plan").read_text(), (self.folder / plan).read_text())
            made = self.job(3, "run", "p.tap", *words, "--plan", plan, "-o", "d=@d.npy", "--mpi")
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(np.load(self.folder / "d.npy").tobytes(), expected.tobytes())
        self.expect(1, "the plan has the line `fast_reduce`.*--strict-fp", "run", "p.tap", *words, "--plan", "fast.plan", "--strict-fp")
        self.write("twice.plan", "plan 2\nfast_reduce\nfast_reduce\n")
        self.expect(1, "`fast_reduce` occurs twice", "run", "p.tap", *words, "--plan", "twice.plan")
        self.write("q.tap", re.sub(r"mesh.*\n| @ m\[[^]]*\]", "", program(8, "f32")))
        self.expect(0, ".*", "plan", "q.tap", "--mesh", "x=8", "--fast-reduce", "-o", "q.plan")
        self.assertIn("\nfast_reduce\n", (self.folder / "q.plan").read_text())

    def test_messages(self):
        """One message a round to each process, and the bytes that the report says."""
        for devices, rounds in ROUNDS.items():
            for element, kind, options in (("i32", "int32", []), ("f32", "float32", ["--fast-reduce"])):
                with self.subTest(devices=devices, element=element):
                    self.write("p.tap", program(devices, element))
                    words, _ = self.inputs(kind)
                    moves = json.loads(self.expect(0, ".*", "sharding", "p.tap", "--json", *options).stdout)["moves"]
                    self.assertEqual([(move["step"].split()[0], move["bytes"]) for move in moves], [("all_reduce", rounds * 224)])
                    made = self.job(devices, "run", "p.tap", *words, *options, "-o", "d=@d.npy", "--metrics", "m.json", "--mpi")
                    self.assertEqual(made.returncode, 0, made.stderr)
                    messages, received = Counter(), Counter()
                    for transfer in json.loads((self.folder / "m.json").read_text())["transfers"]:
                        if transfer["what"] == "message":
                            messages[transfer["process"]] += 1
                            received[transfer["process"]] += transfer["bytes"]
                    self.assertEqual(messages, {process: rounds for process in range(devices)})
                    self.assertEqual(received, {process: rounds * 224 for process in range(devices)})

    def test_strict_order_excludes_it(self):
        self.write("p.tap", program(4, "f32"))
        self.expect(2, r"T1001\]: --strict-fp cannot be combined with --fast-reduce|--fast-reduce cannot be combined with --strict-fp", "run",
                    "p.tap", "--fast-reduce", "--strict-fp")

    def test_the_checker_refuses(self):
        """A group that combines the blocks of another one, or too few."""
        self.write("p.tap", program(4, "i32"))
        self.write("p.plan", "plan 2\nevaluations 0\n")
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan", "--certificate", "p.cert", "--stages", "p")
        stages = [path.read_text() for path in sorted(self.folder.glob("p.*.ir"))]
        certificate = (self.folder / "p.cert").read_text()
        pairs = r"(kernel \d+ of \d+ on \[0\.\.8, 0\.\.7, )0\.\.2(, 0\.\.1\].*) times 2 by \(0, 0, 2, 1, "
        self.assertRegex(stages[-1], pairs)
        for text in (r"\g<1>0..1\2 times 2 by (0, 0, 2, 1, ", r"\g<1>0..2\2 times 2 by (0, 0, 1, 1, ", r"\g<1>0..2\2 times 2 by (0, 0, 0, 1, "):
            with self.subTest(text=text):
                changed = [re.sub(pairs, text, stage) for stage in stages]
                self.write("q.cert", sealed(certificate, stages, changed))
                names = [self.write(f"q.{k:02}.ir", stage) for k, stage in enumerate(changed)]
                result = subprocess.run([CHECKER, names[0], "q.cert", *names[1:]], cwd=self.folder, capture_output=True, text=True, timeout=20)
                self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
                self.assertRegex(result.stdout, "refused schedule")


if __name__ == "__main__":
    unittest.main()
