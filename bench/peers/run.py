#!/usr/bin/python3
"""Compares the speed of tapc with that of libraries on this machine, and prints a table.

    bench/peers/run.py --workload matmul --quick
    bench/peers/run.py --random 20 --threads 1,2 --json docs/dev/results/peers.json

All peers of one size keep their data in memory and run in turns of 0.1 s, so that other load on the machine affects all of
them; a peer's result is the median over its turns of a turn's median call. The ratio is our speed over
the rival's, taken within each turn. README.md lists the packages that the rivals need; missing ones are skipped."""
import argparse
import datetime
import json
import os
import platform
import random
import re
import statistics
import subprocess
import sys
from pathlib import Path

from results import OURS, csv, judge, outliers, sketch, summary, write_page
from workloads import ROOT, WORKLOADS

HERE = Path(__file__).resolve().parent
LIMITS = "67108864"  # cells


def say(text):
    print(text, file=sys.stderr, flush=True)


class Peers:
    """The programs of the peers, built on first use."""
    BUILDS = {"native": ["-std=c++20", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-ldnnl", "-lopenblas", "-lxsmm", "-lxsmmnoblas",
                         "-ldl", "-lpthread"],
              "halide": ["-std=c++17", "-O2", "-lHalide14", "-ldl", "-lpthread"]}

    def __init__(self, build, options):
        self.build, self.options = build, options
        self.folder = build / "peers"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.missing = set()

    def program(self, name):
        source, made = HERE / f"{name}_peers.cpp", self.folder / name
        newest = max(path.stat().st_mtime for path in [source, HERE / "protocol.h", *(HERE / "native").glob("*.h")])
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

    def commands(self, workload, size, threads):
        """label, command, environment"""
        text = self.folder / f"{workload.name}.tap"
        text.write_text(workload.program(size))
        found = [("", [self.build / "bin" / "tapestry_peer", text, threads, *workload.options, *self.options], {})]
        name = {"contraction_large": "contraction", "attention_long": "attention"}.get(workload.name, workload.name)
        words = [name, size, threads]
        native = self.program("native")
        if native and workload.name.startswith("matmul"):  # its kernels for another processor are at times the faster ones
            found += [(label, [native, *words, "openblas"], extra)
                      for label, extra in (("openblas", {}), ("openblas_haswell", {"OPENBLAS_CORETYPE": "Haswell"}),
                                           ("openblas_auto", {}))]
            found += [("", [native, *words, library], {}) for library in ("onednn", "onednn_prepacked")]
        elif native:
            found.append(("", [native, *words], {}))
        halide = self.program("halide")
        if halide:
            found.append(("", [halide, *words], {}))
        return found + [("", ["/usr/bin/python3", HERE / "python_peers.py", library, *words], {})
                        for library in ("numpy", "torch")]


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
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it died, which its last call said
        self.process.wait()


def limits_of(peers, threads):
    """Of this machine with these threads, in GB/s and GFLOP/s; nothing without the native peers."""
    native = peers.program("native")
    if not native:
        return None
    process = Process([native, "limits", LIMITS, threads], {}, "", threads, False)
    amounts = {"read": 4 * int(LIMITS), "copy": 8 * int(LIMITS), "multiply_add": 2 * threads * int(LIMITS)}
    found = {name: amounts[name] / min(process.call(name, 0.5)["wall"]) / 1e9 for name, _, _ in process.offers()}
    process.close()
    return found


def measure(workload, size, peers, threads, options):
    processes = [Process(command, extra, label, threads, options.verbose)
                 for label, command, extra in peers.commands(workload, size, threads)
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
            turns.setdefault(label, []).append(statistics.median(answer[clock_of(options, threads)]))
            answers[label] = answer
    for process in processes:
        process.close()
    wrong = outliers(answers)
    return {label: {"seconds": statistics.median(seconds), "turns": seconds, "peak": answers[label]["peak"],
                    "agrees": label not in wrong}
            for label, seconds in turns.items() if len(seconds) == rounds}


def clock_of(options, threads):
    return options.clock or ("cpu" if threads == 1 else "wall")


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
    parser.add_argument("--random", type=int, metavar="N", help="N sizes of each workload, drawn at random, besides the predefined ones")
    parser.add_argument("--only-random", action="store_true", help="no predefined sizes")
    parser.add_argument("--seed", type=int, default=1, help="of the random sizes")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1], help="1, or 1,2 for both")
    parser.add_argument("--rounds", type=int, help="turns of each peer (7, or 3 with --quick)")
    parser.add_argument("--budget", type=float, default=0.1, help="seconds of a turn")
    parser.add_argument("--clock", choices=["cpu", "wall"], help="CPU time of the process (default with one thread), or "
                        "wall time (with more)")
    parser.add_argument("--only", action="append", help="a rival: openblas, onednn, numpy …; may be repeated")
    parser.add_argument("--option", action="append", default=[], help="an option of tapestry_peer: fuse, plan=FILE")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder of tapestry_peer")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--csv", type=Path, help="write all rows to this file")
    parser.add_argument("--markdown", type=Path, help="write a page with a summary to this file")
    parser.add_argument("--programs", type=Path, help="measure nothing: write the programs to this folder, for scripts/measure_plans.py")
    parser.add_argument("--verbose", action="store_true", help="show the output of the peers")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    return options


def write_programs(options):
    options.programs.mkdir(parents=True, exist_ok=True)
    for workload in WORKLOADS:
        if not options.workload or workload.name in options.workload:
            for size in sizes_of(workload, options):
                name = re.sub(r"[^\w.=-]+", "_", f"{workload.name}_{size}")
                (options.programs / f"{name}.tap").write_text(workload.program(size))


def main():
    options = parse_arguments()
    if options.programs:
        return write_programs(options)
    ours = options.build / "bin" / "tapestry_peer"
    if not ours.exists():
        sys.exit(f"{ours} is not there: cmake --build {options.build} --target tapestry_peer")
    peers = Peers(options.build, options.option)
    head = {"date": datetime.date.today().isoformat(), "machine": machine(), "threads": options.threads, "seed": options.seed,
            "rounds": options.rounds, "budget": options.budget, "limits": {n: limits_of(peers, n) for n in options.threads},
            "command": "bench/peers/run.py " + " ".join(sys.argv[1:])}
    for threads, limits in head["limits"].items():
        if limits:
            print(f"limits, {threads} threads: " + ", ".join(f"{name} {rate:.1f}" for name, rate in limits.items()))
    rows = []
    for workload in WORKLOADS:
        if options.workload and workload.name not in options.workload or (workload.few and not options.workload):
            continue
        for size in sizes_of(workload, options):
            for threads in options.threads:
                rows.append(judge(workload, size, measure(workload, size, peers, threads, options), threads, head["limits"][threads]))
                print(sketch(rows[-1]), flush=True)
                if options.json:
                    options.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
                if options.csv:
                    options.csv.write_text(csv(rows), encoding="utf-8")
                if options.markdown:
                    write_page(options.markdown, rows, head)
    print(summary(rows), end="")


def sizes_of(workload, options):
    sizes = list(options.size or (workload.quick if options.quick and not workload.few else workload.sizes))
    if options.only_random:
        sizes = []
    if options.random and workload.draw:
        rng = random.Random(f"{options.seed} {workload.name}")
        sizes += [workload.draw(rng) for _ in range(options.random)]
    return sizes


if __name__ == "__main__":
    main()
