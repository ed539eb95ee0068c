#!/usr/bin/python3
"""Runs every example at small sizes and compares it with NumPy; twice, and the two runs must give the same bytes.

    run.py PATH/TO/tapc [EXAMPLES_FOLDER] [--engine interp|native] [--only WORD]

Fails for a file of the folder that has no entry here. Prints `N passed, N failed`.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

import references

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


def kernels_of(source, folder):
    """smooth.tap has its kernel in smooth.c."""
    in_c = source[:-len(".tap")] + ".c"
    if not os.path.exists(in_c):
        return []
    library = os.path.join(folder, "kernels.so")
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", in_c, "-o", library], check=True)
    return ["--kernels", library]


def run_once(tapc, source, example, folder, tag):
    """The results by name as bytes and arrays, or an error text."""
    data = os.path.join(folder, "in.npz")
    np.savez(data, **example.inputs)
    command = tapc + [source, "-i", "@" + data] + kernels_of(source, folder)
    if example.program:
        command += ["--program", example.program]
    for name, size in example.dims.items():
        command += ["--dim", f"{name}={size}"]
    for name in example.expected:
        command += ["-o", f"{name}=@{os.path.join(folder, tag + name + '.npy')}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip()[:1500]}"
    got = {}
    for name in example.expected:
        path = os.path.join(folder, tag + name + ".npy")
        with open(path, "rb") as f:
            got[name] = (f.read(), np.load(path))
    return got


def check(tapc, source, example):
    with tempfile.TemporaryDirectory() as folder:
        first = run_once(tapc, source, example, folder, "a_")
        second = run_once(tapc, source, example, folder, "b_")
    for got in (first, second):
        if isinstance(got, str):
            return got
    for name, expected in example.expected.items():
        bits, have = first[name]
        if bits != second[name][0]:
            return f"{name} differs between two runs"
        if have.shape != expected.shape:
            return f"{name}: expected shape {expected.shape}, got {have.shape}"
        if not np.allclose(have, expected, rtol=example.rtol, atol=example.atol, equal_nan=True):
            return f"{name}: expected {expected.tolist()}, got {have.tolist()}"[:1500]
    return None


def commands_of(source):
    """The commands behind `// try:` in the head of a file, as a shell script; long ones go on over several lines."""
    script, inside = "set -e", False
    with open(source, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("//"):
                break
            text = line[2:].strip()
            inside = inside or text.startswith("try:")
            if inside:
                text = text.removeprefix("try:").strip()
                script += ("\n" if text.startswith(("tapc", "cc")) else " ") + text
    return script if inside else None


def check_try(tapc, source):
    """What a reader would do first must work."""
    script = commands_of(source)
    if script is None:
        return "no `// try:` line in its head"
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(tapc), os.path.join(folder, "tapc"))
        os.symlink(os.path.abspath(os.path.dirname(source)), os.path.join(folder, "examples"))
        path = folder + os.pathsep + os.environ["PATH"]
        done = subprocess.run(["sh"], input=script, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
                              text=True, timeout=300)
    return None if done.returncode == 0 else f"`{script}` gave exit {done.returncode}: {done.stderr.strip()[:1000]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tapc")
    parser.add_argument("folder", nargs="?", default=FOLDER)
    parser.add_argument("--engine", default="interp", help="what `tapc run` evaluates with: interp or native")
    parser.add_argument("--only", default="")
    options = parser.parse_args()

    examples = references.all_examples()
    passed = failed = 0
    covered = {e.file for e in examples}
    for name in sorted(os.listdir(options.folder)):
        if not name.endswith(".tap") or options.only not in name:
            continue
        error = "no reference" if name not in covered else check_try(options.tapc, os.path.join(options.folder, name))
        passed += error is None
        failed += error is not None
        if error:
            print(f"FAILED {name}: {error}")
    for e in examples:
        if options.only not in e.file:
            continue
        error = check([options.tapc, "run", "--engine", options.engine], os.path.join(options.folder, e.file), e)
        if error is None:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {e.file} {e.program}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
