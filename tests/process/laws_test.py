#!/usr/bin/python3
"""Laws of monoids against numbers: a law that some numbers break is never proved, and what tapc says is what the table says."""
import itertools

import numpy as np

from laws_table import FOLDS, INF, ROWS, Stops
from tapc import *

LARGE = [0.0, 1.0, -1.0, 3.0, 1e200, -1e200, 2e200, 1e150, -1e120, 1e300]
FLOATS = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -5.0, 5.0, 0.1, 30.0, -30.0, 800.0, -800.0, 1e5]
WORDS = {"p": "proved", "a": "assumed", "n": "no"}


def values(kind, identity):
    """Numbers of a type, extreme ones among them, and the infinity that the identity has."""
    if kind == "bool":
        return [False, True]
    if kind[0] in "bf":
        return FLOATS + ([identity] if identity in (INF, -INF) else [])
    bits, signed = int(kind[1:]), kind[0] == "i"
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return [v for v in (0, 1, -1, 2, 3, 7, -8, least, most, least + 1, most - 1, 64) if least <= v <= most]


def identity_of(text):
    known = {"inf": INF, "false": False, "i64": None, "i32": None,
             "i64.max": 2**63 - 1, "i64.min": -2**63, "i32.max": 2**31 - 1, "i32.min": -2**31}
    return tuple(known[w] if w in known else -INF if w == "-inf" else int(w) for w in text.strip("()").split(", "))


def same(left, right, identity, size):
    """Both the same number, or neither a number: an infinity is one only where the identity has it."""
    for x, y, e in zip(left, right, identity):
        numbers = [bool(np.isfinite(float(v))) or v == e for v in (x, y)]
        if numbers[0] != numbers[1]:
            return False
        if all(numbers) and x != y:
            floats = isinstance(x, float) or isinstance(y, float)
            if not floats or not abs(x - y) <= 1e-6 * size:
                return False
    return True


def sides(law, combine, e, s):
    if law == "identity":
        return [(lambda: combine(e, s[0]), lambda: s[0]), (lambda: combine(s[0], e), lambda: s[0])]
    if law == "commutative":
        return [(lambda: combine(s[0], s[1]), lambda: combine(s[1], s[0]))]
    return [(lambda: combine(combine(s[0], s[1]), s[2]), lambda: combine(s[0], combine(s[1], s[2])))]


def outcome(side):
    try:
        return side()
    except Stops:
        return None


def breaking_states(law, kinds, combine, identity, most=8000):
    """States for which a law fails, or None."""
    rng = np.random.default_rng(11)
    each = [values(kind, e) for kind, e in zip(kinds, identity)]
    states = list(itertools.product(*each)) if len(each) < 3 else [
        tuple(choices[rng.integers(len(choices))] for choices in each) for _ in range(400)]
    count = {"identity": 1, "commutative": 2, "associative": 3}[law]
    many = len(states) ** count
    tuples = itertools.product(states, repeat=count) if many <= most else (
        tuple(states[i] for i in rng.integers(len(states), size=count)) for _ in range(most))
    for s in tuples:
        finite = [abs(v) for state in s for v in state if np.isfinite(float(v))]
        size = max([1.0, *map(float, finite)]) ** 2
        for left, right in sides(law, combine, identity, s):
            x, y = outcome(left), outcome(right)
            if (x is None) != (y is None) or (x is not None and not same(x, y, identity, size)):
                return s, x, y
    return None


def breaking_large_states(law, kinds, combine, identity, most=600):
    """States for which a side of a law is no number, though whatever is combined in it is in the range of floats: that is seen
    in wider ones. What only rounding does is not asked about."""
    rng = np.random.default_rng(5)
    each = [LARGE + ([e] if e in (INF, -INF) else []) if kind == "f64" else values(kind, e)
            for kind, e in zip(kinds, identity)]
    wide = lambda state: tuple(np.longdouble(v) if isinstance(v, float) else v for v in state)
    wide_identity = wide(tuple(float(e) if kind == "f64" else e for kind, e in zip(kinds, identity)))
    combined = []

    def combine_widely(a, b):
        combined.append(combine(a, b))
        return combined[-1]

    def in_range(x, e):
        return x == e or (np.isfinite(x) and (x == 0 or 1e-290 < abs(x) < 1e306))

    for _ in range(most):
        s = [tuple(choices[rng.integers(len(choices))] for choices in each) for _ in range(3)]
        combined.clear()
        for left, right in sides(law, combine_widely, wide_identity, [wide(state) for state in s]):
            left(), right()
        if not all(in_range(x, e) for state in combined for x, e in zip(state, identity)):
            continue
        for both in sides(law, combine, identity, s):
            numbers = [[bool(np.isfinite(x)) or x == e for x, e in zip(side(), identity)] for side in both]
            if numbers[0] != numbers[1] or (law != "commutative" and not all(map(all, numbers))):
                return s
    return None


