#!/usr/bin/python3
"""tapc run --trace, --metrics, --slowest, --progress: each task of the schedule once, with its prediction. metrics_test.py TAPC"""
import json
import pty
import re
from collections import Counter, defaultdict
from math import prod

from json_schema import problems
from mpi_job import *
from tapc import *
from traced_programs import GATHERED, LAYER, STENCIL

LAYER_INPUTS = ["-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3"]
BLOCKS = "plan 2\nsplit y/v dim i into 5\n"
SCHEMAS = {name: json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text()) for name in ("metrics", "trace")}
ROWS_OF_MESSAGES = 1 << 20
CLOCKS = {"ts", "dur", "tid", "measured_us"}


def sequences_of(text):
    """The batches of each sequence of a schedule's text, with the lines of their tasks."""
    sequences = []
    for line in text.split("\n"):
        if re.match(r"sequence|preparation", line):
            sequences.append([])
        elif sequences and line.startswith("  "):
            sequences[-1][-1].append(line.strip())
        elif line == "batch":
            sequences[-1].append([])
    return sequences


def members_of(task):
    return prod(int(n) for n in re.findall(r" times (\d+) by ", task))


def without_clocks(trace):
    def cleaned(event):
        kept = {key: value for key, value in event.items() if key not in CLOCKS or event["ph"] == "M"}
        kept["args"] = {key: value for key, value in event.get("args", {}).items() if key not in CLOCKS}
        return kept
    return [cleaned(event) for event in trace["traceEvents"]]


