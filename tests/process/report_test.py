#!/usr/bin/python3
"""tapc inspect -o report.html: its data follow their schema, and the page shows them in a real browser: each shard lights exactly the boxes
that brute force over index points finds, nothing is loaded, hostile texts are harmless, and the keyboard suffices."""
import json
import re
import shutil
from pathlib import Path

from json_schema import problems
from shard_oracle import Stage
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/report.schema.json").read_text())
EXAMPLES = sorted((ROOT / "examples").glob("*.tap"))
TOOLS = {"npm packages (scripts/build_report.sh)": (ROOT / "report/node_modules/playwright-core").is_dir(),
         "node": bool(shutil.which("node")), "chromium": bool(shutil.which("chromium"))}
MISSING = [tool for tool, there in TOOLS.items() if not there]

LAYER = """use std
mesh pod = [model: 2]
program layer(X: f32[4, 8] @ pod[{}, {model}], W: f32[8, 6], b: f32[6]) -> (Y: f32[4, 6]) {
    Y = relu(linear(X, W, b))
}
"""
HALO = """mesh m = [x: 4]
program blur(X: f32[18, 5] @ m[{x}, {}]) -> (Y: f32[18, 5] @ m[{x}, {}]) {
    S[i, j] = X[i - 1, j else 0] + X[i, j] + X[i + 1, j else 0]
    Y[i, j] = S[i, j] * S[17 - i, j]
}
"""
GRID = """mesh m = [a: 2, b: 3]
program product(A: f32[6, 7] @ m[{a}, {}], B: f32[7, 9] @ m[{}, {b}]) -> (C: f32[6, 9] @ m[{a}, {b}], D: f32[9] @ m[{a, b}]) {
    C[i, j] = sum[k] A[i, k] * B[k, j]
    D[j] = sum[i] C[i, j]
}
"""

DIGITS = """mesh m = [a: 4, b: 2] devices [7, 6, 5, 4, 3, 2, 1, 0]
program digits(A: f32[9, 4] @ m[{a:(1)2, b}, {a:(2)2}], B: f32[4, 5] @ m[{a:(2)2}, {}]) -> (C: f32[9, 5] @ m[{a, b}, {}]) {
    T[i, j] = A[8 - i, j] + 1 for i in 0..9
    C[i, o] = sum[j] T[i, j] * B[j, o]
}
"""

BLOCKED = """mesh m = [a: 2, b: 4]
program blocked(X: f32[8, 4] @ m[{a}, {?}], W: f32[4, 16] @ m[{?}, {a}], B: f32[4]) ->
        (Y: f32[8, 4] @ m[{}, {?}], R: f32[8], P: f32[4], Z: f32[8, 4]) {
    barrier Z both
    C[i, j] = sum[k] X[i, k] * W[k, j]
    D[i, j] = X[i, j] + B[j]
    P[j] = sum[i] D[i, j]
    Y[i, j] = D[i, j] + B[j]
    Z[i, j] = 2 * D[i, j]
    R[i] = C[i, 0]
}
"""

PLANNED = """program layer(X: f32[64, 32], W: f32[32, 128], V: f32[128, 32]) -> (Y: f32[64, 32]) {
    H[i, j] = sum[k] X[i, k] * W[k, j]
    Y[i, j] = sum[k] max(H[i, k], 0) * V[k, j]
}
"""