def monoid(name, components, identity, combine, fold=""):
    return f"monoid {name}({components}) {{ identity {identity} combine (a, b) = {combine} {fold} }}\n"


class Laws(TapcTest):
    def laws_of(self, name, text):
        """The reported verdict on each law; of a refuted monoid by the errors and the remark."""
        self.write("m.tap", text)
        result = self.tapc("ops", "--file", "m.tap", name)
        if result.returncode == 0:
            lines = dict(line.split(None, 1) for line in result.stdout.decode().splitlines() if line.startswith("  "))
            words = {key: lines[key].split(":")[0].strip() for key in lines if key in
                     ("neutral", "associative", "commutative", "fold")}
            return {{"neutral": "identity"}.get(key, key): word for key, word in words.items()}
        broken = {law for law, words in (("identity", f"the identity of the monoid `{name}` is wrong"),
                                      ("associative", f"the monoid `{name}` breaks the law of associativity"),
                                      ("fold", f"the `fold` of the monoid `{name}` does not agree"))
                  if words in result.output}
        self.assertTrue(broken, result.output)
        return {law: "no" for law in broken}

    def test_reported_laws(self):
        for name, components, identity, combine, _, letters in ROWS:
            with self.subTest(name=name):
                laws = self.laws_of(name, monoid(name, components, identity, combine))
                expected = dict(zip(("identity", "associative", "commutative"), map(WORDS.get, letters)))
                if "no" in (expected["identity"], expected["associative"]):
                    expected = {law: "no" for law in ("identity", "associative") if expected[law] == "no"}
                self.assertEqual(laws, expected)

    def test_no_proved_law_fails_on_numbers(self):
        with np.errstate(all="ignore"):
            for name, components, identity, _, combine, letters in ROWS:
                kinds = [part.split(": ")[1] for part in components.split(", ")]
                for law, letter in zip(("identity", "associative", "commutative"), letters):
                    with self.subTest(name=name, law=law):
                        found = breaking_states(law, kinds, combine, identity_of(identity))
                        if letter == "p":
                            self.assertIsNone(found)
                        elif letter == "n":
                            self.assertIsNotNone(found)

    def test_no_proved_law_fails_on_large_numbers(self):
        """Of what only overflows on the way, the law is not proved, and each of these is such a one."""
        shown = {"cubes_cancel", "multiples_cancel", "factors_cancel", "times_zero", "parallel"}
        with np.errstate(all="ignore"):
            for name, components, identity, _, combine, letters in ROWS:
                kinds = [part.split(": ")[1] for part in components.split(", ")]
                if "f64" not in kinds or not set(kinds) <= {"f64", "bool"}:
                    continue
                for law, letter in zip(("identity", "associative", "commutative"), letters):
                    with self.subTest(name=name, law=law):
                        found = breaking_large_states(law, kinds, combine, identity_of(identity))
                        if letter == "p":
                            self.assertIsNone(found)
                        elif name in shown and law == "associative":  # one of its sides is no number
                            self.assertIsNotNone(found)

    def test_folds(self):
        for name, components, identity, combine, fold, letter in FOLDS:
            with self.subTest(name=name):
                laws = self.laws_of(name, monoid(name, components, identity, combine, fold))
                self.assertEqual(laws["fold"], WORDS[letter])


OVERFLOWING = ("program main(x: f64[4]) -> (y: f64[]) { y[] = NAME[k] (x[k]) }\n"
               "monoid NAME(v: f64) { identity -inf combine (a, b) = log(exp(a.v) + exp(b.v)) }\n")


