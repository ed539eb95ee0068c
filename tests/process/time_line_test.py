#!/usr/bin/python3
"""tapc inspect --trace: the time line has exactly the times of the trace, its critical paths have no gap, and a trace of another program,
plan or mesh, or no trace at all, is refused where it is wrong. time_line_test.py TAPC"""
import json
import random
from collections import Counter

from json_schema import problems
from mpi_job import *
from tapc import *
from traced_programs import LAYER, STENCIL

FUSED = """mesh pod = [data: 4, model: 2]
program layer(X: f32[64, 512] @ pod[{data}, {}], W: f32[512, 2048] @ pod[{}, {model}], V: f32[2048, 512] @ pod[{model}, {}])
        -> (Y: f32[64, 512] @ pod[{data}, {}]) {
    H[i, o] = sum[k] X[i, k] * W[k, o]
    G[i, o] = max(H[i, o], 0)
    Y[i, o] = sum[k] G[i, k] * V[k, o]
}
"""
INPUTS = {FUSED: ["-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3"], LAYER: ["-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3"], STENCIL: ["-i", "x=rand:1"]}
SCHEMA = json.loads((ROOT / "docs/schema/report.schema.json").read_text())
SHOWN = {"kernel", "copy", "transfer", "fill", "outside", "message", "wait"}


def covered(spans):
    """How much of the line they cover together."""
    total, end = 0, 0
    for begin, stop in sorted(spans):
        total += max(0, stop - max(begin, end))
        end = max(end, stop)
    return total


