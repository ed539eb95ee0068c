#!/usr/bin/python3
"""Golden tests of the command line: a case is one file with a tapc command and its expected output.

    // RUN: tapc check %s            the command; %s is the case's file, %t a new folder, %d the case's folder
    // EXIT: 1                       the expected exit code; 0 by default
    // STDIN: closed                 standard input: empty (the default) or closed
    // FIX                           applying the fixes in the output must give a file that checks

The expected output is a block at the end of the file, or the file CASE.expected next to it if the case must not be
edited (bytes, line ends):

    // EXPECT:
    // | a.tap:3:9: error[T0203]: `reul` is not defined
    // …                             any number of lines
    // | help: did you mean `relu`?

Standard output comes first, then standard error. Paths are shown as the file's own name, and %t.
An expected line may contain {{…}}, a regular expression. `--update` writes the actual output as the expected one.

    run.py --tapc build/bin/tapc [--update] [--filter WORD] [--jobs N] [FILE…]
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "forks"))
import forks  # noqa: E402

DIRECTIVE = re.compile(r"^\s*//\s*(RUN|EXIT|STDIN|FIX)\b:?\s*(.*?)\s*$")
TIME_LIMIT = 20  # seconds; G2 says 10, and the machine may be busy


class Case:
    def __init__(self, path):
        self.path = path
        self.text = path.read_bytes().decode("utf-8", errors="surrogateescape")
        self.runs, self.exit, self.stdin, self.fix = [], 0, "empty", False
        for line in re.split(r"\r\n|\n|\r", self.directives_text()):
            if match := DIRECTIVE.match(line):
                word, value = match.groups()
                if word == "RUN":
                    self.runs.append(value)
                elif word == "EXIT":
                    self.exit = int(value)
                elif word == "STDIN":
                    self.stdin = value
                else:
                    self.fix = True

    def sidecar(self, suffix):
        return self.path.with_name(self.path.name + suffix)

    def directives_text(self):
        """In the case itself, or in CASE.cmd for a file whose every byte matters."""
        command = self.sidecar(".cmd")
        return command.read_text() if command.is_file() else self.text.split("// EXPECT:")[0]

    def expected(self):
        if self.sidecar(".expected").is_file():
            return self.sidecar(".expected").read_text(errors="surrogateescape").splitlines()
        block = self.text.split("// EXPECT:\n")
        if len(block) < 2:
            return []
        lines = []
        for line in block[-1].splitlines():
            line = line.strip()
            if line.startswith("// |"):
                lines.append(line[4:].removeprefix(" "))
            elif line == "// …":
                lines.append("…")
        return lines

    def write_expected(self, printed):
        if self.sidecar(".expected").is_file() or self.sidecar(".cmd").is_file() or not self.text.endswith("\n") and "// EXPECT:" not in self.text:
            self.sidecar(".expected").write_text("".join(l + "\n" for l in printed), errors="surrogateescape")
            return
        body = self.text.split("// EXPECT:\n")[0].rstrip("\n") + "\n"
        block = "\n// EXPECT:\n" + "".join(("// | " + l).rstrip() + "\n" for l in printed)
        self.path.write_bytes((body + block).encode("utf-8", errors="surrogateescape"))


def matches(expected, printed):
    """Line by line; a line `…` stands for any number of lines."""
    if not expected:
        return not printed
    if expected[0] == "…":
        return any(matches(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and line_matches(expected[0], printed[0]) and matches(expected[1:], printed[1:])


def line_matches(expected, printed):
    pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(re.split(r"\{\{(.*?)\}\}", expected.rstrip())))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def shown(text, case, folder):
    for path, name in ((str(case.path), case.path.name), (str(folder), "%t"), (str(case.path.parent), "%d")):
        text = text.replace(path, name)
    return text.splitlines()


def run_command(command, case, folder, tapc):
    words = []
    for word in shlex.split(command):
        word = word.replace("%s", str(case.path)).replace("%t", str(folder)).replace("%d", str(case.path.parent))
        words.append(str(tapc) if word == "tapc" and not words else word)
    environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TMPDIR": str(folder), "HOME": str(folder)}
    environment.update({name: os.environ[name] for name in os.environ if name.startswith("TAP_MUTANT")})  # tests/mutation
    close = (lambda: os.close(0)) if case.stdin == "closed" else None
    return forks.run(words, cwd=folder, env=environment, timeout=TIME_LIMIT, before=close)


def apply_fixes(text, fixes):
    for fix in sorted(fixes, key=lambda f: f["begin"], reverse=True):
        text = text[: fix["begin"]] + fix["replacement"].encode() + text[fix["end"] :]
    return text


def check_fixes(case, folder, tapc):
    """Applies the fixes of the first diagnostic that has some, and checks the fixed file, until nothing is left."""
    fixed = folder / case.path.name
    shutil.copy(case.path, fixed)
    for _ in range(25):
        words = [str(tapc), "check", "--message-format=json", str(fixed)]
        result = forks.run(words, cwd=folder, timeout=TIME_LIMIT)
        messages = [json.loads(line) for line in result.stderr.decode().splitlines()]
        if result.returncode == 0:
            return None
        fixes = next((m["fixes"] for m in messages if m["fixes"]), None)
        if not fixes:
            return f"the fixed file does not check: {messages[0]['message'] if messages else result.stderr.decode()}"
        fixed.write_bytes(apply_fixes(fixed.read_bytes(), fixes))
    return "the fixes never end"


def run_case(case, tapc, update):
    """None, or why the case failed."""
    if not case.runs:
        return "no `// RUN:` line"
    with tempfile.TemporaryDirectory(prefix="tap-golden-") as name:
        folder = Path(name)
        printed, codes = [], []
        for command in case.runs:
            try:
                result = run_command(command, case, folder, tapc)
            except subprocess.TimeoutExpired:
                return f"ran longer than {TIME_LIMIT} s: {command}"
            codes.append(result.returncode)
            text = (result.stdout + result.stderr).decode("utf-8", errors="surrogateescape")
            printed += shown(text, case, folder)
        if codes[-1] != case.exit or any(codes[:-1]):
            return f"exit code {codes}, expected {case.exit}\n" + "\n".join("    " + l for l in printed[:30])
        if update:
            if not matches(case.expected(), printed):
                case.write_expected(printed)
        elif not matches(case.expected(), printed):
            expected, got = ("\n".join("    " + l for l in lines) for lines in (case.expected(), printed))
            return "expected:\n" + expected + "\n  printed:\n" + got
        return check_fixes(case, folder, tapc) if case.fix else None


def find_cases(arguments):
    if arguments.files:
        return [Path(f).resolve() for f in arguments.files]
    names = sorted(p for p in HERE.rglob("*") if p.suffix in {".tap", ".txt"} and p.is_file())
    return [p for p in names if not arguments.filter or arguments.filter in str(p.relative_to(HERE))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tapc", required=True, type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    tapc = arguments.tapc.resolve()
    cases = [Case(path) for path in find_cases(arguments)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda case: run_case(case, tapc, arguments.update), cases))
    failed = 0
    for case, verdict in zip(cases, verdicts):
        if verdict is not None:
            failed += 1
            print(f"FAILED {case.path.relative_to(HERE) if case.path.is_relative_to(HERE) else case.path}\n  {verdict}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
