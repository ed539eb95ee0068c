#!/usr/bin/python3
"""Plans: `run` gives the same under each, natively and interpreted; a program's own splits are applied; mistakes are told."""
import re

from tapc import *

PROGRAM = """mesh pod = [data: 2, model: 3]
program p(X: f64[7, 5], W: f64[5, 4]) -> (Y: f64[7, 4], S: f64[7]) {
    H[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = H[i, o] + H[i, 3 - o]
    S[i] = sum[k in 0..i+1] X[k, 0]
}
"""
PLANS = [
    "split H dim i into 3 over threads\n",
    "split H dim i into 2 over axis pod.data\nsplit Y dim i into 2 over axis pod.data\n",
    "split H dim i into 2 over axis pod.data\nsplit Y dim o into [0, 1, 1, 4] over axis pod.model\n",
    "split H dim k into 3 over axis pod.model tree 2\n",
    "split H dim k into 2 over sequential\nsplit S dim i into 4 over threads\n",
    "split S dim i into [0, 3, 3, 7] over axis pod.model\n",
    "split H dim k into 2\nsplit H dim k into 2 over threads\nsplit H.partial dim i into 2\n",
    "split H dim k into 2 over threads\nsplit H dim k into 2 over sequential // partials, which are then walked\n",
    "split H dim k into 2 over sequential\nsplit H dim k into 2 over sequential\n",
    "split H dim k into 2 over pod.data\nsplit H dim k into 3 over pod.model\n",
    "split H dim k into 2 over pod.data\nsplit H dim k into 4 over threads tree 2\n",
    "split S dim k into 2 over pod.data\nsplit S dim k into 3 over threads\n",
    "split H on i into [0..3, 3..7] over data\nsplit Y on axis 1 into 3 over model\n",
    "split H on axis 0 into 2 over data\nsplit H dim k into 2 over threads\nsplit H on axis 1 into 2 over threads\n",
]


# Groups and repetitions: the name of a program, its inputs, and plans whose stages all play a part.
FUSIBLE = {
    "softmax": ("use std\nmesh pod = [data: 2, model: 3]\n"
                "program p(X: f64[5, 7]) -> (Y: f64[5, 7]) { Y = softmax(X) }\n", ["X"], [
        'fuse "Y.m", "Y.e", "Y.s", Y over i\n',
        'fuse "Y.m", "Y.e", "Y.s", Y over i\nsplit Y dim i into 2 over threads\n',
        'fuse "Y.m", "Y.e", "Y.s", Y over i\nsplit Y dim i into [0, 1, 5] over axis pod.data\n',
        'fuse "Y.m", "Y.e", "Y.s" over i\nsplit Y dim k into 3 over axis pod.model\n']),
    "attention": ("mesh pod = [data: 2, model: 3]\n"
                  "monoid both(w: f64, v: f64) { identity (-inf, 0)  combine (a, b) = (max(a.w, b.w), a.v + b.v) }\n"
                  "program p(Q: f64[5, 2], K: f64[7, 2], V: f64[7, 3]) -> (Y: f64[5, 3]) {\n"
                  "  t[i, j] = sum[c] Q[i, c] * K[j, c]\n"
                  "  (m[i], o[i, c]) = both[j] (t[i, j], V[j, c])\n"
                  "  Y[i, c] = o[i, c] + 1\n}\n", ["Q", "K", "V"], [
        "fuse t, m over i, j\nsplit o dim i into 2 over axis pod.data\nsplit Y dim c into 3 over axis pod.model\n",
        "fuse t, m over i, j\nsplit o dim i into 2 over axis pod.data\nsplit o dim j into 3 over sequential\n",
        "fuse t, m over i, j\nsplit o dim j into [0, 0, 2, 7] over sequential\n",
        "fuse t, m over i, j\nfuse o, Y over i\nsplit Y dim i into 2\n",
        "fuse t, m, Y over i\nsplit Y dim i into 2 over axis pod.data\n"]),
    "steps": ("program p(u: f64[12]) -> (U: f64[12]) {\n"
              "  U = iterate 5 (v = u) { w[i] = v[i-1 else 0] + v[i+1 else 0] for i in 0..12\n w }\n}\n", ["u"], [
        "unroll U 2\n",
        "unroll U 5\n",
        'unroll U 2\nfuse "U.4/w.0", "U.4/w.1" over i\nsplit "U.4/w.1" dim i into 3 over threads\n']),
}