class TimeLine(MpiTest):
    def traced(self, text, *options, ranks=None):
        self.write("p.tap", text)
        words = ["run", "p.tap", *INPUTS[text], "--plan-out", "p.plan", "--trace", "t.json", "-o", "@r.npz", *options]
        if ranks:
            result = self.job(ranks, *words, "--mpi")
            self.assertEqual(result.returncode, 0, result.stderr)
        else:
            self.expect(0, "^wrote", *words)
        return json.loads((self.folder / "t.json").read_text())["traceEvents"]

    def time_line(self):
        result = self.expect(0, "^$", "inspect", "p.tap", "--plan", "p.plan", "--trace", "t.json", "--format=report-json")
        report = json.loads(result.stdout)
        self.assertEqual(list(problems(report, SCHEMA))[:5], [])
        return report["time_line"]

    def assert_shows(self, line, events):
        events = [event for event in events if event["ph"] == "X" and event["cat"] in SHOWN]
        self.assertEqual((line["kept"], line["count"]), (len(events), len(events)))

        def device_of(event):
            return None if event["cat"] == "wait" else event["args"]["device"]
        expected = Counter((e["pid"], device_of(e), e["cat"], e["name"], round(e["ts"], 3), round(e["ts"] + e["dur"], 3)) for e in events)
        found = Counter()
        for number, _, began, ended, _ in line["measured"]:
            row, kind, name = line["events"][number][:3]
            found[(*line["rows"][row], kind, name, began, ended)] += 1
        self.assertEqual(found, expected)
        # Predicted: each call once, for as long as it says, counted in the time of its batch.
        calls = {(e["pid"], *map(str, (e["args"].get(k) for k in ("sequence", "batch", "trips", "task", "member", "message")))): e
                 for e in events if e["cat"] != "wait"}
        self.assertEqual(len({number for number, *_ in line["predicted"]}), len(calls))
        self.assertEqual(sorted({tuple(row) for row in line["rows"]}, key=str), sorted({(e["pid"], device_of(e)) for e in events}, key=str))
        for pieces in (line["measured"], line["predicted"]):
            free = {}
            for number, lane, began, ended, _ in pieces:
                where = line["events"][number][0], lane
                self.assertGreaterEqual(began + 0.0021, free.get(where, 0))
                free[where] = ended
        return calls

    def test_threads(self):
        for text in (LAYER, STENCIL):
            for threads in (1, 2, 3):
                with self.subTest(threads=threads):
                    events = self.traced(text, "--threads", str(threads))
                    line = self.time_line()
                    calls = self.assert_shows(line, events)
                    self.assertAlmostEqual(line["predicted_us"], sum(e["args"]["predicted_us"] or 0 for e in calls.values()), delta=0.01 * len(calls))
                    # Batches are barriers: one worker is busy in each from its beginning to its end.
                    critical = [piece[2:4] for piece in line["predicted"] if piece[4]]
                    self.assertAlmostEqual(covered(critical), line["predicted_us"], delta=0.01 * len(calls))
                    self.assertEqual(max(piece[3] for piece in line["measured"]), max(piece[3] for piece in line["measured"] if piece[4]))
                    batches = {}
                    for number, _, began, ended, critical in line["measured"]:
                        batches.setdefault(str(line["events"][number][7]), []).append((ended, critical))
                    for pieces in batches.values():
                        self.assertEqual(max(pieces)[1] if len({e for e, _ in pieces}) == len(pieces) else 1, 1)

    @unittest.skipUnless(MPIRUN, "needs mpirun")
    def test_processes(self):
        for ranks in (2, 3):
            events = self.traced(LAYER, "--threads", "1", ranks=ranks)
            line = self.time_line()
            calls = self.assert_shows(line, events)
            critical = [piece[2:4] for piece in line["predicted"] if piece[4]]
            self.assertAlmostEqual(covered(critical), line["predicted_us"], delta=0.01 * len(calls))
            self.assertEqual({process for process, _ in line["rows"]}, set(range(ranks)))

    def test_other_programs_plans_and_meshes_are_refused(self):
        self.traced(LAYER)
        inspect = ("inspect", "--trace", "t.json", "-o", "r.html")
        refused = r"^t\.json:1:\d+: error\[T1402\]: this trace is of another program, plan or mesh: .*\n(.*\n)*help: "
        for text in (LAYER.replace("/ 64", "/ 65"), LAYER.replace("model: 3", "model: 6"), STENCIL):
            self.write("q.tap", text)
            self.expect(1, refused, *inspect, "q.tap")
        self.write("other.plan", "plan 2\nsplit h dim k into 2\n")
        self.expect(1, refused, *inspect, "p.tap", "--plan", "other.plan")
        self.assertFalse((self.folder / "r.html").exists())
        self.expect(2, "`--trace` needs a report", "inspect", "p.tap", "--trace", "t.json")
        self.expect(2, "--trace.* needs a report", "inspect", "p.tap", "--trace", "t.json", "-o", "p.svg")
        self.expect(2, "`none.json` cannot be read", *inspect[:2], "none.json", "p.tap", "-o", "r.html")
        self.expect(2, "is a directory", *inspect[:2], ".", "p.tap", "-o", "r.html")

    def test_the_plan_of_the_run_is_in_the_trace(self):
        """A plain run, whatever the cost model decided; the plan by file gives the same report."""
        for text in (LAYER, STENCIL, FUSED):
            for options in ((), ("--evaluations=0",), ("--plan=none",)):
                self.traced(text, *options)
                report = json.loads(self.expect(0, "^", "inspect", "p.tap", "--trace", "t.json", "--format=report-json").stdout)
                self.assertEqual(list(problems(report, SCHEMA))[:5], [])
                self.assertEqual(report["plan"], "t.json")
                again = json.loads(self.expect(0, "^", "inspect", "p.tap", "--plan", "p.plan", "--trace", "t.json", "--format=report-json").stdout)
                self.assertEqual(again.pop("plan"), "p.plan")
                report.pop("plan")
                self.assertEqual(report, again)
        # Another plan than the one that ran is refused, given or in the trace; so is a trace without a plan that needs one.
        self.write("given.plan", "plan 2\nsplit H dim i into 2\nevaluations 0\n")
        self.traced(FUSED, "--plan", "given.plan")
        self.write("none.plan", "plan 2\nevaluations 0\n")
        trace = json.loads((self.folder / "t.json").read_text())
        self.assertIn("split H", trace["otherData"]["plan"])
        refused = r"^t\.json:1:\d+: error\[T1402\]: this trace is of another program, plan or mesh: "
        inspect = ("inspect", "p.tap", "--trace", "t.json", "-o", "r.html")
        self.expect(1, refused, *inspect, "--plan", "none.plan")
        for plan in ("plan 2\nevaluations 0\n", "plan 2\nsplit nothing dim i into 2\n", "no plan", None):
            if plan is None:
                del trace["otherData"]["plan"]
            else:
                trace["otherData"]["plan"] = plan
            self.write("t.json", json.dumps(trace))
            self.expect(1, refused, *inspect)
        self.assertFalse((self.folder / "r.html").exists())

    def test_malformed_traces(self):
        self.traced(LAYER)
        good = (self.folder / "t.json").read_bytes()
        inspect = ("inspect", "p.tap", "--plan", "p.plan", "--trace", "bad.json", "-o", "r.html")
        malformed = r"^bad\.json:\d+:\d+: error\[(T1101|T1402|T0\d\d\d)\]: "
        chance = random.Random(23)
        texts = [good[:chance.randrange(len(good) - 2)] for _ in range(15)]
        texts += [b"", b"[" * 100_000, b"null", b"{}", b'{"otherData":{"format":"tap-trace","version":1,"program":"x","processes":99999999999}}',
                  good.replace(b'"ts":', b'"ts":-1e400,"x":'), good.replace(b'"pid":0', b'"pid":7'), good.replace(b'"name"', b'"nam"'),
                  good.replace(b'"args":{', b'"args":{"args":{', 5), good.replace(b'"sequence":0', b'"sequence":"0"')]
        for text in texts:
            self.write("bad.json", text)
            self.expect(1, malformed, *inspect)
        for _ in range(60):  # a changed byte may be harmless
            text = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                text[chance.randrange(len(text))] = chance.randrange(32, 127)
            self.write("bad.json", bytes(text))
            result = self.tapc(*inspect)
            self.assertIn(result.returncode, (0, 1), result.output)
            if result.returncode:
                self.assertRegex(result.output, malformed)
        self.write("bad.json", good + b" " * (65 << 20))
        self.expect(1, r"error\[T1105\]: `bad.json` is larger than 64 MiB", *inspect)
        self.assertNoTemporaries()


if __name__ == "__main__":
    unittest.main()
