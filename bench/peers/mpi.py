#!/usr/bin/python3
"""Two MPI processes of this machine, side by side in one run: products beside ScaLAPACK and OpenBLAS, all-reduces beside Open MPI's, and a
sum of two partials on two threads beside the triad.

    bench/peers/mpi.py TAPC [--seconds S] [--json FILE]

Debian's packages: libscalapack-openmpi-dev libopenblas-dev libopenmpi-dev. Each row has its floor, the ratio of their time to ours.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MATMUL = """mesh m = [x: 2]
program p(A: f32[n, n] @ m[{x}, {}], B: f32[n, n] @ m[{x}, {}]) -> (C: f32[n, n] @ m[{x}, {}]) { C[i, j] = sum[k] A[i, k] * B[k, j] }
"""
# Each process adds two rows to its partial. Every device reads Y at a place that its data tell: so it needs all of Y, and
# touches one cell.
ALL_REDUCE = """mesh m = [x: 2]
program p(X: f32[4, n] @ m[{x}, {}], at: i32[2] @ m[{x}]) -> (Y: f32[n], s: f32[2] @ m[{x}]) {
    Y[j] = sum[d] X[d, j]
    s[d] = Y[at[d]]
}
"""
SUM = """mesh m = [x: 2]
program p(X: f32[2, n] @ m[{x}, {}]) -> (Y: f32[n]) { Y[j] = sum[d] X[d, j] }
"""
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "active"}
# OpenMP's threads would poll while ours run.
ALONE = {"OMP_WAIT_POLICY": "passive"}
MEBI = 1 << 20
# program, its sizes, what runs, whether by a launcher, the peer and the least ratio of its time to ours
ROWS = [("matmul", MATMUL, (1024, 2048, 4096), True, {"scalapack_psgemm": 1.25, "openblas+allgather": 0.95}),
        ("all_reduce", ALL_REDUCE, (16 * MEBI,), True, {"add+MPI_Allreduce": 1.0}),
        ("triad", SUM, (16 * MEBI,), False, {"triad": 0.8})]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("tapc")
    options.add_argument("--seconds", default="2", help="of each peer and size")
    options.add_argument("--json")
    options.add_argument("--only", default="")
    given = options.parse_args()
    tapc = Path(given.tapc).resolve()
    rows, met = [], True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["mpicxx.openmpi", "-O3", "-march=native", "-fopenmp", "-std=c++20", HERE / "mpi_peers.cpp", "-o", folder / "mpi_peers",
                        "-lscalapack-openmpi", "-lopenblas", "-ldl"], check=True)
        shutil.copy(tapc.parent / "libtapc_mpi_openmpi.so", folder)
        core = {} if "avx512f" not in Path("/proc/cpuinfo").read_text() else {"OPENBLAS_CORETYPE": "SkylakeX"}
        for what, text, sizes, launched, floors in ROWS:
            if given.only not in what:
                continue
            for n in sizes:
                (folder / "p.tap").write_text(text)
                subprocess.run([tapc, "compile", "p.tap", "-o", "p.so", "--name", "p", "--mpi", "2", "--dim", f"n={n}"], cwd=folder, check=True,
                               stderr=subprocess.DEVNULL)
                done = subprocess.run([*(["mpirun.openmpi", "-n", "2"] if launched else []), "./mpi_peers", what, str(n), "./p.so", given.seconds],
                                      cwd=folder, env={**os.environ, **MPI, **core, **({} if launched else ALONE)}, capture_output=True,
                                      text=True)
                if done.returncode != 0:
                    sys.exit(f"{what} {n}: {done.stderr}")
                times = {peer: float(seconds) for peer, seconds in (line.split() for line in done.stdout.splitlines())}
                print(f"{what:10} {n:9}  ours {times['tapestry'] * 1e3:9.3f} ms", end="")
                for peer, seconds in times.items():
                    if peer == "tapestry":
                        continue
                    ratio, floor = seconds / times["tapestry"], floors.get(peer)
                    met = met and (floor is None or ratio >= floor)
                    verdict = "" if floor is None else f" (floor {floor:g}{'' if ratio >= floor else ', MISSED'})"
                    print(f"   {peer} {seconds * 1e3:.3f} ms, {ratio:.2f}×{verdict}", end="")
                print(flush=True)
                rows.append({"what": what, "n": n, "seconds": times, "floors": floors})
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
