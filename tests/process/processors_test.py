#!/usr/bin/python3
"""Which processors commands use: one thread per core of the affinity mask, --cpus, `cpus` in machine files. processors_test.py TAPC"""
import contextlib
import json
import re
import time
from pathlib import Path

from mpi_job import MPIRUN, MpiTest
from tapc import *

MESHED = """mesh pod = [x: 2]
program main(X: f32[90, 64] @ pod[{x}, {}], W: f32[64, 70]) -> (Y: f32[90, 70], s: f32[90]) {
    Y[i, j] = sum[k] X[i, k] * W[k, j]
    s[i] = sum[j] exp(Y[i, j] / 64)
}
"""
INPUTS = ["-i", "X=rand:1", "-i", "W=rand:2"]
ALLOWED = sorted(os.sched_getaffinity(0))
SYSTEM = Path("/sys/devices/system")
UNBOUND = {"OMPI_MCA_hwloc_base_binding_policy": "none"}  # by default each process of two has a core


def numbers(text):
    """Of a list such as 0-3,8."""
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def cores(processors):
    """How many cores these belong to, read in another way than tapc does."""
    names = set()
    for processor in processors:
        try:
            names.add((SYSTEM / f"cpu/cpu{processor}/topology/thread_siblings_list").read_text())
        except OSError:
            names.add(str(processor))
    return len(names)