class Kept(TapcTest):
    """Verdicts on disk: by structure, for whoever may be believed."""

    def entries(self):
        return sorted((self.folder / ".cache/tapc/laws").glob("*.law"))

    def check_assumed(self, pattern="T0703"):
        self.expect(1, pattern, "check", "--require-proof", "a.tap")

    def setUp(self):
        super().setUp()
        self.write("a.tap", OVERFLOWING.replace("NAME", "lse"))
        self.check_assumed()

    def test_entries_depend_on_the_computation(self):
        self.assertEqual(len(self.entries()), 1)
        self.write("b.tap", OVERFLOWING.replace("NAME", "another").replace("f64)", "f64 )"))
        self.expect(0, "T0702", "check", "b.tap")
        self.assertEqual(len(self.entries()), 1)
        self.write("c.tap", OVERFLOWING.replace("NAME", "lse").replace("f64", "f32"))
        self.expect(0, "T0702", "check", "c.tap")
        self.assertEqual(len(self.entries()), 2)

    def test_a_changed_entry_is_ignored(self):
        entry, = self.entries()
        entry.write_text(entry.read_text().replace("assumed", "proved"))
        self.check_assumed("its content was changed")
        self.check_assumed()

    def test_an_entry_writable_by_others_is_ignored(self):
        entry, = self.entries()
        entry.chmod(0o666)
        self.check_assumed("others can write to it")

    def test_a_folder_writable_by_others_is_not_used(self):
        folder = self.folder / ".cache/tapc/laws"
        folder.chmod(0o777)
        self.check_assumed("others can write to it, and it contains proofs")

    def test_without_a_cache(self):
        environment = {"HOME": str(self.folder / "other")}
        inputs = ("-i", "x=[0, 0, 0, 0]")
        stage = self.tapc("opt", "a.tap", "--no-cache", environment=environment)
        self.write("a.ir", stage.stdout)
        for name in ("a.tap", "a.ir"):
            for command in (["run", *inputs], ["bench", "--seconds", "0", "--runs", "1"], ["check"], ["verify"], ["inspect"], ["opt"],
                            ["sharding"], ["compile", "--emit", "llvm", "-o", "made"]):
                with self.subTest(command=command[0], name=name):
                    made = self.tapc(command[0], name, *command[1:], "--no-cache", environment=environment)
                    self.assertNotEqual(made.returncode, 2, made.output)
                    self.assertFalse((self.folder / "other/.cache/tapc/laws").exists())
        self.expect(0, "^$", "ops", "welford", "--no-cache", environment=environment)
        self.assertFalse((self.folder / "other/.cache").exists())


class Claims(TapcTest):
    """What the text of a stage says of laws is not believed."""
    PLUS = ("monoid plus(v: f64, n: f64) { identity (0, 0) combine (a, b) = (a.v + b.v, a.n + b.n) }\n"
            "program main(x: f64[8]) -> (y: f64[], z: f64[]) { (y[], z[]) = plus[k] (x[k], x[k]) }\n")

    def stage(self, text):
        self.write("a.tap", text)
        return self.tapc("opt", "a.tap").stdout.decode()

    def test_laws_that_numbers_break_are_refused(self):
        stage = self.stage(self.PLUS)
        self.assertIn("= add f64", stage)
        self.write("a.ir", stage.replace("= add f64", "= sub f64"))
        self.expect(1, r"(?s)claims laws that the monoid `plus` does not have.*gives", "verify", "a.ir")

    def test_laws_that_are_not_proved_are_assumed(self):
        stage = self.stage(OVERFLOWING.replace("NAME", "lse"))
        self.write("a.ir", stage.replace("assumed", "proved"))
        self.assertIn("laws associative assumed identity assumed commutative proved",
                      self.tapc("opt", "a.ir").stdout.decode())

    def test_the_checker_lists_trusted_laws(self):
        self.write("a.tap", self.PLUS)
        self.tapc("verify", "a.tap", "--certificate", "a.cert", "--stages", "a")
        first, *later = sorted(path.name for path in self.folder.glob("a.*.ir"))
        checked = subprocess.run([TAPC.with_name("tapc-check"), first, "a.cert", *later], cwd=self.folder,
                                 stdout=subprocess.PIPE, check=True)
        self.assertIn(b"trusted laws: the monoid `plus`: associative, identity, commutative", checked.stdout)


if __name__ == "__main__":
    unittest.main()
