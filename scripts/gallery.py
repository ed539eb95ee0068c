#!/usr/bin/python3
"""docs/gallery: for each example its graph, its shards under a plan, and what the passes rewrite, as tapc draws and prints them.

    gallery.py TAPC             writes the page and its pictures
    gallery.py TAPC --check     fails if they differ from what tapc makes now
    gallery.py TAPC --plans     first searches the plans anew: `tapc plan --mesh=x=2,y=2`

The plans are sources: docs/gallery/NAME.plan, so that the pictures do not depend on the machine. A new example needs one.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs/gallery"
OPTIONS = {"attention": ["--program", "fused"]}
MOST_LINES = 40  # of what one pass rewrites
PASSES = 6  # of an example
HEAD = """# Gallery

Each [example](../../examples/README.md) as it is written, what the passes rewrite, and its graph and shards under a plan for 2 × 2 devices.
`scripts/gallery.py` makes this page with `tapc inspect`; a test keeps it up to date.

"""


class Example:
    def __init__(self, tapc, path):
        self.tapc, self.path, self.name = tapc, path, path.stem
        self.plan = GALLERY / f"{self.name}.plan"
        self.options = OPTIONS.get(self.name, [])

    def inspect(self, *arguments):
        return subprocess.run([self.tapc, "--color=never", "inspect", self.path, *self.options, *arguments], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, timeout=60).stdout

    def search(self):
        subprocess.run([self.tapc, "plan", self.path, *self.options, "--mesh=x=2,y=2", "--threads=1", "--machine=builtin", "-o", self.plan],
                       check=True, stderr=subprocess.DEVNULL, timeout=120)

    def about(self):
        comment = re.match(r"// (.*?[.:])\s", self.path.read_text(encoding="utf-8").replace("\n// ", " "))
        return comment[1].rstrip(":.") + "."

    def sharded_value(self):
        """The value that has most shards: a result, if one has as many."""
        graph = self.inspect("--plan", self.plan)
        names = re.findall(r"^(\w[^\s\[]*)(?:\[.*?\])? = ", graph, re.M)
        results = re.findall(r"^  result (\S+):", graph, re.M)
        best, most = None, 1
        for value in dict.fromkeys([*results, *names]):
            try:
                text = self.inspect("--plan", self.plan, "--shards", value)
            except subprocess.CalledProcessError:
                continue
            count = re.search(r", (\d+) shards", text)
            if count and int(count[1]) > most and text.count("\n") <= MOST_LINES:
                best, most = text, int(count[1])
        return best

    def rewrites(self):
        """By pass that rewrites something: its name, and what it prints."""
        listed = subprocess.run([self.tapc, "opt", "--list-passes"], check=True, stdout=subprocess.PIPE, text=True).stdout
        passes = list(dict.fromkeys(re.findall(r"^\d+ (\w+)", listed, re.M)))
        for one in passes:
            try:
                text = self.inspect("--diff", one)
            except subprocess.CalledProcessError:
                continue
            if text.strip() and re.search(r"^[-+] ", text, re.M):
                yield one, text

    def section(self):
        lines = [f"## {self.name}", "", f"[{self.path.name}](../../examples/{self.path.name}): {self.about()}", "",
                 f'<img src="{self.name}.svg" alt="The graph of {self.path.name}">', ""]
        rewrites = list(self.rewrites())
        for one, text in rewrites[:PASSES]:
            lines += [f"`{one}`:", "", "```diff", *shortened(text), "```", ""]
        if len(rewrites) > PASSES:
            lines += ["Then: " + ", ".join(f"`{one}`" for one, _ in rewrites[PASSES:]) + ".", ""]
        lines += [f"Under [{self.plan.name}]({self.plan.name}):", "",
                  f'<img src="{self.name}_sharded.svg" alt="The sharded graph of {self.path.name}">', ""]
        shards = self.sharded_value()
        if shards:
            lines += ["```text", *shards.rstrip().splitlines(), "```", ""]
        return "\n".join(lines)


def shortened(text):
    lines = text.rstrip().splitlines()
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more lines"]


def write(tapc, folder):
    text = HEAD
    for path in sorted((ROOT / "examples").glob("*.tap")):
        example = Example(tapc, path)
        (folder / f"{example.name}.svg").write_text(example.inspect("--format=svg"), encoding="utf-8")
        (folder / f"{example.name}_sharded.svg").write_text(example.inspect("--plan", example.plan, "--format=svg"), encoding="utf-8")
        text += example.section() + "\n"
    (folder / "README.md").write_text(text.rstrip() + "\n", encoding="utf-8")


def main(tapc, *options):
    if "--plans" in options:
        for path in sorted((ROOT / "examples").glob("*.tap")):
            Example(tapc, path).search()
    if "--check" not in options:
        return write(tapc, GALLERY)
    with tempfile.TemporaryDirectory() as made:
        write(tapc, Path(made))
        files = {path.name: path.read_text(encoding="utf-8") for path in Path(made).iterdir()}
    there = {path.name: path.read_text(encoding="utf-8") for path in GALLERY.iterdir() if path.suffix != ".plan"}
    stale = sorted(name for name in {*files, *there} if files.get(name) != there.get(name))
    if stale:
        sys.exit(f"docs/gallery is not up to date: {', '.join(stale)}; run scripts/gallery.py TAPC")


if __name__ == "__main__":
    main(*sys.argv[1:])
