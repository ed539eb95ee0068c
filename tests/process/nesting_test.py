#!/usr/bin/python3
"""Repetitions in repetitions: the work of a command, the checker's with it, is that of what is written, not doubled by each
level. nesting_test.py TAPC"""
from tapc import *


def nested(depth, trips):
    """x -> x / 2 + 1, so often."""
    body = f"w[i] = v{depth}[i] * 0.5 + 1; w"
    for level in range(depth, 1, -1):
        body = f"r{level} = iterate {trips} (v{level} = v{level - 1}) {{ {body} }}\n r{level}"
    return (f"program main(x: f32[4]) -> (y: f32[4]) {{ y = iterate {trips} (v1 = x) {{ {body} }} }}\n"
            if depth > 1 else f"program main(x: f32[4]) -> (y: f32[4]) {{ y = iterate {trips} (v1 = x) {{ {body} }} }}\n")


# Two states, one of which finds the other's value; what is read of outside; a counter.
STATES = """program main(x: f32[4], z: f32[4]) -> (y: f32[4], w: f32[4]) {{
  (y, w) = iterate {trips} (a1 = x, b1 = z) {{ {body} }}
}}
"""


def exchanged(depth, trips):
    body = f"c[i] = b{depth}[i] + z[i] * 2; (c, a{depth})"
    for level in range(depth, 1, -1):
        body = (f"(p{level}, q{level}) = iterate t{level} in 0..{trips} (a{level} = a{level - 1}, b{level} = b{level - 1}) "
                f"{{ {body} }}\n (p{level}, q{level})")
    return STATES.format(trips=trips, body=body)


COMMANDS = [["check"], ["verify"], ["inspect"], ["opt"], ["sharding"], ["compile", "-o", "p.so"]]


class Nesting(TapcTest):
    def test_twenty_levels_take_no_time(self):
        for program in (nested(20, 2), nested(100, 3), exchanged(20, 2)):
            self.write("p.tap", program)
            for command in COMMANDS:
                self.expect(0, ".*", command[0], "p.tap", *command[1:], timeout=10)

    def test_results_are_those_of_the_steps(self):
        for program, inputs in ((nested(5, 2), ["x"]), (exchanged(4, 3), ["x", "z"])):
            self.write("p.tap", program)
            given = [word for name in inputs for word in ("-i", f"{name}=rand:1")]
            output = [self.tapc("run", "p.tap", "--engine", engine, *given).stdout for engine in ("native", "interp")]
            self.assertEqual(*output)
            self.assertTrue(output[0])


if __name__ == "__main__":
    unittest.main()
