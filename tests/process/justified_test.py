#!/usr/bin/python3
"""Random programs whose values have several writers in regions that are no boxes, with bounded reads, reductions of one point and
comparisons, under random splits: every step is proved, and the results are those of the source text, interpreted.

    tests/process/justified_test.py build/bin/tapc                       the few of every test run
    tests/process/justified_test.py build/bin/tapc --many 2000 --seed 7  more, each failure with its program"""
import random
import re
import sys

MANY = int(sys.argv.pop(sys.argv.index("--many") + 1)) if "--many" in sys.argv else 0
SEED = int(sys.argv.pop(sys.argv.index("--seed") + 1)) if "--seed" in sys.argv else 1
sys.argv = [a for a in sys.argv if a not in ("--many", "--seed")]

from tapc import *

INTEGERS, FLOATS = ("i8", "i32", "i64"), ("f32", "f64", "bf16")


def sign(offset):
    return f" + {offset}" if offset > 0 else f" - {-offset}" if offset < 0 else ""


class Program:
    """One program as text, its plan, and how it is run."""

    def __init__(self, rng):
        self.rng = rng
        self.type = rng.choice(INTEGERS + FLOATS)
        self.n, self.m = rng.randint(1, 6), rng.randint(1, 6)
        self.lines, self.plan, self.results = [], [], []
        self.mesh = None

    def constant(self):
        return str(self.rng.choice([-2, -1, 0, 1, 3]))

    # Regions of a value of n by m cells: of each writer the row, the column, and over what i and j run.
    def regions(self):
        n, m, rng = self.n, self.m, self.rng
        kinds = [lambda: [("i", "j", f"0..{n}", f"0..{m}")]]
        middle = rng.randint(0, n)
        kinds.append(lambda: [("i", "j", f"0..{middle}", f"0..{m}"), (f"i{sign(middle)}", "j", f"0..{n - middle}", f"0..{m}")])
        if n == m:
            kinds += [lambda: [("i", "j", f"0..{n}", "0..i + 1"), ("i", "j", f"0..{n}", f"i + 1..{n}")],
                      lambda: [("i", "i", f"0..{n}", None), ("i", "j", f"0..{n}", "0..i"), ("i", "j", f"0..{n}", f"i + 1..{n}")],
                      lambda: [("i", "j", f"0..{n}", f"0..{n} - i"), ("i", "j", f"0..{n}", f"{n} - i..{n}")],
                      lambda: [("j", "i", f"0..{n}", "0..i + 1"), ("i", "j", f"0..{n}", "0..i")]]
        if m == 2 * n:
            kinds.append(lambda: [("i", "j", f"0..{n}", "0..2 * i + 1"), ("i", "j", f"0..{n}", f"2 * i + 1..{m}")])
        for p in (2, 3):
            if n % p == 0:
                kinds.append(lambda p=p: [(f"{p} * i{sign(r)}", "j", f"0..{n // p}", f"0..{m}") for r in range(p)])
                kinds.append(lambda p=p: [(f"i{sign(r * (n // p))}", "j", f"0..{n // p}", f"0..{m}") for r in range(p)])
            if m % p == 0:
                kinds.append(lambda p=p: [("i", f"{p} * j{sign(r)}", f"0..{n}", f"0..{m // p}") for r in range(p)])
        if n % 2 == 0 and m % 2 == 0:
            kinds.append(lambda: [(f"2 * i{sign(a)}", f"2 * j{sign(b)}", f"0..{n // 2}", f"0..{m // 2}")
                                  for a in range(2) for b in range(2)])
        return rng.choice(kinds[1:] if len(kinds) > 1 and rng.random() < 0.9 else kinds)()

    def read(self, name, row, column):
        """Inside, or bounded."""
        rng = self.rng
        if rng.random() < 0.5:
            return f"{name}[{row}, {column}]"
        return f"{name}[{row}{sign(rng.randint(-2, 2))}, {column}{sign(rng.randint(-2, 2))} else {self.constant()}]"

    def comparison(self, a, b):
        op = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{a} {op} {b}"

    def map(self, source, row, column):
        rng = self.rng
        a, b = self.read(source, row, column), self.read(source, row, column)
        if rng.random() < 0.3:
            condition = self.comparison(a, b)
            if rng.random() < 0.5:
                condition += f" {rng.choice(['and', 'or'])} {self.comparison(b, self.constant())}"
            return f"(if {condition} then {self.read(source, row, column)} else {self.constant()})"
        return rng.choice([f"-{a}", f"{a} + {b}", f"{a} - {b}", f"max({a}, {self.constant()})", f"min({a}, {b})", a])

    def reduction(self, source, row, column):
        rng = self.rng
        kind = rng.choice(["sum", "max", "min", "prod"] if self.type in INTEGERS else ["sum", "max", "min"])
        extent = self.m if source != "B" else 3
        form = rng.randrange(4)
        if form == 0:
            return f"{kind}[k] B[{row}, k]"
        if form == 1:
            return f"{kind}[k in 0..1] {self.read(source, row, column)}"
        if form == 2:
            return f"{kind}[k in 0..{extent}] {self.read('A', row, 'k')}" if extent == self.m else f"{kind}[k] B[{row}, k]"
        return f"{kind}[k in 0..{rng.randint(0, 2)}] {self.read(source, row, column)}"

    def write(self, name, source):
        regions = self.regions()
        for row, column, over_i, over_j in regions:
            value = self.reduction(source, row, column) if self.rng.random() < 0.4 else self.map(source, row, column)
            ranges = f"i in {over_i}" + (f", j in {over_j}" if over_j else "")
            self.lines.append(f"    {name}[{row}, {column}] = {value} for {ranges}")
        for k in range(len(regions)):
            self.results.append((name if len(regions) == 1 else f"{name}@{k}"))

    def local(self, name, source):
        """A local of another size than what it copies or maps, read with bounds by who comes next."""
        self.write(name, source)

    def make(self):
        rng = self.rng
        names = rng.choice([["Y"], ["T", "Y"], ["Y", "Z"], ["T", "U", "Y"]])
        source = "A"
        for name in names:
            self.write(name, source)
            source = name
        if rng.random() < 0.3:
            self.lines.append(f"    V[i, j] = {self.comparison(self.read(source, 'i', 'j'), self.read(source, 'i', 'j'))}"
                              f" for i in 0..{self.n}, j in 0..{self.m}")
        shape = f"{self.type}[{self.n}, {self.m}]"
        where = {name: "" for name in ("A", "B", *names)}
        outputs = [f"{n}: {shape}" for n in names if n in ("Y", "Z")]
        text = ""
        if rng.random() < 0.5:
            self.mesh = f"mesh g = [a: {rng.choice([2, 3])}, b: 2]\n"
            for name in where:
                if rng.random() < 0.6:
                    axes = rng.choice([("a", ""), ("", "a"), ("a", "b"), ("b", "a"), ("a, b", "")])
                    where[name] = f" @ g[{{{axes[0]}}}, {{{axes[1]}}}]"
            text += self.mesh
        else:
            self.split()
        if any(line.startswith("    V[") for line in self.lines):
            outputs.append(f"V: bool[{self.n}, {self.m}]")
        outputs = [o.replace(": ", ": ", 1) + where.get(o.split(":")[0], "") for o in outputs]
        text += (f"program p(A: {shape}{where['A']}, B: {self.type}[{self.n}, 3]{where['B']})\n"
                 f"    -> ({', '.join(outputs)}) {{\n" + "\n".join(self.lines) + "\n}\n")
        return text

    def split(self):
        rng = self.rng
        for _ in range(rng.randint(1, 2)):
            over = rng.choice(["threads", "sequential", "devices", "devices"])
            dim, blocks = rng.choice(["i", "j", "i", "k"]), rng.choice([2, 3])
            chosen = self.results if over == "devices" else [rng.choice(self.results)]
            prefixes = {name.split("@")[0] for name in chosen}
            only = rng.choice(sorted(prefixes))
            for name in chosen:
                if name.split("@")[0] != only:
                    continue
                to = over if over != "devices" else "devices " + ", ".join(f"{{{d}}}" for d in range(blocks))
                self.plan.append(f"split {name} dim {dim} into {blocks} over {to}")


