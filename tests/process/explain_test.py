#!/usr/bin/python3
"""`tapc explain` names the true cause for which an axis does not come to a value: in every program of explain_cases.py, the
axis is missing while a cause stands, only the causes that stand are named, each with its line, and the axis appears when the
last one is removed. explain_test.py TAPC"""
import itertools
import json
import re

from explain_cases import CASES
from json_schema import problems
from tapc import *

FIRST_LINE = "mesh m = [a: 2, b: 4] op inc(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = x[i..] + 1 }\n"
SCHEMA = json.loads((ROOT / "docs/schema/sharding.schema.json").read_text())
MARK = re.compile(r"«([^|»]*)\|([^|»]*)\|([^|»]*)»")


def kinds_in(text):
    return list(dict.fromkeys(mark[1] for mark in MARK.finditer(text)))


def with_causes(text, standing):
    """The program in which only these causes stand, and the options of its command line."""
    options, _, program = MARK.sub(lambda mark: mark[2] if mark[1] in standing else mark[3], text).partition("\n")
    return options.split(), FIRST_LINE + program + "\n"


def line_of(text, kind):
    """The line in which the cause is found: the one that says so, else that of the first mark."""
    lines = text.split("\n")
    said = [n for n, line in enumerate(lines) if line.endswith("// " + kind.strip("'"))]
    marked = [n for n, line in enumerate(lines) if any(mark[1] == kind for mark in MARK.finditer(line))]
    return (said or marked)[0] + 1


