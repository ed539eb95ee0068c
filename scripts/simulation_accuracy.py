#!/usr/bin/python3
"""How well `tapc simulate` predicts runs on this machine: every example on 1 and 2 threads, and in 2 processes of an MPI job.

    scripts/simulation_accuracy.py TAPC --machine M.toml [--only WORD] [--repeats N] [-o RESULTS.json]

M.toml is what `tapc calibrate` has written; links between processes of this machine are added to it. The least time counts: of
`tapc bench` on threads, and of a compiled library's runs in processes, one after another.
"""
import argparse
import ctypes
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

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


class Example:
    def __init__(self, given, path, folder):
        self.given, self.folder = given, folder
        program = re.search(r"// try:.*?--program (\w+)", path.read_text())
        self.words = [str(path), *(["--program", program[1]] if program else []),
                      *(word for size in SIZES[path.stem].split() for word in ("--dim", size))]

    def tapc(self, *words):
        return subprocess.run([self.given.tapc, *words], capture_output=True, text=True, timeout=300, cwd=self.folder)

    def json(self, *words):
        done = self.tapc(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

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
        if not simulated or self.tapc("compile", *self.words, *plan[:2], *plan[4:], "--mpi", str(ranks), "--name", "job", "-o", "job.so").returncode != 0:
            return None
        least = []
        for _ in range(self.given.repeats):
            done = subprocess.run(["mpirun", "-n", str(ranks), sys.executable, __file__, "--job", "job"], capture_output=True, text=True, timeout=300,
                                  cwd=self.folder, env={**os.environ, **MPI, "LD_LIBRARY_PATH": str(Path(self.given.tapc).parent)})
            least += [float(word) for word in done.stdout.split()]
        return least and (simulated["seconds"], min(least))


def run_job(name):
    """One process of an MPI job: runs the library NAME.so again and again; the first prints the seconds of a run of the slowest one."""
    mpi, library = ctypes.CDLL("libmpi.so", mode=ctypes.RTLD_GLOBAL), ctypes.CDLL(f"./{name}.so")
    mpi.MPI_Init(None, None)
    world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
    of_double, of_most = (ctypes.byref(ctypes.c_char.in_dll(mpi, f"ompi_mpi_{word}")) for word in ("double", "op_max"))
    rank, ranks = ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Comm_rank(world, ctypes.byref(rank))
    mpi.MPI_Comm_size(world, ctypes.byref(ranks))
    manifest = json.loads(Path(f"{name}.json").read_text())
    of_kind = [[t for t in manifest["inputs"] if t["constant"]], [t for t in manifest["inputs"] if not t["constant"]], manifest["outputs"]]
    of_part = library.job_part
    of_part.restype, of_part.argtypes = ctypes.c_int64, [ctypes.c_int32, *3 * [ctypes.c_int64], ctypes.c_void_p]
    memory, bounds = [], (ctypes.c_int64 * 128)()

    def parts(kind):
        tensors = []
        while (number := of_part(kind, rank.value, ranks.value, len(tensors) // 2, bounds)) >= 0:
            tensor = of_kind[kind][number]
            shape = [bounds[2 * axis + 1] - bounds[2 * axis] for axis in range(len(tensor["shape"]))]
            memory.append(numpy.random.default_rng(len(memory)).random(shape).astype({"f": "f", "i": "i", "u": "u", "b": "?"}[tensor["element"][0]] + (
                "" if tensor["element"] == "bool" else str(int(tensor["element"][1:]) // 8))))
            tensors += [memory[-1].ctypes.data, None]
        return (ctypes.c_void_p * max(len(tensors), 1))(*tensors)

    context, options = ctypes.c_void_p(), (ctypes.c_int64 * 2)(1, 0)
    constants, inputs, outputs = parts(0), parts(1), parts(2)
    if library.job_prepare_mpi(ctypes.byref(context), 0, constants, options) != 0:
        text = ctypes.create_string_buffer(500)
        library.job_message(context, text, ctypes.c_size_t(500))
        sys.exit(text.value.decode())

    def slowest(runs):
        mpi.MPI_Barrier(world)
        begin = time.perf_counter()
        for _ in range(runs):
            if library.job_run(context, inputs, outputs) != 0:
                sys.exit("the run failed")
        own, most = ctypes.c_double((time.perf_counter() - begin) / runs), ctypes.c_double()
        mpi.MPI_Allreduce(ctypes.byref(own), ctypes.byref(most), 1, of_double, of_most, world)
        return most.value

    runs = max(2, int(0.005 / slowest(2)))
    times = [slowest(runs) for _ in range(20)]
    if rank.value == 0:
        print(*times)
    library.job_release(context)
    mpi.MPI_Finalize()


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("tapc")
    options.add_argument("--machine")
    options.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--only", default="")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("-o", "--output")
    given = options.parse_args()
    if given.job:
        return run_job(given.tapc)
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