NESTED = """use std
mesh m = [x: 2]
op twice(u: T[n]) -> (v: T[n]) where T: float {
    w[i] = u[i] + u[n - 1 - i]
    v = relu(w)
}
program nested(X: f32[12] @ m[{x}], B: f32[12]) -> (Y: f32[12] @ m[{x}], Z: f32[12]) {
    S = twice(X)
    Y = iterate 3 (u = S) {
        a = twice(u)
        b[i] = a[i] * 0.5 + B[i]
        b
    }
    Z = relu(B)
}
"""
INPUTS = """mesh m = [d: 4]
program p(X: f32[8, 16], W: f32[16, 4]) -> (Y: f32[8, 4] @ m[{d}, {}]) {
  Y[i, j] = sum[k] X[i, k] * W[k, j]
}
"""
PARTIALS = """mesh m = [d: 2, t: 2]
program p(X: f32[8, 16] @ m[{d}, {}], V: f32[16, 8] @ m[{t}, {}]) -> (Y: f32[8, 8] @ m[{d}, {}]) {
  Y[i, o] = sum[k] X[i, k] * V[k, o]
}
"""
GROUPED = """program rows(X: f32[6, 5]) -> (Y: f32[6, 5]) {
    m[i] = max[j] X[i, j]
    s[i] = sum[j] X[i, j] - m[i]
    Y[i, j] = X[i, j] * s[i]
}
"""


def data_in(page):
    """What a page has inside: the layout of the last stage's graph stands before the rest."""
    picture, report = (json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.read_text(), re.S)[1])
                       for name in ("picture", "data"))
    report["stages"][-1]["graphs"][0]["layout"] = picture["layout"]
    return report