def quota():
    with contextlib.suppress(OSError, ValueError):
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return -(-int(limit) // int(period))
    return 1 << 20


ONLINE = numbers((SYSTEM / "cpu/online").read_text())
LACKING = max(ONLINE) + 1
FIRST, LAST = ALLOWED[0], ALLOWED[-1]


def threads(processors):
    return min(cores(processors), quota())


def only(*processors):
    return lambda: os.sched_setaffinity(0, processors)


@unittest.skipIf(len(ALLOWED) < 2, "one processor")
class Processors(MpiTest):
    def setUp(self):
        super().setUp()
        self.write("p.tap", MESHED)

    def threads_of_run(self, *options, **how):
        output = self.expect(0, ".*", "run", "p.tap", *INPUTS, "--plan", "none", "--summary", "-o", "@r.npz", *options, **how).output
        return int(re.search(r"on (\d+) threads?", output)[1])

    def threads_of_cost(self, *options, **how):
        result = self.expect(0, "^$", "cost", "p.tap", "--plan", "none", "--json", *options, **how)
        return json.loads(result.stdout)["threads"]

    def test_a_thread_for_each_core_of_the_mask(self):
        for mask in (ALLOWED, [FIRST], [LAST]):
            self.assertEqual(self.threads_of_run(before=only(*mask)), threads(mask))
            self.assertEqual(self.threads_of_cost(before=only(*mask)), threads(mask))

    def test_named_processors(self):
        for list, chosen in ((f"{LAST}", [LAST]), (f"{FIRST},{LAST}", [FIRST, LAST]), (f"{LAST},{FIRST},{LAST}", [FIRST, LAST]),
                             (f"{FIRST}-{FIRST}", [FIRST])):
            self.assertEqual(self.threads_of_run("--cpus", list), threads(chosen), list)
            self.assertEqual(self.threads_of_cost("--cpus", list), threads(chosen), list)
        self.assertEqual(self.threads_of_run("--cpus", "all"), min(len(ALLOWED), quota()))
        self.assertEqual(self.threads_of_run("--cpus", "all", before=only(LAST)), 1)
        self.assertEqual(self.threads_of_run("--cpus", f"{LAST}", "--threads", "3"), 3)

    @unittest.skipUnless((SYSTEM / "node/node0/cpulist").exists(), "no node 0")
    def test_nodes(self):
        node = numbers((SYSTEM / "node/node0/cpulist").read_text())
        if not node & set(ALLOWED):
            self.skipTest("node 0 is not allowed")
        self.assertEqual(self.threads_of_run("--cpus", "node:0"), threads(node & set(ALLOWED)))
        mine = min(node & set(ALLOWED))
        self.assertEqual(self.threads_of_run("--cpus", "node:0", before=only(mine)), 1)

    def test_lists_that_are_refused(self):
        missing = rf"error\[T1206\]: `--cpus {FIRST}-{LACKING + 98}`: this machine has no processors [\d,-]*{LACKING}[\d,-]*"
        nodes = [r"error\[T1206\]: `--cpus node:8000`: this machine has no node 8000\nhelp: it has nodes? [\d,-]+\n"]
        for command in (["run", "p.tap", *INPUTS], ["bench", "p.tap", "--seconds", "0.01"], ["cost", "p.tap"], ["calibrate", "-o", "m.toml"],
                        ["plan", "p.tap", "--mesh", "x=2"], ["diff", "p.tap", "none", "decided"]):
            with self.subTest(command=command):
                self.expect(4, nodes[0], *command, "--cpus", "node:8000")
                self.expect(4, missing, *command, "--cpus", f"{FIRST}-{LACKING + 98}")
                self.expect(4, rf"T1206\]: `--cpus {FIRST}`: this process may not use processor {FIRST}\n"
                               rf"help: its affinity mask allows processor {LAST};", *command, "--cpus", f"{FIRST}", before=only(LAST))
                for text in ("", "x", "1-0", "0,", "node:", "all,0", "0 1"):
                    self.expect(2, rf"error\[T1001\]: --cpus: expected processors such as 0-3,8, nodes such as node:0 or node:0-1, or `all`, "
                                   rf"not `{re.escape(text)}`\n", *command, "--cpus", text)
        self.assertEqual([path.name for path in self.files()], ["p.tap"])

    def test_the_same_bits(self):
        self.expect(0, ".*", "run", "p.tap", *INPUTS, "--plan-out", "p.plan", "-o", "@plain.safetensors")
        found = set()
        for options in ([], ["--cpus", f"{LAST}"], ["--cpus", f"{FIRST},{LAST}"], ["--cpus", "all"], ["--cpus", f"{FIRST}", "--threads", "3"]):
            self.expect(0, ".*", "run", "p.tap", *INPUTS, "--plan", "p.plan", *options, "-o", "@r.safetensors")
            found.add((self.folder / "r.safetensors").read_bytes())
        self.assertEqual(found, {(self.folder / "plain.safetensors").read_bytes()})

    def masks_in_bench(self, *options, before=None):
        """What the threads of a running program may use; the first one may have another mask before it runs."""
        self.write("long.tap", "program main(X: f32[512, 512]) -> (Y: f32[512, 512]) { Y[i, j] = sum[k] X[i, k] * X[k, j] }\n")
        process = subprocess.Popen([TAPC, "bench", "long.tap", "--seconds", "60", "--no-cache", *options], cwd=self.folder,
                                   env={"HOME": str(self.folder)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=before)
        try:
            seen, deadline = [], time.monotonic() + 15 * SLOWNESS
            while time.monotonic() < deadline:
                now = []
                for status in sorted(Path(f"/proc/{process.pid}/task").glob("*/status")):
                    with contextlib.suppress(OSError):
                        now.append(re.search(r"^Cpus_allowed_list:\s*(\S+)", status.read_text(), re.M)[1])
                seen.append(tuple(now))
                if len(seen) > 4 and len(set(seen[-4:])) == 1 and time.monotonic() > deadline - 12 * SLOWNESS:
                    break
                time.sleep(0.2)
            return seen[-1]
        finally:
            process.kill()
            process.wait()

    @unittest.skipIf(SANITIZED, "a sanitizer may have a thread of its own")
    @unittest.skipIf(cores(ALLOWED) < 2 or quota() < 2, "one core")
    def test_threads_are_pinned_to_the_chosen(self):
        two = [FIRST, next(p for p in ALLOWED if cores([FIRST, p]) == 2)]
        pinned = tuple(map(str, two))
        one_list = ",".join(pinned)
        self.assertEqual(self.masks_in_bench("--cpus", one_list), pinned)
        self.assertEqual(self.masks_in_bench("--cpus", pinned[1]), (pinned[1],))
        unpinned = self.masks_in_bench("--cpus", one_list, "--no-pin")
        self.assertEqual([numbers(mask) for mask in unpinned], [set(two)] * 2)
        if set(two) == ONLINE:
            self.assertEqual(self.masks_in_bench(), pinned)

    def test_machine_files(self):
        machine = ["--machine", "m.toml"]
        self.write("m.toml", f'cpus = "{LAST}"\n')
        self.assertEqual(self.threads_of_run(*machine), 1)
        self.assertEqual(self.threads_of_cost(*machine), 1)
        self.assertEqual(self.threads_of_run(*machine, "--cpus", f"{FIRST},{LAST}"), threads([FIRST, LAST]))  # the option wins
        self.assertEqual(self.threads_of_run(*machine, "--engine", "interp", "--threads", "1"), 1)
        self.expect(4, rf"error\[T1206\]: `cpus = \"{LAST}\"` in `m\.toml`: this process may not use processor {LAST}\n", "run", "p.tap", *INPUTS,
                    *machine, before=only(FIRST))
        self.write("m.toml", 'threads = 64\ncpus = "node:8000"\n')
        for command in (["run", "p.tap", *INPUTS], ["bench", "p.tap", "--seconds", "0.01"]):
            self.expect(4, r"error\[T1206\]: `cpus = \"node:8000\"` in `m\.toml`: this machine has no node 8000\n", *command, *machine)
        self.assertEqual(self.threads_of_cost(*machine), 64)  # a prediction is for that machine
        self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=2", *machine)
        self.expect(0, ".*", "compile", "p.tap", "-o", "p.so", *machine)
        self.write("m.toml", f'cpus = "{LAST}"\n[[devices]]\nname = "a"\ncount = 2\n')
        self.assertEqual(self.threads_of_run(*machine), 1)
        for value in ('"x"', '""', "0", "[0, 1]", '"3-1"', "true"):
            self.write("m.toml", f"threads = 2\ncpus = {value}\n")
            for command in (["run", "p.tap", *INPUTS], ["compile", "p.tap", "-o", "p.so"], ["cost", "p.tap"]):
                self.expect(3, r"m\.toml:2:8: error\[T1101\]: `cpus` is not a list of processors[\s\S]*"
                               r"help: write processors such as 0-3,8, nodes such as node:0 or node:0-1, or `all` in quotes", *command, *machine)
        self.write("m.toml", '[[devices]]\nname = "a"\ncpus = "0"\n')
        self.expect(3, r"unknown key in \[\[devices\]\]: `cpus`", "run", "p.tap", *INPUTS, *machine)

    def test_an_installed_file_does_not_fix_the_number_of_threads(self):
        folder = self.folder / ".config" / "tapc"
        folder.mkdir(parents=True)
        for said in (1, 64):
            (folder / "machine.toml").write_text(f"threads = {said}\nscaling = 0.5\n")
            self.assertEqual(self.threads_of_run(), threads(ALLOWED))
            for mask in (ALLOWED, [LAST]):
                self.expect(0, ".*", "simulate", "p.tap", "--json", before=only(*mask))
                simulated = json.loads(self.tapc("simulate", "p.tap", "--json", before=only(*mask)).stdout)
                self.assertEqual(simulated["threads"], threads(mask))
        # A file that is named describes its machine.
        simulated = json.loads(self.tapc("simulate", "p.tap", "--json", "--machine", folder / "machine.toml").stdout)
        self.assertEqual(simulated["threads"], 64)
        (folder / "machine.toml").write_text(f'cpus = "{LAST}"\n')
        self.assertEqual(self.threads_of_run(), 1)
        self.assertEqual(self.threads_of_run("--machine", "builtin"), threads(ALLOWED))

    def test_compiled_libraries(self):
        self.expect(0, ".*", "compile", "p.tap", "-o", "p.so", "--emit=py")
        self.write("count.py", "import os, sys\nbefore = len(os.listdir('/proc/self/task'))\nimport p_program\n"
                               "p = p_program.Program(threads=0)\nprint(len(os.listdir('/proc/self/task')) - before + 1)\n")
        for mask in (ALLOWED, [LAST]):
            result = subprocess.run(["/usr/bin/python3", "count.py"], cwd=self.folder, preexec_fn=only(*mask), capture_output=True, text=True,
                                    env={"OPENBLAS_NUM_THREADS": "1"}, timeout=60 * SLOWNESS)
            self.assertEqual(result.stdout, f"{threads(mask)}\n", result.stderr)
        # tapc runs them, too.
        inputs = [word for name, type in (("X", "f32[90, 64]"), ("W", "f32[64, 70]")) for word in ("-i", f"{name}=rand:1")]
        for options, expected in (([], threads(ALLOWED)), (["--cpus", f"{LAST}"], 1)):
            output = self.expect(0, ".*", "run", "p.json", *inputs, "--summary", "-o", "@r.npz", *options).output
            self.assertIn(f"on {expected} thread", output)

    @unittest.skipUnless(MPIRUN, "no launcher")
    def test_jobs(self):
        run = ["run", "p.tap", *INPUTS, "--plan", "none", "--mpi", "--summary", "-o", "@r.npz"]
        self.expect(0, ".*", "run", "p.tap", *INPUTS, "--plan", "none", "-o", "@alone.npz")
        for list in (f"{LAST}", f"{FIRST},{LAST}"):
            result = self.job(2, *run, "--cpus", list, environment=UNBOUND)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"on {threads(numbers(list))} thread", result.stderr)
            self.assertEqual((self.folder / "r.npz").read_bytes(), (self.folder / "alone.npz").read_bytes())

        # Each process has its part of the list, or nothing.
        def bound(list):
            script = f'taskset -c $((OMPI_COMM_WORLD_RANK + PMI_RANK == 0 ? {FIRST} : {LAST})) "$0" "$@"'
            return self.job(2, "--wdir", self.folder, "sh", "-c", script, TAPC, *run, "--cpus", list, environment=UNBOUND)
        result = bound(f"{FIRST},{LAST}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("on 1 thread", result.stderr)
        result = bound(f"{FIRST}")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertRegex(result.stderr, rf"process 1 of the job: tapc: error\[T1206\]: `--cpus {FIRST}`: this process may not use processor {FIRST}\n")


if __name__ == "__main__":
    unittest.main()
