#!/usr/bin/python3
"""Runs and predicts programs under many plans: what the tables of defaults and predictions are made of.

    build/bin/draw_programs --plans 20 --examples examples FOLDER
    scripts/measure_plans.py TAPC FOLDER ROWS.jsonl [--threads 1] [--plans 4] [--only REGEX] [--machine M.toml] [--for SECONDS]

For each NAME.ir or NAME.tap of the folder: the default, no decisions (--evaluations 0), the program as written (--plan none), a
search of 2 s (--search), and the first --plans of NAME.*.plan, whose rest the cost model decides. Variants whose complete plans are equal are
measured once. As long as the default seems worse than others by 5 %, it and these are measured again in turns, up to --rounds
times, and the least median counts. With --again all are measured a second time after that: the tables then also have the tau between both
measurements, which is the most that a prediction can be expected to reach where plans take nearly the same time. Each program becomes one line of ROWS.jsonl; those that are there are skipped, and with --for
it stops in time, so that long runs can be made in parts.

    scripts/measure_plans.py --tables ROWS.jsonl [--scatter PICTURE.svg]

prints the tables of the rows, and draws predicted against measured times.
"""
import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cost_accuracy import kendall

MODES = {"default": [], "undecided": ["--evaluations", "0"], "none": ["--plan", "none"]}
LONGEST = 0.3  # seconds: programs that take longer are measured once


