#!/usr/bin/python3
"""Compares the speed of tapc with that of libraries on this machine, and prints a table.

    bench/peers/run.py --workload matmul --quick

All peers of one size keep their data in memory and run in turns of 0.1 s, so that other load on the machine affects all of
them; a peer's result is the median over its turns of a turn's median call. The ratio is our speed over
the rival's, taken within each turn. README.md lists the packages that the rivals need; missing ones are skipped."""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from workloads import ROOT, WORKLOADS

HERE = Path(__file__).resolve().parent
OURS = "tapestry"


def say(text):
    print(text, file=sys.stderr, flush=True)


class Peers:
    """The programs of the peers, built on first use."""
    BUILDS = {"native": ["-std=c++20", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-ldnnl", "-lopenblas"],
              "halide": ["-std=c++17", "-O2", "-lHalide14", "-ldl", "-lpthread"]}

    def __init__(self, build, threads, options):
        self.build, self.threads, self.options = build, threads, options
        self.folder = build / "peers"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.missing = set()

    def program(self, name):
        source, made = HERE / f"{name}_peers.cpp", self.folder / name
        newest = max(source.stat().st_mtime, (HERE / "protocol.h").stat().st_mtime)
        if made.exists() and made.stat().st_mtime > newest:
            return made
        flags = self.BUILDS[name]
        built = subprocess.run(["g++", f"-I{ROOT}", *[f for f in flags if not f.startswith("-l")], str(source), "-o", str(made),
                                *[f for f in flags if f.startswith("-l")]], stderr=subprocess.PIPE, text=True)
        if built.returncode:
            if name not in self.missing:
                say(f"without {name}: {built.stderr.splitlines()[0] if built.stderr else 'it does not build'}")
            self.missing.add(name)
            return None
        return made

    def commands(self, workload, size):
        """label, command, environment"""
        text = self.folder / f"{workload.name}.tap"
        text.write_text(workload.program(size))
        found = [("", [self.build / "bin" / "tapestry_peer", text, self.threads, *workload.options, *self.options], {})]
        words = [workload.name.split("_")[0], size, self.threads]
        native = self.program("native")
        if native and workload.name == "matmul":  # its kernels for another processor are at times the faster ones
            found += [(label, [native, *words, "openblas"], extra)
                      for label, extra in (("openblas", {}), ("openblas_haswell", {"OPENBLAS_CORETYPE": "Haswell"}),
                                           ("openblas_auto", {}))]
            found.append(("", [native, *words, "onednn"], {}))
        elif native:
            found.append(("", [native, *words], {}))
        halide = self.program("halide")
        if halide:
            found.append(("", [halide, *words], {}))
        return found + [("", ["/usr/bin/python3", HERE / "python_peers.py", library, *words], {})
                        for library in ("numpy", "torch")]


NOTES = {"attention_long": "memory of the whole process: {peak}, of 400 MB"}


def markdown(rows, head):
    """The page docs/benchmarks.md."""
    lines = ["# Benchmarks", "",
             f"Measured on {head['date']}: {head['machine']}; {head['threads']} thread, f32, {head['clock']} time. Median of "
             f"{head['rounds']} rounds of {head['budget']:g} s,",
             "each of which runs all programs. A ratio is our speed over the rival's, round by round ([how it is measured](../bench/peers/README.md)).",
             "`bench/peers/run.py --markdown docs/benchmarks.md` writes this page.", "",
             "GFLOP/s count two operations for a multiplication and an addition; GB/s count each input read once and each result "
             "written once.", "",
             "| workload | size | ours | rivals | ratio | to | floor | |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        rivals = sorted(((rate, label) for label, rate in row["rates"].items() if label != OURS), reverse=True)
        ours = row["rates"].get(OURS)
        met = {True: "met", False: "**not met**", None: ""}[row["met"]]
        if row["workload"] in NOTES and row["peak"]:
            met = NOTES[row["workload"]].format(peak=f"{row['peak'] / 1e6:.0f} MB")
        cells = [row["workload"], f"`{row['size']}`", f"{short(ours)} {row['unit']}" if ours else "did not run",
                 ", ".join(f"{label} {short(rate)}" for rate, label in rivals),
                 f"{row['ratio']:.2g}" if row["ratio"] is not None else "", row["against"] or "",
                 f"{row['floor']:g}" if row["floor"] else "", met]
        lines.append("| " + " | ".join(cells) + " |")
    judged = [row for row in rows if row["met"] is not None]
    lines += ["", f"{sum(row['met'] for row in judged)} of {len(judged)} floors are met."]
    wrong = [f"{label} of {row['workload']} {row['size']}" for row in rows for label in row["disagree"]]
    if wrong:
        lines += ["", "Results that differ from those of most others, by more than their rounding should: " + "; ".join(wrong) + "."]
    return "\n".join(lines) + "\n"


BY_HAND = "\n<!-- by hand -->\n"


def write_page(path, rows, head):
    """Keeps the text below the table, which is written by hand."""
    _, mark, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(BY_HAND)
    path.write_text(markdown(rows, head) + mark + rest, encoding="utf-8")


def processor_flags():
    return next((line for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("flags")), "").split()


class Process:
    def __init__(self, command, extra, label, threads, verbose):
        n = str(threads)
        # OpenBLAS does not know every processor and then takes kernels without vectors.
        core = "SkylakeX" if "avx512f" in processor_flags() else "Haswell"
        if label != "openblas_auto":
            extra = {"OPENBLAS_CORETYPE": core, **extra}
        environment = dict(os.environ, OMP_NUM_THREADS=n, OPENBLAS_NUM_THREADS=n, HL_NUM_THREADS=n, GOMP_SPINCOUNT="20000",
                           # Memory that was freed is kept, in huge pages: page faults would cost more than some calls.
                           MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 40),
                           GLIBC_TUNABLES="glibc.malloc.hugetlb=1", **extra)
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=None if verbose else subprocess.DEVNULL, text=True, env=environment)
        self.command, self.label = command, label

    def offers(self):
        names = self.process.stdout.readline().split()[1:]
        return [(self.label or name, name, self) for name in names]

    def call(self, name, budget):
        try:
            print(name, budget, file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def agree(one, other):
    """Whether the results of two peers agree up to rounding."""
    allowed = 2e-3 * max(one["norm"], other["norm"])
    return all(abs(a - b) <= allowed for a, b in zip(one["probes"], other["probes"]))


def outliers(answers):
    """The peers that do not agree with the one that agrees with most others."""
    reference = max(answers.values(), key=lambda one: sum(agree(one, other) for other in answers.values()), default=None)
    return [label for label, answer in answers.items() if not agree(reference, answer)]


def measure(workload, size, peers, options):
    processes = [Process(command, extra, label, options.threads, options.verbose)
                 for label, command, extra in peers.commands(workload, size)
                 if not options.only or label.split("_")[0] in options.only or any(o in str(command) for o in options.only)
                 or "tapestry_peer" in str(command[0])]
    offers = [offer for process in processes for offer in process.offers()]
    rounds = 1 if workload.few else options.rounds
    turns, answers = {}, {}
    for _ in range(rounds):
        for label, name, process in offers:
            answer = process.call(name, options.budget)
            if answer is None:
                say(f"{workload.name} {size}: {label} died")
                continue
            turns.setdefault(label, []).append(statistics.median(answer[options.clock]))
            answers[label] = answer
    for process in processes:
        process.close()
    wrong = outliers(answers)
    return {label: {"seconds": statistics.median(seconds), "turns": seconds, "peak": answers[label]["peak"],
                    "agrees": label not in wrong}
            for label, seconds in turns.items() if len(seconds) == rounds}


def ratio(found, rival):
    """Our speed over the rival's, turn by turn."""
    return statistics.median(theirs / ours for ours, theirs in zip(found[OURS]["turns"], found[rival]["turns"]))


def judge(workload, size, found):
    """One row of the table."""
    rate = {label: workload.amount(size) / peer["seconds"] / 1e9 for label, peer in found.items()}
    rivals = [label for label in found if label != OURS and found[label]["agrees"]
              and (workload.against == "the best" or label.startswith(workload.against))]
    best = max(rivals, key=rate.get, default=None)
    row = {"workload": workload.name, "size": size, "unit": workload.unit, "floor": workload.floor, "rates": rate,
           "against": best, "peak": found.get(OURS, {}).get("peak"),
           "disagree": [label for label in found if not found[label]["agrees"]]}
    row["ratio"] = ratio(found, best) if best and OURS in found else None
    row["met"] = None if not workload.floor or row["ratio"] is None else row["ratio"] >= workload.floor
    return row


def short(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def sketch(row):
    """A row for tuning: our time, the ratio, then the rivals by speed."""
    size = row["size"].replace(" ", "")
    ours = row["rates"].get(OURS)
    head = f"{row['workload']:12} {size:24} {OURS} " + (f"{short(ours):>6} {row['unit']}" if ours else "did not run")
    if row["ratio"] is not None:
        verdict = {True: "met", False: "NOT MET", None: ""}[row["met"]]
        floor = f" (floor {row['floor']:g}: {verdict})" if row["floor"] else ""
        head += f"  {row['ratio']:.3f}x {row['against']}{floor}"
    rivals = sorted(((rate, label) for label, rate in row["rates"].items() if label != OURS), reverse=True)
    head += "  | " + "  ".join(f"{label} {short(rate)}" for rate, label in rivals)
    return head + (f"  DISAGREE: {', '.join(row['disagree'])}" if row["disagree"] else "")


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), platform.processor())
    flags = processor_flags()
    widest = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
    return f"{model}, {os.cpu_count()} processors, {widest}"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument("--workload", action="append", choices=names, help="may be repeated (default: all)")
    parser.add_argument("--size", action="append", help="a size instead of the predefined ones; may be repeated")
    parser.add_argument("--quick", action="store_true", help="few sizes, few turns")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, help="turns of each peer (7, or 3 with --quick)")
    parser.add_argument("--budget", type=float, default=0.1, help="seconds of a turn")
    parser.add_argument("--clock", choices=["cpu", "wall"], help="CPU time of the process (default with one thread), or "
                        "wall time (with more)")
    parser.add_argument("--only", action="append", help="a rival: openblas, onednn, numpy …; may be repeated")
    parser.add_argument("--option", action="append", default=[], help="an option of tapestry_peer: fuse, plan=FILE")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder of tapestry_peer")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--markdown", type=Path, help="write a page to this file")
    parser.add_argument("--verbose", action="store_true", help="show the output of the peers")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.clock = options.clock or ("cpu" if options.threads == 1 else "wall")
    return options


def main():
    options = parse_arguments()
    ours = options.build / "bin" / "tapestry_peer"
    if not ours.exists():
        sys.exit(f"{ours} is not there: cmake --build {options.build} --target tapestry_peer")
    peers = Peers(options.build, options.threads, options.option)
    head = {"date": datetime.date.today().isoformat(), "machine": machine(), "threads": options.threads,
            "clock": "CPU" if options.clock == "cpu" else "wall", "rounds": options.rounds, "budget": options.budget}
    rows = []
    for workload in WORKLOADS:
        if options.workload and workload.name not in options.workload or (workload.few and not options.workload):
            continue
        for size in options.size or (workload.quick if options.quick and not workload.few else workload.sizes):
            rows.append(judge(workload, size, measure(workload, size, peers, options)))
            print(sketch(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
            if options.markdown:
                write_page(options.markdown, rows, head)


if __name__ == "__main__":
    main()
