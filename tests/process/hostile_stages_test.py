#!/usr/bin/python3
"""Texts of stages, certificates and plans that nobody made: numbers at their extremes, ids exchanged, lines left out. tapc and
tapc-check end with a message and an exit code of theirs, in time and in little memory; what runs gives the same in both engines; and
what the verifier refuses of a stage, tapc-check refuses in a chain of hashes that fits.

    hostile_stages_test.py TAPC                          a short run
    hostile_stages_test.py TAPC --texts 4000 --seed 7    a campaign: prints each fault and how many texts there were
"""
import argparse
import random
import re
import time

from stage_chain import hash_of
from tapc import *

CHECKER = TAPC.parent / "tapc-check"
SECONDS = 60 if SANITIZED else 10
CODES = {0, 1, 2, 3, 4, 5, 6}

PROGRAMS = {
    "map": ("program p(x: i64[8]) -> (y: i64[8]) { y[i] = x[i] + 1 }\n", ""),
    "bounded": ("program p(x: i32[7]) -> (y: i32[7], z: i32[7]) {\n  t[i] = x[i - 1 else 3] * 2 for i in 0..7\n"
                "  y[i] = if i > 0 then t[i - 1] else 0\n  z[6 - i] = t[i] for i in 0..7\n}\n", ""),
    "writers": ("program p(a: i64[4], b: i64[4]) -> (y: i64[8]) { y[2*i] = a[i]; y[2*i + 1] = b[i] }\n", ""),
    "product": ("program p(X: i64[6, 5], const W: i64[5, 7]) -> (Y: i64[6, 7]) {\n  H[i, o] = sum[k] X[i, k] * W[k, o]\n"
                "  Y[i, o] = max(H[i, o], 0)\n}\n",
                "plan 2\nsplit H dim k into [0, 2, 5] over threads\nsplit Y dim i into 3 over threads\n"),
    "group": ("program p(X: i64[9, 4]) -> (s: i64[9], y: i64[9]) {\n  m[i] = max[j] X[i, j]\n  s[i] = sum[j] X[i, j] * m[i]\n"
              "  y[i] = s[i] - m[i]\n}\n", "plan 2\nfuse m, s, y over i\nsplit y dim i into 3 over threads\n"),
    "streamed": ("program p(x: i64[12, 3], w: i64[12]) -> (y: i64[]) {\n  v[k] = max[j] x[k, j]\n  y[] = sum[k] v[k] * w[k]\n}\n",
                 "plan 2\nfuse v, y over k\nsplit y dim k into 3 over sequential\n"),
    "scan": ("program p(x: i64[20]) -> (y: i64[20]) { y[i] = sum[k in 0..i + 1] x[k] }\n",
             "plan 2\nsplit y dim i into 4 over threads\n"),
    "repeated": ("mesh m = [d: 2]\nprogram p(X: i64[8]) -> (Y: i64[8]) {\n  Y = iterate t in 0..3 (a = X) {\n"
                 "    b[i] = a[i - 1 else 0] + a[i] + t\n    b\n  }\n}\n", "plan 2\nsplit Y/b dim i into 2 over axis m.d\n"),
    "devices": ("mesh m = [d: 4]\nprogram p(X: i64[10, 3]) -> (S: i64[3], Z: i64[10, 3]) {\n  Y[i, j] = sum[k in 0..3] X[i, j] * X[k, j]\n"
                "  Z[i, j] = Y[9 - i, j] + Y[i, j]\n  S[j] = sum[k] Z[k, j]\n}\n",
                "plan 2\nsplit Y dim i into 4 over axis m.d\nsplit Z dim i into 4 over axis m.d\nsplit S dim k into 4 over axis m.d\n"),
    "table": ("program p(t: i64[5, 2], ids: i64[4]) -> (y: i64[4, 2], c: i64[5]) {\n  y[n, d] = t[ids[n] % 5, d]\n"
              "  c[v] = sum[n] (if ids[n] % 5 == v then 1 else 0)\n}\n", ""),
    "monoid": ("monoid aff(a: i64, b: i64) {\n  identity (1, 0)\n  combine (p, q) = (p.a * q.a, p.b * q.a + q.b)\n}\n"
               "program p(x: i64[6], z: i64[6]) -> (y: i64[], w: i64[]) { (y[], w[]) = aff[k] (x[k], z[k]) }\n",
               "plan 2\nsplit y dim k into 3 over threads\n"),
    "narrowed": ("program p(X: i32[3, 5], W: i32[5, 9]) -> (Y: i8[3, 9], s: i32[3]) {\n  Y[i, j] = i8(sum[k] X[i, k] * W[k, j])\n"
                 "  s[i] = sum[j] i32(Y[i, j])\n}\n", "plan 2\nfuse Y, s over i\n"),
    "choice": ("program p(A: i64[4, 6], B: i64[6, 3], C: i64[3, 5]) -> (Y: i64[4, 5]) {\n"
               "  Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l]\n}\n", ""),
    "halves": ("program p(x: f16[6, 5]) -> (m: f16[6], y: bf16[6, 5]) {\n  m[i] = max[j] x[i, j]\n"
               "  y[i, j] = bf16(if x[i, j] < m[i] then -x[i, j] else m[i])\n}\n",
               "plan 2\nfuse m, y over i\nsplit y dim i into 2 over threads\n"),
    "triangle": ("program p(C: f64[5, 5]) -> (Y: f64[5, 5], r: f64[5]) {\n  Y[i, j] = C[i, j] for j in 0..i + 1\n"
                 "  Y[i, j] = -C[i, j] for j in i + 1..5\n  r[i] = min[j] Y[i, j]\n}\n",
                 "plan 2\nsplit Y@0 dim i into 2 over threads\nsplit r dim j into 2 over threads\n"),
    "listed": ("program p(a: i64[6, 6]) -> (c: i64[6, 6], d: i64[6, 6]) {\n  c[i, j] = a[i, j] + 1\n  d[i, j] = c[j, i] * 2\n}\n",
               "plan 2\nsplit c dim i into 2 over devices {0, 1}, {2}\nplace d at 1 over devices {0}, {3}\n"),
    "parts": ("mesh m = [d: 3]\nprogram p(X: i64[6, 5], W: i64[5, 4]) -> (Y: i64[6, 4], Z: i64[6, 4]) {\n"
              "  Y[i, j] = sum[k] X[i, k] * W[k, j]\n  Z[i, j] = Y[5 - i, j] + W[0, j]\n}\n",
              "plan 2\nsplit Y dim i into 3 over m.d\nsplit W on axis 0 into 3 over m.d\nplace Z at 1 over m.d\n"),
    "slices": ("mesh m = [d: 3]\nprogram p(X: i64[4, 7] @ m[{}, {d}], W: i64[7, 2] @ m[{d}, {}]) -> (Y: i64[4, 2], Z: i64[4, 2]) {\n"
               "  Y[i, j] = sum[k] X[i, k] * W[k, j]\n  Z[i, j] = Y[3 - i, j] * 2\n}\n", ""),
    "outside": ("extern op rows(x: i32[n, m]) -> (y: i32[n, m]) {\n  index [i: n]\n  read x at [i - 1, 0] shape [3, m] else 0\n"
                "  write y at [i, 0] shape [1, m]\n  kernel \"rows\"\n}\n"
                "program p(x: i32[6, 3]) -> (y: i32[6, 3]) {\n  z = rows(x)\n  y = rows(z)\n}\n",
                "plan 2\nsplit y dim i into 2 over threads\n"),
}
EXTREMES = [0, 1, -1, 2, 3, 5, 7, 8, 64, 1000, 2**31 - 1, 2**31, 2**32, 10**9, 10**18, 2**62, 2**63 - 1, -2**63, -2**62, 2**64]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w])")
WORD = re.compile(r"[A-Za-z_]\w*")


