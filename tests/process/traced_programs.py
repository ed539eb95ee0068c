"""Programs for the tests of traces and metrics: products on a mesh of two axes, and a stencil with trips."""
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