class Report(TapcTest):
    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def report(self, source, *options):
        result = self.tapc("inspect", source, "--format=report-json", *options)
        self.assertEqual(result.returncode, 0, result.output)
        return json.loads(result.stdout)

    def page(self, source, **options):
        out = self.folder / (source.stem + ".html")
        result = self.tapc("inspect", source, "-o", out, **options)
        self.assertEqual(result.returncode, 0, result.output)
        return out

    def test_data_follow_the_schema(self):
        for example in EXAMPLES:
            with self.subTest(example.name):
                options = ("--program", "fused") if example.name == "attention.tap" else ()
                report = self.report(example, *options)
                self.assertEqual(list(problems(report, SCHEMA))[:5], [])
                self.assertEqual(report, self.report(example, *options))

    def test_the_page_is_one_file_under_a_strict_policy(self):
        text = self.page(self.write("layer.tap", LAYER)).read_text()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        for part in ("default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "base-uri 'none'", "form-action 'none'"):
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)
        self.assertNotRegex(text, r"<(link|img|iframe|script)[^>]* (src|href)=")
        self.assertNotIn("@import", text)

    def test_the_ending_selects_the_report(self):
        source = self.write("layer.tap", LAYER)
        self.assertEqual(self.tapc("inspect", source, "--format=svg", "-o", self.folder / "x.html").returncode, 2)
        self.assertEqual(self.tapc("inspect", source, "--format=html", "--choices").returncode, 2)
        self.expect(2, "`--code` needs a report", "inspect", source, "--code")
        report = self.report(source, "--code")
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        self.assertIsNone(self.report(source)["kernels"])
        self.expect(2, "`--time-passes` needs a report", "inspect", source, "--time-passes")

    def test_the_code_is_what_compile_emits(self):
        for text in (LAYER, HALO, GRID):
            source, out = self.write("code.tap", text), self.folder / "code.s"
            self.expect(0, "(?m)^wrote", "compile", source, "--plan=none", "-o", out)
            emitted = out.read_text()
            for kernel in self.report(source, "--code")["kernels"]:
                self.assertIn(kernel["assembly"], emitted)

    def test_every_store_of_a_loop_nest_has_instructions(self):
        for text in (LAYER, HALO, GRID):
            for kernel in self.report(self.write("code.tap", text), "--code")["kernels"]:
                loops, assembly = (kernel[kind].rstrip("\n").split("\n") for kind in ("loops", "assembly"))
                self.assertEqual((len(kernel["loop_statements"]), len(kernel["assembly_statements"])), (len(loops), len(assembly)))
                statements = [number for number in kernel["loop_statements"] if number]
                self.assertEqual(sorted(set(statements)), list(range(1, max(statements) + 1)))
                stores = {number for number, line in zip(kernel["loop_statements"], loops) if re.match(r" *t\d+\[.*\] = ", line)}
                self.assertTrue(stores and stores <= set(kernel["assembly_statements"]))
                for number, line in zip(kernel["assembly_statements"], assembly):
                    self.assertFalse(number and not re.match(r"\t[a-z]", line), line)

    def test_times_of_passes(self):
        source = self.write("layer.tap", LAYER)
        self.assertEqual({one["milliseconds"] for one in self.report(source)["passes"]}, {None})
        report = self.report(source, "--time-passes")
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        self.assertTrue(all(one["milliseconds"] is not None for one in report["passes"] if one["steps"]))
        self.assertGreater(sum(one["milliseconds"] or 0 for one in report["passes"]), 0)
        self.assertEqual(self.tapc("inspect", source, "--format=report-json", "-o", self.folder / "x.json").returncode, 0)

    def test_moves_are_counted_from_boxes(self):
        moves = [o["move"] for o in self.report(self.write("layer.tap", LAYER))["stages"][-1]["graphs"][0]["operations"] if "move" in o]
        self.assertEqual([(m["bytes"], m["axes"]) for m in moves], [(96, ["model"])])  # one round of an all-reduce

    def test_inputs_have_the_shardings_that_propagate_to_them(self):
        report = self.report(self.write("inputs.tap", INPUTS))
        self.assertEqual([stage["name"] for stage in report["stages"]], ["written", "simplified", "sharded"])
        reasons = {one["value"]: one["sharding"] for one in report["reasons"]}
        for stage in report["stages"][1:]:
            values = {value["name"]: value.get("sharding", {"text": "not sharded"})["text"] for value in stage["graphs"][0]["values"]}
            self.assertEqual({name: values[name] for name in "XWY"}, {name: reasons[name] for name in "XWY"}, stage["name"])

    def test_splits_name_their_dims(self):
        report = self.report(self.write("partials.tap", PARTIALS))
        told = {(one["operation"], one["what"], *one["rules"]) for apply in report["passes"] if apply["name"] == "apply_splits"
                for step in apply["steps"] for one in step["rewrites"]}
        by_blocks = "sum[k] f = sum[k_block] sum[k in block k_block] f"
        for wanted in (("Y", "split along i into 2 blocks over m.d", "for i: f = for i_block: for i in block i_block: f"),
                       ("Y.partial", "has the partials of 2 blocks of k over m.t", by_blocks),
                       ("Y", "combines the partials of k", by_blocks)):
            self.assertIn(wanted, told)

    def test_what_has_no_price_is_said(self):
        source = self.write("halo.tap", HALO)
        report = self.report(source)
        self.assertIsNone(report["unpriced"])
        self.assertTrue(all(one["alternatives"] is not None for one in report["reasons"]))
        self.write("halo.plan", "plan 2\nsplit S dim i into 4 over axis m.x\n")
        report = self.report(source, "--plan", self.folder / "halo.plan")
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        self.assertEqual(report["unpriced"], "what other shardings of 3 values would cost: lines of the plan divide the operations "
                         "themselves, whatever shardings values have")
        self.assertIn(report["unpriced"], report["left_out"])
        page = self.folder / "unpriced.html"
        self.expect(0, "(?m)^wrote", "inspect", source, "--plan", self.folder / "halo.plan", "-o", page)
        return {"page": str(page), "text": "Left out: " + report["unpriced"]}

    def test_fronts(self):
        kmeans = ROOT / "examples/kmeans.tap"
        options = ("plan", kmeans, "--mesh=x=4,y=4", "--threads=1")
        plans = json.loads(self.expect(0, "^$", *options, "--json").stdout)["plans"]
        self.assertGreater(len(plans), 16)
        page, picture = self.folder / "front.html", self.folder / "front.svg"
        self.expect(0, "^wrote", *options, "--front", page)
        self.assertLess(page.stat().st_size, 5_000_000)
        report = data_in(page)
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        points = report["plans"]["points"]
        self.assertEqual([(p["time"], p["memory"], p["traffic"]) for p in points],
                         [(p["time"], p["memory"], p["traffic"]) for p in plans])
        for point, plan in zip(points, plans):
            self.assertEqual([line for line in point["text"].split("\n") if re.match("split|place", line)], plan["plan"])
        embedded = [k for k, point in enumerate(points) if "stage" in point]
        self.assertIn(len(embedded), (15, 16))
        self.assertTrue({0, len(points) - 1, report["plans"]["picked"]} <= set(embedded))
        self.expect(0, "^wrote", *options, "--front", picture)
        circles = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)".*?<title>plan (\d+):', picture.read_text())
        self.assertEqual([int(n) for _, _, n in circles], list(range(1, len(plans) + 1)))
        for (x, y, _), (x2, y2, _), plan, other in zip(circles, circles[1:], plans, plans[1:]):
            self.assertLessEqual(float(x), float(x2))
            if abs(float(y) - float(y2)) > 0.1:
                self.assertEqual(float(y) < float(y2), plan["memory"] > other["memory"])
        self.expect(2, "front.png", *options, "--front", "front.png")
        self.assertIn(b"split", self.expect(0, "^wrote", *options, "--front", picture, "-o", "-").stdout)

    def give_inputs_their_shardings(self, program, source):
        """Those that propagate to them, as `tapc sharding` says; the text of the sharded stage has the given ones alone."""
        known = json.loads(self.expect(0, "^", "sharding", source, "--json").stdout)["values"]
        shardings = {value["name"]: value["sharding"] for value in known}
        graph = program["graphs"][program["main"]]
        for value in (graph["values"][number] for number in graph["inputs"]):
            value["sharding"] = value["sharding"] or shardings.get(value["name"])

    def cases(self):
        sources = {name: self.write(name + ".tap", text) for name, text in (("layer", LAYER), ("halo", HALO), ("grid", GRID), ("digits", DIGITS))}
        for name, source in sources.items():
            page, report = self.page(source), self.report(source)
            sharded = self.folder / (name + ".ir")
            self.expect(0, r"^", "opt", source, "--stage=sharded", "-o", sharded)
            graph = json.loads(self.expect(0, r"^", "inspect", sharded, "--format=json").stdout)
            self.give_inputs_their_shardings(graph, source)
            stage = Stage(graph, report)
            names = [value["name"] for value in stage.graph["values"]]
            yield {"check": "boxesLight", "name": name, "page": str(page), "values": {n: list(stage.expected(n)) for n in names}}
            yield {"check": "tableEqualsData", "name": name, "page": str(page), "kinds": ["call"] if name == "layer" else []}
            split = [o for o, placements in enumerate(stage.placements) if any(p["dim"] is not None for p in placements)]
            self.assertGreater(len(split), 0)
            yield {"check": "opensInPlace", "name": name, "page": str(page),
                   "shards": {report["stages"][-1]["graphs"][0]["operations"][o]["name"]: stage.shards(o) for o in split}}
        nested = str(self.page(self.write("nested.tap", NESTED)))
        yield {"check": "opensInPlace", "name": "nested", "page": nested}
        grouped = self.folder / "grouped.html"
        self.write("grouped.plan", "plan 2\nfuse m, s, Y over i\n")
        self.expect(0, "(?m)^wrote", "inspect", self.write("grouped.tap", GROUPED), "--plan", self.folder / "grouped.plan", "-o", grouped)
        yield {"check": "opensInPlace", "name": "grouped", "page": str(grouped)}
        yield {"check": "tableEqualsData", "name": "nested", "page": nested, "kinds": ["call", "iterate"]}
        yield {"check": "tableEqualsData", "name": "grouped", "page": str(grouped), "kinds": ["group"]}
        down, right = "ArrowDown", "ArrowRight"
        for name, operation, keys, inside in (("layer", "Y.linear.y.sum.partial", [down, right, down, down], ["shard 0", "shard 1"]),
                                              ("nested", "Y", [down] * 5, ["2 u", "2 Y/a", "2 Y/b", "2 b"])):
            yield {"check": "opensByKeys", "name": name, "page": str(self.folder / (name + ".html")), "operation": operation,
                   "keys": keys, "inside": inside}
        yield self.planned()
        blocked = self.write("blocked.tap", BLOCKED)
        yield {"check": "whyEqualsData", "name": "blocked", "page": str(self.page(blocked)),
               "kinds": ["barrier", "closed", "conflict", "reduction", "repeated"]}
        yield {"check": "unpricedIsSaid", "name": "halo", **self.test_what_has_no_price_is_said()}
        summary = self.expect(0, "^$", "verify", sources["layer"], "--stage=sharded", "--plan=none").stdout.decode()
        counts = {name: int(count) for name, count in re.findall(r"(?m)^proved  (\S+) +(\d+) times?", summary)}
        yield {"check": "proofsEqualData", "name": "layer", "page": str(self.folder / "layer.html"), "counts": counts}
        yield {"check": "timesEqualData", "name": "grid", "page": str(self.timed(sources["grid"]))}
        code, loops = self.folder / "code.html", self.folder / "grid.loops"
        self.expect(0, "(?m)^wrote", "inspect", sources["grid"], "--code", "-o", code)
        self.expect(0, "(?m)^wrote", "opt", sources["grid"], "--stage=loops", "-o", loops)
        yield {"check": "codeIsLinked", "name": "grid", "page": str(code), "loops": loops.read_text()}
        full = self.folder / "full.html"
        self.expect(0, "(?m)^wrote", "inspect", sources["grid"], "--code", "--trace", "t.json", "-o", full)
        yield {"check": "everyPanelByKeys", "name": "grid", "page": str(full), "planned": str(self.folder / "planned.html"),
               "shards": {"operation": "D.partial"}}
        eight = self.write("eight.tap", "mesh m = [x: 8]\nprogram p(X: f32[16] @ m[{x}]) -> (Y: f32[16] @ m[{x}]) {\n    Y[i] = 2 * X[i]\n}\n")
        yield {"check": "coloursAreDistinct", "name": "8 devices", "page": str(self.page(eight)), "devices": 8, "value": "Y"}
        yield {"check": "stagesAnimate", "name": "halo", "page": str(self.folder / "halo.html"), "value": "S"}
        pages = {"source": "full", "plan": "planned", "time": "timed"}
        for panel in ("graph", "tensor", "source", "pipeline", "rewrite", "why", "plan", "time", "proof", "table"):
            yield {"check": "picturesAreSaved", "name": panel, "page": str(self.folder / (pages.get(panel, "grid") + ".html")), "panel": panel,
                   "title": "Time line" if panel == "time" else panel.capitalize(), "texts": panel not in ("graph", "tensor", "plan", "time")}
        for check in ("rewritesEqualData", "stateRoundTrips", "keyboardOnly", "accessible"):
            yield {"check": check, "name": "layer", "page": str(self.folder / "layer.html")}
        yield {"check": "linesThatFit", "name": "grid", "page": str(self.folder / "grid.html"), "scale": 0.6, "wanted": "i in 2 blocks over m.a"}
        yield {"check": "harmless", "name": "hostile texts", **self.hostile()}
        large = str(self.large())
        yield {"check": "followsADrag", "name": "10,000 nodes", "page": large}
        yield {"check": "tableHasAllRows", "name": "10,000 nodes", "page": large}
        sharded = self.large("sharded", "mesh m = [a: 4, b: 2]", " @ m[{a}, {b}]", 1001)
        yield {"check": "findsZoomsAndMaps", "name": "10,000 sharded nodes", "page": str(sharded), "wanted": "x249"}
        for page in (large, sharded):
            text = Path(page).read_text()
            cut = self.write(f"cut/{Path(page).name}", text[:text.index('<script type="application/json" id="data">')])
            yield {"check": "graphComesFirst", "name": Path(page).stem, "page": str(page), "cut": str(cut)}

    def timed(self, source):
        """A report with the time line of a run."""
        page = self.folder / "timed.html"
        self.expect(0, "(?m)^wrote", "run", source, "-i", "A=iota", "-i", "B=iota", "--trace", "t.json", "-o", "@timed.npz",
                    "--threads", "2")
        self.expect(0, "(?m)^wrote", "inspect", source, "--trace", "t.json", "-o", page)
        return page

    def planned(self):
        """A report of the front: how many shards each value has under each plan, by brute force on what `--plan` makes."""
        source, page = self.write("planned.tap", PLANNED), self.folder / "planned.html"
        self.expect(0, "^", "plan", source, "--mesh=x=2,y=2", "--threads=1", "--front", page)
        report = data_in(page)
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        shards = []
        for number, point in enumerate(report["plans"]["points"]):
            plan = self.write(f"{number}.plan", point["text"])
            sharded = self.folder / f"{number}.ir"
            self.expect(0, r"^", "opt", source, "--stage=sharded", "--plan", plan, "-o", sharded)
            graph = json.loads(self.expect(0, r"^", "inspect", sharded, "--format=json").stdout)
            if "stage" not in point:
                shards.append(None)
                continue
            stage = Stage(graph, {"meshes": point["meshes"], "stages": [point["stage"]]})
            shards.append({value["name"]: len(stage.parts(v)) for v, value in enumerate(stage.graph["values"])})
        self.assertLessEqual(sum(count is not None for count in shards), 16)
        return {"check": "plansLoad", "name": f"{len(shards)} plans", "page": str(page), "shards": shards}

    def hostile(self):
        long = "L" + "o" * 10_000
        texts = ["</script><script>hostile = 1</script>", "<img src=x onerror=\"hostile = 1\">", "<!--<script>", "\u05d0\u05d1 = \u0627\u0644",
                 "& < > \" ' ]]> \\u003c/script>"]
        lines = "".join(f"    // {text}\n" for text in texts)
        name = "<script>hostile = 1<" + "/script><img src=x onerror=hostile=1>\u202e.tap"
        source = self.write(name, f"mesh m = [x: 2]\nprogram p({long}: f32[4] @ m[{{x}}]) -> (Y: f32[4]) {{\n{lines}"
                                  f"    Y[i] = {long}[3 - i]\n}}\n")
        page = self.folder / "hostile.html"
        self.expect(0, r"^", "inspect", source, "-o", page)
        return {"page": str(page), "texts": [*texts, long]}

    def large(self, name="big", mesh="", sharding="", count=2500):
        """10,000 operations; with a mesh, of the sharded graph, moves included."""
        lines = [mesh, f"program {name}(X0: f32[8, 8]{sharding}) -> (Y: f32[8, 8]) {{"]
        for k in range(count):
            lines += [f"    A{k}[i, j] = sum[q] X{k}[i, q] * X{k}[q, j]", f"    B{k}[i, j] = max[q] A{k}[i, q] * X{k}[q, j]",
                      f"    C{k}[i, j] = sum[q] A{k}[i, q] * B{k}[q, j]", f"    X{k + 1}[i, j] = max[q] C{k}[i, q] - A{k}[q, j]"]
        page = self.page(self.write(name + ".tap", "\n".join(lines) + f"\n    Y[i, j] = X{count}[i, j] + 1\n}}\n"), timeout=120)
        self.assertLess(page.stat().st_size, 5_000_000)
        report = data_in(page)
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        self.assertGreater(len(report["stages"][-1]["graphs"][0]["operations"]), 10_000)
        return page

    @unittest.skipIf(MISSING and not os.environ.get("CI"), "needs " + ", ".join(MISSING))
    def test_in_a_browser(self):
        self.assertEqual(MISSING, [])
        file = self.write("cases.json", json.dumps(list(self.cases())))
        result = subprocess.run(["node", ROOT / "report/tests/browser_test.mjs", file], capture_output=True, text=True, timeout=800)
        print(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
