#!/usr/bin/python3
"""What a value would cost if it were sharded otherwise, as reports and `tapc explain` say it: each alternative is written into the text
of the graph, and `tapc cost --device` must predict the same for it, term by term. other_shardings_test.py TAPC"""
import json
import re

from json_schema import problems
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/report.schema.json").read_text())
MACHINE = 'threads = 3\n[[links]]\nname = "rack"\ncount = 8\nbandwidth = "10 GB/s"\nlatency = "3 us"\n'

# Sizes that do not divide, another element type, an iterate, inner values.
PROGRAMS = {
    "layer": ("mesh m = [a: 2, b: 4]\n"
              "program p(X: f32[16, 24] @ m[{a}, {}], W: f32[24, 36] @ m[{}, {b}], V: f32[36, 20]) -> (Y: f32[16, 20]) {\n"
              "    H[i, o] = sum[k] X[i, k] * W[k, o]\n"
              "    Y[i, o] = sum[k] max(H[i, k], 0) * V[k, o]\n}\n", ["X", "W", "V", "Y", "H"]),
    "halo": ("mesh m = [x: 3]\n"
             "program p(X: f64[17, 5] @ m[{x}, {}]) -> (Y: f64[17, 5]) {\n"
             "    S[i, j] = X[i - 1, j else 0] + 2 * X[i, j]\n"
             "    Y[i, j] = S[16 - i, j] * S[i, j]\n}\n", ["X", "S", "Y"]),
    "trips": ("mesh m = [x: 2]\n"
              "program p(X: f32[12, 8] @ m[{x}, {}], B: f32[8]) -> (Y: f32[12, 8]) {\n"
              "    Y = iterate 3 (u = X) {\n        v[i, j] = u[i, j] * B[j] + u[11 - i, j]\n        v\n    }\n}\n", ["X", "B", "Y"]),
}


class OtherShardings(TapcTest):
    def predicted(self, graph, value, sharding):
        """Of the graph of p.tap with this sharding of `value`; None for one that no device shares."""
        line = re.search(rf"(?m)^  value \d+ {value} (\w+\[[\d, ]*\])( @ .*)?$", graph)
        self.write("other.ir", graph if sharding is None else f"{graph[:line.end(1)]} @ {sharding}{graph[line.end():]}")
        options = ["--plan=none", "--machine=m.toml", "--threads=3", "--json"]
        result = self.tapc("cost", "other.ir", "--device=0", *options)
        if b"no operation is split" in result.stderr:
            return None
        self.assertEqual(result.returncode, 0, result.output)
        cost = json.loads(result.stdout)
        seconds = sum(row["seconds"] for row in cost["operations"])
        received = sum(row["amounts"]["received"] for row in cost["operations"])
        terms = {}
        for row in cost["operations"]:
            for name, value in row["terms"].items():
                terms[name] = terms.get(name, 0) + value
        held = json.loads(self.expect(0, "^", "sharding", "other.ir", "--json").stdout)["values"]
        names = ["X", "W", "V", "B", "Y"]
        memory = cost["memory"]["arena"] + cost["memory"]["scratch"] + sum(v["local_bytes"] for v in held if v["name"] in names)
        return seconds, received, terms, memory

    def test_each_alternative_costs_what_the_written_program_costs(self):
        self.write("m.toml", MACHINE)
        for name, (text, values) in PROGRAMS.items():
            self.write("p.tap", text)
            graph = self.expect(0, "^", "inspect", "p.tap", "--format=ir").stdout.decode()
            report = json.loads(self.expect(0, "^", "inspect", "p.tap", "--machine=m.toml", "--format=report-json").stdout)
            self.assertEqual(list(problems(report, SCHEMA))[:5], [])
            reasons = {reason["value"]: reason for reason in report["reasons"]}
            differ = set()
            for value in values:
                alternatives = reasons[value]["alternatives"]
                self.assertGreater(len(alternatives), 1)
                self.assertEqual([one["as_it_is"] for one in alternatives], [True] + [False] * (len(alternatives) - 1))
                self.assertEqual(len({one["sharding"] for one in alternatives}), len(alternatives))
                for one in alternatives:
                    with self.subTest(program=name, value=value, sharding=one["sharding"]):
                        expected = self.predicted(graph, value, None if one["as_it_is"] else one["sharding"])
                        if expected is None:
                            self.assertNotIn("x}", one["sharding"])
                            continue
                        seconds, received, terms, memory = expected
                        self.assertAlmostEqual(one["seconds"], seconds, delta=1e-9 * seconds)
                        self.assertEqual(one["received"], received)
                        self.assertEqual(one["memory"], memory)
                        for term in {*terms, *one["terms"]}:
                            self.assertAlmostEqual(one["terms"].get(term, 0), terms.get(term, 0), delta=1e-9 * seconds)
                        differ.add(seconds)
            self.assertGreater(len(differ), 1, name)

    def test_explain_says_the_same(self):
        self.write("m.toml", MACHINE)
        text, values = PROGRAMS["layer"]
        self.write("p.tap", text)
        report = json.loads(self.expect(0, "^", "inspect", "p.tap", "--machine=m.toml", "--format=report-json").stdout)
        reasons = {reason["value"]: reason["alternatives"] for reason in report["reasons"]}
        for value in values:
            said = self.expect(0, "^$", "explain", "p.tap:" + value, "--machine=m.toml").stdout.decode()
            rows = re.findall(r"(?m)^    (m\[.*\])  +(as it is|([\d.]+) x the time) ", said)
            first = reasons[value][0]
            self.assertEqual(rows[0][:2], (first["sharding"], "as it is"))
            self.assertEqual({row[0] for row in rows}, {one["sharding"] for one in reasons[value]})
            for sharding, _, ratio in rows[1:]:
                [one] = [one for one in reasons[value] if one["sharding"] == sharding]
                self.assertAlmostEqual(float(ratio), one["seconds"] / first["seconds"], delta=0.006)
        # Whoever propagates otherwise or divides operations by a plan gets no prices of what would not be compiled.
        for options in (["--strategy=basic"], ["--conservative"]):
            self.assertNotIn(b"its sharding and the alternatives", self.expect(0, "^$", "explain", "p.tap:H", *options).stdout)

    def test_a_sharding_that_contradicts_another_has_no_price(self):
        self.write("p.tap", "mesh m = [x: 2]\nprogram p(X: f32[8] @ m[{x}], B: f32[8]) -> (Y: f32[8]) {\n    group X, B\n    Y[i] = X[i] + B[i]\n}\n")
        said = self.expect(0, "^$", "explain", "p.tap:B").stdout.decode()
        self.assertRegex(said, r"(?m)^    m\[\{\}\] +contradicts another sharding +- +-")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