class FusionTest(TapcTest):
    def results(self, inputs, *arguments):
        given = [part for name in inputs for part in ("-i", name + "=iota")]
        result = self.tapc("run", "p.tap", *given, *arguments)
        self.assertEqual(result.returncode, 0, result.output)
        return result.stdout

    def test_every_plan_gives_the_same(self):
        for name, (program, inputs, plans) in FUSIBLE.items():
            self.write("p.tap", program)
            expected = {e: self.results(inputs, "--engine", e, "--passes=none") for e in ("interp", "native")}
            for plan in plans:
                with self.subTest(name + ": " + plan):
                    self.write("p.plan", "plan 2\n" + plan)
                    for engine in ("interp", "native"):
                        self.assertEqual(self.results(inputs, "--plan", "p.plan", "--engine", engine), expected[engine])
            for options in (FUSED, [], ["--plan", "none"]):
                with self.subTest(name + ": chosen by the compiler", options=options):
                    for engine in ("interp", "native"):
                        self.assertEqual(self.results(inputs, *options, "--engine", engine), expected[engine])

    def test_opt_applies_a_plans_groups(self):
        program, _, plans = FUSIBLE["softmax"]
        self.write("p.tap", program)
        self.write("p.plan", "plan 2\n" + plans[0])
        for arguments in (["--plan", "p.plan"], ["--passes=inline_calls,fuse", "--plan", "p.plan"],
                          ["--passes=inline_calls,fuse_auto"]):
            result = self.tapc("opt", "p.tap", *arguments)
            self.assertEqual(result.returncode, 0, result.output)
            self.assertIn(b"region group", result.stdout)
        self.assertNotIn(b"region group", self.tapc("opt", "p.tap").stdout)

    def test_unfused_operations_have_a_reason(self):
        self.write("p.tap", "program p(X: f64[6]) -> (A: f64[6], Y: f64[6]) {\n"
                            "  A[i] = X[i] * 2\n  Y[i] = A[i] + A[i+1 else 0]\n}\n")
        result = self.tapc("opt", "p.tap", "--passes=fuse_auto", "--remarks")
        self.assertRegex(result.output, "fuse_auto kept `A` of `p` unchanged: "
                                      "`A` is read outside the group, and inside it at different points of i")

    def test_mistakes(self):
        self.write("p.tap", FUSIBLE["softmax"][0])
        for line, output in [('fuse "Y.m", Z over i', "unknown operation `Z`"),
                           ('fuse "Y.s", Y over i, k', "every point of k reads the final `Y.s`"),
                           ("unroll Y 2", "`Y` is not an iterate")]:
            with self.subTest(line):
                self.write("p.plan", "plan 2\n" + line + "\n")
                for command in (["run", "p.tap", "-i", "X=iota"], ["opt", "p.tap"]):
                    self.expect(1, r"T1402.*" + output, *command, "--plan", "p.plan")

    def test_operations_in_a_group_are_not_split(self):
        self.write("p.tap", "program p(X: f64[7, 5], W: f64[5, 4]) -> (Y: f64[7, 4]) {\n"
                            "  H[i, o] = sum[k] X[i, k] * W[k, o]\n  Y[i, o] = H[i, o] + H[6 - i, o]\n}\n")
        for line in ("dim k into 2", "dim k into 5 over sequential", "dim i into 2 over threads"):
            self.write("p.plan", "plan 2\nfuse H, Y over o\nsplit Y/H " + line + "\n")
            self.expect(1, r"(?m)^p\.plan:3:7: error\[T1402\]: `Y/H` is inside a group, which is split as one operation",
                        "run", "p.tap", "-i", "X=iota", "-i", "W=iota", "--plan", "p.plan")
        self.write("p.plan", "plan 2\nfuse H, Y over o\n")
        self.assertEqual(self.tapc("inspect", "p.tap", "--splits", "--plan", "p.plan").stdout.count(b"cannot be split: it is inside"), 5)

    def test_a_counter_used_by_a_nested_iterate(self):
        self.write("p.tap", "program p(X: f64[4]) -> (Y: f64[4]) {\n  Y = iterate s in 0..4 (x = X) {\n"
                            "    z = iterate t in 0..5 (v = x) { w[i] = v[i] * 2 + f64(s) * 10 + f64(t); w }\n    z } }\n")
        self.write("p.plan", "plan 2\nunroll Y/z 2\n")
        self.assertEqual(self.results(["X"], "--plan", "p.plan"), self.results(["X"], "--engine", "interp"))
        self.write("p.plan", "plan 2\nunroll Y 2\n")
        self.expect(1, r"(?m)^p\.plan:2:1: error\[T1402\]: `Y` cannot be unrolled: an iterate or a group inside"
                       r"(?s:.*)help: unroll the inner iterates fully first", "run", "p.tap", "-i", "X=iota",
                    "--plan", "p.plan")
        for more in ("unroll Y 2\n", "unroll Y 4\nsplit Y.z.w.0.3 dim i into 2 over threads\n"):
            self.write("p.plan", "plan 2\nunroll Y/z 5\n" + more)
            self.assertEqual(self.results(["X"], "--plan", "p.plan"), self.results(["X"], "--engine", "interp"))

    def test_a_line_about_operations_fused_before(self):
        self.write("p.tap", FUSIBLE["softmax"][0])
        self.write("p.plan", 'plan 2\nfuse Y.m, Y.e, Y.s, Y over i\nsplit Y.s dim i into 2\n')
        result = self.expect(1, r"(?m)^p\.plan:3:7: error\[T1402\]: unknown operation `Y\.s`", "verify", "p.tap",
                             "--plan", "p.plan")
        self.assertIn("this line makes `Y.s` part of a group", result.output)


