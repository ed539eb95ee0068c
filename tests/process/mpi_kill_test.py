#!/usr/bin/python3
"""The outputs of an MPI job are all old or all new, whichever process is killed, and when. mpi_kill_test.py TAPC [--kills N] [--seed N]"""
import hashlib
import random
import time
from pathlib import Path

from mpi_job import *
from tapc import *

KILLS, SEED = option("--kills", 20), option("--seed", 1)
PROGRAM_TEXT = """mesh pod = [data: 2, model: 3]
program main(X: f32[80, 120] @ pod[{data}, {}], W: f32[120, 180] @ pod[{}, {model}], V: f32[180, 50] @ pod[{model}, {}])
        -> (Y: f32[80, 50], s: f32[], h: f32[80, 180]) {
    h[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] exp(h[i, k] / 64) * V[k, o]
    s[] = sum[i, o] Y[i, o]
}
"""
# Takes its time between two renames, so that kills hit them.
SLOW_RENAMES = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  usleep(30000);
  return syscall(SYS_renameat2, a, from, b, to, flags);
}
"""
TOGETHER = (["-o", "Y=@Y.npy", "-o", "h=@h.npy", "-o", "s=@s.npy", "-o", "@all.npz", "--trace", "t.json"], ["Y.npy", "h.npy", "s.npy", "all.npz"])
EACH_ITS_OWN = (["-o", "@own.safetensors", "--sharded-output"], [f"own-0000{k}-of-00003.safetensors" for k in (1, 2, 3)])


class MpiKill(MpiTest):
    def processes(self):
        """Of tapc in this test's folder; and those that only rename."""
        found, renaming = [], []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "cwd").readlink() == self.folder and (entry / "exe").readlink() == TAPC:
                    (renaming if (entry / "comm").read_text() == "tapc-apart\n" else found).append(int(entry.name))
            except OSError:
                pass
        return found, renaming

    def words(self, seed, outputs):
        return ["run", "p.tap", "-i", f"X=rand:{seed}", "-i", "W=rand:2", "-i", "V=rand:3", "--mpi", *outputs]

    def results(self, names):
        return [hashlib.sha256((self.folder / name).read_bytes()).hexdigest()[:8] for name in names]

    def wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while not (found := condition()) and time.monotonic() < end:
            time.sleep(0.002)
        return found

    def kill_once(self, random_of, outputs, seed, while_renaming):
        """Whether something was killed while files were renamed."""
        job = subprocess.Popen([MPIRUN, "-n", "3", TAPC, *self.words(seed, outputs)], cwd=self.folder,
                               env=self.environment({"LD_PRELOAD": str(self.folder / "slow.so")}), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        self.wait(lambda: len(self.processes()[0]) >= 6, 10)
        renaming = while_renaming and self.wait(lambda: self.processes()[1] or job.poll() is not None, 10) and self.processes()[1]
        time.sleep(random_of.uniform(0, 0.1 if while_renaming else 0.5))
        candidates, renaming_still = self.processes()
        if candidates:
            try:
                os.kill(random_of.choice(sorted(candidates)), signal.SIGKILL)
            except ProcessLookupError:
                renaming_still = []
        try:
            job.wait(10)
        except subprocess.TimeoutExpired:  # a fault of this mpirun: it sometimes does not notice that all its processes have ended
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        self.wait(lambda: not any(self.processes()), 10)
        self.assertEqual(self.processes(), ([], []))
        return bool(renaming and renaming_still and candidates)

    def test_random_kills(self):
        self.write("p.tap", PROGRAM_TEXT)
        self.write("slow.c", SLOW_RENAMES)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "slow.so", self.folder / "slow.c"], check=True)
        known = {}
        for outputs, names in (TOGETHER, EACH_ITS_OWN):
            for seed in (1, 10):
                result = self.job(3, *self.words(seed, outputs))
                self.assertEqual(result.returncode, 0, result.stderr)
                known[seed, names[0]] = self.results(names)
        random_of = random.Random(SEED)
        print(f"seed {SEED}")
        now = dict.fromkeys((TOGETHER[1][0], EACH_ITS_OWN[1][0]), 10)
        hits = 0
        for kill in range(KILLS):
            outputs, names = (TOGETHER, EACH_ITS_OWN)[kill // 2 % 2]
            old = now[names[0]]
            new = 11 - old
            hit = self.kill_once(random_of, outputs, new, kill % 2 == 0)
            found = self.results(names)
            self.assertIn(found, [known[old, names[0]], known[new, names[0]]], f"kill {kill}: a mixed set")
            if hit:
                hits += 1
                self.assertEqual(found, known[new, names[0]], f"kill {kill}")
            now[names[0]] = new if found == known[new, names[0]] else old
        print(f"{hits} of {KILLS} kills while files were renamed")
        self.assertGreater(hits, 0)
        self.expect(0, ".*", "run", "p.tap", "-i", "X=rand:1", "-i", "W=rand:2", "-i", "V=rand:3", "-o", "Y=@Y.npy")
        self.assertNoTemporaries()


if __name__ == "__main__":
    unittest.main()
