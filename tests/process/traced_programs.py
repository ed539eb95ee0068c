"""Programs for the tests of traces and metrics: products on a mesh of two axes, a stencil with trips, and layers whose weights are gathered."""
LAYER = """mesh pod = [data: 2, model: 3]
program main(X: f32[8, 12] @ pod[{data}, {}], W: f32[12, 18] @ pod[{}, {model}], V: f32[18, 5] @ pod[{model}, {}])
        -> (Y: f32[8, 5], s: f32[], h: f32[8, 18]) {
    h[i, o] = sum[k] X[i, k] * W[k, o]
    Y[i, o] = sum[k] exp(h[i, k] / 64) * V[k, o]
    s[] = sum[i, o] Y[i, o]
}
"""
STENCIL = """program main(x: f32[40, 6]) -> (y: f32[40, 6]) {
    y = iterate 7 (u = x) { v[i, j] = (u[i - 1, j else 0] + u[i, j] * 2 + u[i + 1, j else 1]) / 4; v }
}
"""
WEIGHTS = ", ".join(f"W{k}: f32[512, 512] @ m[{{d}}, {{}}]" for k in range(3))
GATHERED = f"""mesh m = [d: 2]
program main(X: f32[512, 512] @ m[{{d}}, {{}}], {WEIGHTS}) -> (Y: f32[512, 512] @ m[{{d}}, {{}}]) {{
""" + "".join(f"""    U{k}[i, j] = W{k}[i, j] * 0.5
    V{k} = U{k} @ m[{{d}}, {{}}]
    P{k} = V{k} @ m[{{}}, {{}}]
""" for k in range(3)) + """    H0[i, j] = sum[k] X[i, k] * P0[k, j]
    R0[i, j] = max(H0[i, j], 0)
    H1[i, j] = sum[k] R0[i, k] * P1[k, j]
    R1[i, j] = max(H1[i, j], 0)
    Y[i, j] = sum[k] R1[i, k] * P2[k, j]
}
"""