DEVICES = "over devices {0}, {1}\n"
TRIANGLES = """program p(C: T[4, 4]) -> (Y: T[4, 4]) {
    Y[i, j] = C[i, j] for i in 0..4, j in 0..i + 1
    Y[i, j] = -C[i, j] for i in 0..4, j in i + 1..4
}
"""
INTERLEAVED = """program p(A: T[3, 4]) -> (Y: T[6]) {
    Y[2 * i] = A[i, 0]
    Y[2 * i + 1] = sum[k] A[i, k]
}
"""
SYRK = """program p(A: T[5, 3], C: T[5, 5]) -> (Y: T[5, 5]) {
    Y[i, j] = C[i, j] + (sum[k] A[i, k] * A[j, k]) for i in 0..5, j in 0..i + 1
    Y[i, j] = C[i, j] for i in 0..5, j in i + 1..5
}
"""
NUSSINOV = """program p(S: T[6, 6]) -> (F: T[6, 6]) {
    F = iterate t in 0..5 (u = S) {
        v[i, j] = max(max(u[i + 1, j else 0], u[i, j - 1 else 0]), u[i + 1, j - 1 else 0] + S[i, j]) for i in 0..6, j in i..6
        v[i, j] = u[i, j] for i in 0..6, j in 0..i
        v
    }
}
"""
# Each was refused once. Of the name: the program, and its plan.
LISTED = {
    "two triangles on devices": (TRIANGLES, "split Y@0 dim i into 2 " + DEVICES + "split Y@1 dim i into 2 " + DEVICES),
    "writers that take turns, one of them a reduction": (INTERLEAVED, "split Y@1 dim k into 2 over sequential\n"),
    "… over threads": (INTERLEAVED, "split Y@1 dim k into 2 over threads\n"),
    "… over devices": (INTERLEAVED, "split Y@1 dim k into 2 " + DEVICES),
    "syrk": (SYRK, ""),
    "syrk, rows on devices": (SYRK, "split Y@0 dim i into 2 " + DEVICES + "split Y@1 dim i into 2 " + DEVICES),
    "syrk, partials over threads": (SYRK, "split Y.sum dim k into 2 over threads\nsplit Y@0 dim i into 2 over threads\n"),
    "syrk, partials on devices": (SYRK, "split Y.sum dim k into 2 " + DEVICES),
    "nussinov": (NUSSINOV, ""),
    "nussinov, rows on devices": (NUSSINOV, "split F/v@0 dim i into 2 " + DEVICES + "split F/v@1 dim i into 2 " + DEVICES),
    "a map and a reduction write what is sharded": ("mesh m = [a: 2]\n" + INTERLEAVED.replace("T[3, 4]", "T[3, 4] @ m[{}, {a}]"), ""),
    "one point, read with bounds": ("""program p(v: T[4]) -> (y: T[4]) {
    t[i] = v[i] for i in 0..2
    y[i] = sum[k in 0..1] t[i - 1 else -1] for i in 0..4
}
""", ""),
    "relu before a depthwise convolution": ("""use std
program p(x: f32[1, 2, 3, 3], w: f32[2, 1, 1]) -> (y: f32[1, 2, 5, 5]) {
    y = depthwise_conv2d<pad = 1>(relu(x), w)
}
""", ""),
    "relu before a pool": ("""use std
program p(x: f32[1, 2, 5]) -> (y: f32[1, 2, 7]) { y = max_pool1d<window = 1, stride = 1, pad = 1>(relu(x)) }
""", ""),
    **{f"reads with bounds, compared by {op}": (
        f"program p(a: T[5]) -> (v: bool[5]) {{\n    c[x] = a[x] * 2\n    v[x] = c[x - 1 else 7] {op} c[x + 1 else 4]\n}}\n", "")
       for op in ("<", "<=", ">", ">=", "==", "!=")},
    "a fill that is computed": ("""program p(c: T[5], d: T[5]) -> (v: T[5]) {
    t[i] = c[i] + 1
    u[i] = d[i] * 2
    v[x] = t[x - 1 else u[4 - x]] + u[x + 1 else t[x]]
}
""", ""),
    "no step on a mesh": ("""mesh m = [a: 2]
program p(x: T[6] @ m[{a}]) -> (y: T[6] @ m[{a}]) {
    y = iterate t in 0..0 (u = x) {
        v[i] = u[i - 1 else 0] + u[i + 1 else 0] + T(t) for i in 0..6
        w[i] = v[i - 1 else 1] + u[i] + v[5 - i]
        w
    }
}
""", ""),
}


