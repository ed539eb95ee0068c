#!/usr/bin/python3
"""How well `tapc simulate` predicts runs on this machine: every example on 1 and 2 threads, and in 2 processes of an MPI job.

    scripts/simulation_accuracy.py TAPC --machine M.toml [--only WORD] [--repeats N] [-o RESULTS.json]

M.toml is what `tapc calibrate` has written; links between processes of this machine are added to it. On threads the least time
of `tapc bench` counts, in processes that of several runs, whose first touches of memory are part of them.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Large enough that a run takes more than it takes to start one.
SIZES = {
    "attention": "heads=4 n=512 d=64", "cg": "n=512 steps=20", "convnet": "batch=4 size=32 c1=32 c2=32 classes=10", "fft": "",
    "heat": "n=48 steps=10", "jacobi": "n=512 steps=20", "kmeans": "points=20000 clusters=16 d=16 steps=5", "life": "n=512 steps=20",
    "linear": "batch=512 in=512 out=512", "logistic": "samples=20000 features=64", "mlp": "batch=256 width=256 hidden=1024",
    "mttkrp": "l=64 m=64 n=64 terms=32", "nearest": "queries=256 points=2048 d=32", "recurrence": "n=2000 d=16 states=16",
    "transformer": "layers=2 n=128 model=128 heads=4 d=32 wide=512",
}
LINKS = '\n[[links]]\nname = "processes"\ncount = 64\nlatency = "3 us"\nbandwidth = "4 GB/s"\n'
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


class Example:
    def __init__(self, given, path, folder):
        self.given, self.folder = given, folder
        program = re.search(r"// try:.*?--program (\w+)", path.read_text())
        self.words = [str(path), *(["--program", program[1]] if program else []),
                      *(word for size in SIZES[path.stem].split() for word in ("--dim", size))]

    def tapc(self, *words, before=(), environment=None):
        return subprocess.run([*before, self.given.tapc, *words], capture_output=True, text=True, timeout=300, cwd=self.folder,
                              env={**os.environ, **(environment or {})})

    def json(self, *words):
        done = self.tapc(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def inputs(self):
        listed = re.search(r"the program's inputs are (.*)", self.tapc("run", *self.words).stderr)
        names = re.findall(r"(\w+): \w+\[", listed[1]) if listed else []
        return [word for k, name in enumerate(names) for word in ("-i", f"{name}=rand:{k + 1}")]

    def on_threads(self, threads):
        words = [*self.words, "--threads", str(threads), "--machine", self.given.machine]
        simulated = self.json("simulate", *words)
        # Other work on the machine disturbs whole seconds: several short ones.
        least = [one["run"]["least"] for _ in range(self.given.repeats) if (one := self.json("bench", *words, "--seconds", "0.15", "--runs", "5"))]
        return simulated and least and (simulated["seconds"], min(least))

    def in_processes(self, ranks):
        plan = ["--plan", "p.plan", "--threads", "1", "--machine", str(self.folder / "links.toml")]
        if self.tapc("plan", *self.words, "--mesh", f"x={ranks}", "-o", "p.plan", "--machine", plan[-1]).returncode != 0:
            return None
        simulated = self.json("simulate", *self.words, *plan)
        least = None
        for _ in range(self.given.repeats):
            done = self.tapc("run", *self.words, *plan, *self.inputs(), "-o", "@y.npz", "--mpi", "--summary",
                             before=["mpirun", "-n", str(ranks)], environment=MPI)
            found = re.search(r"ran in ([\d.]+) (\w+)", done.stderr)
            if found:
                least = min(least or 1e9, float(found[1]) * UNITS[found[2]])
        return simulated and least and (simulated["seconds"], least)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("tapc")
    options.add_argument("--machine", required=True)
    options.add_argument("--only", default="")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("-o", "--output")
    given = options.parse_args()
    given.tapc, given.machine = str(Path(given.tapc).resolve()), str(Path(given.machine).resolve())
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "links.toml").write_text(Path(given.machine).read_text() + LINKS)
        for path in sorted((ROOT / "examples").glob("*.tap")):
            if path.stem not in SIZES or given.only not in path.stem:
                continue
            example = Example(given, path, folder)
            ways = {"1 thread": lambda: example.on_threads(1), "2 threads": lambda: example.on_threads(2)}
            if shutil.which("mpirun"):
                ways["2 processes"] = lambda: example.in_processes(2)
            for way, measure in ways.items():
                both = measure()
                if not both:
                    print(f"{path.stem:12} {way:12} did not run", flush=True)
                    continue
                rows.append({"example": path.stem, "way": way, "simulated": both[0], "measured": both[1]})
                print(f"{path.stem:12} {way:12} {both[0] * 1e6:12.1f} {both[1] * 1e6:12.1f} us  {both[0] / both[1]:6.2f}", flush=True)
    print()
    for way in dict.fromkeys(row["way"] for row in rows):
        errors = [abs(row["simulated"] / row["measured"] - 1) for row in rows if row["way"] == way]
        print(f"{way:12} {len(errors):3} examples   median error {100 * statistics.median(errors):5.1f} %")
    if rows:
        print(f"all          {len(rows):3} rows       median error {100 * statistics.median(abs(r['simulated'] / r['measured'] - 1) for r in rows):5.1f} %")
    if given.output:
        Path(given.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
