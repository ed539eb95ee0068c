"""For each example: small sizes, inputs, and what NumPy says the results are."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Example:
    file: str
    inputs: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)
    dims: dict = field(default_factory=dict)
    program: str = ""
    rtol: float = 1e-5
    atol: float = 1e-6


def all_examples():
    random = np.random.RandomState(11)
    f32 = lambda *shape: random.randn(*shape).astype(np.float32)
    return [make for build in BUILDERS for make in build(random, f32)]


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


def relu(x):
    return np.maximum(x, 0)


def softmax(t):
    e = np.exp(t - t.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def causal_attention(q, k, v):
    t = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(np.where(np.tri(t.shape[-2], dtype=bool), t, -np.inf)) @ v


def linear(random, f32):
    X, W, b = f32(3, 5), f32(5, 2), f32(2)
    x, w, c = wide(X, W, b)
    yield Example("linear.tap", dict(X=X, W=W, b=b), dict(Y=x @ w + c))


def mlp(random, f32):
    X, W1, b1, W2, b2 = f32(3, 4), f32(4, 5), f32(5), f32(5, 4), f32(4)
    x, w1, c1, w2, c2 = wide(X, W1, b1, W2, b2)
    Y = relu(x @ w1 + c1) @ w2 + c2
    yield Example("mlp.tap", dict(X=X, W1=W1, b1=b1, W2=W2, b2=b2), dict(Y=Y), dict(batch=3, width=4, hidden=5))


def attention(random, f32):
    Q, K, V = f32(2, 5, 4), f32(2, 5, 4), f32(2, 5, 4)
    exact = dict(Y=causal_attention(*wide(Q, K, V)))
    for program in ("fused", "plain"):
        yield Example("attention.tap", dict(Q=Q, K=K, V=V), exact, dict(heads=2, n=5, d=4), program)


def transformer(random, f32):
    layers, n, model, heads, d, wide_ = 3, 4, 6, 2, 3, 5
    inputs = dict(X=f32(n, model), Wq=f32(layers, heads, model, d), Wk=f32(layers, heads, model, d),
                  Wv=f32(layers, heads, model, d), Wo=f32(layers, heads, d, model), Wg=f32(layers, model, wide_),
                  Wu=f32(layers, model, wide_), Wd=f32(layers, wide_, model), norm1=f32(layers, model),
                  norm2=f32(layers, model))
    a = {name: v.astype(np.float64) for name, v in inputs.items()}
    norm = lambda x, g: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g
    s = a["X"]
    for t in range(layers):
        x = norm(s, a["norm1"][t])
        q, k, v = (np.einsum("if,hfc->hic", x, a[w][t]) for w in ("Wq", "Wk", "Wv"))
        s = s + np.einsum("hic,hcf->if", causal_attention(q, k, v), a["Wo"][t])
        x = norm(s, a["norm2"][t])
        gate = x @ a["Wg"][t]
        s = s + (gate / (1 + np.exp(-gate)) * (x @ a["Wu"][t])) @ a["Wd"][t]
    dims = dict(layers=layers, n=n, model=model, heads=heads, d=d, wide=wide_)
    yield Example("transformer.tap", inputs, dict(Y=s), dims, rtol=1e-3, atol=1e-4)


def conv(x, k, pad):
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    h, w = x.shape[2] - k.shape[2] + 1, x.shape[3] - k.shape[3] + 1
    return sum(np.einsum("bcij,oc->boij", x[:, :, u:u + h, v:v + w], k[:, :, u, v])
               for u in range(k.shape[2]) for v in range(k.shape[3]))


def convnet(random, f32):
    X, K1, b1, K2, b2, W, b = f32(2, 3, 6, 6), f32(2, 3, 3, 3), f32(2), f32(4, 2, 3, 3), f32(4), f32(4, 5), f32(5)
    x, k1, c1, k2, c2, w, c = wide(X, K1, b1, K2, b2, W, b)
    a = relu(conv(x, k1, 1) + c1[:, None, None])
    a = a.reshape(2, 2, 3, 2, 3, 2).max(axis=(3, 5))
    a = relu(conv(a, k2, 1) + c2[:, None, None]).mean(axis=(2, 3))
    yield Example("convnet.tap", dict(X=X, K1=K1, b1=b1, K2=K2, b2=b2, W=W, b=b), dict(P=softmax(a @ w + c)),
                  dict(batch=2, size=6, c1=2, c2=4, classes=5))


def neighbours(u):
    p = np.pad(u, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]


def jacobi(random, f32):
    F, u = random.randn(7, 7), np.zeros((7, 7))
    for _ in range(5):
        u = (neighbours(u) + F) / 4
    yield Example("jacobi.tap", dict(F=F), dict(U=u), dict(n=7, steps=5), rtol=1e-12)


def heat(random, f32):
    U0, k = f32(4, 4, 4), np.full((3, 3, 3), 1 / 27, np.float32)
    u = U0.astype(np.float64)
    for _ in range(3):
        p = np.pad(u, 1)
        u = sum(p[a:a + 4, b:b + 4, c:c + 4] for a in range(3) for b in range(3) for c in range(3)) / 27
    yield Example("heat.tap", dict(U0=U0, k=k), dict(U=u), dict(n=4, steps=3))


def life(random, f32):
    board = (random.rand(6, 6) < 0.4).astype(np.uint8)
    x = board.astype(int)
    for _ in range(4):
        p = np.pad(x, 1)
        near = sum(p[u:u + 6, v:v + 6] for u in range(3) for v in range(3)) - x
        x = ((near == 3) | ((near == 2) & (x == 1))).astype(int)
    yield Example("life.tap", dict(board=board), dict(later=x), dict(n=6, steps=4))


def cg(random, f32):
    root, b0 = random.randn(8, 8), random.randn(8)
    A = root @ root.T + 8 * np.eye(8)
    yield Example("cg.tap", dict(A=A, b0=b0), dict(x=np.linalg.solve(A, b0), norm=np.zeros(())), dict(n=8, steps=20),
                  rtol=1e-8, atol=1e-8)


def mttkrp(random, f32):
    X, A, B, C = f32(3, 4, 5), f32(3, 2), f32(4, 2), f32(5, 2)
    x, a, b, c = wide(X, A, B, C)
    exact = dict(A2=np.einsum("ijk,jr,kr->ir", x, b, c), B2=np.einsum("ijk,ir,kr->jr", x, a, c),
                C2=np.einsum("ijk,ir,jr->kr", x, a, b))
    yield Example("mttkrp.tap", dict(X=X, A=A, B=B, C=C), exact)


def kmeans(random, f32):
    X = np.concatenate([f32(6, 2), f32(6, 2) + np.float32(6), f32(4, 2) - np.float32(6)])
    C0 = np.concatenate([X[:1], X[7:8], np.full((1, 2), 100, np.float32)])  # the last centre gets no points
    x, c = wide(X, C0)
    for _ in range(4):
        at = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
        c = np.array([x[at == j].mean(0) if (at == j).any() else c[j] for j in range(3)])
    at = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
    yield Example("kmeans.tap", dict(X=X, C0=C0), dict(C=c, at=at), dict(points=16, clusters=3, d=2, steps=4))


def nearest(random, f32):
    Q, P, label = f32(4, 3), f32(9, 3), random.randint(0, 100, 9)
    q, p = wide(Q, P)
    d = ((q[:, None] - p[None]) ** 2).sum(-1)
    yield Example("nearest.tap", dict(Q=Q, P=P, label=label),
                  dict(found=label[d.argmin(1)], distance=np.sqrt(d.min(1))))


def fft(random, f32):
    re, im = random.randn(1024), random.randn(1024)
    exact = np.fft.fft(re + 1j * im)
    yield Example("fft.tap", dict(re=re, im=im), dict(Re=exact.real, Im=exact.imag), rtol=1e-10, atol=1e-10)


def recurrence(random, f32):
    n, d, states = 6, 2, 3
    X, step, A, B, C = f32(n, d), np.abs(f32(n, d)), f32(d, states), f32(n, states), f32(n, states)
    x, dt, a, b, c = wide(X, step, A, B, C)
    h, y = np.zeros((d, states)), np.zeros((n, d))
    for t in range(n):
        h = np.exp(-dt[t][:, None] * np.abs(a)) * h + dt[t][:, None] * b[t][None] * x[t][:, None]
        y[t] = h @ c[t]
    yield Example("recurrence.tap", dict(X=X, step=step, A=A, B=B, C=C), dict(Y=y), dict(n=n, d=d, states=states))


def logistic(random, f32):
    X, t, w, b = f32(7, 3), (random.rand(7) < 0.5).astype(np.float32), f32(3), np.float32(0.25)
    x, y, v = wide(X, t, w)
    p = 1 / (1 + np.exp(-(x @ v + 0.25)))
    g = (p - y) / 7
    exact = dict(w2=v - 0.1 * x.T @ g, b2=np.asarray(0.25 - 0.1 * g.sum()),
                loss=np.asarray(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()))
    yield Example("logistic.tap", dict(X=X, t=t, w=w, b=np.array(b)), exact, dict(samples=7, features=3))


def smooth(random, f32):
    X = f32(5, 3)
    x = X.astype(np.float64)
    for _ in range(2):
        p = np.pad(x, [(1, 1), (0, 0)])
        x = (p[:-2] + p[1:-1] + p[2:]) / 3
    yield Example("smooth.tap", dict(X=X), dict(Y=x), dict(n=5, m=3))


BUILDERS = [linear, mlp, attention, transformer, convnet, jacobi, heat, life, cg, mttkrp, kmeans, nearest, fft,
            recurrence,
            logistic, smooth]
