#!/usr/bin/python3
"""Operators and examples under random plans and shardings: threads and MPI processes compute the same bits. random_jobs_test.py TAPC RANDOM_JOBS
[--plans N] [--shardings N] [--seed N] [--ranks N]: jobs of 1 to N processes"""
import sys
from pathlib import Path

from mpi_job import *
from tapc import *

PLANS, SHARDINGS, SEED, MOST_RANKS = option("--plans", 50), option("--shardings", 50), option("--seed", 3), option("--ranks", 3)
RANDOM_JOBS = Path(sys.argv.pop(1)).resolve()


class RandomJobs(MpiTest):
    def test_threads_and_processes_compute_the_same_bits(self):
        kernels = self.folder / "smooth.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", kernels, ROOT / "examples/smooth.c"], check=True)
        words = ["--plans", PLANS, "--shardings", SHARDINGS, "--seed", SEED, "--kernels", kernels, ROOT / "examples"]
        for ranks in range(1, MOST_RANKS + 1):
            with self.subTest(ranks=ranks):
                # Any program may be started in a job.
                result = self.job(ranks, "--wdir", self.folder, RANDOM_JOBS, *words, timeout=60 + 10 * (PLANS + SHARDINGS))
                print(result.stdout.strip().split("\n")[-1])
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
