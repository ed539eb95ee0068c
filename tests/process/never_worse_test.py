#!/usr/bin/python3
"""tapc plan never finds less than what a user would write: for every example on ten meshes, no predicted time, memory or traffic is
worse than the best with the first input's first axis divided over the whole mesh (data parallelism), or with shardings drawn at
random for some of its inputs and results.
never_worse_test.py TAPC [--draws N] [--seed N]"""
import json
import random
import re

from examples import examples
from tapc import *

MESHES = ({"a": 2}, {"a": 3}, {"a": 4}, {"a": 8}, {"a": 16}, {"a": 2, "b": 2}, {"a": 3, "b": 2}, {"a": 4, "b": 2}, {"a": 2, "b": 4},
          {"a": 4, "b": 4})
TENSOR = re.compile(r"(\w+): (?:const )?(\w+)\[([^]]+)\]")
DRAWS, SEED = option("--draws", 1), option("--seed", 1)


def of_program(text, name):
    """The start and the end of its inputs and results."""
    found = re.search(rf"program {name or '[A-Za-z_0-9]+'}\(", text)
    return found.end(), text.index("{", re.search(r"->\s*\([^)]*\)", text[found.end():]).end() + found.end())


def annotated(text, name, mesh, sharding_of):
    """With what `sharding_of(number, rank)` gives for each input and result: a list of axes for each axis, or None."""
    begin, end = of_program(text, name)
    number = iter(range(1000))

    def annotate(tensor):
        axes = sharding_of(next(number), tensor.group(3).count(",") + 1)
        if axes is None:
            return tensor.group(0)
        return tensor.group(0) + " @ never[" + ", ".join("{" + ", ".join(names) + "}" for names in axes) + "]"
    sizes = ", ".join(f"{axis}: {size}" for axis, size in mesh.items())
    return f"mesh never = [{sizes}]\n" + text[:begin] + TENSOR.sub(annotate, text[begin:end]) + text[end:]


class NeverWorse(TapcTest):
    def front(self, text, mesh, words):
        """The least time, memory and traffic, each of any plan; None if the shardings do not fit."""
        self.write("p.tap", text)
        sizes = ",".join(f"{axis}={size}" for axis, size in mesh.items())
        done = self.tapc("plan", "p.tap", "--mesh", sizes, "--machine", "builtin", "--json", *words)
        if done.returncode:
            self.assertIn(done.returncode, (1, 4), done.stderr)
            return None
        plans = json.loads(done.stdout)["plans"]
        return {what: min(plan[what] for plan in plans) for what in ("time", "memory", "traffic")}

    def test_every_example_on_ten_meshes(self):
        draw = random.Random(SEED)
        compared = {"data parallelism": 0, "shardings at random": 0}
        for path, _, words in examples():
            text = path.read_text()
            name = words[words.index("--program") + 1] if "--program" in words else None
            for mesh in MESHES:
                free = self.front(text, mesh, words)
                self.assertIsNotNone(free, (path.name, mesh))

                def data_parallel(number, rank):
                    return [list(mesh)] + [[]] * (rank - 1) if number == 0 else None

                def at_random(_, rank):
                    if draw.random() < 0.5:
                        return None
                    axes = [[] for _ in range(rank)]
                    for axis in draw.sample(list(mesh), draw.randint(0, len(mesh))):
                        axes[draw.randrange(rank)].append(axis)
                    return axes
                for what, sharding_of in [("data parallelism", data_parallel)] + [("shardings at random", at_random)] * DRAWS:
                    given = annotated(text, name, mesh, sharding_of)
                    own = self.front(given, mesh, words)
                    if own is None:
                        continue
                    compared[what] += 1
                    for objective, least in free.items():
                        self.assertLessEqual(least, own[objective] * (1 + 1e-9), f"{objective} of {path.name} on {mesh}, {what}:\n{given}")
        print(compared)
        self.assertGreaterEqual(compared["data parallelism"], 120)
        self.assertGreaterEqual(compared["shardings at random"], 60 * DRAWS)


if __name__ == "__main__":
    unittest.main()
