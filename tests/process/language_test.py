#!/usr/bin/python3
"""What the language promises, example by example, against NumPy: interpreted and native."""
import numpy as np

from tapc import *


def attention_of(q, k, v):
    t = (q @ k.T) / np.sqrt(q.shape[1])
    p = np.exp(t - t.max(1, keepdims=True))
    return (p / p.sum(1, keepdims=True)) @ v


ARGMAX = """monoid argmax(v: f32, at: i64) {
    identity (-inf, i64.max)
    combine (a, b) = if b.v > a.v or (b.v == a.v and b.at < a.at) then b else a
}
op top1(x: f32[n, m]) -> (v: f32[n], at: i64[n]) { (v[i], at[i]) = argmax[j] (x[i, j], j) }
"""
ONLINE = """monoid online(m: f32, s: f32, o: f32) {             // the running state of a softmax-weighted sum
    identity (-inf, 0, 0)
    combine (a, b) = let m = max(a.m, b.m),
                         p = if a.m == m then 1 else exp(a.m - m),
                         q = if b.m == m then 1 else exp(b.m - m)
                     in (m, a.s * p + b.s * q, a.o * p + b.o * q)
    fold[j] (t, w, v) = let m    = max[j] t[j],     // optional: a whole block at once, in terms of other reductions
                            e[j] = if t[j] == m then 1 else exp(t[j] - m)
                        in (m, sum[j] e[j] * w[j], sum[j] e[j] * v[j])
}
op attention(q: f32[n, d], k: f32[m, d], v: f32[m, e]) -> (y: f32[n, e]) {
    t[i, j] = (sum[c] q[i, c] * k[j, c]) / sqrt(f32(d))
    (mx[i], s[i], o[i, c]) = online[j] (t[i, j], 1, v[j, c])
    y[i, c] = o[i, c] / s[i]
}
"""


