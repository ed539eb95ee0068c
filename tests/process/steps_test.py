#!/usr/bin/python3
"""`tapc inspect --diff` against `--after`: what a diff removes and adds leads from one graph to the other, and nothing else
changed. steps_test.py TAPC"""
import collections
import re

from tapc import *

PROGRAM = """use std
mesh pod = [data: 2, model: 2]
program layer(X: f32[4, 8] @ pod[{data}, {model}], W: f32[8, 6], b: f32[6]) -> (Y: f32[4, 6], Z: f32[4]) {
    H = relu(linear(X, W, b))
    Y = iterate 3 (u = H) {
        v[i, j] = 1 * u[i, j] + 0
        v
    }
    Z[i] = sum[j] H[i, j] * 1
}
"""
IN_ORDER = ["inline_calls", "simplify_graph", "compose_maps", "simplify_cells", "share_equal_operations", "propagate",
            "apply_splits", "realise"]  # of their last runs


def operations(text):
    """How often each operation stands in a graph's text: its paragraph, without index space and accesses."""
    paragraphs = text.rstrip("\n").split("\n\n")
    kept = ["\n".join(line for line in p.split("\n") if not re.match("  (index|read|write) ", line)) for p in paragraphs]
    return collections.Counter(p for p in kept if not re.match("mesh |program |graph |\ngraph ", p))


def sides(text):
    """Operations before and after, by the marks of their lines."""
    found = {"-": collections.Counter(), "+": collections.Counter()}
    lines = [(line[0], line[2:]) for line in text.split("\n") if line]
    at = 0
    while at < len(lines):
        mark, first = lines[at]
        end = at + 1
        while end < len(lines) and lines[end][0] == mark and lines[end][1].startswith("  "):
            end += 1
        whole = [first] + [line for _, line in lines[at + 1:end]]
        found[mark]["\n".join(line for line in whole if not re.match("  (index|read|write) ", line))] += 1
        at = end
    return found["-"], found["+"]


class Steps(TapcTest):
    def after(self, name, *options):
        return self.expect(0, "^$", "inspect", "p.tap", "--after", name, *options).stdout.decode()

    def diff(self, passes):
        return self.expect(0, "^$", "inspect", "p.tap", "--diff", passes).stdout.decode()

    def test_a_diff_leads_from_one_graph_to_the_other(self):
        self.write("p.tap", PROGRAM)
        for k, begin in enumerate(IN_ORDER[:-1]):
            for end in IN_ORDER[k + 1:]:
                with self.subTest(begin=begin, end=end):
                    before, after = operations(self.after(begin)), operations(self.after(end))
                    text = self.diff(f"{begin}..{end}")
                    gone, new = (collections.Counter(), collections.Counter()) if text == "nothing changed\n" else sides(text)
                    self.assertEqual(gone - before, collections.Counter())
                    self.assertEqual(before - gone + new, after)

    def test_one_pass(self):
        self.write("p.tap", PROGRAM)
        self.assertIn("- H[i0, i1] = max(H.linear[i0, i1], 0)\n+ H[i0, i1] = max(f32(b[i1] + H.linear.y.sum[i0, i1]), 0)\n",
                      self.diff("compose_maps"))
        whole = self.diff("..")
        self.assertIn("- H = relu(H.linear)", whole)
        self.assertIn("+   split  ", whole)
        self.assertRegex(self.after("compose_maps", "--format=ir"), "(?m)^graph 0 layer")
        self.assertIn("<svg", self.after("realise", "--format=svg"))

    def test_wrong_passes(self):
        self.write("p.tap", PROGRAM)
        self.expect(2, "unknown pass `compose_map`(.*\n)*help: did you mean `compose_maps`", "inspect", "p.tap", "--after", "compose_map")
        self.expect(2, "the pass `fuse_auto` did not run", "inspect", "p.tap", "--diff", "fuse_auto")
        self.expect(2, "the pass `inline_calls` runs before `realise`(.*\n)*help: write `--diff inline_calls..realise`",
                    "inspect", "p.tap", "--diff", "realise..inline_calls")
        self.expect(2, "--after", "inspect", "p.tap", "--after", "realise", "--diff", "realise")


if __name__ == "__main__":
    unittest.main()
