#!/usr/bin/python3
"""What holds of every bad input: bounds, exit codes, the form of messages, nothing of the build machine in them, the same each time."""
import json
import re

from tapc import *

BAD = {  # each with what it is about, in a word
    "syntax": "program p(X: f32[4]) -> (Y: f32[4]) { Y[i] = X[i] + }\n",
    "name": "use std\nprogram p(X: f32[4]) -> (Y: f32[4]) { Y = reul(X) }\n",
    "shape": "use std\nprogram p(X: f32[4], Z: f32[3]) -> (Y: f32[4]) { Y = add(X, Z) }\n",
    "read": "program p(X: f32[4]) -> (Y: f32[4]) { Y[i] = X[i + 1] }\n",
    "write": "program p(X: f32[4]) -> (Y: f32[8]) { Y[2*i] = X[i] }\n",
    "law": "monoid m(v: f32) { identity 0; combine (a, b) = a.v - b.v }\nprogram p(X: f32[4]) -> (Y: f32[]) { Y[] = m[i] (X[i]) }\n",
    "rewrite": "use std\nrewrite add(a, b) => sub(a, b)\n",
    "mesh": "mesh m = [x: 2]\nprogram p(X: f32[4] @ m[{y}]) -> (Y: f32[4]) { Y[i] = X[i] }\n",
    "several": "op f(x: f32[n]) -> (y: f32[n]) { y[i] = x[j] }\nop g(x: f32[n]) -> (y: f32[n]) { y[i] = z[i] }\n",
}
HEADER = re.compile(r"^(a\.tap|std\.tap|tapc):(?:(\d+):(\d+):)? (error|warning|remark)(?:\[(T\d{4})\])?: (.+)$")


class Rules(TapcTest):
    def test_g2_bounded(self):
        for name, text in BAD.items():
            with self.subTest(name):
                self.expect(1, r"error\[T", "check", self.write("a.tap", text), timeout=10)

    def test_g4_the_form_of_messages(self):
        for name, text in BAD.items():
            with self.subTest(name):
                self.write("a.tap", text)
                human = self.tapc("check", "a.tap").output.splitlines()
                heads = [m for m in map(HEADER.match, human) if m]
                self.assertTrue(HEADER.match(human[0]), human[0])
                for head in heads:
                    at = human.index(head.group(0))
                    line, column = int(head.group(2)), int(head.group(3))
                    source = text.splitlines()[line - 1]
                    shown = next(l for l in human[at:] if re.match(rf" *{line} \| ", l))
                    self.assertIn(shown.split(" | ", 1)[1].rstrip("…")[:30], source)
                    caret = next(l for l in human[at:] if re.search(r"\| *\^", l))
                    self.assertEqual(caret.index("^") - caret.index("|") - 1, column)
                output = self.tapc("check", "--message-format=json", "a.tap").output.splitlines()
                objects = [json.loads(line) for line in output]
                self.assertEqual([(o["code"], o["message"]) for o in objects], [(h.group(5), h.group(6)) for h in heads])

    def test_g4_at_most_twenty_errors(self):
        self.write("a.tap", "".join(f"op f{k}(x: f32[n]) -> (y: f32[n]) {{ y[i] = z{k}[i] }}\n" for k in range(40)))
        output = self.expect(1, r"too many errors", "check", "a.tap").output
        self.assertEqual(len(re.findall(r"error\[T", output)), 20)
        self.assertEqual(output.count("too many errors"), 1)

    def test_g5_no_path_of_the_build_machine(self):
        home = str(ROOT)
        for name, text in BAD.items():
            self.write("a.tap", text)
            for extra in ([], ["--message-format=json"]):
                output = self.tapc("check", *extra, "a.tap").output
                self.assertNotIn(home, output)
                self.assertNotIn(str(self.folder), output)
                self.assertNotRegex(output, r"\.(cpp|h):\d")
        for command in (["--version"], ["--help"], ["ops", "matmul"], ["explain", "T0603"], ["help", "run"]):
            self.assertNotIn(home, self.tapc(*command).stdout.decode())

    def test_g6_exit_codes(self):
        self.write("a.tap", "program main(X: f32[4], d: i64[]) -> (Y: f32[4], q: i64[]) { Y[i] = X[i]; q[] = 1 / d[] }\n")
        good = ["run", "a.tap", "-i", "X=iota", "-i", "d=1"]
        for code, command in ((0, good), (1, ["check", self.write("bad.tap", BAD["read"])]), (2, ["run"]), (2, [*good, "--no"]),
                              (3, [*good[:-1], "d=[1, 2]"]), (4, [*good, "-o", "Y=@missing/y.npy"]),
                              (5, [*good, "--expect", "Y=zeros"]), (6, [*good[:-1], "d=0"])):
            with self.subTest(code):
                self.assertEqual(self.tapc(*command).returncode, code)

    def test_g8_the_same_message_every_time(self):
        for name, text in BAD.items():
            self.write("a.tap", text)
            self.assertEqual(len({self.tapc("check", "a.tap").output for _ in range(3)}), 1, name)
        self.write("a.tap", "program main(d: i64[n]) -> (q: i64[n]) { q[i] = 1 / (d[i] % 1000) }\ndim n = 100000\n")
        output = {self.expect(6, r"error\[T1301\].*i=0", "run", "a.tap", "-i", "d=iota", "--threads", threads).output
                for threads in ("1", "2", "3", "8") for _ in range(3)}
        self.assertEqual(len(output), 1, output)


if __name__ == "__main__":
    unittest.main()