class Language(TapcTest):
    rng = np.random.default_rng(7)

    def small(self, *shape):
        """Whole numbers, so that sums are exact in any order."""
        return self.rng.integers(-4, 5, shape).astype("f4")

    def run_text(self, text, inputs, expected, *options, rtol=0.0, engines=("interp", "native")):
        self.write("a.tap", text)
        for name, value in inputs.items():
            np.save(self.folder / f"{name}.npy", value)
        given = [word for name in inputs for word in ("-i", f"{name}=@{name}.npy")]
        for engine in engines:
            with self.subTest(engine=engine):
                ran = self.tapc("run", "a.tap", "--engine", engine, *given, "-o", "@out.npz", *options)
                self.assertEqual(ran.returncode, 0, ran.output[:2000])
                with np.load(self.folder / "out.npz") as out:
                    for name, value in expected.items():
                        value = np.asarray(value)
                        self.assertEqual(out[name].shape, value.shape, name)
                        np.testing.assert_allclose(out[name], value, rtol=rtol, err_msg=name)

    def check(self, code, pattern, text):
        self.write("a.tap", text)
        return self.expect(code, pattern, "check", "a.tap")

    # ---- 1. Operators are cell equations

    def test_the_first_operators(self):
        text = """
/// Linear: y[i,o] = b[o] + Σ_k x[i,k]·w[k,o]
op linear(x: T[batch.., in], w: T[in, out], b: T[out]) -> (y: T[batch.., out]) where T: number {
    y[i.., o] = b[o] + sum[k] x[i.., k] * w[k, o]
}
op relu(x: T[d..]) -> (y: T[d..]) where T: number {
    y[i..] = max(x[i..], 0)
}
op softmax(x: T[d.., n]) -> (y: T[d.., n]) where T: float {
    m[i..]    = max[k] x[i.., k]
    s[i..]    = sum[k] exp(x[i.., k] - m[i..])
    y[i.., j] = exp(x[i.., j] - m[i..]) / s[i..]
}
program main(x: f32[2, 3, 4], w: f32[4, 5], b: f32[5]) -> (y: f32[2, 3, 5], r: f32[2, 3, 5], s: f32[2, 3, 5]) {
    y = linear(x, w, b)
    r = relu(y)
    s = softmax(y)
}"""
        x, w, b = self.small(2, 3, 4), self.small(4, 5), self.small(5)
        y = x @ w + b
        e = np.exp(y - y.max(-1, keepdims=True))
        self.run_text(text, dict(x=x, w=w, b=b), dict(y=y, r=np.maximum(y, 0), s=e / e.sum(-1, keepdims=True)), rtol=1e-5)

    def test_names_and_ranges(self):
        x = self.small(6)
        self.run_text("op reversed(x: f32[n]) -> (y: f32[n]) { y[i] = x[n - 1 - i] }\n"
                      "dim reps = 3, k = 6\n"
                      "program main(x: f32[k]) -> (r: f32[k], p: f32[k], t: f32[3 * k], u: f32[]) {\n"
                      "    r = reversed(x)\n    p[i] = sum[c in 0..i+1] x[c]\n"
                      "    t[c*k + i] = x[i] for c in 0..reps\n    u[] = sum[u in 0..3] x[u]\n}",
                      dict(x=x), dict(r=x[::-1], p=np.cumsum(x), t=np.tile(x, 3), u=x[:3].sum()))
        self.check(1, r"T0208.*`n` is a dim", "op f(x: f32[n]) -> (y: f32[n]) { y[n] = x[n] }")
        self.check(1, r"a\.tap:1:\d+: error\[T0403\]", "program p(a: f32[3], b: f32[4]) -> (y: f32[3]) "
                                                      "{ y[0] = sum[i] a[i] * b[i]; y[1 + i] = a[i] for i in 0..2 }")

    def test_left_sides(self):
        a, b, x, m = self.small(3), self.small(4), self.small(5), self.small(3, 4)
        self.run_text("""
op flat(x: T[d..]) -> (f: T[size(d)]) where T: any { f[(i..)] = x[i..] }
program main(a: f32[3], b: f32[4], x: f32[5], m: f32[3, 4]) -> (y: f32[7], z: f32[10], f: f32[12], g: f32[12]) {
    y[i] = a[i] for i in 0..3                   // concatenation
    y[3 + j] = b[j]
    z[2*i + r] = x[i] for r in 0..2             // repeat
    f[4*i + j] = m[i, j]                        // flatten; for any rank: f[(i..)] = x[i..]
    g = flat(m)
}""", dict(a=a, b=b, x=x, m=m), dict(y=np.concatenate([a, b]), z=np.repeat(x, 2), f=m.ravel(), g=m.ravel()))

    def test_a_grouped_convolution(self):
        x, w = self.small(2, 4, 7), self.small(6, 2, 3)
        y = np.zeros((2, 6, 5), "f4")
        for g in range(2):
            for o in range(3):
                for p in range(5):
                    y[:, 3 * g + o, p] = (x[:, 2 * g:2 * g + 2, p:p + 3] * w[3 * g + o]).sum((1, 2))
        self.run_text("""
op grouped<groups: int>(x: f32[n, ci, l], w: f32[co, cg, k]) -> (y: f32[n, co, l - k + 1]) where ci == groups * cg {
    y[b, g*(co / groups) + o, p] = sum[c, u] x[b, g*cg + c, p + u] * w[g*(co / groups) + o, c, u]
        for g in 0..groups, o in 0..co / groups
}
program main(x: f32[2, 4, 7], w: f32[6, 2, 3]) -> (y: f32[2, 6, 5]) { y = grouped<2>(x, w) }""", dict(x=x, w=w), dict(y=y))

    def test_reads(self):
        x, table, ids, g = self.small(1, 2, 5, 5), self.small(4, 3), np.array([3, 0, 3, 1, 0]), self.small(5, 3)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        y = sum(padded[:, :, u:u + 5, v:v + 5] for u in range(3) for v in range(3))
        scattered = np.zeros((4, 3), "f4")
        np.add.at(scattered, ids, g)
        self.run_text("""
program main(x: f32[1, 2, 5, 5], table: f32[4, 3], ids: i64[5], g: f32[5, 3]) ->
        (y: f32[1, 2, 5, 5], e: f32[5, 3], s: f32[4, 3], q: f32[5]) {
    y[n, c, i, j] = sum[u in 0..3, v in 0..3] x[n, c, i + u - 1, j + v - 1 else 0]
    e[n, d] = table[ids[n], d]
    s[v, d] = sum[t] (if ids[t] == v then g[t, d] else 0)
    q[i] = if i > 0 then g[i - 1, 0] else 0
}""", dict(x=x, table=table, ids=ids, g=g), dict(y=y, e=table[ids], s=scattered, q=np.append(0, g[:-1, 0])))
        text = "program main(t: f32[4], at: i64[2]) -> (y: f32[2]) { y[n] = t[at[n]] }"
        self.write("a.tap", text)
        for engine in ("interp", "native"):
            self.expect(6, r"error\[T1301\].*n=1", "run", "a.tap", "-i", "t=iota", "-i", "at=[3, 4]", "--engine", engine)
        self.run_text(text.replace("at[n]]", "at[n] else -1]"), dict(t=self.small(4), at=np.array([9, -1])),
                      dict(y=[-1, -1]))

    def test_conditions_are_lazy_and_indices_are_values(self):
        s = self.small(4, 4)
        self.run_text("""
program main(s: f32[4, 4], d: i64[4]) -> (m: f32[4, 4], q: i64[4], b: bool[4]) {
    m[i, j] = if j <= i then s[i, j] else -inf
    q[i] = if d[i] != 0 then 12 / d[i] else 0
    b[i] = d[i] != 0 and 12 / d[i] > 3
}""", dict(s=s, d=np.array([0, 3, -5, 0])), dict(m=np.where(np.tri(4, dtype=bool), s, -np.inf), q=[0, 4, -3, 0],
                                                 b=[False, True, False, False]))

    def test_a_bias_is_added_once_and_a_softmax_in_one_line(self):
        x = self.small(2, 5)
        e = np.exp(x - x.max(1, keepdims=True))
        self.run_text("""
program main(x: f32[2, 5], w: f32[5, 3], b: f32[3]) -> (y: f32[2, 3], p: f32[2, 5]) {
    y[i, o] = b[o] + sum[k] x[i, k] * w[k, o]
    p[i, j] = exp(x[i, j] - max[k] x[i, k]) / sum[k] exp(x[i, k] - max[l] x[i, l])
}""", dict(x=x, w=np.ones((5, 3), "f4"), b=np.full(3, 10, "f4")),
                      dict(y=np.repeat(x.sum(1, keepdims=True) + 10, 3, 1), p=e / e.sum(1, keepdims=True)), rtol=1e-5)

    def test_whole_tensors(self):
        x, g, u = self.small(3, 4), self.small(4), self.small(4)
        self.run_text(ARGMAX + """
op silu(x: T[d..]) -> (y: T[d..]) where T: float { y[i..] = x[i..] / (1 + exp(-x[i..])) }
program main(x: f32[3, 4], g: f32[4], u: f32[4]) -> (s: f32[], v: f32[3], at: i64[3], y: f32[4], h: f32[3, 4]) {
    s[] = sum[i, j] x[i, j]
    (v, at) = top1(x)
    y[i] = silu(g[i]) * u[i] + s[] - s[]
    h = exp(x)
}""", dict(x=x, g=g, u=u), dict(s=x.sum(), v=x.max(1), at=x.argmax(1), y=g / (1 + np.exp(-g)) * u, h=np.exp(x)), rtol=1e-5)
        self.check(1, r"T0308[\s\S]*help: write the equation: `y\[i\.\.\] = ", "program p(x: f32[3]) -> (y: f32[3]) { y = x + x }")

    def test_types(self):
        i = np.array([-7, 7, 2**31 - 1], "i4")
        f = np.array([1e9, -2.5, np.nan], "f4")
        self.run_text("""
program main(i: i32[3], f: f32[3], b: i8[200], h: f16[300]) ->
        (q: i32[3], r: i32[3], w: i32[3], t: i8[3], s: i8[], l: i32[], c: f16[], lo: f32, hi: i16[]) {
    q[n] = i[n] / 2
    r[n] = i[n] % 2
    w[n] = i[n] + 1
    t[n] = i8(f[n])
    s[] = sum[n] b[n]
    l[] = sum[n] i32(b[n])
    c[] = sum[n] h[n]
    lo[] = f32.min
    hi[] = i16.max
}""".replace("lo: f32,", "lo: f32[],"), dict(i=i, f=f, b=np.ones(200, "i1"), h=np.full(300, 10 + 1 / 128, "f2")),
                      dict(q=[-4, 3, 2**30 - 1], r=[1, 1, 1], w=[-6, 8, -2**31], t=[127, -2, 0], s=-56, l=200,
                           c=np.float16(300 * np.float32(np.float16(10 + 1 / 128))), lo=-np.inf, hi=32767))
        self.check(1, r"T0302[\s\S]*help: convert", "program p(i: i32[3], x: f32[3]) -> (y: f32[3]) { y[n] = x[n] + i[n] }")
        self.write("a.tap", "program main(d: i64[4]) -> (y: i64[4]) { y[i] = 1 / d[i] }")
        for engine in ("interp", "native"):
            self.expect(6, r"error\[T1301\].*i=2", "run", "a.tap", "-i", "d=[1, 1, 0, 1]", "--engine", engine)

    def test_empty_reductions(self):
        self.run_text("""
program main(x: f32[0], i: i16[0], b: bool[0]) -> (s: f32[], p: f32[], a: f32[], z: f32[], m: i16[], y: bool[], n: bool[]) {
    s[] = sum[k] x[k]; p[] = prod[k] x[k]; a[] = max[k] x[k]; z[] = min[k] x[k]
    m[] = max[k] i[k]; y[] = any[k] b[k]; n[] = all[k] b[k]
}""", dict(x=np.zeros(0, "f4"), i=np.zeros(0, "i2"), b=np.zeros(0, bool)),
                      dict(s=0, p=1, a=-np.inf, z=np.inf, m=-2**15, y=False, n=True))

    def test_parameters(self):
        x, y = self.small(3, 4), self.small(4)
        self.run_text("""
op window<stride: int = 1, pad: int = 0>(x: T[n], k: T[m]) -> (y: T[(n + 2*pad - m) / stride + 1]) where T: number {
    y[i] = sum[u] x[stride*i + u - pad else 0] * k[u]
}
op sum_axis<a: int>(x: T[p.., n, q..]) -> (y: T[p.., q..]) where T: number, rank(q) == -1 - a {
    y[i.., j..] = sum[k] x[i.., k, j..]
}
op add(a: T[p..], b: T[q..]) -> (y: T[broadcast(p, q)..]) where T: number { y[i..] = a[i..] + b[i..] }
op reshape<e..: int>(x: T[d..]) -> (y: T[e..]) where T: any, size(e) == size(d) { f[(i..)] = x[i..]; y[j..] = f[(j..)] }
program main(x: f32[3, 4], y: f32[4]) -> (w: f32[2], s: f32[3], a: f32[3, 4], r: f32[2, 6]) {
    w = window<stride = 2>(y, reshape<2>(reshape<2, 1>(first(y))))
    s = sum_axis<-1>(x)
    a = add(x, y)
    r = reshape<2, 6>(x)
}
op first(x: f32[n]) -> (y: f32[2]) { y[i] = x[i] }""", dict(x=x, y=y),
                      dict(w=[y[0] * y[0] + y[1] * y[1], y[2] * y[0] + y[3] * y[1]], s=x.sum(1), a=x + y, r=x.reshape(2, 6)))

    # ---- 2. Programs

    def test_programs(self):
        text = """use std
dim batch = 8, hidden = 6
program mlp(X: f32[batch, 5], const W1: f32[5, hidden], const b1: f32[hidden],
            const W2: f32[hidden, 5], const b2: f32[5]) -> (Y: f32[batch, 5]) {
    H = relu(linear(X, W1, b1))
    Y = linear(H, W2, b2)
}
op relu(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = 2 * max(x[i..], 0) }
program other(X: f32[3]) -> (Y: f32[3]) { Y = std.relu(X) }
program one_equation(X: f32[3]) -> (Y: f32[3]) { Y[i] = 2 * X[i] }
"""
        X, W1, b1, W2, b2 = self.small(2, 5), self.small(5, 6), self.small(6), self.small(6, 5), self.small(5)
        expected = dict(Y=2 * np.maximum(X @ W1 + b1, 0) @ W2 + b2)
        inputs = dict(X=X, W1=W1, b1=b1, W2=W2, b2=b2)
        self.run_text(text, inputs, expected, "--program", "mlp")                       # the shape of an input decides
        self.run_text(text, inputs, expected, "--program", "mlp", "--dim", "batch=2")
        given = [word for name in inputs for word in ("-i", f"{name}=@{name}.npy")]
        self.expect(3, r"T1103.* it is 3 by --dim", "run", "a.tap", "--program", "mlp", "--dim", "batch=3", *given)
        self.expect(2, r"T1003", "run", "a.tap", *given)
        self.run_text(text, dict(X=np.array([-1, 0, 2], "f4")), dict(Y=[0, 0, 2]), "--program", "other")

    def test_iterate(self):
        x0 = self.small(4)
        self.run_text("""
op step(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = x[i..] + 1 }
dim n = 4
program main(x0: f32[n]) -> (u: f32[n], x: f32[n], t: f32[n]) {
    u = iterate 50 (v = x0) { step(v) }
    (x, t) = iterate k in 0..n (x = x0, t = x0) {
        c[i] = if i == k then x[i] + t[i] else x[i]
        (c, x)
    }
}""", dict(x0=x0), dict(u=x0 + 50, **self.rotated(x0)))

    @staticmethod
    def rotated(x0):
        """What the second iterate of test_iterate computes."""
        x, t = x0, x0
        for k in range(4):
            c = x.copy()
            c[k] += t[k]
            x, t = c, x
        return dict(x=x, t=t)

    # ---- 3. Outside kernels

    def test_an_outside_kernel(self):
        text = """
extern op smooth_rows(x: f32[n, m]) -> (y: f32[n, m]) {
    index [i: n]
    read  x at [i - 1, 0] shape [3, m] else 0      // P_x(i) = ZRange(start: [i-1, 0], shape: [3, m])
    write y at [i, 0]     shape [1, m]
    kernel "smooth_rows"                           // C symbol, pure and reentrant
    cost flops 6*m                                 // per index point; optional, without it time is measured
}
program main(X: f32[6, 4]) -> (Y: f32[6, 4]) { Y = smooth_rows(X) }"""
        self.check(0, r"^$", text)
        self.check(1, r"T0603|T0602|T0604", text.replace("write y at [i, 0] ", "write y at [2*i, 0] "))
        self.check(1, r"T0601", text.replace(" else 0 ", " "))
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", self.folder / "smooth.so", ROOT / "examples/smooth.c"],
                       check=True)
        x = self.small(6, 4)
        rows = np.pad(x, ((1, 1), (0, 0)))
        self.run_text(text, dict(X=x), dict(Y=(rows[:-2] + rows[1:-1] + rows[2:]) / 3), "--kernels", "smooth.so", rtol=1e-6)
        self.expect(0, r"^$", "ops", "smooth_rows", "--file", "a.tap", "--dim", "n=6", "--dim", "m=4")

    # ---- 4. Monoids

    def test_monoids(self):
        q, k, v, x = (self.rng.standard_normal(s).astype("f4") for s in ((3, 4), (5, 4), (5, 2), (3, 6)))
        self.run_text(ONLINE + ARGMAX + """
monoid greatest(v: f32) { identity -inf; combine (a, b) = max(a.v, b.v) }
program main(q: f32[3, 4], k: f32[5, 4], v: f32[5, 2], x: f32[3, 6]) -> (y: f32[3, 2], t: f32[3], at: i64[3], g: f32[3]) {
    y = attention(q, k, v)
    (t, at) = top1(x)
    g[i] = greatest[k] (x[i, k])
}""", dict(q=q, k=k, v=v, x=x), dict(y=attention_of(q, k, v), t=x.max(1), at=x.argmax(1), g=x.max(1)), rtol=1e-4)
        self.check(1, r"T0701[\s\S]*note: with a = ", "monoid m(v: f32) { identity 0; combine (a, b) = a.v - b.v }\n"
                                                      "program p(x: f32[3]) -> (y: f32[]) { y[] = m[i] (x[i]) }")
        sinh = ("monoid m(v: f64) { identity 0 combine (a, b) = asinh(sinh(a.v + b.v)) }\n"
                "program p(x: f64[3]) -> (y: f64[]) { y[] = m[i] (x[i]) }")
        self.check(0, r"remark\[T0702\]: identity and associativity of `m` are not proved; they are assumed", sinh)
        self.expect(1, r"error\[T0703\]", "check", "a.tap", "--require-proof")

    # ---- 5. Rewrites, 6. Meshes, shardings, splits

    def test_rewrites(self):
        self.check(0, r"^$", "use std\nrewrite linear(x, w, b) => add(matmul(x, w), b)\n"
                             "rewrite matmul(x, w)    => sum_axis<-2>(products(x, w)) when matmul.in > 4096\n")
        self.check(1, r"T0605", "use std\nrewrite add(a, b) => sub(a, b)\n")

    def test_meshes(self):
        text = """use std
mesh pod  = [data: 2, model: 4]
mesh ring = [d: 8] devices [0, 2, 4, 6, 7, 5, 3, 1]
program mlp(X: f32[16, 8] @ pod[{data}, {?}],
            W1: f32[8, 32] @ pod[{}, {model:(1)2}p1; replicated {data}], b1: f32[32], W2: f32[32, 8]) ->
           (Y: f32[16, 8] @ pod[{data}, {}], Z: f32[16, 8]) {
    H = relu(linear(X @ pod[{data}, {}], W1, b1)) @ pod[{data}, {model, ?}]     // on an argument: this use only
    P = matmul(H, W2) @ pod[{data}, {}; unreduced {model} by sum]
    Y = P
    A = exp(X)
    B = abs(X)
    Z = add(A, B)
    group A, B                                                     // share one sharding
    barrier H forward                                              // propagation stops here
    split H on axis 1 into [0..20, 20..32]                         // explicit, uneven splits
    split linear#1 on k into 4                                     // a reduction splits into partials
    split Z on axis 0 into 8 over threads
}"""
        X, W1, b1, W2 = self.small(16, 8), self.small(8, 32), self.small(32), self.small(32, 8)
        self.run_text(text, dict(X=X, W1=W1, b1=b1, W2=W2),
                      dict(Y=np.maximum(X @ W1 + b1, 0) @ W2, Z=np.exp(X) + np.abs(X)), rtol=1e-5)
        self.expect(0, r"^$", "fmt", "a.tap")
        self.expect(0, r"^$", "check", "a.tap")

    # ---- Form

    def test_form(self):
        text = ("tap 1\nop f<a: bool = (1 < 2)>(x: f32[n]) -> (y: f32[n]) {\r\n"
                "  for_[i] = x[i]; index[i] = for_[i]\n/* over\nlines */ y[i]\n=\nindex\n[i] }\n"
                "program main(in: f32[3], op: f32[3]) -> (split: f32[3]) { split[i] = in[i] + op[i] }")
        x = self.small(3)
        self.run_text(text, {"in": x, "op": x}, dict(split=2 * x))
        for word in ("if", "then", "else", "and", "or", "not", "let", "true", "false", "inf", "nan", "exp", "sum", "f32"):
            self.check(1, r"error\[T0(109|202)\]", f"program main({word}: f32[3]) -> (y: f32[3]) {{ y[i] = 1 }}")
        self.check(1, r"T0110", "tap 2\n" + PROGRAM)
        self.check(1, r"T0104", PROGRAM.replace("Y", "Ÿ"))


if __name__ == "__main__":
    unittest.main()
