#!/usr/bin/python3
"""tapc fmt: in place and whole, idempotent, and it keeps the meaning of every source there is."""
import re
import stat

from tapc import *

SOURCES = sorted([*(ROOT / "examples").glob("*.tap"), ROOT / "lib/std.tap"])
UNEVEN = b"// head\nop f( x :f32[n] )->( y: f32[n]){ y[i]=x[ i ]*2 // twice\n}\n"

EVERYTHING = """tap 1
use std
dim n = 4, m = 2 * n - 1
mesh pod = [data: 2, model: 4] devices [0, 1, 2, 3, 4, 5, 6, 7]
monoid argm(v: f32, at: i64) {
    identity (-inf, i64.max)
    combine (a, b) = if b.v > a.v or (b.v == a.v and b.at < a.at) then b else a
}
monoid on(m: f32, s: f32) {
    identity (-inf, 0)
    combine (a, b) = let m = max(a.m, b.m), p = if a.m == m then 1 else exp(a.m - m) in (m, a.s * p + b.s)
    fold[j] (t, w) = let m = max[j] t[j], e[j] = exp(t[j] - m) in (m, sum[j] e[j] * w[j])
}
extern op smooth(x: f32[n, m]) -> (y: f32[n, m]) {
    index [i: n, keep j: m]
    read x at [i - 1, 0] shape [3, m] else 0
    write y at [i, 0] shape [1, m]
    kernel "smooth"
    cost flops 6 * m
}
rewrite matmul(x, w) => sum_axis<-2>(products(x, w)) when matmul.in > 4096
op conv<stride: int = 1, e..: int>(x: T[b.., ci, l], w: T[co, ci, k]) -> (y: T[b.., co, (l - k) / stride + 1])
        where T: float, rank(b) == 1, not (stride < 1) {
    y[i.., o, p] = sum[c, u] x[i.., c, stride*p + u] * w[o, c, u]
}
program main(X: f32[n, 4] @ pod[{data}, {?}], const W: f32[4, 4], q: i64[]) -> (Y: f32[n, 4] @ pod[{data}, {}], z: f32[8]) {
    H = relu(matmul(X @ pod[{data}, {}], W)) @ pod[{data}, {model:(1)2, ?}p1; replicated {}]
    (v, at) = top1(H)
    Y = iterate t in 0..n (w = H) { c[i, j] = if i == t and j > 0 then w[i, j - 1 else 0] else -w[i, j]; c }
    z[2*i + r] = (sum[k in 0..i+1] H[k, r]) / 2.5 for i in 0..4, r in 0..2
    group H, Y
    barrier H forward
    split H on axis 1 into [0..1, 1..4] over threads
    split matmul#1 on k into 2 over model:(1)2
}
"""


class Fmt(TapcTest):
    def test_project_sources_are_formatted(self):
        result = self.tapc("fmt", "--check", *SOURCES)
        self.assertEqual((result.returncode, result.stdout.decode(), result.output), (0, "", ""))

    def test_in_place_and_idempotent(self):
        self.write("a.tap", UNEVEN)
        (self.folder / "a.tap").chmod(0o640)
        self.expect(0, r"^$", "fmt", "a.tap")
        once = (self.folder / "a.tap").read_bytes()
        self.assertIn(b"y[i] = x[i] * 2  // twice\n", once)
        self.assertEqual(stat.S_IMODE((self.folder / "a.tap").stat().st_mode), 0o640)
        self.expect(0, r"^$", "fmt", "a.tap")
        self.assertEqual((self.folder / "a.tap").read_bytes(), once)
        self.assertNoTemporaries()

    def test_check_writes_nothing(self):
        self.write("a.tap", UNEVEN)
        self.write("b.tap", "op f(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] }\n")
        result = self.tapc("fmt", "--check", "a.tap", "b.tap")
        self.assertEqual((result.returncode, result.stdout), (1, b"a.tap\n"))
        self.assertEqual((self.folder / "a.tap").read_bytes(), UNEVEN)

    def test_a_link_stays_a_link(self):
        self.write("a.tap", UNEVEN)
        os.symlink("a.tap", self.folder / "b.tap")
        self.expect(0, r"^$", "fmt", "b.tap")
        self.assertTrue((self.folder / "b.tap").is_symlink())
        self.assertNotEqual((self.folder / "a.tap").read_bytes(), UNEVEN)

    def test_invalid_files_are_not_changed(self):
        self.write("a.tap", "op f(\n")
        self.write("b.tap", UNEVEN)
        self.expect(1, r"a\.tap:1:\d+: error\[T01", "fmt", "a.tap", "b.tap")
        self.assertEqual((self.folder / "a.tap").read_text(), "op f(\n")
        self.assertNotEqual((self.folder / "b.tap").read_bytes(), UNEVEN)

    def test_comments_anywhere(self):
        """A comment behind every eighth token of a file that has every construct: none is lost, no other token is
        changed, and a second run changes nothing."""
        token = re.compile(r'"[^"\n]*"|[0-9]+\.[0-9]+|[A-Za-z_0-9]+|\.\.|->|=>|==|<=|>=|!=|[^\sA-Za-z0-9_]')
        tokens = lambda text: [t for t in token.findall(re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)) if t != ";"]
        sources = {}
        for first, comment in enumerate((" /* c */ ", " // c\n", "/* c\n  c */", "\n\n// c\n\n")):
            for k, found in enumerate(token.finditer(EVERYTHING)):
                if k % 8 == 2 * first and found.group() != "/":
                    sources[f"a{first}_{k}.tap"] = EVERYTHING[:found.end()] + comment + EVERYTHING[found.end():]
        for name, text in sources.items():
            self.write(name, text)
        self.expect(0, r"^$", "fmt", *sources, timeout=120)
        for name, text in sources.items():
            once = (self.folder / name).read_text()
            self.assertEqual(tokens(once), tokens(text), name)
            self.assertEqual(once.count("// c\n") + once.count("/* c"), 1, name)
        self.expect(0, r"^$", "fmt", "--check", *sources, timeout=120)

    def test_meaning_is_kept(self):
        for source in SOURCES:
            if source.name == "std.tap":
                continue
            squeezed = "\n".join(line.strip() for line in source.read_text().split("\n"))
            before = self.tapc("inspect", "--format=ir", self.write("a.tap", squeezed),
                               *(("--program", "fused") if source.name == "attention.tap" else ()))
            self.expect(0, r"^$", "fmt", "a.tap")
            after = self.tapc("inspect", "--format=ir", "a.tap", *(("--program", "fused") if source.name == "attention.tap" else ()))
            self.assertEqual(before.stdout, after.stdout)


if __name__ == "__main__":
    unittest.main()