class PlanTest(TapcTest):
    def results(self, *arguments):
        result = self.tapc("run", "p.tap", "-i", "X=iota", "-i", "W=iota", *arguments)
        self.assertEqual(result.returncode, 0, result.output)
        return result.stdout

    def test_every_plan_gives_the_same(self):
        self.write("p.tap", PROGRAM)
        expected = self.results("--engine", "interp", "--passes=none")
        for plan in PLANS:
            with self.subTest(plan):
                self.write("p.plan", "plan 2\n" + plan)
                for engine in ("interp", "native"):
                    for threads in ("1", "3"):
                        self.assertEqual(self.results("--plan", "p.plan", "--engine", engine, "--threads", threads),
                                         expected)

    def test_splits_of_the_program(self):
        self.write("p.tap", PROGRAM)
        expected = self.results()
        self.write("p.tap", PROGRAM.replace("    S[i]",
                                            "    split H on axis 0 into 2 over data\n    split H on k into 2\n    S[i]"))
        self.assertEqual(self.results(), expected)
        self.assertEqual(self.results("--engine", "interp"), expected)

    def test_an_impossible_split_of_the_program(self):
        self.write("p.tap", """mesh pod = [data: 2]
program p(X: f64[4]) -> (Y: f64[8]) {
    Y = e(X)
    split Y on r into 2 over data
}
extern op e(x: f64[n]) -> (y: f64[2*n]) {
    index [i: n, r: 2]
    read x at [i] shape [1]
    write y at [2*i + r] shape [1]
    kernel "e"
}
""")
        self.write("p.plan", "plan 2\nsplit Y dim i into 2\nsplit Y dim q into 2\n")
        result = self.expect(1, r"(?m)^p\.tap:3:9: error\[T1402\]: a split in the program is not possible: "
                                "the blocks of `r`", "verify", "p.tap", "--plan", "p.plan")
        self.assertRegex(result.output, r"(?m)^p\.plan:3:13: error\[T1402\]: `Y` has no dim `q`")

    def test_several_writers_share_a_mesh(self):
        self.write("p.tap", """mesh pod = [data: 2]
program p(X: f64[4]) -> (Y: f64[8]) {
    Y[i] = X[i] for i in 0..4
    Y[4 + j] = X[j]
}
""")
        self.write("p.plan", "plan 2\nsplit Y@0 dim i into 2 over data\n")
        result = self.expect(0, r"^[\w.]+:\d+:\d+: remark\[T0801\]: `Y@1` also writes a part of `Y` and is not split over `pod\.data`; all "
                                "points are written to a staging buffer first, and every device copies all of it into place", "verify", "p.tap",
                             "--plan", "p.plan")
        self.assertRegex(result.stdout.decode(), r"(?m)^proved +staged ")
        self.write("p.plan", "plan 2\nsplit Y@0 dim i into [0, 4, 4] over data\nsplit Y@1 dim j into [0, 0, 4] over data\n")
        self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")
        self.write("p.plan", "plan 2\nsplit Y@0 dim i into 2 over threads\n")
        self.expect(0, "^$", "verify", "p.tap", "--plan", "p.plan")

    def test_splits_of_operations_changed_by_passes(self):
        """A reduction of one point keeps its dim if that is to be cut, and a split of what nobody needs is spoken of."""
        self.write("p.tap", """program p(X: f64[8]) -> (Y: f64[8]) {
    D[i] = X[i] + 1
    split D on i into 2
    Y[i] = sum[k in 0..1] X[i] * 2
    split Y on k into 1
}
""")
        self.expect(0, "^p.tap:2:5: warning.T0210.: `D` is never read", "verify", "p.tap")
        self.expect(0, r"remark\[T0801\]: remove_dead_code dropped `D` of `p`: it is unused, so its split",
                    "opt", "p.tap", "--remarks")

    def test_mistakes(self):
        self.write("p.tap", PROGRAM)
        for line, output in [("split H dim q into 2", "`H` has no dim `q`; it has `i`, `o`, `k`"),
                           ("split Q dim i into 2", "unknown operation `Q`"),
                           ("split Q dim i into 2 over into", "unknown operation `Q`"),
                           ("split H dim i into [0, 8]", r"the blocks \[0, 8\] do not tile i, which runs over 0..7"),
                           ("split H dim i into 0", "dim `i` must be split into at least one block"),
                           ("split H dim o into 2 over axis pod.model:(-1)2",
                            r"`model:\(-1\)2` is not a sub-axis of `model`"),
                           ("split H dim o into 2 over axis pod.model:(2)2",
                            r"`model:\(2\)2` is not a sub-axis of `model`"),
                           ("split H dim o into 2 over axis pod.model:(9223372036854775807)2",
                            "is not a sub-axis of `model`"),
                           ("split H dim k into 2 over sequential\nsplit H dim k into 2",
                            "`k` of `H` cannot be split: it is already streamed"),
                           ("split H dim i into 3 over axis pod.data",
                            "3 blocks for the axis `data`, which has 2 positions")]:
            with self.subTest(line):
                self.write("p.plan", "plan 2\n" + line + "\n")
                self.expect(1, r"p\.plan:[23]:\d+: error\[T1402\].*" + output, "run", "p.tap", "-i", "X=iota", "-i",
                            "W=iota", "--plan", "p.plan")

    def test_lines_invalidated_by_earlier_lines(self):
        """Whichever line stands first."""
        self.write("p.tap", """program p(x: f32[9]) -> (y: f32[9]) {
    u = iterate t in 0..4 (v = x) { w[i] = v[i-1 else 0] + v[i]; w }
    y[i] = u[i] * 2
}
""")
        for lines in (["unroll u 2", "split u/w dim i into 3"], ["split u/w dim i into 3", "unroll u 2"]):
            self.write("p.plan", "\n".join(["plan 2", *lines, ""]))
            self.expect(1, "unknown operation `u/w`(.|\n)*this line unrolls the iterate, so `u/w` becomes one operation per "
                        "trip", "verify", "p.tap", "--plan", "p.plan")

    def test_later_stages_are_no_programs(self):
        self.write("p.tap", PROGRAM)
        self.expect(0, "^$", "opt", "p.tap", "--stage", "block", "-o", "p.blocks")
        for command in ("run", "verify", "inspect", "opt", "check"):
            self.expect(1, r"error\[T0114\]: `p.blocks` is a block graph, from which tapc cannot continue(.|\n)*tapc-check",
                        command, "p.blocks")

    def test_mistakes_are_shown_where_they_are_written(self):
        self.write("p.tap", PROGRAM.replace("Y[i, o] = H", "Z[i, o] = H[i, o] * 2\n    Y[i, o] = Z[i, o] + H"))
        # What is underlined, and what helps.
        for line, marked, output, helped in [
                ("split Hh dim i into 2", "Hh", "unknown operation `Hh`", "did you mean `H`"),
                ("split X dim i into 2", "X", "`X` is an input, which can only be split over devices, and only if it is read",
                 "the operations are `H`, `Y`, `S`"),
                ("split Z dim i into 2", "Z", "unknown operation `Z`", r"p\.tap:4:5"),
                ("split H dim oo into 2", "oo", "`H` has no dim `oo`", "did you mean `o`"),
                ("split Y dim i into [0, 9] // all", "[0, 9]", r"the blocks \[0, 9\] do not tile i", "0..7"),
                ("split H dim i into 3 over pod.data", "3", "3 blocks for the axis `data`", "write `into 2`"),
                ("split H dim i into 2 over pid.data", "pid.data", "unknown mesh `pid`", "did you mean `pod`"),
                ("split H dim i into 2 over pod.dta", "pod.dta", "has no axis `dta`", "did you mean `data`"),
                ("split H on axis 2 into 2", "axis 2", "`H` has no dim `axis 2`", "it has `i`, `o`, `k`"),
                ("split H dim i into 3 over devices {0}, {1, 2}", "3", "3 blocks for 2 sets of devices",
                 "write `into 2`"),
                ("split H dim i into 2 over devices {0}, {1, 0}", "devices {0}, {1, 0}",
                 "device 0 would hold the blocks 0 and 1", "one box"),
                ("place H at 5 over pod.data", "5", "position 5 does not exist along `data`", "counted from 0"),
                ("place H over threads", "threads", "a whole operation is placed on one set of devices", "place H at 2"),
                ("split H dim i into 2 over gpus", "gpus", "`gpus` is not a place for blocks",
                 "the axes are `pod.data`, `pod.model`"),
                ("split H dim i into 2 over nowhere", "nowhere", "`nowhere` is not a place for blocks", "such as pod.data")]:
            with self.subTest(line):
                self.write("p.plan", "\ufeffplan 2\nsplit S dim i into 2\n" + line + "\n")
                result = self.expect(1, rf"(?m)^p\.plan:3:\d+: error\[T1402\]: .*{output}", "verify", "p.tap", "--plan",
                                     "p.plan")
                rows = result.output.splitlines()
                carets = re.search(r"\^+", rows[3])
                self.assertEqual(rows[2][carets.start():carets.end()], marked, result.output)
                self.assertRegex(result.output, helped)

    def test_an_axis_of_two_meshes_needs_its_mesh(self):
        self.write("p.tap", "mesh other = [data: 6]\n" + PROGRAM)
        self.write("p.plan", "plan 2\nsplit H dim i into 2 over data\n")
        self.expect(1, "several meshes have an axis `data`(?s:.*)help: write one of `other.data`, `pod.data`", "verify",
                    "p.tap", "--plan", "p.plan")

    def test_every_error_is_reported(self):
        self.write("p.tap", PROGRAM)
        self.write("p.plan",
                   "plan 2\nsplit Q dim i into 2\nsplit H dim q into 2\nsplit S dim i into 2\nsplit R dim i into 2\n")
        result = self.expect(1, "T1402", "verify", "p.tap", "--plan", "p.plan")
        self.assertEqual([row.split(":")[1] for row in result.output.splitlines() if "error[" in row], ["2", "3", "5"])

    def test_control_characters_do_not_reach_the_terminal(self):
        self.write("p.tap", PROGRAM)
        self.write("p.plan", "plan 2\nsplit \x1b[31mH dim i into 2\n")
        self.assertNotIn("\x1b", self.expect(1, "T1402", "verify", "p.tap", "--plan", "p.plan").output)

    def test_names_as_they_are(self):
        """Paths, dots and the later results of a tuple need no quotes."""
        self.write("u.tap", """use std
op twice(x: f64[n]) -> (y: f64[n]) { m[i] = sum[k in 0..3] x[i] * x[k]\n y[i] = m[i] + m[n - 1 - i] }
program p(X: f64[8]) -> (Y: f64[8], A: f64[], B: i64[]) {
    Y = iterate 3 (v = X) { w[i] = sum[k in 0..4] v[k] * v[i] * 0.01; w }
    Z = twice(X)
    (A, B) = top1(Z)
}
""")
        listed = self.tapc("opt", "u.tap").stdout.decode()
        self.assertIn("Z.m", listed)
        for line in ("split Y/w dim i into 2 over threads", "split Z.m dim k into 2", 'split "Z.m" dim k into 2',
                     "split B dim #0 into 2"):
            with self.subTest(line):
                self.write("p.plan", "plan 2\n" + line + "\n")
                self.expect(0, "^$", "verify", "u.tap", "--plan", "p.plan")

    def test_names_do_not_depend_on_other_lines(self):
        def names(inputs, before, n):
            self.write("p.tap", f"use std\nprogram p({inputs}X: f32[{n}, 3]) -> (Co: f32[{n}], Y: f32[{n}, 3]) {{\n{before}"
                                "    Co[i] = (sum[k] X[i, k]) * (sum[k] X[i, k] * X[i, k])\n    Y = relu(softmax(exp(X)))\n}\n")
            listed = self.expect(0, ".*", "inspect", "p.tap", "--splits").stdout.decode()
            return [line for line in listed.splitlines() if line and not line.startswith(" ")]

        expected = names("", "", 4)
        for name in ("Co.sum#1", "Co.sum#2", "Y.exp", "Y.softmax.m"):
            self.assertIn(name, expected)
        more = "    _U[i] = (sum[k] W[i, k]) + (sum[k] W[i, k] * 2)\n    _V = relu(softmax(exp(W)))\n"
        for given in (("W: f32[5, 6], ", "", 4), ("W: f32[5, 6], ", more, 4), ("", "", 7)):
            found = names(*given)
            self.assertEqual([name for name in found if not name.startswith("_")], expected)
            self.write("p.plan", "plan 2\nsplit Co.sum#2 dim k into 2\nsplit Co.sum#1 dim k into 3\n")
            self.expect(0, "^", "verify", "p.tap", "--plan", "p.plan")

    def test_a_plan_of_version_1_is_refused(self):
        self.write("p.tap", PROGRAM)
        self.write("p.plan", "plan 1\nsplit Y dim i into 2\n")
        self.expect(1, "(?s)p.plan:1:1: error.*plan version 1 is not supported; in version 2, `#` counts.*write `plan 2`", "verify", "p.tap",
                    "--plan", "p.plan")


if __name__ == "__main__":
    unittest.main()