def edited(text, generator):
    """One edit: of a number, of two of them, of a word, or of lines. The first line, which says what it is, stays."""
    head, _, body = text.partition("\n")
    numbers, words, lines = list(NUMBER.finditer(body)), list(WORD.finditer(body)), body.split("\n")
    kind = generator.choice(["number"] * 6 + ["near"] * 4 + ["swap"] * 4 + ["word"] * 3 + ["drop", "twice", "exchange"])
    if kind in ("number", "near") and numbers:
        at = generator.choice(numbers)
        new = generator.choice(EXTREMES) if kind == "number" else int(at[0]) + generator.choice([-2, -1, 1, 2])
        body = body[:at.start()] + str(new) + body[at.end():]
    elif kind == "swap" and len(numbers) > 1:
        a, b = sorted(generator.sample(range(len(numbers)), 2))
        a, b = numbers[a], numbers[b]
        body = body[:a.start()] + b[0] + body[a.end():b.start()] + a[0] + body[b.end():]
    elif kind == "word" and words:
        at, by = generator.choice(words), generator.choice(words)
        body = body[:at.start()] + by[0] + body[at.end():]
    elif lines:
        a, b = generator.randrange(len(lines)), generator.randrange(len(lines))
        if kind == "drop":
            del lines[a]
        elif kind == "twice":
            lines.insert(b, lines[a])
        else:
            lines[a], lines[b] = lines[b], lines[a]
        body = "\n".join(lines)
    return head + "\n" + body


