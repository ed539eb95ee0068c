#!/usr/bin/python3
"""tapc plan: what its options ask for: lists, demands, prices, budgets, kept lines, a plan to start from. plan_requests_test.py TAPC"""
import json
import math
import re
import time

from json_schema import problems
from plan_search_test import MLP
from tapc import *


class PlanRequests(TapcTest):
    def test_least_of_each(self):
        self.write("p.tap", MLP)
        listed = self.expect(0, ".*", "plan", "p.tap", "--mesh", "data=4,model=2", "--list").stdout.decode()
        self.assertRegex(listed, r"^mesh grid \[data: 4, model: 2\], 8 devices\n\d+ strategies, searched exhaustively\n")
        self.assertGreater(len(listed.splitlines()), 2)

    def test_all_plans_as_json(self):
        self.write("p.tap", MLP)
        schema = json.loads((ROOT / "docs/schema/plans.schema.json").read_text())
        for options in (["--mesh", "x=2"], ["--devices", "8"]):
            found = json.loads(self.expect(0, ".*", "plan", "p.tap", *options, "--json").stdout)
            self.assertEqual(list(problems(found, schema)), [])
            costs = [(p["time"], p["memory"], p["traffic"]) for p in found["plans"]]
            self.assertEqual(costs, sorted(costs))
            for a in costs:  # none is worse than another
                self.assertFalse(any(b != a and all(x <= y for x, y in zip(b, a)) for b in costs), costs)

    def test_meshes_are_searched(self):
        self.write("p.tap", MLP.replace("batch = 16", "batch = 512"))
        listed = self.expect(0, ".*", "plan", "p.tap", "--devices", "12", "--list").stdout.decode()
        meshes = lambda text: sorted(re.findall(r"mesh grid (\[.*\])", text))
        self.assertEqual(meshes(listed), ["[x: 12]", "[x: 3, y: 2, z: 2]", "[x: 4, y: 3]", "[x: 6, y: 2]"])
        levels = self.expect(0, ".*", "plan", "p.tap", "--devices", "12", "--list", "--machine",
                             ROOT / "examples/machines/gpu_nodes.toml").stdout.decode()
        self.assertEqual(meshes(levels), ["[x: 12]", "[x: 2, y: 2, z: 3]", "[x: 2, y: 3, z: 2]", "[x: 2, y: 6]", "[x: 3, y: 2, z: 2]",
                                          "[x: 3, y: 4]", "[x: 4, y: 3]", "[x: 6, y: 2]"])
        self.expect(0, ".*", "plan", "p.tap", "--devices", "12", "-o", "p.plan")
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")
        self.assertIn("[x: 1]", self.expect(0, ".*", "plan", "p.tap", "--devices", "1", "--list").stdout.decode())

    def test_demands(self):
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        found = json.loads(self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "--json").stdout)["plans"]
        least = min(p["memory"] for p in found)
        fits = self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "--at-most", f"memory={int(least)}").stdout.decode()
        self.assertRegex(fits, r"// predicted: ")
        refused = self.expect(4, r"T1402\]: no plan meets the limits memory=(1024 KiB|1 MiB); the nearest takes",
                              "plan", "p.tap", "--mesh", "x=4", "--at-most", "memory=1MiB").output
        relaxed = re.search(r"at least (memory=\d+) (\w+)", refused)
        self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "--at-most", "".join(relaxed.groups()))
        self.expect(4, r"time=0.001 us.*traffic=0 B|no plan meets", "plan", "p.tap", "--mesh", "x=4", "--at-most", "time=1ns,traffic=0")
        self.expect(2, "is not a valid limit", "plan", "p.tap", "--mesh", "x=4", "--at-most", "speed=8")
        self.expect(2, "`--at-most memory=-1` is not a valid limit", "plan", "p.tap", "--mesh", "x=4", "--at-most", "memory=-1")
        self.expect(2, "`--mesh` or `--devices` is required", "plan", "p.tap")

    def test_the_mesh_is_that_of_the_program_by_default(self):
        self.write("p.tap", "mesh grid = [rows: 2, columns: 3]\n" + MLP)
        self.assertEqual(self.expect(0, ".*", "plan", "p.tap", "--list").stdout,
                         self.expect(0, ".*", "plan", "p.tap", "--mesh", "rows=2,columns=3", "--list").stdout)

    def test_warnings_are_shown_once(self):
        self.write("p.tap", MLP.replace("{\n", "{\n    unread[i, j] = X[i, j]\n", 1))
        shown = self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=2", "-o", "p.plan").output
        self.assertEqual(shown.count("`unread` is never read"), 1, shown)

    def test_what_the_program_splits_in_a_loop_is_divided_first(self):
        self.write("p.tap", "program p(X: f32[64, 4096]) -> (Y: f32[64, 4096]) {\n    Y[i, j] = exp(X[i, j]) + exp(2 * X[i, j])\n"
                            "    split Y on axis 0 into 2 over sequential\n}\n")
        self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "-o", "p.plan")
        self.assertIn("split Y dim i into 4 over axis grid.x", (self.folder / "p.plan").read_text())
        self.expect(0, ".*", "verify", "p.tap", "--plan", "p.plan")

    def test_demands_concern_lists(self):
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        ask = ["plan", "p.tap", "--mesh", "x=4", "--json"]
        found = json.loads(self.expect(0, ".*", *ask).stdout)["plans"]
        least = min(p["memory"] for p in found)
        fit = json.loads(self.expect(0, ".*", *ask, "--at-most", f"memory={int(least)}").stdout)["plans"]
        self.assertTrue(fit and all(p["memory"] <= least for p in fit))
        for form in ("--json", "--list"):
            self.expect(4, "no plan meets the limits", "plan", "p.tap", "--mesh", "x=4", form, "--at-most", "memory=1MiB")

    def test_a_plan_fits_into_the_devices(self):
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        found = json.loads(self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "--json").stdout)["plans"]
        for memory, code in ((int(min(p["memory"] for p in found)) + 1024, 0), (1 << 20, 4)):
            self.write("m.toml", f'memory = {memory}\n[[links]]\nname = "wire"\ncount = 4\nbandwidth = "10 GB/s"\nlatency = "1 us"\n')
            ask = ["plan", "p.tap", "--mesh", "x=4", "--machine", "m.toml"]
            done = self.expect(code, ".*" if code == 0 else "use more devices, or larger ones: this plan needs memory=", *ask, "--json")
            if code == 0:
                self.assertTrue(all(p["memory"] <= memory for p in json.loads(done.stdout)["plans"]))

    def test_a_mesh_fits_into_the_machine(self):
        self.write("p.tap", MLP)
        ask = ["plan", "p.tap", "--mesh", "x=1000"]
        for name, devices in (("gpu_nodes", 32), ("torus", 64)):
            self.expect(4, f"a mesh of 1000 devices does not fit: the machine file has {devices}(?s:.*)use at most {devices} devices",
                        *ask, "--machine", ROOT / f"examples/machines/{name}.toml")
        nodes = ROOT / "examples/machines/gpu_nodes.toml"
        self.expect(4, "a mesh of 64 devices does not fit", "plan", "p.tap", "--devices", "64", "--machine", nodes)
        self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=32", "--machine", nodes)
        # A file that describes one device says nothing about how many there are; nor does the built-in model.
        self.write("one.toml", "threads = 2\n")
        for machine in ([], ["--machine", "one.toml"]):
            self.expect(0, ".*", *ask, *machine)
        self.expect(0, ".*", "plan", "p.tap", "--mesh", "x=4", "-o", "p.plan")
        self.write("two.toml", '[[links]]\nname = "wire"\ncount = 2\nbandwidth = "10 GB/s"\n')
        for command in (["simulate"], ["cost", "--device", "0"]):
            self.expect(0, ".*", *command, "p.tap", "--plan", "p.plan", "--machine", nodes)
            self.expect(4, "a mesh of 4 devices does not fit: the machine file has 2", *command, "p.tap", "--plan", "p.plan",
                        "--machine", "two.toml")

    def test_a_budget_chooses_the_states(self):
        self.write("p.tap", MLP)
        ask = ["plan", "p.tap", "--mesh", "x=4,y=2"]
        for budget in ("1ms", "5s"):
            found = self.expect(0, ".*", *ask, "--budget", budget).stdout.decode()
            states = re.search(r"--states (\d+)", found)[1]
            again = self.expect(0, ".*", *ask, "--states", states).stdout.decode()
            self.assertEqual(found, again + f"// searched with --states {states}\n")
            if budget == "1ms":
                self.assertEqual(states, "8")
        listed = json.loads(self.expect(0, ".*", *ask, "--budget", "1ms", "--json").stdout)
        self.assertEqual(listed["states"], 8)
        self.assertIn("\nsearched with --states 8\n", self.expect(0, ".*", *ask, "--budget", "1ms", "--list").stdout.decode())
        self.expect(2, "is not a time: write 10s", *ask, "--budget", "soon")
        self.expect(2, "--budget|--states", *ask, "--budget", "1s", "--states", "8")
        # With few states no plan may meet the limits, and the error is that of the last search.
        self.expect(4, "no plan meets the limits", *ask, "--budget", "1s", "--at-most", "time=1ns")

    def test_a_budget_chooses_the_meshes(self):
        """Where there is no time for all: a number of them, which is recorded."""
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        ask = ["plan", "p.tap", "--devices", "64", "--machine", ROOT / "examples/machines/torus.toml"]
        found = self.expect(0, ".*", *ask, "--budget", "1ms").stdout.decode()
        words = re.search(r"\n// searched with (--states 8 --meshes (\d+))\n$", found)
        self.assertTrue(words, found)
        self.assertLess(int(words[2]), 16)
        self.assertEqual(self.expect(0, ".*", *ask, *words[1].split()).stdout.decode(), found.replace(f"// searched with {words[1]}\n", ""))
        listed = json.loads(self.expect(0, ".*", *ask, "--budget", "1ms", "--json").stdout)
        self.assertEqual(list(problems(listed, json.loads((ROOT / "docs/schema/plans.schema.json").read_text()))), [])
        self.assertLess(listed["meshes"], 16)
        # The order: meshes whose axes follow the links, and first those with few axes.
        first = self.expect(0, ".*", *ask, "--states", "8", "--meshes", "4", "--list").stdout.decode()
        self.assertEqual(set(re.findall(r"mesh \w+ \[(.*?)\]", first)), {"x: 64", "x: 16, y: 4", "x: 4, y: 16", "x: 4, y: 4, z: 4"})
        self.expect(2, "--budget|--meshes", *ask, "--budget", "1s", "--meshes", "8")

    def interrupted(self, number, *options, again=False):
        """The exit code, the messages and whether there is a plan; the signal comes while it searches."""
        for delay in (0.3, 1, 3, 9, 27):
            process = subprocess.Popen([TAPC, "plan", *map(str, options), "-o", "p.plan"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                process.wait(timeout=delay * SLOWNESS)
                self.fail("it ended by itself")
            except subprocess.TimeoutExpired:
                pass
            process.send_signal(number)
            if again:
                time.sleep(0.05)
                process.send_signal(number)
            output = process.communicate(timeout=120 * SLOWNESS)[1].decode()
            self.assertNoTemporaries()
            if again or "interrupted" in output:
                return process.returncode, output
            self.assertFalse((self.folder / "p.plan").exists())  # before the search
        self.fail("it was never interrupted")

    def test_a_signal_ends_the_search_with_a_plan(self):
        example = ROOT / "examples/transformer.tap"
        torus = ["--machine", ROOT / "examples/machines/torus.toml"]
        for number, effort in ((signal.SIGINT, ["--mesh", "x=4,y=4,z=4", "--states", "100000"]), (signal.SIGTERM, ["--devices", "64"]),
                               (signal.SIGINT, ["--mesh", "x=4,y=4,z=4", "--budget", "500s"])):
            with self.subTest(effort=effort):
                code, output = self.interrupted(number, example, *torus, *effort)
                self.assertEqual(code, 128 + number, output)
                self.assertIn("the search was interrupted: more time may find a better plan", output)
                self.assertIn("wrote `p.plan`", output)
                plan = (self.folder / "p.plan").read_text()
                self.assertRegex(plan, r"// predicted: (.|\n)*// the search was interrupted: more time may find a better plan\n$")
                self.expect(0, ".*", "verify", example, "--plan", "p.plan", "--stage", "sharded", timeout=120)
                (self.folder / "p.plan").unlink()
        self.write("p.plan", "old")
        code, _ = self.interrupted(signal.SIGINT, example, *torus, "--devices", "64", again=True)
        self.assertIn(code, (130, -signal.SIGINT))

    def test_many_meshes_are_all_searched(self):
        # Links that differ make each order of axes a mesh of its own: 16 of 64 devices.
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        torus = ROOT / "examples/machines/torus.toml"
        listed = self.expect(0, ".*", "plan", "p.tap", "--devices", "64", "--machine", torus, "--states", "8", "--list")
        self.assertEqual(listed.stdout.decode().count("mesh grid"), 16)

    def test_prices(self):
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        self.write("m.toml", '[prices]\neuros = 2\njoules = 0.5\n[[links]]\nname = "wire"\ncount = 8\nbandwidth = "1 GB/s"\nlatency = "10 us"\n')
        ask = ["plan", "p.tap", "--devices", "8", "--machine", "m.toml"]
        found = json.loads(self.expect(0, ".*", *ask, "--pick", "cheapest", "--price", "euros", "--json").stdout)["plans"]
        devices = [math.prod(plan["axes"].values()) for plan in found]
        self.assertLess(min(devices), max(devices))  # fewer devices are searched, too
        for plan, count in zip(found, devices):
            self.assertAlmostEqual(plan["prices"]["euros"], 2 * count * plan["time"])
            self.assertAlmostEqual(plan["prices"]["joules"], 0.5 * count * plan["time"])
        picked = self.expect(0, ".*", *ask, "--pick", "cheapest", "--price", "euros").stdout.decode()
        euros = float(re.search(r"// predicted: .*, (\S+) euros, ", picked)[1])
        cheapest = min(plan["prices"]["euros"] for plan in found)
        self.assertLess(abs(euros - cheapest), 0.01 * cheapest)
        refused = self.expect(4, "no plan meets the limits euros=", *ask, "--at-most", f"euros={cheapest / 1000}").output
        relaxed = re.search(r"at least euros=([^ ,]+), or", refused)[1]
        self.expect(0, ".*", *ask, "--at-most", f"euros={relaxed}")
        self.expect(2, "several prices: euros, joules", *ask, "--pick", "cheapest")
        self.expect(2, "has no price `pounds`", *ask, "--pick", "cheapest", "--price", "pounds")
        self.expect(2, "`--price` needs `--pick cheapest`", *ask, "--price", "euros")
        self.expect(2, "`--at-most pounds=1` is not a valid limit", *ask, "--at-most", "pounds=1")
        self.expect(2, "needs a machine file with prices", "plan", "p.tap", "--devices", "8", "--pick", "cheapest")

    def predicted(self, *options):
        return json.loads(self.expect(0, ".*", "plan", "p.tap", *options, "--json").stdout)["plans"]

    def test_lines_of_a_plan_are_kept(self):
        self.write("p.tap", MLP.replace("batch = 16, d = 32, h = 64", "batch = 512, d = 1024, h = 4096"))
        mesh = ["--mesh", "data=4,model=2"]
        found = self.predicted(*mesh)
        self.assertGreater(len(found), 2)
        for plan in found:  # a complete plan stays as it is, and is predicted to take the same
            self.write("p.plan", "\n".join(["plan 2", "mesh grid = [data: 4, model: 2]", *plan["plan"], ""]))
            same = self.predicted("--plan", "p.plan")
            self.assertIn((plan["plan"], plan["time"], plan["memory"], plan["traffic"]),
                          [(p["plan"], p["time"], p["memory"], p["traffic"]) for p in same])
        line = "split H.matmul dim k into 4 over axis grid.data"
        self.write("p.plan", f"plan 2\nmesh grid = [data: 4, model: 2]\n{line}\nsplit H.matmul dim i into 4 over axis grid.data\n")
        for plan in self.predicted(*mesh, "--plan", "p.plan"):
            self.assertIn(line, plan["plan"])
            self.assertEqual(sum("H.matmul" in other for other in plan["plan"]), 2)
        self.write("p.plan", "plan 2\nmesh pod = [data: 4, model: 2]\nsplit W1 on axis 1 into 4 over pod.data\n")
        text = self.expect(0, ".*", "plan", "p.tap", "--plan", "p.plan", "-o", "q.plan") and (self.folder / "q.plan").read_text()
        self.assertIn("mesh pod = [data: 4, model: 2]\n", text)
        self.assertIn("split W1 on axis 1 into 4 over axis pod.data\n", text)
        self.expect(0, ".*", "verify", "p.tap", "--plan", "q.plan")

    def test_lines_that_cannot_be_kept(self):
        self.write("p.tap", MLP)
        for line, why in (("fuse H, Yy over i", "unknown operation `Yy`"),
                          ("split Hh dim i into 4 over grid.x", "unknown operation `Hh`(.|\n)*did you mean `H`"),
                          ("split Y dim i into 8 over threads", "`tapc plan` cannot keep this line"),
                          ("split Y dim i into [0, 1, 2, 3, 16] over grid.x", "`tapc plan` cannot keep this line"),
                          ("choose Hh 1", "`Hh`")):
            self.write("p.plan", f"plan 2\nmesh grid = [x: 4]\nsplit H.matmul dim i into 4 over grid.x\n{line}\n")
            with self.subTest(line=line):
                self.expect(1, f"p.plan:4:(.|\n)*{why}", "plan", "p.tap", "--plan", "p.plan")

    def test_a_search_from_a_plan_finds_none_that_is_worse(self):
        """Even with one combination remembered, with which it finds worse plans by itself."""
        text = re.search(r"```tap\n// layer\.tap\n(.*?)```", (ROOT / "docs/guide/shard_a_transformer_layer.md").read_text(), re.S).group(1)
        self.write("p.tap", re.sub(r" @ pod\[[^]]*\]|mesh pod.*\n", "", text))
        machine = ["--machine", ROOT / "examples/machines/cpu_cluster.toml"]
        mesh = ["--mesh", "data=4,model=2"]
        worse = 0
        for plan in self.predicted(*mesh, *machine)[::4]:
            self.write("p.plan", "\n".join(["plan 2", "mesh grid = [data: 4, model: 2]", *plan["plan"], ""]))
            is_matched = lambda found: any(all(p[what] <= plan[what] * (1 + 1e-9) for what in ("time", "memory", "traffic")) for p in found)
            weak = [*mesh, *machine, "--states", "1"]
            self.assertTrue(is_matched(self.predicted(*weak, "--start-from", "p.plan")), plan)
            worse += not is_matched(self.predicted(*weak))
        self.assertGreater(worse, 0)


if __name__ == "__main__":
    unittest.main()