class SeveralWriters(TapcTest):
    def fails(self, text, plan, exact=False):
        """What is wrong, or nothing; floats are compared only if results are `exact` in any order. None where the program or the plan is refused as it may be."""
        self.write("p.tap", text)
        self.write("p.plan", "plan 2\n" + "".join(line + "\n" for line in plan))
        checked = self.tapc("check", "p.tap", timeout=60)
        if checked.returncode != 0:
            return None
        options = ["--plan", "p.plan"] if plan else []
        verified = self.tapc("verify", "p.tap", *options, timeout=60)
        if plan and verified.returncode == 1 and "T1402" in verified.output:
            return None
        if verified.returncode != 0 or b"refused" in verified.stdout:
            return f"verify: {verified.returncode}\n{verified.stdout.decode()}{verified.output}"
        inputs = ["--no-summary"]
        for name in re.findall(r"(\w+): ?\w+\[", text.split("->")[0]):
            inputs += ["-i", name + ("=rand:3" if name == "B" else "=iota")]
        expected = self.tapc("run", "p.tap", *inputs, "--engine", "interp", "--passes", "none", timeout=60)
        for extra in ([], ["--engine", "interp"]):
            made = self.tapc("run", "p.tap", *options, *inputs, *extra, timeout=60)
            if made.returncode != 0 or "T1403" in made.output:
                return f"run: {made.returncode}\n{made.output}"
            if made.stdout != expected.stdout and (exact or ("bf16" not in text and "f32" not in text)):
                return f"run {extra}: another result\n{made.stdout.decode()}{expected.stdout.decode()}"
        return ""

    def test_listed_programs(self):
        for name, (text, plan) in LISTED.items():
            for type in ("f64", "f32", "bf16", "i32", "i8") if "T[" in text else ("f32",):
                with self.subTest(name, type=type):
                    self.assertEqual(self.fails(text.replace("T[", type + "[").replace("T(", type + "("), plan.splitlines(), exact=True), "")

    def test_an_anchored_dim_of_one_value(self):
        """One of two writers runs over a single value of the dim over which the group is fused."""
        self.write("p.tap", "program p(x: i64[1, 5]) -> (y: i64[1, 5], z: i64[1, 5]) {\n    a[i, j] = x[i, j]\n    z[i, j] = a[i, j] + 1\n"
                            "    b[i, j] = -a[i, j] for i in 0..1, j in 0..i + 1\n    b[i, j] = -a[i, j] for i in 0..1, j in i + 1..5\n"
                            "    c[i, j] = b[i, j] + a[i, j]\n    y[i, j] = c[i, j]\n}\n")
        self.write("p.plan", "plan 2\nfuse a, b@0, b@1, c, y over j\n")
        self.expect(0, "^$", "run", "p.tap", "--plan", "p.plan", "--passes=inline_calls", "--require-proof", "-i", "x=iota",
                    "--expect", "y=[[0, 0, 0, 0, 0]]", "--expect", "z=[[1, 2, 3, 4, 5]]")

    def test_a_constant_is_prepared_for_one_block(self):
        self.write("p.tap", "program p(const A: f32[40, 70], B: f32[70, 33]) -> (Y: f32[40, 33]) { Y[i, o] = sum[k] A[i, k] * B[k, o] }\n")
        for lines in ("split Y dim i into [0, 40] over anywhere", "split Y dim i into [0, 40]\nsplit Y dim i into 1 over threads",
                      "split Y dim o into 2 over threads", "split Y dim i into [0, 20, 40] over threads"):
            with self.subTest(lines):
                self.write("p.plan", "plan 2\nfuse Y over i, o\n" + lines + "\n")
                self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")

    def test_random_programs(self):
        rng = random.Random(SEED)
        tried = wrong = 0
        for number in range(MANY or 60):
            program = Program(random.Random(rng.randrange(1 << 30)))
            text = program.make()
            with self.subTest(number=number):
                try:
                    why = self.fails(text, program.plan)
                except AssertionError as error:
                    why = str(error)
                tried += why is not None
                if why:
                    wrong += 1
                    self.fail(f"{why}\n{text}\n" + "\n".join(program.plan))
        self.assertGreater(tried, (MANY or 60) // 3)


if __name__ == "__main__":
    unittest.main()