class Subject:
    """A program under its variants."""

    def __init__(self, options, file):
        self.options, self.file, self.name = options, file, file.stem
        self.common = ["--threads", str(options.threads)] + (["--machine", options.machine] if options.machine else [])
        self.cache = ["--cache-dir", options.cache_dir, "--cache-size", "4096"] if options.cache_dir else []

    def json(self, *words):
        try:
            done = subprocess.run([self.options.tapc, *words, *self.common, "--json"], capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return None
        return json.loads(done.stdout) if done.returncode == 0 else None

    def variants(self):
        found = dict(MODES, search=["--budget", self.options.search])
        for n in range(self.options.plans):
            plan = self.file.with_name(f"{self.name}.{n}.plan")
            if plan.exists():
                found[f"plan {n}"] = ["--plan", str(plan)]
        return found

    def row(self):
        same_as, predicted, times = {}, {}, {}
        by_text = {}
        with tempfile.TemporaryDirectory() as folder:
            for variant, words in self.variants().items():
                complete = Path(folder) / "complete.plan"
                first = self.bench(words, "--plan-out", str(complete))
                if first is None:
                    continue  # drawn plans may ask for what cannot be
                # `none` is more than the lines of its plan.
                text = (variant == "none", re.sub(r"evaluations \d+\n", "", complete.read_text()))
                if by_text.setdefault(text, variant) != variant:
                    same_as[variant] = by_text[text]
                    continue
                cost = self.json("cost", str(self.file), *words)
                if cost:
                    predicted[variant] = dict(seconds=cost["total"]["seconds"], memory=memory_of(cost["memory"]))
                    times[variant] = first["run"]["median"]
        self.repeat_doubtful(times)
        row = dict(program=self.name, threads=self.options.threads, times=times, predicted=predicted, same_as=same_as)
        return dict(row, again=self.times_again(times)) if self.options.again else row

    def times_again(self, times):
        variants = self.variants()
        runs = {v: self.bench(variants[v]) for v in times}
        return {v: run["run"]["median"] for v, run in runs.items() if run}

    def bench(self, words, *more):
        return self.json("bench", str(self.file), *words, *self.cache, "--seconds", str(self.options.seconds), "--runs", "3",
                         *(word for given in self.options.input for word in ("-i", given)), *more)

    def repeat_doubtful(self, times):
        """The default in turns with what seems faster, as long as something does."""
        variants = self.variants()
        for _ in range(self.options.rounds - 1):
            faster = [v for v in times if 1.05 * times[v] < times.get("default", 0)]
            if not faster or times["default"] > LONGEST:
                return
            for v in ["default", *faster]:
                run = self.bench(variants[v])
                if run:
                    times[v] = min(times[v], run["run"]["median"])


def memory_of(memory):
    return memory["arena"] + memory["scratch"] if "arena" in memory else sum(memory.values())


def measure(options):
    rows = Path(options.rows)
    known = {json.loads(line)["program"] for line in rows.read_text().splitlines()} if rows.exists() else set()
    end = time.monotonic() + options.time
    for file in sorted(f for f in Path(options.folder).iterdir() if f.suffix in (".ir", ".tap")):
        if file.stem in known or not re.search(options.only, file.name):
            continue
        if time.monotonic() > end:
            return 1
        row = Subject(options, file).row()
        with rows.open("a") as out:
            out.write(json.dumps(row) + "\n")
    return 0


def time_of(row, variant):
    return row["times"].get(row["same_as"].get(variant, variant))


def print_tables(options):
    rows = [json.loads(line) for line in Path(options.rows).read_text().splitlines()]
    rows = [row for row in rows if row["times"].get("default")]
    print_defaults(rows, options)
    print_predictions(rows, options)
    if options.scatter:
        Path(options.scatter).write_text(scatter(rows))


def print_defaults(rows, options):
    found = []
    for row in rows:
        default = row["times"]["default"]
        best = min(row["times"], key=row["times"].get)
        none = time_of(row, "none")
        memory = row["predicted"]["default"]["memory"] / max(1, row["predicted"][best]["memory"])
        found.append((default / row["times"][best], default / none if none else 0, memory, row["program"], default, best))
    print("| | programs | median | 95 % | worst | above the limit |\n|---|---|---|---|---|---|")
    for title, k, limit in [("time over the best plan's", 0, 1.1), ("time over the program as written", 1, 1.03),
                            ("memory over the best plan's", 2, 1.2)]:
        ratios = sorted(f[k] for f in found if f[k])
        print(f"| {title} | {len(ratios)} | {statistics.median(ratios):.2f} | {ratios[int(0.95 * (len(ratios) - 1))]:.2f} | "
              f"{ratios[-1]:.2f} | {sum(r > limit for r in ratios)} of {limit} |")
    print("\n| program | default | over the best | best plan | over as written | memory |\n|---|---|---|---|---|---|")
    for to_best, to_none, memory, name, default, best in sorted(found, reverse=True)[:options.worst]:
        print(f"| `{name}` | {1e6 * default:.1f} us | {to_best:.2f} | {best} | {to_none:.2f} | {memory:.2f} |")


def print_predictions(rows, options):
    again = any("again" in row for row in rows)
    print("\n| program | plans | tau | median error |" + (" tau of measuring again |" if again else ""))
    print("|---|---|---|---|" + ("---|" if again else ""))
    taus, errors = [], []
    for row in rows:
        pairs = [(row["predicted"][v]["seconds"], m) for v, m in row["times"].items() if v in row["predicted"] and 0 < m < math.inf]
        tau = kendall(pairs)
        error = statistics.median(abs(p / m - 1) for p, m in pairs)
        errors += [abs(p / m - 1) for p, m in pairs]
        if len(pairs) >= options.least_plans:
            taus.append(tau)
            print(f"| `{row['program']}` | {len(pairs)} | {tau:.2f} | {100 * error:.0f} % |" + (f" {tau_again(row)} |" if again else ""))
    if taus:
        print(f"\n{len(taus)} programs, {len(errors)} times: median tau {statistics.median(taus):.2f}, "
              f"median error {100 * statistics.median(errors):.1f} %")


def tau_again(row):
    pairs = [(again, row["times"][v]) for v, again in row.get("again", {}).items()]
    return f"{kendall(pairs):.2f}" if pairs else ""


def scatter(rows):
    """Predicted over measured times, both axes logarithmic, a line for equal ones."""
    pairs = [(row["predicted"][v]["seconds"], m) for row in rows for v, m in row["times"].items() if 0 < m < math.inf and v in row["predicted"]]
    low, high = math.floor(math.log10(min(min(p) for p in pairs))), math.ceil(math.log10(max(max(p) for p in pairs)))
    size, margin = 560, 50
    at = lambda t: margin + (math.log10(t) - low) / (high - low) * size
    names = {-9: "1 ns", -8: "10 ns", -7: "100 ns", -6: "1 us", -5: "10 us", -4: "100 us", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s"}
    whole = size + 2 * margin
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="sans-serif" font-size="11">',
           f'<rect width="{whole}" height="{whole}" fill="white"/>']
    for e in range(low, high + 1):
        x = at(10.0**e)
        out.append(f'<path d="M{x:.1f} {margin}V{margin + size}M{margin} {whole - x:.1f}H{margin + size}" stroke="#ddd" fill="none"/>')
        out.append(f'<text x="{x:.1f}" y="{whole - margin + 16}" text-anchor="middle">{names.get(e, "")}</text>')
        out.append(f'<text x="{margin - 6}" y="{whole - x + 4:.1f}" text-anchor="end">{names.get(e, "")}</text>')
    out.append(f'<path d="M{margin} {margin + size}L{margin + size} {margin}" stroke="#888" fill="none"/>')
    out += [f'<circle cx="{at(m):.1f}" cy="{whole - at(p):.1f}" r="2" fill="#1668b8" fill-opacity="0.45"/>' for p, m in pairs]
    out.append(f'<text x="{whole / 2}" y="{whole - 12}" text-anchor="middle">measured</text>')
    out.append(f'<text x="14" y="{whole / 2}" text-anchor="middle" transform="rotate(-90 14 {whole / 2})">predicted</text></svg>')
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", metavar="TAPC FOLDER ROWS, or ROWS")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--plans", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--machine")
    parser.add_argument("--again", action="store_true", help="measure all variants twice")
    parser.add_argument("--cache-dir")
    parser.add_argument("--input", action="append", default=[], help="as of tapc bench, where random numbers do not fit: ids=zeros")
    parser.add_argument("--search", default="2s", help="time of the search")
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--for", dest="time", type=float, default=math.inf)
    parser.add_argument("--scatter")
    parser.add_argument("--worst", type=int, default=25)
    parser.add_argument("--least-plans", type=int, default=10)
    options = parser.parse_args()
    if len(options.paths) != (1 if options.tables else 3):
        parser.error("wrong number of paths")
    if options.tables:
        options.rows = options.paths[0]
        print_tables(options)
        return 0
    options.tapc, options.folder, options.rows = options.paths
    return measure(options)


if __name__ == "__main__":
    sys.exit(main())
