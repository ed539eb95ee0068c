#!/usr/bin/python3
"""Conformance files with a field that is missing or of another type: each case is reported as malformed, fails, or passes;
the program never stops. malformed_cases.py TAPC_CONFORMANCE [CHANGES SEED]"""
import copy
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLES = ("cases", "explicit", "reshard", "rules")
OTHERS = [None, True, 0, -1, 1, 10**18, 2**63 - 1, 1.5, "", "x", "-", "[", [], [1], [[]], {}, {"a": 1}, "(["]


def paths(value, path=()):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key)
        yield from paths(inner, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def changed(case, draw):
    """A copy with one field or entry removed, of a different type, or copied from elsewhere in the case."""
    case = copy.deepcopy(case)
    *path, last = draw.choice(list(paths(case)))
    holder = at(case, path)
    what = draw.random()
    if what < 0.4:
        del holder[last]
    elif what < 0.9:
        holder[last] = copy.deepcopy(draw.choice(OTHERS))
    else:
        holder[last] = copy.deepcopy(at(case, draw.choice(list(paths(case)))))
    return case


def run(program, text):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        return subprocess.run([program, file.name], capture_output=True, text=True, timeout=120)


def expect(result, codes, *parts):
    if result.returncode not in codes or any(part not in result.stdout + result.stderr for part in parts):
        sys.exit(f"exit {result.returncode}, expected {codes} with {parts}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")


def main():
    program, changes, seed = sys.argv[1], int((sys.argv[2:] or [600])[0]), int((sys.argv[3:] or [1])[0])
    files = [json.loads((HERE / f"shardy_{table}.json").read_text()) for table in TABLES]
    # The smallest that stopped it: a listed collective that does not say what it makes.
    reshards = files[TABLES.index("reshard")]
    case = copy.deepcopy(next(case for case in reshards["cases"] if case["expected"]))
    del case["expected"][-1]["out"]
    expect(run(program, json.dumps({**reshards, "cases": [case]})), (3,), "is malformed: key 'out' not found",
           f"the case {case['id']}")
    for text in ("", "[]", "1", '{"cases": 1}', '{"cases": {}}', '{"cases": [1, null, [], {}]}', '{"cases": []'):
        expect(run(program, text), (1, 3))
    draw = random.Random(seed)
    each = 20
    for _ in range(changes // each):
        file = draw.choice(files)
        cases = [changed(draw.choice(file["cases"]), draw) for _ in range(each)]
        result = run(program, json.dumps({**file, "cases": cases}))
        if result.returncode not in (0, 1, 3) or "internal error" in result.stderr:
            for case in cases:
                text = json.dumps({**file, "cases": [case]})
                alone = run(program, text)
                if alone.returncode not in (0, 1, 3):
                    sys.exit(f"seed {seed}: exit {alone.returncode}, {alone.stderr}\n{text}")
            sys.exit(f"seed {seed}: exit {result.returncode}, {result.stderr}")
    print(f"{changes} changed cases, none stopped it")


if __name__ == "__main__":
    main()