class Metrics(MpiTest):
    def traced(self, *arguments, ranks=None):
        """The trace of a run, whose workers do one thing at a time."""
        words = ["run", *arguments, "--trace", "t.json", "--metrics", "m.json", "-o", "@results.npz"]
        if ranks:
            result = self.job(ranks, *words, "--mpi")
            self.assertEqual(result.returncode, 0, result.stderr)
        else:
            self.expect(0, "wrote .*`results.npz`, `t.json`, `m.json`", *words)
        self.assertNoTemporaries()
        trace = json.loads((self.folder / "t.json").read_text())
        self.metrics = json.loads((self.folder / "m.json").read_text())
        self.assertEqual(list(problems(trace, SCHEMAS["trace"])), [])
        self.assertEqual(list(problems(self.metrics, SCHEMAS["metrics"])), [])
        self.assertEqual(trace["otherData"]["program"], self.metrics["program"])
        rows = defaultdict(list)
        for event in trace["traceEvents"]:
            if event["ph"] == "X" and event["tid"] < ROWS_OF_MESSAGES:
                rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        for row in rows.values():
            row.sort()
            for (_, end), (begin, _) in zip(row, row[1:]):
                self.assertLess(end, begin + 0.0015)
        return trace

    def tasks_of(self, trace):
        return [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] not in ("send", "message", "wait")]

    def assert_each_task_once(self, trace, sequences, trips):
        """`trips`: how often each sequence runs."""
        tiles = defaultdict(list)
        for event in self.tasks_of(trace):
            a = event["args"]
            self.assertEqual(a["what"].split(" ")[0], {"kernel": "kernel", "copy": "copy", "transfer": "copy"}.get(
                sequences[a["sequence"]][a["batch"]][a["task"]].split(" ")[0], "") if event["cat"] != "transfer" else "transfer")
            tiles[a["sequence"], a["batch"], a["task"], a["member"], tuple(a["trips"])].append((*a["tiles"], a["of_tiles"]))
        expected = {(s, b, t, m, trip) for s, batches in enumerate(sequences) for b, batch in enumerate(batches)
                    for t, task in enumerate(batch) if not task.startswith("iterate") for m in range(members_of(task)) for trip in trips[s]}
        self.assertEqual(set(tiles), expected)
        for parts in tiles.values():
            at = 0
            for first, end, of in sorted(parts):
                self.assertEqual(first, at)
                at = end
            self.assertEqual(at, of)

    def test_each_task_of_the_schedule(self):
        for text, inputs, plan, trips in ((LAYER, LAYER_INPUTS, None, [[()]]), (STENCIL, ["-i", "x=rand:1"], None, [[()], [(k,) for k in range(7)]]),
                                          (STENCIL, ["-i", "x=rand:1"], BLOCKS, [[()], [(k,) for k in range(7)]])):
            self.write("p.tap", text)
            self.write("p.plan", plan or "plan 2\n")
            self.expect(0, ".*", "compile", "p.tap", "--plan", "p.plan", "-o", "p.schedule")
            sequences = sequences_of((self.folder / "p.schedule").read_text())
            for threads in ("1", "2", "3"):
                with self.subTest(threads=threads, plan=plan):
                    trace = self.traced("p.tap", *inputs, "--plan", "p.plan", "--threads", threads)
                    self.assert_each_task_once(trace, sequences, trips)

    def test_all_but_the_clocks_is_the_same_again(self):
        self.write("p.tap", LAYER)
        for ranks in (None, 3):
            first, again = (self.traced("p.tap", *LAYER_INPUTS, "--threads", "2", ranks=ranks) for _ in range(2))
            self.assertEqual(without_clocks(first), without_clocks(again))
            self.assertEqual(first["otherData"], again["otherData"])

    def test_kernels_are_compiled_once_per_node(self):
        """All processes call the same kernels: each compiles a share, the others receive it; from a cache all have them."""
        self.write("p.tap", LAYER)
        self.traced("p.tap", *LAYER_INPUTS, "--no-cache")
        alone = self.metrics["processes"][0]["kernels"]
        self.assertEqual((alone["cached"], alone["received"]), (0, 0))
        for ranks, words in ((3, ["--no-cache"]), (4, ["--no-cache"]), (3, ["--cache-dir", "kernels"])):
            self.traced("p.tap", *LAYER_INPUTS, *words, ranks=ranks)
            found = [process["kernels"] for process in self.metrics["processes"]]
            self.assertEqual(sum(one["compiled"] for one in found), alone["compiled"])
            self.assertLess(max(one["compiled"] for one in found), alone["compiled"])
        self.traced("p.tap", *LAYER_INPUTS, "--cache-dir", "kernels", ranks=3)
        for process in self.metrics["processes"]:
            self.assertEqual((process["kernels"]["compiled"], process["kernels"]["received"]), (0, 0))
            self.assertGreater(process["kernels"]["cached"], 0)

    @unittest.skipUnless(os.environ.get("TAP_MPI") == "mpich", "MPICH can pretend that a machine is two nodes")
    def test_kernels_are_compiled_on_each_of_two_nodes(self):
        self.write("p.tap", LAYER)
        self.traced("p.tap", *LAYER_INPUTS, "--no-cache")
        alone = self.metrics["processes"][0]["kernels"]["compiled"]
        result = self.job(4, "run", "p.tap", *LAYER_INPUTS, "--no-cache", "-o", "@r.npz", "--metrics", "m.json", "--mpi",
                          environment={"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        compiled = [process["kernels"]["compiled"] for process in json.loads((self.folder / "m.json").read_text())["processes"]]
        self.assertEqual((compiled[0] + compiled[2], compiled[1] + compiled[3]), (alone, alone))

    def test_processes_do_the_same_as_threads(self):
        def kernels(trace):
            found = Counter()
            for event in self.tasks_of(trace):
                a = event["args"]
                if event["cat"] == "kernel" and a["device"] is not None and a["tiles"][0] == 0:
                    found[event["name"], a["box"], a["device"]] += 1
            return found
        self.write("p.tap", LAYER)
        alone = kernels(self.traced("p.tap", *LAYER_INPUTS))
        self.assertEqual(max(alone.values()), 1)
        for ranks in (2, 3, 7):
            trace = self.traced("p.tap", *LAYER_INPUTS, ranks=ranks)
            self.assertEqual(kernels(trace), alone)
            for event in self.tasks_of(trace):
                if event["args"]["device"] is not None:  # 6 devices, in blocks
                    self.assertEqual(event["pid"], min(event["args"]["device"] // (6 // ranks), ranks - 1) if ranks < 7 else event["args"]["device"])

    def test_messages(self):
        self.write("p.tap", LAYER)
        trace = self.traced("p.tap", *LAYER_INPUTS, ranks=3)
        sent = {event["args"]["message"]: event for event in trace["traceEvents"] if event.get("cat") == "send"}
        received = {event["args"]["message"]: event for event in trace["traceEvents"] if event.get("cat") == "message"}
        self.assertEqual(set(sent), set(received))
        self.assertGreater(len(sent), 6)
        for number, one in received.items():
            other = sent[number]
            for key in ("box", "device", "from_device", "bytes", "from_process", "to_process"):
                self.assertEqual(one["args"][key], other["args"][key], number)
            self.assertEqual(one["name"], other["name"])
            self.assertEqual((other["pid"], one["pid"]), (one["args"]["from_process"], one["args"]["to_process"]))
            self.assertLessEqual(other["ts"], one["ts"] + one["dur"])
            self.assertIsNotNone(one["args"]["predicted_us"])
        flows = Counter((event["ph"], event["id"]) for event in trace["traceEvents"] if event.get("cat") == "flow")
        self.assertEqual(flows, Counter((phase, number) for phase in "sf" for number in sent))
        messages = [row for row in self.metrics["transfers"] if row["what"] == "message"]
        self.assertEqual(sum(row["bytes"] for row in messages), sum(event["args"]["bytes"] for event in received.values()))
        self.assertEqual(len(self.metrics["processes"]), 3)

    def test_messages_travel_during_earlier_work(self):
        """Weights that are gathered for a layer arrive while the layer before computes."""
        self.write("p.tap", GATHERED)
        trace = self.traced("p.tap", *sum((["-i", f"{name}=rand:{k}"] for k, name in enumerate(("X", "W0", "W1", "W2"))), []), ranks=2)
        batch_of = {}
        for event in trace["traceEvents"]:
            if event["ph"] == "X" and event.get("cat") != "wait" and "batch" in event["args"]:
                batch_of[event["name"], event["pid"], event.get("cat") == "message"] = event["args"]["batch"]
        for process in (0, 1):
            self.assertEqual(batch_of["P1", process, True], batch_of["H0", process, False])
            self.assertIn(batch_of["P2", process, True], (batch_of["H0", process, False], batch_of["H1", process, False]))
            self.assertGreater(batch_of["P1", process, True], batch_of["U0", process, False])

    def test_predictions_are_those_of_cost(self):
        for text, inputs in ((LAYER, LAYER_INPUTS), (STENCIL, ["-i", "x=rand:1"])):
            self.write("p.tap", text)
            predicted = json.loads(self.expect(0, ".*", "cost", "p.tap", "--threads", "2", "--json").stdout)
            trace = self.traced("p.tap", *inputs, "--threads", "2")
            self.assertAlmostEqual(self.metrics["processes"][0]["predicted"], predicted["total"]["seconds"], delta=1e-15)
            sums = Counter()
            for row in self.metrics["tasks"] + self.metrics["transfers"]:
                sums[row["operation"]] += row["predicted"]
            expected = Counter()
            for row in predicted["operations"]:
                if row["task"] != "run":
                    expected[row["operation"]] += row["seconds"]
            self.assertEqual(set(sums), set(expected))
            for name, seconds in expected.items():
                self.assertAlmostEqual(sums[name], seconds, delta=1e-12)
            in_trace = {(a["sequence"], a["batch"], a["task"], a["member"]): a["predicted_us"] for a in (e["args"] for e in self.tasks_of(trace))}
            for row in self.metrics["tasks"]:
                key = tuple(row[k] for k in ("sequence", "batch", "task", "member"))
                self.assertAlmostEqual(in_trace[key], row["predicted"] / row["runs"] * 1e6, delta=0.001)

    def test_measured_times_add_up(self):
        self.write("p.tap", STENCIL)
        self.traced("p.tap", "-i", "x=rand:1")
        self.assertAlmostEqual(sum(row["measured"] for row in self.metrics["tasks"] + self.metrics["transfers"]),
                               self.metrics["processes"][0]["measured"], delta=1e-9)
        (row,) = [row for row in self.metrics["tasks"] if row["operation"] == "v"]
        self.assertEqual((row["runs"], row["bytes"], row["device"]), (7, 7 * 2 * 4 * 40 * 6, None))

    def test_it_names_the_program(self):
        self.write("p.tap", LAYER)
        self.write("p.plan", "plan 2\nsplit s dim i into 2\n")
        programs = set()
        for plan in ([], ["--plan", "p.plan"]):
            trace = self.traced("p.tap", *LAYER_INPUTS, *plan, "--certificate", "c")
            programs.add(trace["otherData"]["program"])
            self.assertIn(f'after "{trace["otherData"]["program"]}"', (self.folder / "c").read_text())
        self.assertEqual(len(programs), 2)

    def test_slowest(self):
        self.write("p.tap", LAYER)
        for ranks in (None, 2):
            words = ["run", "p.tap", *LAYER_INPUTS, "--slowest", "2", "-o", "@results.npz"]
            output = self.job(ranks, *words, "--mpi").stderr if ranks else self.expect(0, ".*", *words).output
            slowest, worst = (re.search(rf"{title} .*measured +predicted +ratio.*\n((?:.*\n)*?)(?:\n|process|$)", output).group(1)
                              for title in ("slowest tasks", "worst predictions"))
            self.assertEqual((slowest.count("\n"), worst.count("\n")), (2, 2))
            self.assertRegex(output, r"process 0: .* measured, .* predicted, on \d threads?\n")
            self.assertEqual(output.count("slowest tasks"), 1)

    def test_what_cannot_be_measured(self):
        self.write("p.tap", LAYER)
        for words, code, message in ((["--trace", "t.json", "--engine", "interp"], 2, "need a program that runs as native code"),
                                     (["--metrics", "p.tap"], 3, "is the same file as `p.tap`, which was read"),
                                     (["--metrics", "t.json", "--trace", "t.json"], 2, "is the name of two outputs"),
                                     (["--trace", "none/t.json"], 4, "`none/t.json` cannot be written"),
                                     (["--slowest", "0"], 2, "--slowest")):
            self.expect(code, message, "run", "p.tap", *LAYER_INPUTS, "-o", "Y=@y.npy", *words)
            self.assertEqual([path.name for path in self.files()], ["p.tap"])
        self.expect(0, ".*", "compile", "p.tap", "-o", "libp.so")
        self.expect(2, "need a program", "run", "libp.json", *LAYER_INPUTS, "--slowest", "1")

    def test_a_run_that_fails_has_no_trace(self):
        self.write("p.tap", "program main(a: i32[8], b: i32[8]) -> (c: i32[8]) { c[i] = a[i] / b[i] }\n")
        self.expect(6, "division by zero", "run", "p.tap", "-i", "a=iota", "-i", "b=iota", "--trace", "t.json", "--metrics", "m.json")
        self.expect(5, "not as expected", "run", "p.tap", "-i", "a=iota", "-i", "b=[1, 1, 1, 1, 1, 1, 1, 1]", "--trace", "t.json",
                    "--expect", "c=zeros")
        self.assertEqual([path.name for path in self.files()], ["p.tap"])

    def test_without_them_no_clock_is_read(self):
        self.write("clocks.c", r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long count;
int clock_gettime(clockid_t id, struct timespec* now) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return syscall(SYS_clock_gettime, id, now);
}
__attribute__((destructor)) static void show(void) { dprintf(2, "%ld clocks\n", count); }
""")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "clocks.so", self.folder / "clocks.c"], check=True)
        self.write("p.tap", STENCIL.replace("iterate 7", "iterate 20000"))
        counts = []
        for words in ([], ["--trace", "t.json"]):
            result = self.tapc("run", "p.tap", "-i", "x=rand:1", "-o", "@y.npz", *words, environment={"LD_PRELOAD": str(self.folder / "clocks.so")})
            counts.append(int(re.search(r"(\d+) clocks", result.output).group(1)))
        self.assertLess(counts[0], 5000)
        self.assertGreater(counts[1], 20000)

    def test_time_left(self):
        """On a terminal, of a run of some seconds."""
        self.write("k.c", r"""
#include <stdint.h>
#include <unistd.h>
struct region { void* data; const int64_t *extents, *strides; };
void waits(const int64_t* box, const int64_t* extents, const struct region* regions) {
  (void)extents;
  for (int64_t i = box[0]; i < box[1]; ++i) ((float*)regions[1].data)[i] = ((float*)regions[0].data)[i];
  usleep(200000);
}
""")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "k.so", self.folder / "k.c"], check=True)
        self.write("p.tap", "extern op copied(x: f32[n]) -> (y: f32[n]) {\n    index [] read x at [0] shape [n] write y at [0] shape [n]"
                            " kernel \"waits\" }\nprogram main(X: f32[8]) -> (Y: f32[8]) { Y = iterate 14 (u = X) { copied(u) } }\n")
        words = [TAPC, "run", "p.tap", "-i", "X=iota", "--kernels", self.folder / "k.so", "-o", "Y=@y.npy", "--no-summary"]
        for more, is_shown in (([], True), (["--no-progress"], False)):
            terminal, other = pty.openpty()
            process = subprocess.Popen([*words, *more], cwd=self.folder, stderr=other, stdout=subprocess.DEVNULL, env={
                "HOME": str(self.folder), "TMPDIR": str(self.folder), "TERM": "xterm"})
            os.close(other)
            output = b""
            with open(terminal, "rb", buffering=0) as file:
                try:
                    while part := file.read(4096):
                        output += part
                except OSError:  # the other end is closed
                    pass
            self.assertEqual(process.wait(), 0, output)
            lines = re.findall(rb"\r\x1b\[K(\d+) %, about (\d+) s left, computing `\S+`", output)
            self.assertEqual(bool(lines), is_shown, output)
            if is_shown:
                self.assertEqual(sorted(int(part) for part, _ in lines), [int(part) for part, _ in lines])
                self.assertRegex(output, rb"\r\x1b\[Kwrote `y.npy`")
        self.assertNotIn("left", self.expect(0, ".*", *words[1:]).output)


if __name__ == "__main__":
    unittest.main()
