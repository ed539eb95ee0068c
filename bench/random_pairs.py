#!/usr/bin/env python3
"""Two builds of tapc on the same random programs, in turns: where the newer one's code is slower.

    random_pairs.py OLD NEW [--seed 1] [--count 70] [--seconds 0.06] [--rounds 2] [--threads 1] [--programs FOLDER]

Programs are maps and reductions of one or two operands with permuted axes, whose sizes are 2 to 6,000. Prints the time of NEW over that
of OLD, the least of the rounds; programs beyond --limit are shown, to be measured again: a busy machine slows some down.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile

SIZES = [lambda r: r.randint(2, 4), lambda r: r.randint(2, 4), lambda r: r.randint(5, 40), lambda r: r.randint(41, 400),
         lambda r: r.randint(401, 6000)]
TYPES = ["f32", "f32", "f32", "f64", "i32", "u8"]
FEWEST, MOST = 20_000, 30_000_000  # points


def some(r, dims, share):
    """A random part of the dims in random order."""
    chosen = [d for d in dims if r.random() < share]
    r.shuffle(chosen)
    return chosen


def drawn(r):
    """A program as text, or None if it has no result, a dim that nothing reads, or too few or too many points."""
    dims = "ijkl"[: r.randint(2, 4)]
    size = {d: r.choice(SIZES)(r) for d in dims}
    reduced = some(r, dims, 0.4)
    results = some(r, [d for d in dims if d not in reduced], 1)
    operands = [some(r, dims, 0.75) for _ in range(r.randint(1, 2))]
    if not reduced:
        operands[0] = some(r, dims, 1)
    element, monoid, operation = r.choice(TYPES), r.choice(["sum", "max"]), r.choice("*+")
    is_read = all(any(d in operand for operand in operands) for d in dims)
    if not results or not all(operands) or not is_read or not FEWEST < math.prod(size.values()) < MOST:
        return None
    tensor = lambda axes: f"{element}[{', '.join(str(size[d]) for d in axes)}]"
    named = list(zip("AB", operands))
    inputs = ", ".join(f"{name}: {tensor(axes)}" for name, axes in named)
    value = f" {operation} ".join(f"{name}[{', '.join(axes)}]" for name, axes in named)
    combined = f"{monoid}[{', '.join(reduced)}] " if reduced else ""
    return f"program p({inputs}) -> (Y: {tensor(results)}) {{ Y[{', '.join(results)}] = {combined}{value} }}\n"


def programs(seed, count):
    r = random.Random(seed)
    texts = []
    while len(texts) < count:
        if text := drawn(r):
            texts.append(text)
    return texts


def seconds(tapc, path, options):
    command = [tapc, "bench", path, "--threads", str(options.threads), "--seconds", str(options.seconds), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["run"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=70)
    parser.add_argument("--seconds", type=float, default=0.06, help="of a measurement")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1.15)
    parser.add_argument("--programs", help="write them to this folder and keep them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(options.programs or made)
        folder.mkdir(parents=True, exist_ok=True)
        ratios = []
        for number, text in enumerate(programs(options.seed, options.count)):
            path = folder / f"r{options.seed}_{number:03}.tap"
            path.write_text(text)
            times = {options.old: [], options.new: []}
            for turn in range(options.rounds):
                for tapc in (options.old, options.new) if turn % 2 == 0 else (options.new, options.old):
                    times[tapc].append(seconds(tapc, path, options))
            ratio = min(times[options.new]) / min(times[options.old])
            ratios.append(ratio)
            if ratio > options.limit or ratio < 1 / options.limit:
                print(f"{ratio:6.2f}  {min(times[options.new]) * 1e6:10.1f} us  {text.strip()}", flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} programs: geometric mean {mean:.3f}, slowest {max(ratios):.2f}, fastest {min(ratios):.2f}")


if __name__ == "__main__":
    main()
