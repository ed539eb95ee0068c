#!/usr/bin/python3
"""How well `tapc cost` predicts what `tapc bench` measures: for programs at several sizes and plans, Kendall's tau between
predicted and measured times, and the median relative error.

    scripts/cost_accuracy.py TAPC [--machine M.toml] [--seconds S] [--only WORD] [-o RESULTS.json]

The measured time is the minimum of several runs that are spread over time, since other programs may use the machine. Pairs
whose measured times differ by less than 5 % do not count for tau.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Programs in Tap, with sizes; each size is tried with each plan.
CASES = {
    "product": ("program p(A: f32[n, k], B: f32[k, m]) -> (C: f32[n, m]) { C[i, j] = sum[q] A[i, q] * B[q, j] }",
                [dict(n=n, m=m, k=k) for n, m, k in [(64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512), (768, 768, 768),
                 (64, 1024, 1024), (1024, 64, 1024), (1024, 1024, 64), (1, 2048, 2048), (2048, 8, 2048), (100, 300, 200),
                 (31, 37, 41), (4096, 32, 32)]],
                [None, "split C dim q into 2 over sequential", "split C dim i into 4 over sequential"]),
    "product_f64": ("program p(A: f64[n, n], B: f64[n, n]) -> (C: f64[n, n]) { C[i, j] = sum[q] A[i, q] * B[q, j] }",
                    [dict(n=n) for n in (48, 100, 200, 384, 600)], [None]),
    "softmax": ("use std\nprogram p(X: f32[n, m]) -> (Y: f32[n, m]) { Y = softmax(X) }",
                [dict(n=n, m=m) for n, m in [(16, 64), (64, 1000), (1024, 1024), (4096, 1000), (20000, 33), (8, 100000)]],
                [None, "none"]),
    "layernorm": ("use std\nprogram p(X: f32[n, m], g: f32[m], b: f32[m]) -> (Y: f32[n, m]) { Y = layer_norm(X, g, b) }",
                  [dict(n=n, m=m) for n, m in [(16, 64), (64, 1000), (1024, 1024), (4096, 256)]], [None, "none"]),
    "maps": ("program p(X: f32[n]) -> (Y: f32[n]) { Y[i] = exp(X[i]) / (1 + X[i] * X[i]) }",
             [dict(n=n) for n in (100, 1000, 10000, 100000, 1000000, 10000000)], [None]),
    "affine": ("program p(X: f32[n, m], b: f32[m]) -> (Y: f32[n, m]) { Y[i, j] = max(X[i, j] * 2 + b[j], 0) }",
               [dict(n=n, m=m) for n, m in [(10, 10), (100, 100), (1000, 100), (1000, 1000), (4000, 4000), (100000, 7)]], [None]),
    "sums": ("program p(X: f32[n, m]) -> (y: f32[n], z: f32[m]) { y[i] = sum[j] X[i, j]\n z[j] = sum[i] X[i, j] }",
             [dict(n=n, m=m) for n, m in [(10, 100), (100, 100), (1000, 1000), (100, 10000), (10000, 100), (4000, 4000)]], [None]),
    "transpose": ("program p(X: f32[n, m]) -> (Y: f32[m, n]) { Y[j, i] = X[i, j] }",
                  [dict(n=n, m=m) for n, m in [(16, 16), (100, 100), (512, 512), (1000, 1000), (2048, 2048), (30, 10000)]], [None]),
    "conv": ("program p(X: f32[b, c, h, h], W: f32[o, c, 3, 3]) -> (Y: f32[b, o, h, h]) {\n"
             " Y[n, m, i, j] = sum[q, u, v] X[n, q, i + u - 1, j + v - 1 else 0] * W[m, q, u, v] }",
             [dict(b=b, c=c, h=h, o=o) for b, c, h, o in [(1, 3, 32, 16), (4, 16, 28, 32), (1, 64, 56, 64), (8, 32, 14, 64)]], [None]),
    "stencil": ("program p(X: f32[n, n]) -> (Y: f32[n, n]) { Y = iterate 10 (u = X) {\n"
                " v[i, j] = (u[i - 1, j else 0] + u[i + 1, j else 0] + u[i, j - 1 else 0] + u[i, j + 1 else 0]) * 0.25\n v } }",
                [dict(n=n) for n in (32, 100, 256, 512, 1024, 2048)], [None, "unroll Y 2"]),
    "mlp": ("use std\nprogram p(X: f32[n, d], const W: f32[d, h], const V: f32[h, d]) -> (Y: f32[n, d]) {\n"
            " Y = matmul(relu(matmul(X, W)), V) }",
            [dict(n=n, d=d, h=h) for n, d, h in [(1, 256, 1024), (16, 256, 1024), (64, 256, 256), (128, 512, 1024)]], [None, "none"]),
    "attention": ("program p(Q: f32[b, n, d], K: f32[b, n, d], V: f32[b, n, d]) -> (O: f32[b, n, d]) {\n"
                  " S[h, i, j] = sum[e] Q[h, i, e] * K[h, j, e]\n M[h, i] = max[j] S[h, i, j]\n"
                  " E[h, i, j] = exp(S[h, i, j] - M[h, i])\n L[h, i] = sum[j] E[h, i, j]\n"
                  " O[h, i, e] = sum[j] E[h, i, j] / L[h, i] * V[h, j, e] }",
                  [dict(b=b, n=n, d=d) for b, n, d in [(1, 64, 32), (4, 128, 64), (2, 512, 64), (1, 1024, 64)]], [None, "none"]),
}


def kendall(pairs):
    """Kendall's tau of (predicted, measured) pairs."""
    good = bad = 0
    for i, (p, m) in enumerate(pairs):
        for q, n in pairs[:i]:
            if abs(m - n) <= 0.05 * max(m, n):
                continue
            if (p - q) * (m - n) > 0:
                good += 1
            else:
                bad += 1
    return (good - bad) / (good + bad) if good + bad else 1.0


