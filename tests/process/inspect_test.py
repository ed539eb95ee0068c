#!/usr/bin/python3
"""tapc inspect: JSON follows its published schema and says what the program says; SVG and GraphML are well-formed."""
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from json_schema import problems
from tapc import *

SCHEMA = json.loads((ROOT / "docs/schema/graph.schema.json").read_text())
EXAMPLES = sorted((ROOT / "examples").glob("*.tap"))
SVG = "{http://www.w3.org/2000/svg}"
STEPS = ("y[i] = x[i] + 1", "a[i] = x[i] * 2\n y[i] = a[i] + x[i]", "a[i] = -x[i]\n b[i] = a[i] + x[i]\n c[i] = a[i] * b[i]\n y[i] = c[i] - x[i]")


def strictly_in(point, box):
    (x, y), (left, top, width, height) = point, box
    return left + .2 < x < left + width - .2 and top + .2 < y < top + height - .2


def points_on(path):
    """Points on the lines and curves of an SVG path, at most a few units apart on lines."""
    at = None
    for letter, text in re.findall(r"([MLC])([-0-9. ]+)", path):
        numbers = [float(n) for n in text.split()]
        if letter == "L":
            steps = int(max(abs(numbers[0] - at[0]), abs(numbers[1] - at[1])) / 4) + 1
            for k in range(steps + 1):
                yield tuple(a + (b - a) * k / steps for a, b in zip(at, numbers))
        elif letter == "C":
            p = [at, *(tuple(numbers[i:i + 2]) for i in (0, 2, 4))]
            for t in (k / 24 for k in range(25)):
                yield tuple((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t ** 3 * d
                            for a, b, c, d in zip(*p))
        at = tuple(numbers[-2:])


class Inspect(TapcTest):
    def inspect(self, source, format, *extra):
        if source.name == "attention.tap":
            extra = ("--program", "fused", *extra)
        result = self.tapc("inspect", source, "--format", format, *extra)
        self.assertEqual(result.returncode, 0, result.output)
        return result.stdout.decode()

    def test_json_follows_the_schema(self):
        for example in EXAMPLES:
            with self.subTest(example.name):
                graph = json.loads(self.inspect(example, "json"))
                self.assertEqual(list(problems(graph, SCHEMA))[:5], [])

    def test_the_validator_finds_violations(self):
        graph = json.loads(self.inspect(ROOT / "examples/mlp.tap", "json"))
        for break_it in (lambda g: g.pop("main"), lambda g: g.update(version=2), lambda g: g.update(extra=1),
                         lambda g: g.update(main=-1),
                         lambda g: g["operators"][0].pop("dims"),
                         lambda g: g["operators"][0]["body"].update(kind="magic"),
                         lambda g: g["graphs"][0]["values"][0]["type"].update(shape=["4"])):
            broken = json.loads(json.dumps(graph))
            break_it(broken)
            self.assertNotEqual(list(problems(broken, SCHEMA)), [])

    def test_json_indices_are_in_range_and_projections_have_their_ranks(self):
        for example in EXAMPLES:
            program = json.loads(self.inspect(example, "json"))
            for graph in program["graphs"]:
                used = graph["inputs"] + graph["outputs"] + [v for o in graph["operations"] for v in o["operands"]
                                                             + o["results"]]
                self.assertLess(max(used), len(graph["values"]))
            for op in program["operators"]:
                for access in op["reads"] + op["writes"]:
                    self.assertEqual(len(access["matrix"]), len(access["shape"]))
                    self.assertTrue(all(len(row) == len(op["dims"]) for row in access["matrix"]))

    def test_pictures_are_well_formed(self):
        for example in EXAMPLES:
            svg = ElementTree.fromstring(self.inspect(example, "svg"))
            self.assertEqual(svg.tag, "{http://www.w3.org/2000/svg}svg")
            graphml = ElementTree.fromstring(self.inspect(example, "graphml"))
            spaces = {"g": "http://graphml.graphdrawing.org/xmlns"}
            nodes = {n.get("id") for n in graphml.findall(".//g:node", spaces)}
            for edge in graphml.findall(".//g:edge", spaces):
                self.assertLessEqual({edge.get("source"), edge.get("target")}, nodes)

    def test_svg_boxes_do_not_overlap(self):
        svg = ElementTree.fromstring(self.inspect(ROOT / "examples/convnet.tap", "svg"))
        boxes = [[float(r.get(k)) for k in ("x", "y", "width", "height")]
                 for g in svg.iter(SVG + "g") if g.get("class", "frame") != "frame" for r in g.findall(SVG + "rect")]
        self.assertGreater(len(boxes), 5)
        for i, (x, y, w, h) in enumerate(boxes):
            for x2, y2, w2, h2 in boxes[:i]:
                self.assertFalse(x < x2 + w2 and x2 < x + w and y < y2 + h2 and y2 < y + h)

    def test_svg_has_the_graphs_inside(self):
        """A frame for each graph inside main, titled by its path, with all of its nodes; frames and nodes lie apart, no line crosses one."""
        many = [f"op step{k}(x: T[n]) -> (y: T[n]) where T: float {{ {STEPS[k % 3]} }}" for k in range(60)]
        self.write("many.tap", "\n".join(many) + "\nprogram many(X0: f32[4]) -> (X600: f32[4]) {\n"
                   + "".join(f"  X{k + 1} = step{k % 60}(X{k})\n" for k in range(600)) + "}\n")
        self.write("rows.tap", "program rows(X: f32[6, 5]) -> (Y: f32[6, 5]) {\n  m[i] = max[j] X[i, j]\n"
                               "  s[i] = sum[j] X[i, j] - m[i]\n  Y[i, j] = X[i, j] * s[i]\n}\n")
        self.write("rows.plan", "plan 2\nfuse m, s, Y over i\n")
        cases = [(ROOT / f"examples/{name}.tap",) for name in ("cg", "convnet", "transformer", "heat")]
        for file, *options in [*cases, (self.folder / "rows.tap", "--plan", "rows.plan"), (self.folder / "many.tap",)]:
            program = json.loads(self.inspect(file, "json", *options))
            svg = ElementTree.fromstring(self.inspect(file, "svg", *options))
            width, height = float(svg.get("width")), float(svg.get("height"))
            if "many" in str(file):
                self.assertLess(max(width / height, height / width), 4)
            frames, nodes = [], []
            for group in svg.iter(SVG + "g"):
                if group.get("class"):
                    rect = group.find(SVG + "rect")
                    box = tuple(float(rect.get(k)) for k in ("x", "y", "width", "height"))
                    (frames if group.get("class") == "frame" else nodes).append((box, [t.text for t in group.findall(SVG + "text")]))
            self.assertGreater(len(frames), 0, file)
            self.assertEqual(len(frames), len(program["graphs"]) - 1, file)
            inside = lambda a, b: b[0] <= a[0] and a[0] + a[2] <= b[0] + b[2] and b[1] <= a[1] and a[1] + a[3] <= b[1] + b[3]
            apart = lambda a, b: a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]
            size = lambda graph: len(graph["inputs"]) + len(graph["operations"]) + len(graph["outputs"])
            counts = [sum(inside(box, frame) for box, _ in nodes) for frame, _ in frames]
            main = sum(all(apart(box, frame) for frame, _ in frames) for box, _ in nodes)
            self.assertEqual(sum(counts) + main, len(nodes))
            self.assertEqual(sorted([main, *counts]), sorted(map(size, program["graphs"])))
            boxes = [frame for frame, _ in frames]
            self.assertTrue(all(apart(a, b) for i, a in enumerate(boxes) for b in boxes[:i]))
            for x, y, w, h in boxes:
                self.assertTrue(0 <= x and x + w <= width and 0 <= y and y + h <= height)
            for path in svg.iter(SVG + "path"):
                if path.get("d") == "M0 0 L8 4 L0 8 z":
                    continue
                points = list(points_on(path.get("d")))
                for box, _ in nodes if len(nodes) < 100 else []:
                    self.assertFalse(any(strictly_in(p, box) for p in points), file)
                for frame in boxes:
                    self.assertIn(sum(strictly_in(p, frame) for p in points), (0, len(points)), file)
        titles = [text for _, (text,) in frames]
        self.assertEqual(len(titles), len(set(titles)))
        graph = program["graphs"][program["main"]]
        values = {graph["values"][o["results"][0]]["name"] for o in graph["operations"]}
        self.assertTrue(all(title.split(":")[0] in values for title in titles), titles[:3])

    def test_svg_of_a_thousand_operations_is_readable(self):
        lines = [f"  Y{i}[a] = " + (f"X[a] + Y{i - 1}[a]" if i % 50 == 0
                                    else f"Y{i - 1}[a] + Y{max(0, i - 40)}[a]" if i % 3 == 0
                                    else f"-Y{i - 1}[a]") for i in range(1, 1000)]
        source = Path(self.write("long.tap", "program long(X: f32[4]) -> (Y999: f32[4]) {\n  Y0[a] = -X[a]\n"
                                 + "\n".join(lines) + "\n}\n"))
        svg = ElementTree.fromstring(self.inspect(source, "svg"))
        width, height = float(svg.get("width")), float(svg.get("height"))
        self.assertLess(max(width / height, height / width), 4)
        boxes = {}  # by cells of 100 × 100
        count = 0
        for r in svg.iter("{http://www.w3.org/2000/svg}rect"):
            if r.get("x"):
                x, y, w, h = (float(r.get(k)) for k in ("x", "y", "width", "height"))
                count += 1
                for i in range(int(x // 100), int((x + w) // 100) + 1):
                    for j in range(int(y // 100), int((y + h) // 100) + 1):
                        boxes.setdefault((i, j), []).append((x, y, w, h))
        self.assertEqual(count, 1002)
        lines = [p.get("d") for p in svg.iter("{http://www.w3.org/2000/svg}path") if p.get("d") != "M0 0 L8 4 L0 8 z"]
        self.assertGreater(len(lines), 1300)
        crossed = 0
        for line in lines:
            for x, y in points_on(line):
                crossed += any(bx + .2 < x < bx + w - .2 and by + .2 < y < by + h - .2
                               for bx, by, w, h in boxes.get((x // 100, y // 100), ()))
        self.assertEqual(crossed, 0)

    @unittest.skipUnless(shutil.which("dot"), "Graphviz reads it")
    def test_graphviz_reads_dot(self):
        for example in EXAMPLES:
            subprocess.run(["dot", "-Tcanon"], input=self.inspect(example, "dot").encode(), check=True,
                           capture_output=True)

    def test_the_graph_under_a_plan(self):
        source = Path(self.write("p.tap", "mesh pod = [data: 2]\nprogram p(X: f64[7, 5], W: f64[5, 4]) -> (Y: f64[7, 4]) {\n"
                                     "  Y[i, o] = sum[k] X[i, k] * W[k, o]\n}\n"))
        self.write("p.plan", "plan 2\nsplit Y dim i into 2 over pod.data\nsplit Y dim k into [0, 0, 5] over threads\n")
        for format in ("dot", "svg", "graphml"):
            output = self.inspect(source, format, "--plan", "p.plan")
            for words in ("i in 2 blocks over pod.data", "k in 2 blocks over threads", "sum of k_block"):
                self.assertIn(words, output, format)
        graph = json.loads(self.inspect(source, "json", "--plan", "p.plan"))
        self.assertEqual(list(problems(graph, SCHEMA))[:5], [])
        self.assertEqual([[p["over"] for p in o["placements"]] for o in graph["graphs"][0]["operations"]],
                         [["pod.data", "threads"], ["pod.data"]])
        self.write("p.plan", "plan 2\nsplit Y dim z into 2\n")
        self.expect(1, r"p\.plan:2:13: error\[T1402\]", "inspect", source, "--plan", "p.plan")

    def test_a_file_is_written_whole(self):
        self.inspect(ROOT / "examples/mlp.tap", "svg", "-o", "out.svg")
        ElementTree.parse(self.folder / "out.svg")
        self.write("out.json", "old")
        self.expect(1, r"T0203", "inspect", self.write("bad.tap", "program p(X: f32[4]) -> (Y: f32[4]) { Y = Z }\n"),
                    "--format", "json", "-o", "out.json")
        self.assertEqual((self.folder / "out.json").read_text(), "old")


if __name__ == "__main__":
    unittest.main()