def mutated(text, generator):
    for _ in range(generator.choice([1, 1, 1, 2, 2, 3, 4])):
        text = edited(text, generator)
    return text


def only_unused(refusal, text):
    """tapc refuses an operator that no operation applies; tapc-check looks at what is applied."""
    named = re.search(r"operator (\d+) \(", refusal)
    return named is not None and not re.search(rf"(?m)^  do {named[1]} \(", text)


class Hostile:
    """Runs of one campaign; `fault(what, text)` is told of each."""

    def __init__(self, folder, seed, fault):
        self.folder, self.fault, self.generator = folder, fault, random.Random(seed)
        self.stages, self.certificates = {}, {}
        self.counts = {"texts": 0, "ran": 0, "malformed": 0, "refused by tapc-check": 0, "proved": 0}
        for name, (source, plan) in PROGRAMS.items():
            (folder / f"{name}.tap").write_text(source)
            (folder / f"{name}.plan").write_text(plan or "plan 2\n")
            made = self.run([TAPC, "verify", f"{name}.tap", "--plan", f"{name}.plan", "--certificate", f"{name}.cert", "--stages",
                             name], name)
            if made is None or made.returncode != 0:
                raise RuntimeError(f"{name}: {made and made.stdout + made.stderr}")
            self.stages[name] = [path.read_text() for path in sorted(folder.glob(f"{name}.[0-9]*.ir"))]
            self.certificates[name] = (folder / f"{name}.cert").read_text()

    def run(self, command, text):
        shown = " ".join(str(part) for part in command)
        try:
            made = forks.run(command, cwd=self.folder, text=True, errors="replace", timeout=SECONDS, memory=GIB,
                             env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        except subprocess.TimeoutExpired:
            self.fault(f"`{shown}` runs for more than {SECONDS} s", text)
            return None
        if made.returncode not in CODES or "internal error" in made.stderr or "terminate called" in made.stderr:
            self.fault(f"`{shown}` ends with {made.returncode}: {made.stderr[-600:]}", text)
        return made

    @staticmethod
    def inputs(name):
        parameters = re.search(r"program p\(([^)]*)\)", PROGRAMS[name][0])[1]
        return [part for k, input in enumerate(re.findall(r"(\w+): ", parameters)) for part in ("-i", f"{input}=rand:{k + 1}")]

    def program(self, name):
        """A graph, run by both engines if it is taken."""
        graphs = [k for k, text in enumerate(self.stages[name]) if text.startswith("tap-ir")]
        number = self.generator.choice(graphs)
        text = mutated(self.stages[name][number], self.generator)
        (self.folder / "h.ir").write_text(text)
        verified = self.run([TAPC, "verify", "h.ir"], text)
        malformed = verified is not None and verified.returncode == 1 and "T0114" in verified.stderr
        self.counts["malformed"] += malformed
        chain = self.chain(name, number, text)
        if malformed and chain is not None and chain.returncode == 0 and not only_unused(verified.stderr, text):
            self.fault(f"tapc refuses and tapc-check takes it: {verified.stderr[-300:]}", text)
        inputs = self.inputs(name)
        made = [self.run([TAPC, "run", "h.ir", *inputs, "--engine", engine], text) for engine in ("interp", "native")]
        if None not in made and made[0].returncode == 0:
            self.counts["ran"] += 1
            if "can be listed" in made[1].stderr:  # native code runs from a list of blocks, the interpreter does not
                return
            if made[1].returncode != 0 or made[0].stdout != made[1].stdout:
                self.fault(f"the engines differ: {made[0].stdout[:300]} and {made[1].stdout[:300]} {made[1].stderr[-300:]}", text)
        other = self.generator.choice([["inspect", "h.ir"], ["opt", "h.ir"], ["check", "h.ir"], ["sharding", "h.ir"],
                                       ["opt", "h.ir", "--stage", "block"], ["run", "h.ir", *inputs, *FUSED]])
        self.run([TAPC, *other], text)

    def chain(self, name, number, text):
        """tapc-check of the stages, one of which is that text, with hashes that fit."""
        stages = list(self.stages[name])
        certificate = self.certificates[name].replace(hash_of(stages[number]), hash_of(text))
        stages[number] = text
        if self.generator.random() < 0.1:
            certificate = mutated(certificate, self.generator)
        return self.check(stages, certificate, text)

    def check(self, stages, certificate, text):
        (self.folder / "h.cert").write_text(certificate)
        paths = []
        for k, stage in enumerate(stages):
            paths.append(f"h.{k}.ir")
            (self.folder / paths[-1]).write_text(stage)
        made = self.run([CHECKER, paths[0], "h.cert", *paths[1:]], text)
        if made is not None:
            self.counts["proved" if made.returncode == 0 else "refused by tapc-check"] += 1
        return made

    def later(self, name):
        """A block graph or a schedule."""
        numbers = [k for k, text in enumerate(self.stages[name]) if not text.startswith("tap-ir")]
        number = self.generator.choice(numbers)
        text = mutated(self.stages[name][number], self.generator)
        self.chain(name, number, text)
        (self.folder / "h.ir").write_text(text)
        self.run([TAPC, self.generator.choice(["run", "verify", "inspect", "compile"]), "h.ir"], text)

    def plan(self, name):
        text = mutated((self.folder / f"{name}.plan").read_text() + "split y dim i into 3 over threads\n", self.generator)
        (self.folder / "h.plan").write_text(text)
        self.run([TAPC, "verify", f"{name}.tap", "--plan", "h.plan"], text)
        self.run([TAPC, "run", f"{name}.tap", *self.inputs(name), "--plan", "h.plan"], text)

    def campaign(self, texts):
        for _ in range(texts):
            self.counts["texts"] += 1
            name = self.generator.choice(list(PROGRAMS))
            self.generator.choice([self.program] * 6 + [self.later] * 3 + [self.plan] * 2)(name)


class HostileStagesTest(TapcTest):
    def test_short(self):
        faults = []
        hostile = Hostile(self.folder, 20261123, lambda what, text: faults.append(f"{what}\n{text}"))
        hostile.campaign(40)
        self.assertEqual(faults, [], f"{len(faults)} faults")
        self.assertGreater(hostile.counts["refused by tapc-check"], 10)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--texts", type=int, required=True)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", help="write the text of each fault to this folder")
    options = options.parse_args()
    faults = []

    def fault(what, text):
        faults.append(what)
        print(f"fault {len(faults)}: {what}", flush=True)
        if options.keep:
            os.makedirs(options.keep, exist_ok=True)
            (Path(options.keep) / f"{options.seed}.{len(faults)}.txt").write_text(text)

    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        begin = time.time()
        hostile = Hostile(Path(folder), options.seed, fault)
        hostile.campaign(options.texts)
    print(", ".join(f"{count} {what}" for what, count in hostile.counts.items()), f"in {time.time() - begin:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    if "--texts" in sys.argv:
        from pathlib import Path
        sys.exit(main())
    unittest.main()
