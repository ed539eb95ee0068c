#!/usr/bin/python3
"""Texts of stages from outside: nothing illegal runs, what the verifier refuses is refused by tapc-check, and tapc-check finds what a
pass must not do even where the pass would."""
from stage_chain import sealed
from tapc import *

CHECKER = TAPC.parent / "tapc-check"
ADD = "program p(x: i64[8]) -> (y: i64[8]) { y[i] = x[i] + 1 }\n"
COMMANDS = (["run", "-i", "x=rand:1"], ["verify"], ["inspect"], ["check"], ["opt"], ["compile", "-o", "y.so"])


class StageTextsTest(TapcTest):
    def stages(self, source, plan="", more=()):
        """The texts of all stages, and the certificate."""
        for old in self.folder.glob("p.*.ir"):
            old.unlink()
        self.write("p.tap", source)
        self.write("p.plan", "plan 2\n" + plan)
        result = self.tapc("verify", "p.tap", "--plan", "p.plan", "--certificate", "p.cert", "--stages", "p", *more)
        self.assertEqual(result.returncode, 0, result.output)
        return [path.read_text() for path in sorted(self.folder.glob("p.*.ir"))], (self.folder / "p.cert").read_text()

    def check(self, stages, certificate):
        self.write("q.cert", certificate)
        names = [self.write(f"q.{k:02}.ir", text) for k, text in enumerate(stages)]
        return subprocess.run([CHECKER, names[0], "q.cert", *names[1:]], cwd=self.folder, capture_output=True, text=True,
                              timeout=20)

    def edited(self, stages, certificate, edit):
        """What tapc-check says of the stages, each edited, with hashes that fit."""
        changed = [edit(text) for text in stages]
        self.assertNotEqual(changed, stages, "the edit changes nothing")
        return self.check(changed, sealed(certificate, stages, changed))

    def assertRefused(self, result, obligation):
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
        self.assertIn(f"refused {obligation}", result.stdout)

    def test_illegal_stages(self):
        """Reads and writes outside, cells that are written twice or never, sizes and coordinates that do not fit."""
        stages, certificate = self.stages(ADD)
        read, write = "read 0 at [i] shape [1]", "write 0 at [i] shape [1]"
        for was, now, code in ((read, "read 0 at [i + 3] shape [1]", "T0601"),
                               (read, "read 0 at [i - 1] shape [1]", "T0601"),
                               (read, "read 0 at [i + 1000000000] shape [1]", "T0601"),
                               (read, "read 0 at [4611686018427387904*i] shape [1]", "T0408"),
                               (read, "read 0 at [i + 9223372036854775807] shape [1]", "T0408"),
                               (write, "write 0 at [i + 64] shape [1]", "T0604"),
                               (write, "write 0 at [i - 8] shape [1]", "T0604"),
                               (write, "write 0 at [0] shape [1]", "T0602"),
                               (write, "write 0 at [0] shape [1] invariant [0]", "T060[23]|T0114"),
                               ("dim i 0..8", "dim i 0..7", "T0603"),
                               ("dim i 0..8", "dim i 0..9", "T060[14]"),
                               ("i64[8]", "i64[4611686018427387904]", "T0408"),
                               ("i64[8]", "i64[9223372036854775807]", "T0408")):
            with self.subTest(now=now):
                self.assertIn(was, stages[0])
                self.write("q.ir", stages[0].replace(was, now))
                for command, *options in COMMANDS:
                    self.expect(1, code, command, "q.ir", *options, memory=GIB)
                result = self.edited(stages, certificate, lambda text: text.replace(was, now))
                self.assertIn(result.returncode, (3, 5), result.stdout + result.stderr)

    def test_a_write_at_a_dim_and_its_blocks(self):
        """Partials of a reduction that splits another dim: most of them would never be written."""
        stages, _ = self.stages("mesh m = [d: 3]\nprogram p(X: i64[4, 7] @ m[{}, {d}], W: i64[7, 2] @ m[{d}, {}]) -> (Y: i64[4, 2]) "
                                "{ Y[i, j] = sum[k] X[i, k] * W[k, j] }\n", "", ["--stage=sharded"])
        text = next(text for text in stages if "block 2 by 3 into 3" in text)
        self.write("q.ir", text.replace("block 2 by 3 into 3", "block 1 by 3 into 3"))
        for command, *options in (["run", "-i", "X=zeros", "-i", "W=zeros"], ["verify"], ["compile", "-o", "y.so"]):
            self.expect(1, r"error\[T060\d\].*writes at j and at k_block", command, "q.ir", *options)

    def test_legal_stages_run(self):
        """Guards, bounds, writers of triangles and of every second cell are legal in the text of a stage as in the source."""
        for source in (ADD, "program p(x: i64[8]) -> (y: i64[8]) { y[i] = if i > 0 then x[i - 1] else 0 }\n",
                       "program p(x: i64[8]) -> (y: i64[8]) { y[2*i] = x[i] for i in 0..4; y[2*i + 1] = x[7 - i] for i in 0..4 }\n",
                       "program p(x: i64[8]) -> (y: i64[8]) { y[i] = sum[k in 0..i + 1] x[i - k] }\n",
                       "program p(x: i64[8]) -> (y: i64[8]) {\n  t[i, j] = x[i] for i in 0..8, j in 0..i + 1\n"
                       "  t[i, j] = x[j] for i in 0..8, j in i + 1..8\n  y[i] = sum[j] t[i, j]\n}\n"):
            with self.subTest(source=source):
                stages, certificate = self.stages(source)
                expected = self.tapc("run", "p.tap", "-i", "x=rand:1").stdout
                for text in stages:
                    if not text.startswith("tap-ir"):
                        continue
                    self.write("q.ir", text)
                    result = self.tapc("run", "q.ir", "-i", "x=rand:1")
                    self.assertEqual((result.returncode, result.stdout), (0, expected), result.output)
                result = self.check(stages, certificate)
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertNotIn("assumed", result.stdout)

    def test_streamed_out_of_order(self):
        """Streaming over j combines another order than that of k, j: the monoid must commute. The stages are those of one that does."""
        stages, certificate = self.stages(
            "monoid both(a: i64, b: i64) {\n  identity (0, 0)\n  combine (p, q) = (p.a + q.a, p.b + q.b)\n}\n"
            "program p(x: i64[4, 6], z: i64[4, 6]) -> (v: i64[], y: i64[], w: i64[]) {\n"
            "  v[] = sum[k, j] x[k, j]\n  (y[], w[]) = both[k, j] (x[k, j], z[k, j])\n}\n",
            "fuse v, y over j\nsplit y dim j into 3 over sequential\n")
        self.assertEqual(self.check(stages, certificate).returncode, 0)

        def not_commutative(text):
            head, found, rest = text.partition(" both\n")
            return head + found + rest.replace("commutative proved", "commutative broken", 1) if found else text
        self.assertRefused(self.edited(stages, certificate, not_commutative), "laws")

    def test_streamed_in_order(self):
        """The outermost reduced dim is walked in order, whatever the monoid."""
        stages, certificate = self.stages(
            "monoid aff(a: i64, b: i64) {\n  identity (1, 0)\n  combine (p, q) = (p.a * q.a, p.b * q.a + q.b)\n}\n"
            "program p(x: i64[4, 6], z: i64[4, 6]) -> (v: i64[], y: i64[], w: i64[]) {\n"
            "  v[] = sum[k, j] x[k, j]\n  (y[], w[]) = aff[k, j] (x[k, j], z[k, j])\n}\n",
            "fuse v, y over k\nsplit y dim k into 3 over sequential\n")
        self.assertEqual(self.check(stages, certificate).returncode, 0)

    def test_streamed_over_a_part(self):
        """A group that walks over less of a reduction than there is, or that is said to be over nothing."""
        stages, certificate = self.stages(
            "program p(x: i64[12, 3], w: i64[12]) -> (y: i64[]) {\n  v[k] = max[j] x[k, j]\n  y[] = sum[k] v[k] * w[k]\n}\n",
            "fuse v, y over k\nsplit y dim k into 3 over sequential\n")

        def narrower(text):
            parts = text.split("\noperator ")
            return "\noperator ".join(part.replace("0..12", "0..6") if "region group" in part else part for part in parts)
        result = self.edited(stages, certificate, narrower)
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)

    def test_malformed(self):
        """What the verifier refuses, tapc-check refuses."""
        stages, certificate = self.stages(
            "mesh m = [x: 2, y: 4] devices [0, 2, 3, 1, 4, 6, 7, 5]\n"
            "program p(X: i64[8, 4] @ m[{x}, {y:(1)2}]) -> (Z: i64[8, 4]) {\n"
            "  Y[i, j] = sum[k in 0..3] (if i > k then X[i, j] * X[k, j] else 0)\n  Z[i, j] = Y[7 - i, j] + Y[i, j]\n}\n",
            "split Y dim i into 2 over axis m.x\nsplit Z dim i into 2 over axis m.x\n")
        self.assertEqual(self.check(stages, certificate).returncode, 0)

        def of_transfers(was, now):
            def edit(text):
                parts = text.split("\noperator ")
                return "\noperator ".join(p.replace(was, now) if "\n  transfer" in p else p for p in parts)
            return edit
        replaced = lambda was, now: lambda text: text.replace(was, now)
        for what, edit in (("index types", replaced("index i64", "index i32")),
                           ("devices twice", replaced("devices [0, 2,", "devices [0, 0,")),
                           ("negative devices", replaced("devices [0, 2,", "devices [0, -2,")),
                           ("a transfer that reduces", of_transfers(" parallel", " reduce")),
                           ("a transfer that keeps", of_transfers(" parallel", " counter")),
                           ("sub-axes of nothing", replaced("y:(1)2", "y:(0)2")),
                           ("a sharding of more dims", replaced("[{x}, {y:(1)2}]", "[{x}, {y:(1)2}, {}]"))):
            with self.subTest(what=what):
                result = self.edited(stages, certificate, edit)
                self.assertIn(result.returncode, (3, 5), result.stdout + result.stderr)
                self.assertIn("refused" if result.returncode == 5 else "error", result.stdout + result.stderr)

    def test_placements(self):
        """Lists of devices, positions and meshes that no plan can have."""
        source = "program p(a: f32[8, 8]) -> (c: f32[8, 8], d: f32[8, 8]) { c[i, j] = a[i, j] + 1\n  d[i, j] = c[j, i] * 2 }\n"
        lists = "split c dim i into 2 over devices {0, 1}, {2}\nsplit d dim i into 2 over devices {0}, {3}\n"
        whole = "mesh m = [x: 2]\nplace c at 1 over m.x\nplace d at 0 over m.x\n"
        for plan, was, now, words in (
                (lists, "[[0, 1], [2]]", "[[0, 1], [9223372036854775807]]", "device 9223372036854775807, which is outside"),
                (lists, "[[0, 1], [2]]", "[[0, 1], [16777217]]", "device 16777217, which is outside"),
                (lists, "[[0, 1], [2]]", "[[0, 1], [-2]]", "device -2, which is outside"),
                (lists, "[[0, 1], [2]]", "[[0, 0], [2]]", "not in increasing order"),
                (lists, "[[0, 1], [2]]", "[[1, 0], [2]]", "not in increasing order"),
                (lists, "[[0, 1], [2]]", "[[0, 1], []]", "an empty list of devices"),
                (whole, "at 1 over", "at 9223372036854775807 over", "."),
                (whole, "at 1 over", "at -1 over", "blocks -1..0 on 2 devices"),
                (whole, "at 1 over", "at 2 over", "blocks 2..3 on 2 devices"),
                (whole, "mesh m [x: 2]", "mesh m [x: 16777217]", "more than 16777216 devices"),
                (whole, "mesh m [x: 2]", "mesh m [x: 2]\nmesh o [z: 4]", "has the devices 0 to 3, and the mesh m has the devices 0 to 1")):
            with self.subTest(now=now):
                stages, certificate = self.stages(source, plan, ["--stage=sharded"])
                result = self.edited(stages, certificate, lambda text: text.replace(was, now))
                self.assertIn(result.returncode, (3, 5), result.stdout + result.stderr)
                self.write("q.ir", next(text for text in stages if was in text).replace(was, now))
                for command, *options in (["run", "-i", "a=zeros"], ["verify"], ["compile", "-o", "y.so"]):
                    self.expect(1, words, command, "q.ir", *options)

    def test_kernels(self):
        """Which kernel computes what, how many tiles calls have, how much memory there is, and what messages say."""
        stages, certificate = self.stages(
            "program p(X: i64[6, 5]) -> (Y: i64[6], Z: i64[6], W: i64[6]) {\n  Y[i] = sum[k] X[i, k]\n  Z[i] = max[k] X[i, k]\n"
            "  W[i] = min[k] X[i, k]\n}\n", more=["--evaluations", "0"])
        self.assertEqual(self.check(stages, certificate).returncode, 0)
        schedule = stages[-1]
        self.assertIn("kernel_of [0, 1, 2]", schedule)
        for was, now in (("kernel_of [0, 1, 2]", "kernel_of [0, 1, 1]"), ("kernel_of [0, 1, 2]", "kernel_of [1, 0, 2]"),
                         ("kernel 1 of 1", "kernel 1 of 0"), ("cut 0 by 6", "cut 0 by 1000000"), (" tiles", "0 tiles"),
                         ("prepared 0 bytes", "prepared -64 bytes"), ("prepared 0 bytes", "prepared 640 bytes"),
                         ("arena 0 bytes", "arena 64 bytes"), ("arena 0 bytes", "arena 9223372036854775807 bytes"),
                         ("batch\n", "batch\nbatch\n"), ("is Y writes", "is Z writes"), ("writes Y over", "writes Z over"),
                         ("(i, k)", "(k, i)"), ("(i, k)", "(i, k hidden)"), ("(X [6, 5])", "(Y [6, 5])"), ("(X [6, 5])", "(X [6, 6])"),
                         ("input X", "input x"), ("i64[6]\noperation", "i64[6] const\noperation"),
                         ("sequence 0", "b4 i64 [0..8] arena 0\nsequence 0")):
            with self.subTest(now=now):
                self.assertIn(was, schedule)
                changed = stages[:-1] + [schedule.replace(was, now)]
                result = self.check(changed, sealed(certificate, stages, changed))
                self.assertEqual(result.returncode, 5, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
