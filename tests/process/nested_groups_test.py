#!/usr/bin/python3
"""Groups of groups, and their blocks: random plans of one program give what the program gives as written.

    nested_groups_test.py TAPC                         a short run
    nested_groups_test.py TAPC --plans 500 --seed 7    a campaign: prints how many plans ran
"""
import argparse
import random
import re
import sys

from tapc import *

# A group of r and c has two results, of which c does not depend on i.
PROGRAM_TEXT = """program p(X: i64[6, 5]) -> (r: i64[6], c: i64[], v: i64[5], Y: i64[6, 5], Z: i64[6, 5]) {
  m[i] = max[j] X[i, j]
  s[i] = sum[j] X[i, j] * m[i]
  t[i, j] = X[i, j] - m[i]
  u[i, j] = t[i, j] * s[i] + 1
  r[i] = sum[j] u[i, j]
  c[] = max[i] r[i]
  v[j] = sum[i] u[i, j]
  Y[i, j] = u[i, j] + v[j]
  Z[i, j] = t[i, j] - r[i] + c[]
}
"""
NAMES = "m s u r c v Y Z".split()  # `t` is composed into its readers


def drawn_plan(draw):
    """Lines of which each may name the group of one before."""
    lines, left = [], list(NAMES)
    last = None
    for _ in range(draw.choice([1, 2, 2, 3])):
        size = draw.choice([2, 2, 2, 3, 4])
        if len(left) < size:
            break
        first = draw.randrange(len(left) - size + 1)
        if last in left and draw.random() < 0.6:  # with the group of the line before
            first = max(0, min(left.index(last) - draw.randrange(size), len(left) - size))
        group = left[first:first + size] if draw.random() < 0.8 else sorted(draw.sample(left, size), key=left.index)
        lines.append(f"fuse {', '.join(group)}" + draw.choice(["", " over i", " over i", " over j", " over i, j"]))
        left = [name for name in left if name not in group[:-1]]
        last = group[-1]
    if draw.random() < 0.6:
        lines.append(f"split {draw.choice(left)} dim {draw.choice('ij')} into {draw.choice([2, 3])} over {draw.choice(['threads', 'sequential'])}")
    return lines


class NestedGroups(TapcTest):
    def run_plans(self, count, seed):
        """How many plans ran, and how many of them have a group in a group."""
        self.write("p.tap", PROGRAM_TEXT)
        run = ["run", "p.tap", "-i", "X=rand:3", "--plan"]
        expected, draw, ran, nested = self.expect(0, "^$", *run, "none").stdout, random.Random(seed), 0, 0
        for _ in range(count):
            lines = drawn_plan(draw)
            while lines:
                self.write("p.plan", "plan 2\n" + "\n".join(lines) + "\nevaluations 0\n")
                made = self.tapc(*run, "p.plan", "--require-proof")
                if made.returncode == 0:
                    break
                self.assertEqual(made.returncode, 1, made.output)
                self.assertIn("T1402", made.output)
                del lines[int(re.search(r"p\.plan:(\d+):", made.output)[1]) - 2]  # the rest may do
            if not lines:
                continue
            self.assertEqual(made.stdout, expected, "\n".join(lines))
            ran += 1
            groups = [line.split(" over ")[0][5:].split(", ") for line in lines if line.startswith("fuse")]
            nested += any(set(later) & {one[-1] for one in groups[:k]} for k, later in enumerate(groups))
        return ran, nested

    def test_short(self):
        ran, nested = self.run_plans(40, 20261125)
        self.assertGreater(ran, 10)
        self.assertGreater(nested, 0)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--plans", type=int, required=True)
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    test = NestedGroups()
    test.setUp()
    try:
        print("{} plans ran, {} with a group in a group".format(*test.run_plans(options.plans, options.seed)))
    finally:
        test.doCleanups()


if __name__ == "__main__":
    main() if "--plans" in sys.argv else unittest.main()