class Explain(TapcTest):
    def reason(self, value, axis, standing, text):
        options, program = with_causes(text, standing)
        self.write("p.tap", program)
        data = json.loads(self.expect(0, "^$", "sharding", "p.tap", "--json", *options).stdout)
        self.assertEqual(list(problems(data, SCHEMA))[:5], [])
        [found] = [v for v in data["values"] if v["name"] == value]
        return [r for r in found["axes"] if (r["mesh"], r["axis"]) == ("m", axis)], options

    def test_the_true_cause_is_named(self):
        self.assertGreaterEqual(len(CASES), 40)
        for name, (value, axis, text) in CASES.items():
            kinds = kinds_in(text)
            for count in range(len(kinds), -1, -1):
                for standing in itertools.combinations(kinds, count):
                    with self.subTest(program=name, standing=standing):
                        self.check(value, axis, text, standing)

    def check(self, value, axis, text, standing):
        [reason], options = self.reason(value, axis, standing, text)
        if not standing:
            self.assertIn(reason["state"], ("given", "inherited"), reason)
            return
        self.assertEqual(reason["state"], "blocked", reason)
        found = sorted((cause["kind"], cause["source"][0][1]) for cause in reason["causes"])
        expected = sorted((kind.strip("'"), line_of(text, kind)) for kind in standing)
        self.assertEqual(found, expected, reason)
        said = self.expect(0, "^$", "explain", f"p.tap:{value}", *options).stdout.decode()
        for cause in reason["causes"]:
            self.assertRegex(said, re.escape(cause["text"]) + rf", at p\.tap:{cause['source'][0][1]}:")

    def test_a_move(self):
        self.write("p.tap", "mesh m = [a: 2, b: 4]\n"
                            "program p(X: f32[8] @ m[{a}], Z: f32[8] @ m[{b}], W: f32[8, 8] @ m[{}, {a}]) -> (Y: f32[8] @ m[{a}], S: f32[8]) {\n"
                            "    Y[i] = X[i] + Z[i]\n"
                            "    S[i] = sum[k] W[i, k]\n}\n")
        said = self.expect(0, "^$", "explain", "p.tap:Z..Y").stdout.decode()
        self.assertRegex(said, r"the operation that writes `Y`, at p\.tap:3:5 needs it as m\[\{a\}\]\n"
                               r"  `Z` is sharded as m\[\{b\}\].*\n"
                               r"    `i` of the operation is divided by \{a\}; so are `X` \(32 bytes\), `Y` \(32 bytes\); not `Z` \(32 bytes\)\n"
                               r"  moved, 16 bytes per device:\n(    .*\n)*    .*, implicit\n")
        said = self.expect(0, "^$", "explain", "p.tap:S..S").stdout.decode()
        self.assertRegex(said, r"computes it as m\[\{\}; unreduced \{a\} by sum\]")
        self.assertRegex(said, r"`k` of the operation is divided by \{a\}, so the results are partials; so is `W` \(256 bytes\)")
        self.assertRegex(said, r"all_reduce \{a\}")
        self.assertRegex(self.expect(0, "^$", "explain", "p.tap:X..Y").stdout.decode(), "nothing is moved")
        self.expect(2, "the operation that writes `Y` does not read `W`", "explain", "p.tap:W..Y")
        self.expect(2, "p.tap has no value `V`", "explain", "p.tap:V..Y")
        listed = self.expect(0, "^$", "sharding", "p.tap", "--moves").stdout.decode()
        self.assertRegex(listed, r"(?m)^Z for Y .* implicit  p\.tap:3$")
        self.assertRegex(listed, r"(?m)^S .* p\.tap:4$")
        self.expect(1, r"^p\.tap:2:31: error\[T0909\]: computing `Y` requires an implicit reshard of `Z`(.*\n)*"
                       r".*3 \|     Y\[i\] = X\[i\] \+ Z\[i\]\n.*- `Y` is computed here(.*\n)*.*`tapc explain FILE:Z\.\.Y`",
                    "sharding", "p.tap", "--no-implicit-reshard")

    def test_a_plan_that_divides_over_a_mesh(self):
        """What its lines divide is not explained as if nothing were divided."""
        self.write("p.tap", "program p(X: f32[8, 8]) -> (Y: f32[8, 8]) {\n    H[i, j] = exp(X[i, j])\n    Y[i, j] = H[j, i]\n}\n")
        self.write("p.plan", "plan 2\nmesh grid = [x: 2]\nsplit H dim i into 2 over grid.x\nsplit Y dim i into 2 over grid.x\n")
        told = self.expect(0, "^$", "explain", "p.tap:H", "--plan", "p.plan").stdout.decode()
        self.assertRegex(told, r"H: f32\[8, 8\]\n  by the plan: split H dim i into 2 over (axis )?grid.x\n")
        self.assertNotIn("every device holds", told)

    def test_what_a_plan_moves(self):
        self.write("p.tap", "mesh pod = [data: 2, model: 4]\n"
                            "program p(X: f32[8, 16], W: f32[16, 32], V: f32[32, 16]) -> (Y: f32[8, 16], Z: f32[8, 16]) {\n"
                            "    H[i, o] = sum[k] X[i, k] * W[k, o]\n    Y[i, o] = sum[k] H[i, k] * V[k, o]\n"
                            "    Z[i, o] = max[k] H[i, k] * V[k, o]\n}\n")
        self.write("p.plan", "plan 2\nsplit H dim o into 4 over pod.model\nsplit Y dim i into 2 over pod.data\n"
                             "split Z dim i into 2 over pod.data\n")
        told = self.expect(0, "^$", "explain", "p.tap:H..Y", "--plan", "p.plan").stdout.decode()
        self.assertRegex(told, r"at p\.tap:4:5 needs it as pod\[\{data\}, \{\}\]\n  `H` is sharded as pod\[\{\}, \{model\}\], at p\.tap:3:5\n")
        self.assertRegex(told, r"moved, 384 bytes per device:\n(    .*\n)*    all_gather .*384 bytes, implicit\n")
        told = self.expect(0, "^$", "explain", "p.tap:H..Z", "--plan", "p.plan").stdout.decode()
        self.assertIn("moved once, for `Y`, too", told)
        told = self.expect(0, "^$", "explain", "p.tap:Y", "--plan", "p.plan").stdout.decode()
        self.assertRegex(told, r"  moved:\n    H for Y  all_gather .* 384 bytes, implicit  p\.tap:4\n    384 bytes per device\n")
        self.write("listed.plan", "plan 2\nsplit H dim o into 2 over devices {0}, {3}\nsplit Y dim i into 2 over pod.data\n")
        told = self.expect(0, "^$", "explain", "p.tap:Y", "--plan", "listed.plan").stdout.decode()
        self.assertIn("does not consider 1 line, which no sharding describes", told)

    def divisions(self, name, plan, file="p.tap"):
        said = json.loads(self.expect(0, "^$", "explain", f"{file}:{name}", "--plan", plan, "--json").stdout)
        self.assertEqual(list(problems(said, json.loads((ROOT / "docs/schema/explain.schema.json").read_text())))[:5], [])
        return said["divisions"]

    def test_the_divisions_that_a_plan_rejects(self):
        """They are priced with the rest of the plan as it is, so that a plan with one of them is predicted to take the same."""
        self.write("p.tap", "program p(X: f32[512, 256], W: f32[256, 256], V: f32[256, 128]) -> (Y: f32[512, 128]) {\n"
                            "    H[i, o] = sum[k] X[i, k] * W[k, o]\n    Y[i, o] = sum[k] max(H[i, k], 0) * V[k, o]\n}\n")
        found = self.expect(0, "^$", "plan", "p.tap", "--mesh", "x=4", "--json").stdout
        best = json.loads(found)["plans"][0]
        self.write("p.plan", self.expect(0, "^$", "plan", "p.tap", "--mesh", "x=4").stdout.decode())
        plan = (self.folder / "p.plan").read_text()
        own = [line for line in plan.split("\n") if line.startswith("split H ")]
        [site] = self.divisions("H", "p.plan")
        self.assertEqual((site["operations"], site["of_a_trip"]), (["H"], False))
        taken, *others = site["alternatives"]
        self.assertEqual((taken["lines"], taken["remark"]), (own, "as the plan says"))
        self.assertAlmostEqual(taken["seconds"] * 1e6, best["time"] * 1e6, 3)
        self.assertIn([], [other["lines"] for other in others])
        self.assertEqual([o["seconds"] for o in others], sorted(o["seconds"] for o in others))
        for other in others:
            if other["seconds"] > taken["seconds"] * 1.005:
                self.assertIn("slower by", other["remark"])
            terms = lambda one: sum(one["terms"].values())
            self.assertAlmostEqual((other["seconds"] - taken["seconds"]) * 1e6, (terms(other) - terms(taken)) * 1e6, 3)
            self.write("q.plan", "\n".join(line for line in plan.split("\n") if line not in own) + "\n".join(other["lines"]) + "\n")
            again = self.divisions("H", "q.plan")[0]["alternatives"][0]
            self.assertEqual([again[key] for key in ("lines", "seconds", "memory", "received", "terms")],
                             [other[key] for key in ("lines", "seconds", "memory", "received", "terms")])
        told = self.expect(0, "^$", "explain", "p.tap:H", "--plan", "p.plan").stdout.decode()
        self.assertRegex(told, r"\d+ ways to divide H over grid, if the rest of the plan stays")
        self.assertRegex(told, r"(?m)^    not divided +slower by")
        self.expect(2, "`--json` explains values only", "explain", "T0601", "--json")

    def test_divisions_of_a_group(self):
        """An operation inside of a group is divided with it, and priced as the plan predicts."""
        self.write("p.tap", "use std\nprogram p(Q: f32[512, 32], K: f32[512, 32], V: f32[512, 32]) -> (Y: f32[512, 32]) {\n"
                            "    Y = attention(Q, K, V)\n}\n")
        self.write("p.plan", self.expect(0, "^$", "plan", "p.tap", "--mesh", "x=4").stdout.decode())
        best = json.loads(self.expect(0, "^$", "plan", "p.tap", "--mesh", "x=4", "--json").stdout)["plans"][0]
        groups = [line.split(" over ")[0].removeprefix("fuse ").split(", ") for line in best["plan"] if line.startswith("fuse ")]
        [group] = [names for names in groups if "Y.t" in names]
        for name in ("Y.t", group[-1]):
            sites = {site["operations"][0]: site["alternatives"] for site in self.divisions(name, "p.plan")}
            taken, *others = sites[group[-1]]
            self.assertEqual(taken["remark"], "as the plan says")
            self.assertEqual(taken["lines"], [line for line in best["plan"] if line.startswith(f"split {group[-1]} ")])
            self.assertAlmostEqual(taken["seconds"] * 1e6, best["time"] * 1e6, 3)
            self.assertIn([], [other["lines"] for other in others])

    def test_divisions_of_a_body(self):
        self.write("p.tap", "program p(X: f32[512, 512]) -> (U: f32[512, 512]) {\n"
                            "    U = iterate 10 (V = X) {\n        W[i, j] = exp(V[i, j])\n        Z[i, j] = W[i, j] + W[j, i]\n        Z\n    }\n}\n")
        self.write("p.plan", self.expect(0, "^$", "plan", "p.tap", "--mesh", "x=4").stdout.decode())
        [site] = self.divisions("U/W", "p.plan")
        self.assertTrue(site["of_a_trip"])
        self.assertGreater(len(site["alternatives"]), 2)
        self.assertEqual(len(self.divisions("U", "p.plan")), 2)

    def test_the_body_of_an_iterate(self):
        """What was decided of it belongs to the value that the iterate computes."""
        program = str(ROOT / "examples/jacobi.tap")
        many = self.expect(0, "^$", "explain", f"{program}:U", "--dim", "n=4096").stdout.decode()
        self.assertRegex(many, r"considered \d alternatives for U:\n(    .*\n)+  the cost model considered \d alternatives for "
                               r"U/V\.0, U/V\.1, .* in the body of U, for one trip:\n")
        few = self.expect(0, "^$", "explain", f"{program}:U", "--dim", "n=64").stdout.decode()
        self.assertRegex(few, "no alternatives for the 1 operation of its body")
        none = self.expect(0, "^$", "explain", f"{program}:U0", "--dim", "n=64").stdout.decode()
        self.assertNotIn("body", none)

    def test_a_division_that_the_search_does_not_have(self):
        self.write("p.tap", "program p(X: f32[8, 8]) -> (Y: f32[8, 8]) {\n    Y[i, j] = exp(X[i, j])\n}\n")
        self.write("p.plan", "plan 2\nmesh grid = [x: 2]\nsplit Y dim i into [0..2, 2..8] over grid.x\n")
        told = self.expect(0, "^$", "explain", "p.tap:Y", "--plan", "p.plan").stdout.decode()
        self.assertRegex(told, "other divisions are not shown: `tapc plan` has no divisions like `split Y")

    def test_it_explains_what_sharding_shows(self):
        """With each option that changes the shardings, the first line is that of `tapc sharding`."""
        self.write("p.tap", "mesh m = [a: 2, b: 4]\nprogram p(X: f32[n, 6] @ m[{a}, {?}], W: f32[6, n] @ m[{?}, {a}]) -> (Y: f32[n, n], S: f32[6]) {\n"
                            "    Y[i, j] = sum[k] X[i, k] * W[k, j]\n    S[k] = sum[i] X[i, k]\n}\n")
        seen = set()
        for options in ([], ["--strategy", "basic"], ["--conservative"], ["--open"]):
            given = ["-i", "X=f32[7,6]", *options]
            data = json.loads(self.expect(0, "^$", "sharding", "p.tap", "--json", *given).stdout)
            for value in data["values"]:
                said = self.expect(0, "^$", "explain", f"p.tap:{value['name']}", "--evaluations", "0", *given).stdout.decode()
                held = f" @ {value['sharding']}" if value["sharding"] else ", not sharded"
                self.assertEqual(said.split("\n")[0], f"{value['name']}: {value['type']}{held}")
            seen.add(json.dumps(data["values"]))
        self.assertGreater(len(seen), 2)

    def test_shardings_of_specs(self):
        self.write("p.tap", "mesh m = [a: 2]\nprogram p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) { Y[i] = X[i] + 1 }\n")
        specs = self.expect(0, "^$", "sharding", "p.tap", "--to", "onnx-json").stdout
        self.write("specs.json", specs)
        said = self.expect(0, "^$", "explain", "p.tap:Y", "--from", "onnx-json", "specs.json").stdout.decode()
        self.assertIn("axis 0 is sharded by", said)
        self.expect(2, "does not support the format `x`", "explain", "p.tap:Y", "--from", "x", "specs.json")


if __name__ == "__main__":
    unittest.main()
