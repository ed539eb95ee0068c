#!/usr/bin/python3
"""How long `tapc inspect -o report.html` takes for graphs of 10,000 nodes, and how fast a browser shows and moves them: a table of medians.

    scripts/report_speed.py TAPC [--rounds N] [--only NAME]

Needs what scripts/build_report.sh and the browser tests need: node, the npm packages, Chromium."""
import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MESH = "mesh m = [a: 4, b: 2]"
SHARDED = " @ m[{a}, {b}]"


def blocks(mesh, sharding, count):
    """Four operations by block, each of which reads two earlier results."""
    lines = [mesh, f"program p(X0: f32[8, 8]{sharding}) -> (Y: f32[8, 8]) {{"]
    for k in range(count):
        lines += [f"    A{k}[i, j] = sum[q] X{k}[i, q] * X{k}[q, j]", f"    B{k}[i, j] = max[q] A{k}[i, q] * X{k}[q, j]",
                  f"    C{k}[i, j] = sum[q] A{k}[i, q] * B{k}[q, j]", f"    X{k + 1}[i, j] = max[q] C{k}[i, q] - A{k}[q, j]"]
    return "\n".join(lines) + f"\n    Y[i, j] = X{count}[i, j] + 1\n}}\n"


def chain(mesh, sharding, count):
    """One after the other, each also reading the fifth one before."""
    lines = [mesh, f"program p(X0: f32[8, 8]{sharding}, V: f32[8]) -> (Y: f32[8, 8]) {{"]
    lines += [f"    X{k + 1}[i, j] = max[q] X{k}[i, j] + X{max(0, k - 5)}[i, j] * V[q]" for k in range(count)]
    return "\n".join(lines) + f"\n    Y[i, j] = X{count}[i, j] + 1\n}}\n"


PLAN = "plan 2\n" + "".join(f"split X{k} dim i into 2 over threads\n" for k in range(1, 200))
# What, its text, a plan.
CASES = {
    "blocks": (blocks("", "", 2500), None),
    "blocks under a plan": (blocks("", "", 2475), PLAN),
    "sharded blocks, with their moves": (blocks(MESH, SHARDED, 1001), None),
    "chain": (chain("", "", 10000), None),
    "sharded chain": (chain(MESH, SHARDED, 10000), None),
}


def write(tapc, source, page, plan):
    """Wall and user seconds."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([tapc, "inspect", source, "-o", page, *(["--plan", plan] if plan else [])], check=True, capture_output=True)
    return time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tapc")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    tapc = str(Path(given.tapc).resolve())
    print("| graph | nodes | written, s | user, s | file, MB | first paint, ms | graph shown, ms | all there, ms | drag, ms | drag, near, ms | wheel, ms |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, (text, plan) in CASES.items():
            if given.only and what != given.only:
                continue
            source, page = folder / "p.tap", folder / "p.html"
            source.write_text(text)
            if plan:
                (folder / "p.plan").write_text(plan)
            times = [write(tapc, source, page, folder / "p.plan" if plan else None) for _ in range(given.rounds)]
            wall, user = (statistics.median(column) for column in zip(*times))
            html = page.read_text()
            begin = html.index('id="picture">') + len('id="picture">')
            nodes = len(json.loads(html[begin:html.index("</script>", begin)])["layout"]["titles"])
            shown = json.loads(subprocess.run(["node", ROOT / "report/speed.mjs", str(given.rounds), page], check=True, capture_output=True, text=True).stdout)[0]
            browser = " | ".join(str(shown[key]) for key in ("first_paint", "graph_shown", "all_there", "drag", "drag_near", "wheel"))
            print(f"| {what} | {nodes:,} | {wall:.2f} | {user:.2f} | {len(html) / 1e6:.1f} | {browser} |", flush=True)


if __name__ == "__main__":
    main()
