#!/usr/bin/python3
"""Mutation of our own sources: small faults are put into the sources, and the tests must detect each of them.

    mutants.py [--count 150] [--seed 1] [--work out/mutation] [--jobs 2] [--only FOLDER] [--limit SECONDS]
               [--again FILE]

All faults are compiled into one build, each behind a switch (mutant.h). One run of every test records which mutants it
reaches; then each mutant is turned on and the tests that reach it run, the fastest first, until one fails. Survivors are
listed with file, line and change. A mutant that no test reaches survives, too. The seed and the sources determine the drawn mutants.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from sites import Site, changed, sites_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["support", "ir", "passes", "check", "replay", "backend", "runtime", "compiler/frontend", "compiler/driver"]
LEFT_OUT = re.compile(r"runtime/embedded/|compiler/driver/main\.cpp|/main\.cpp$")  # what becomes part of others' programs
MOST = 4096


@dataclasses.dataclass
class Test:
    name: str
    command: list
    seconds: float = 0
    reaches: bytes = b""


def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [n for n in listed.stdout.split("\n") if n and (ROOT / n).is_file()]


def folder_of(file):
    return next((f for f in FOLDERS if file.startswith(f + "/")), None)


def draw(files, count, seed, only):
    """Draws sites from all folders, in proportion to the square root of their sizes: at least four each, at most one per line."""
    chance = random.Random(seed)
    sites = collections.defaultdict(list)
    for file in sorted(files):
        folder = folder_of(file)
        if file.endswith(".cpp") and folder and not LEFT_OUT.search(file) and only in (None, folder):
            sites[folder] += sites_of(file, (ROOT / file).read_text(encoding="utf-8"))
    weight = {f: len(s) ** 0.5 for f, s in sites.items()}
    drawn = []
    for folder, found in sorted(sites.items()):
        expected = max(4, round(count * weight[folder] / sum(weight.values())))
        chance.shuffle(found)
        lines = set()
        for site in found:
            if len(lines) < expected and (site.file, site.line) not in lines:
                lines.add((site.file, site.line))
                drawn.append(site)
    return list(enumerate(drawn, 1))


def survivors_in(printed, files):
    """The sites of an earlier run's survivors, by location: other sources may have changed since."""
    locations = set(re.findall(r"(\S+\.cpp:\d+: .*): SURVIVES", printed))
    sites = [s for file in sorted(files) if file + ":" in printed
             for s in sites_of(file, (ROOT / file).read_text(encoding="utf-8"))]
    return list(enumerate([s for s in sites if f"{s.file}:{s.line}: {s.what}" in locations], 1))


class Tree:
    """A copy of the sources with the mutants in it, and its build."""

    def __init__(self, work, files, jobs):
        self.source, self.files, self.jobs = work / "source", files, jobs
        self.build = self.source / "build"

    def lay(self, mutants):
        of_file = collections.defaultdict(list)
        for number, site in mutants:
            of_file[site.file].append((number, site))
        for file in self.files:
            target = self.source / file
            data = (ROOT / file).read_bytes()
            if file in of_file:
                data = changed(data.decode("utf-8"), of_file[file]).encode()
            if target.is_file() and target.read_bytes() == data:
                continue  # not written again: not compiled again
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            shutil.copymode(ROOT / file, target)

    def compile(self, mutants):
        """Builds; mutants that do not compile are removed, and the build is repeated."""
        while True:
            self.lay(mutants)
            if not (self.build / "build.ninja").exists():
                subprocess.run(["cmake", "--preset", "release"], cwd=self.source, check=True,
                               stdout=subprocess.DEVNULL)
            done = subprocess.run(["ninja", "-k0", f"-j{self.jobs}", "-C", str(self.build)], capture_output=True, text=True)
            if done.returncode == 0:
                return mutants
            lines = set(re.findall(r"^(?:\.\./|.*?source/)?([\w/.]+\.cpp):(\d+):\d+: error", done.stdout, re.M))
            # An error inside mutant.h names the line that asked for it.
            lines |= set(re.findall(r"^(?:\.\./|.*?source/)?([\w/.]+\.cpp):(\d+):\d+:   required from", done.stdout, re.M))
            kept = [(n, s) for n, s in mutants if (s.file, str(s.line)) not in lines]
            if len(kept) == len(mutants):
                raise SystemExit(done.stdout[-5000:])
            print(f"{len(mutants) - len(kept)} changes do not compile", flush=True)
            mutants = kept

    def tests(self):
        listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, capture_output=True, text=True,
                                           check=True).stdout)
        found = {}
        for test in listed["tests"]:
            command = test.get("command")
            if not command:
                continue
            program = Path(command[0])
            suite = next((re.sub(r"--gtest_filter=([^.]*)\..*", r"\1", w) for w in command if w.startswith("--gtest_filter=")), None)
            if suite:  # all its cases in one process
                name = program.name + " " + suite
                found.setdefault(name, Test(name, [command[0], f"--gtest_filter={suite}.*", "--gtest_brief=1", "--gtest_fail_fast"]))
            elif not test["name"].startswith("scripts."):
                found[test["name"]] = Test(test["name"], command)
        return list(found.values())