class Runner:
    def __init__(self, tapc, machine, seconds, repeats):
        self.tapc, self.seconds, self.repeats = tapc, seconds, repeats
        self.machine = ["--machine", machine] if machine else []

    def json(self, *words):
        done = subprocess.run([self.tapc, *words, "--json"], capture_output=True, text=True, timeout=600)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def both(self, file, sizes, plan, folder, threads):
        words = [file] + [w for k, v in sizes.items() for w in ("--dim", f"{k}={v}")] + ["--threads", str(threads)]
        if plan == "none":
            words.append(plan)
        elif plan:
            (Path(folder) / "p.plan").write_text("plan 2\n" + plan + "\n")
            words += ["--plan", str(Path(folder) / "p.plan")]
        predicted = self.json("cost", *words, *self.machine)
        if predicted is None:
            return None
        least = None
        for _ in range(self.repeats):
            measured = self.json("bench", *words, "--seconds", str(self.seconds), "--runs", "3", "--no-cache")
            if measured is None:
                return None
            least = min(least or 1e9, measured["run"]["least"])
        return predicted["total"]["seconds"], least, predicted["total"]["terms"]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("tapc")
    options.add_argument("--machine")
    options.add_argument("--seconds", type=float, default=0.15)
    options.add_argument("--repeats", type=int, default=2)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--only", default="")
    options.add_argument("-o", "--output")
    given = options.parse_args()
    runner = Runner(str(Path(given.tapc).resolve()), given.machine, given.seconds, given.repeats)
    rows, summary = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, all_sizes, plans) in CASES.items():
            if given.only not in name:
                continue
            file = Path(folder) / "p.tap"
            file.write_text(text + "\n")
            found = []
            for sizes in all_sizes:
                for plan in plans:
                    both = runner.both(str(file), sizes, plan, folder, given.threads)
                    if both is None:
                        continue
                    predicted, measured, terms = both
                    found.append((predicted, measured))
                    rows.append(dict(program=name, sizes=sizes, plan=plan, predicted=predicted, measured=measured, terms=terms))
                    print(f"{name:12} {' '.join(f'{k}={v}' for k, v in sizes.items()):28} {plan or '-':38} "
                          f"{predicted * 1e6:12.2f} {measured * 1e6:12.2f} us  {predicted / measured:6.2f}", flush=True)
            if found:
                tau, error = kendall(found), statistics.median(abs(p / m - 1) for p, m in found)
                summary.append((name, len(found), tau, error))
    print()
    for name, count, tau, error in summary:
        print(f"{name:12} {count:4} rows   tau {tau:5.2f}   median error {100 * error:5.1f} %")
    errors = [abs(row["predicted"] / row["measured"] - 1) for row in rows]
    if rows:
        print(f"{'all':12} {len(rows):4} rows   median tau {statistics.median(s[2] for s in summary):5.2f}   "
              f"median error {100 * statistics.median(errors):5.1f} %")
    if given.output:
        Path(given.output).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