def limit_resources():
    """A mutant may ask for all memory and fill the disk. Tests that set limits themselves may raise these."""
    for kind, most in ((resource.RLIMIT_AS, 8 << 30), (resource.RLIMIT_FSIZE, 1 << 30)):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def run_test(test, environment, folder, limit):
    """Whether the test passes; None on a timeout."""
    folder.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    process = subprocess.Popen(test.command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit_resources)
    try:
        return process.wait(timeout=limit) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # the session that was made for it
        process.wait()
        return None


def cover(tests, work, limit, jobs):
    """Which mutants each test reaches. A test that fails without a mutant is reported and left out."""
    def passes(test):
        slot = work / f"run-{threading.get_ident()}"
        slot.mkdir(parents=True, exist_ok=True)
        file = work / f"cover-{threading.get_ident()}"
        file.write_bytes(bytes(MOST))
        begin = time.monotonic()
        passed = run_test(test, {"TAP_MUTANT_COVER": str(file)}, slot, limit * 10)
        test.seconds, test.reaches = time.monotonic() - begin, file.read_bytes()
        print(f"{test.name}: {sum(test.reaches)} mutants reached in {test.seconds:.0f} s{'' if passed else ', FAILS'}", flush=True)
        return passed
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        kept = [test for test, passed in zip(tests, pool.map(passes, tests)) if passed]
    return sorted(kept, key=lambda t: t.seconds)


def caught_by(number, tests, work, limit, patience):
    """The test that notices the mutant. Those that reach it run, the quickest first, for `patience` seconds: what they have not
    noticed by then has survived."""
    slot, begin = work / f"run-{threading.get_ident()}", time.monotonic()
    for test in tests:
        if not test.reaches[number]:
            continue
        if time.monotonic() - begin > patience:
            return None
        # Kernels that a mutant made must not be found by the next.
        shutil.rmtree(slot, ignore_errors=True)
        passed = run_test(test, {"TAP_MUTANT": str(number)}, slot, limit + 5 * test.seconds)
        if not passed:
            return test.name + (" (too slow)" if passed is None else "")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=ROOT / "out/mutation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=FOLDERS)
    parser.add_argument("--limit", type=float, default=20, help="time limit: five times the time without a mutant, plus this many seconds")
    parser.add_argument("--patience", type=float, default=600, help="seconds of tests for one mutant, after which it has survived")
    parser.add_argument("--least", type=float, default=0.9, help="the fraction that must be caught")
    parser.add_argument("--again", type=Path, metavar="FILE", help="try only the survivors that an earlier run printed into FILE")
    parser.add_argument("--list", action="store_true", help="only list the mutants that would be drawn")
    given = parser.parse_args()
    files = tracked()
    mutants = draw(files, given.count, given.seed, given.only)
    if given.again:
        mutants = survivors_in(given.again.read_text(encoding="utf-8"), files)
    if given.list:
        for number, s in mutants:
            print(f"{number}: {s.file}:{s.line}: {s.what}")
        return 0
    work = given.work.resolve()
    tree = Tree(work, files, given.jobs)
    mutants = tree.compile(mutants)
    tests = cover(tree.tests(), work, given.limit, given.jobs)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        running = {n: pool.submit(caught_by, n, tests, work, given.limit, given.patience) for n, _ in mutants}
        survivors = []
        for number, site in mutants:
            test = running[number].result()
            location = f"{site.file}:{site.line}: {site.what}"
            print(f"{number}: {location}: {'caught by ' + test if test else 'SURVIVES'}", flush=True)
            if test is None:
                reached = any(t.reaches[number] for t in tests)
                survivors.append(location + ("" if reached else " (no test reaches it)"))
    caught = len(mutants) - len(survivors)
    print(f"{caught} of {len(mutants)} mutants caught ({100 * caught / max(1, len(mutants)):.1f} %); survivors:")
    print("\n".join("  " + s for s in survivors) or "  none")
    return 0 if caught >= given.least * len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
