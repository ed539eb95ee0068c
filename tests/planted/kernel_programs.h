// Programs whose kernels are of every shape that lowering and emission know, at sizes with tails: what the self-check of
// kernels is tried on (self_check_kernels.cpp), here and for processors that this machine is not.
#pragma once

namespace tap::test {

struct KernelProgram {
  const char* name;
  const char* text;
  bool fused = false;
};

inline constexpr KernelProgram kernel_programs[] = {
    {"product", "program p(A: f32[50, 30], B: f32[30, 45]) -> (Y: f32[50, 45]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"product of even sizes",
     "program p(A: f32[56, 32], B: f32[32, 64]) -> (Y: f32[56, 64]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"large product",
     "program p(A: f32[301, 700], B: f32[700, 600]) -> (Y: f32[301, 600]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"large product of f64",
     "program p(A: f64[130, 700], B: f64[700, 310]) -> (Y: f64[130, 310]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"product of turned operands",
     "program p(A: f32[300, 200], B: f32[210, 300]) -> (Y: f32[200, 210]) { Y[i, j] = sum[k] A[k, i] * B[j, k] }"},
    {"turned product",
     "program p(A: f32[100, 90], B: f32[90, 70]) -> (Y: f32[70, 100]) { Y[j, i] = sum[k] A[i, k] * B[k, j] }"},
    {"product with prepared weights",
     "program p(A: f32[64, 300], const W: f32[200, 300]) -> (Y: f32[64, 200]) { Y[i, j] = sum[k] A[i, k] * W[j, k] }"},
    {"large product with prepared weights",
     "program p(A: f32[301, 700], const W: f32[700, 600]) -> (Y: f32[301, 600]) { Y[i, j] = sum[k] A[i, k] * W[k, j] "
     "}"},
    {"column of each matrix with prepared weights",
     "program p(const A: i32[2, 256, 1], B: i32[256, 128, 2]) -> (Y: i32[2, 128, 1]) { Y[h, j, i] = sum[k] A[h, k, i] "
     "* B[k, j, h] }"},
    {"many products",
     "program p(A: f32[3, 70, 40], B: f32[3, 40, 50]) -> (Y: f32[3, 70, 50]) { Y[h, i, j] = sum[k] A[h, i, k] * B[h, "
     "k, j] }"},
    {"product, bias and a rectifier",
     "program p(A: f32[45, 30], B: f32[30, 77], c: f32[77]) -> (Y: f32[45, 77]) { t[i, j] = sum[k] A[i, k] * B[k, j]; "
     "u[i, j] = t[i, j] + c[j]; Y[i, j] = max(u[i, j], 0.0) }",
     true},
    {"large product, bias and a rectifier",
     "program p(A: f64[130, 700], B: f64[700, 310], c: f64[310]) -> (Y: f64[130, 310]) { t[i, j] = sum[k] A[i, k] * "
     "B[k, "
     "j]; u[i, j] = t[i, j] + c[j]; Y[i, j] = max(u[i, j], 0.0) }",
     true},
    {"narrowed product and its sums",
     "program p(X: bf16[3, 2], W: bf16[2, 17]) -> (Y: bf16[3, 17], s: f32[3]) { Y[i, j] = sum[k] X[i, k] * W[k, j]; "
     "s[i] = sum[j] f32(Y[i, j]) }",
     true},
    {"narrowed product of halves",
     "program p(X: f16[5, 12], W: f16[12, 33]) -> (Y: f16[5, 33], s: f32[5]) { Y[i, j] = sum[k] X[i, k] * W[k, j]; "
     "s[i] = sum[j] f32(Y[i, j]) }",
     true},
    {"narrowed integers",
     "program p(X: i32[5, 12], W: i32[12, 17]) -> (Y: i8[5, 17], s: i32[5]) { t[i, j] = sum[k] X[i, k] * W[k, j]; "
     "Y[i, j] = i8(t[i, j]); s[i] = sum[j] i32(Y[i, j]) }",
     true},
    {"narrowing maps",
     "program p(x: f32[83], d: f64[83], n: i64[83]) -> (h: f16[83], b: bf16[83], c: f32[83], k: i8[83], u: u8[83], z: "
     "bool[83], w: i32[83], q: bf16[83]) { h[i] = f16(x[i] * 1.01); b[i] = bf16(x[i] * 1.01); c[i] = f32(d[i] * 0.3); "
     "k[i] = i8(n[i] * 7); u[i] = u8(x[i] * 90.0); z[i] = x[i] > 1.0; w[i] = i32(n[i] * 3); q[i] = bf16(d[i] * 0.3) }"},
    {"narrowing copies",
     "program p(x: f32[83], d: f64[83], n: i32[83]) -> (h: f16[83], b: bf16[83], q: bf16[83], u: u8[83], k: i8[83]) { "
     "h[i] = f16(x[i]); b[i] = bf16(x[i]); q[i] = bf16(d[i]); u[i] = u8(n[i]); k[i] = i8(x[i] * 64.0) }"},
    {"remainders narrowed to bytes",
     "program p(x: f16[6], w: f32[6], d: f64[13], n: i8[6]) -> (y: i8[6], u: u8[6], z: i8[13], b: bool[6], s: f32[6]) "
     "{ "
     "y[i] = i8(x[i] % 7.0); u[i] = u8(w[i] % 7.0); z[i] = i8(d[i] % 3.0); b[i] = w[i] % 2.0 > 1.0; s[i] = w[i] % 3.0 "
     "+ "
     "f32(n[i]) }"},
    {"prepared operand with fills",
     "program p(const s: i64[3, 6], w: i64[2, 5, 1]) -> (y: i64[1, 2, 3]) { m[c, i] = max[u in 0..1] s[c + u, i else "
     "3] for c in "
     "0..5; y[b, o, j] = sum[c, v] m[c, 2*j + v] * w[o, c, v] for b in 0..1 }"},
    {"sum that is read outside only",
     "program p(x: i64[7]) -> (y: i64[1]) { t[0] = sum[k] x[k]; y[i] = t[i - 1 else 7] - t[i + 1 else 4] for i in 0..1 "
     "}",
     true},
    {"turned copy", "program p(X: f32[90, 70]) -> (Y: f32[70, 90]) { Y[j, i] = X[i, j] }"},
    {"turned narrow copy", "program p(X: f32[90, 70]) -> (Y: bf16[70, 90]) { Y[j, i] = bf16(X[i, j] * 1.1) }"},
    {"sums of rows",
     "program p(X: f32[37, 1001]) -> (s: f32[37], m: f32[37], n: f32[37]) { s[i] = sum[k] X[i, k]; m[i] = max[k] X[i, "
     "k]; n[i] = sum[k] X[i, k] * X[i, k] }"},
    {"sums of integers",
     "program p(X: i64[9, 301], Z: i32[9, 301]) -> (s: i64[9], t: i32[9]) { s[i] = sum[k] X[i, k]; t[i] = max[k] Z[i, "
     "k] }"},
    {"sums of columns", "program p(X: f32[301, 77]) -> (s: f32[77]) { s[j] = sum[k] X[k, j] }"},
    {"convolution",
     "program p(x: f32[8, 30, 29], k: f32[16, 8, 3, 3]) -> (y: f32[16, 30, 29]) { y[o, i, j] = sum[c, u, v] x[c, i + u "
     "- 1, j + v - 1 else 0] * k[o, c, u, v] }"},
    {"convolution of few channels",
     "program p(x: f32[3, 2, 30, 11], const k: f32[40, 2, 3, 3]) -> (y: f32[3, 40, 30, 11]) { y[b, o, i, j] = sum[c, "
     "u, "
     "v] x[b, c, i + u - 1, j + v - 1 else 0] * k[o, c, u, v] }"},
    {"convolution with stride",
     "program p(x: f32[4, 31, 41], k: f32[8, 4, 3, 3]) -> (y: f32[8, 15, 20]) { y[o, i, j] = sum[c, u, v] x[c, 2*i + "
     "u, "
     "2*j + v] * k[o, c, u, v] }"},
    {"pooling",
     "program p(x: f32[5, 33, 35]) -> (y: f32[5, 33, 35]) { y[c, i, j] = max[u in 0..3, v in 0..3] x[c, i + u - 1, j + "
     "v - 1 else -inf] }"},
    {"short rows, and those above and below",
     "program p(x: f32[40, 9, 7], a: f32[40]) -> (y: f32[40, 9, 7]) {\n"
     "  y[i, j, k] = (x[i, j - 1, k else 1] + x[i, j, k] + x[i, j + 1, k else 2]) * a[i]\n}"},
    {"convolution of single points, with prepared weights and a rectifier",
     "program p(x: f32[2, 20, 9, 7], const w: f32[37, 20, 1, 1], b: f32[37]) -> (y: f32[2, 37, 9, 7]) {\n"
     "  t[n, o, h, l] = sum[c, u, v] x[n, c, h + u, l + v] * w[o, c, u, v] for h in 0..9, l in 0..7\n"
     "  y[n, o, h, l] = max(t[n, o, h, l] + b[o], 0)\n}",
     true},
    {"few rows, transposed", "program p(x: f32[5, 203]) -> (y: f32[203, 5]) { y[j, i] = x[i, j] * 2 }"},
    {"few rows of bytes, transposed", "program p(x: i8[13, 203]) -> (y: i8[203, 13]) { y[j, i] = x[i, j] }"},
    {"stencil",
     "program p(x: f32[61, 67]) -> (y: f32[61, 67]) { y[i, j] = 0.25 * (x[i - 1, j else 0] + x[i + 1, j else 0] + x[i, "
     "j - 1 else 0] + x[i, j + 1 else 0]) }"},
    {"stencil of whole vectors",
     "program p(x: f32[20, 96]) -> (y: f32[20, 96]) { y[i, j] = x[i - 1, j else 0] + x[i, j - 1 else 1] + x[i, j + 1 "
     "else 2] + x[i + 1, j else 3] }"},
    {"two stencils",
     "program p(x: f64[61, 67]) -> (y: f64[61, 67]) { t[i, j] = x[i - 1, j else 0] + x[i + 1, j else 1] + x[i, j]; "
     "y[i, "
     "j] = t[i, j - 1 else 0] * 0.5 + t[i, j + 1 else 0] - t[i, j] }",
     true},
    {"softmax",
     "program p(X: f32[21, 70]) -> (Y: f32[21, 70]) { m[i] = max[j] X[i, j]; e[i, j] = exp(X[i, j] - m[i]); s[i] = "
     "sum[j] e[i, j]; Y[i, j] = e[i, j] / s[i] }",
     true},
    {"attention",
     "use std\nprogram p(Q: f32[2, 40, 8], K: f32[2, 40, 8], V: f32[2, 40, 8]) -> (Y: f32[2, 40, 8]) { Y = "
     "attention_causal(Q, K, V) }"},
    {"attention written out",
     "program p(Q: f32[2, 40, 8], K: f32[2, 40, 8], V: f32[2, 40, 8]) -> (Y: f32[2, 40, 8]) { t[h, i, j] = sum[c] Q[h, "
     "i, c] * K[h, j, c]; m[h, i] = max[j] t[h, i, j]; e[h, i, j] = exp(t[h, i, j] - m[h, i]); s[h, i] = sum[j] e[h, "
     "i, j]; o[h, i, c] = sum[j] e[h, i, j] * V[h, j, c]; Y[h, i, c] = o[h, i, c] / s[h, i] }",
     true},
    {"attention to what comes before, written out",
     "program p(Q: f32[2, 40, 8], K: f32[2, 40, 8], V: f32[2, 40, 8]) -> (Y: f32[2, 40, 8]) { t[h, i, j] = sum[c] Q[h, "
     "i, c] * K[h, j, c]; m[h, i] = max[j in 0..i + 1] t[h, i, j]; e[h, i, j] = exp(t[h, i, j] - m[h, i]); s[h, i] = "
     "sum[j in 0..i + 1] e[h, i, j]; o[h, i, c] = sum[j in 0..i + 1] e[h, i, j] * V[h, j, c]; Y[h, i, c] = o[h, i, c] "
     "/ "
     "s[h, i] }",
     true},
    {"bias on narrow rows",
     "program p(x: f32[2000, 10], b: f32[10]) -> (y: f32[2000, 10]) { y[i, j] = x[i, j] + b[j] }"},
    {"one row of a large product",
     "program p(A: f32[1, 2100], B: f32[2100, 2100]) -> (Y: f32[1, 2100]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"columns of width one",
     "program p(x: f32[2000, 1]) -> (s: f32[1], y: f32[2000, 1]) { s[j] = sum[i] x[i, j]; y[i, j] = x[i, j] * 2 }"},
    {"rows from the second cell on",
     "program p(x: f32[9, 160]) -> (y: f32[9, 160]) { y[i, j] = x[i, j - 1] + x[i, j + 1] for i in 0..9, j in 1..159; "
     "y[i, j] = 0 for i in 0..9, j in 0..1; y[i, j] = 1 for i in 0..9, j in 159..160 }"},
    {"two layers",
     "program p(X: f32[40, 60], const W: f32[60, 90], const V: f32[90, 50]) -> (Y: f32[40, 50]) { t[i, j] = sum[k] "
     "X[i, "
     "k] * W[k, j]; u[i, j] = max(t[i, j], 0.0); Y[i, j] = sum[k] u[i, k] * V[k, j] }",
     true},
    {"running sums", "program p(x: f64[201]) -> (y: f64[201]) { y[i] = sum[k in 0..i + 1] x[k] }"},
    {"running sums from the end", "program p(x: i64[201]) -> (y: i64[201]) { y[i] = sum[k in i..201] x[k] }"},
    {"running sums of rows", "program p(X: f32[13, 70]) -> (Y: f32[13, 70]) { Y[i, j] = sum[k in 0..j + 1] X[i, k] }"},
    {"running sums of columns", "program p(X: f32[40, 77]) -> (Y: f32[40, 77]) { Y[i, j] = max[k in i..40] X[k, j] }"},
    {"running sums of near rows",
     "program p(X: f32[21, 784]) -> (Y: f32[21, 784]) { Y[i, j] = sum[k in 0..i + 1] X[k, j] }"},
    {"product with a short reduction",
     "program p(A: f32[70, 8], B: f32[8, 700]) -> (Y: f32[70, 700]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"product with few columns",
     "program p(A: f32[70, 107], B: f32[107, 3]) -> (Y: f32[70, 3]) { Y[i, j] = sum[k] A[i, k] * B[k, j] }"},
    {"sums of windows",
     "program p(x: f32[40, 150]) -> (y: f32[40, 150]) { y[i, j] = sum[u in 0..3, v in 0..3] x[i + u - 1, j + v - 1 "
     "else 0] }"},
    {"triangle", "program p(A: f32[40, 40], x: f32[40]) -> (y: f32[40]) { y[i] = sum[k in 0..i + 1] A[i, k] * x[k] }"},
    {"lookup", "program p(T: f32[100, 19], ids: i64[33]) -> (Y: f32[33, 19]) { Y[i, j] = T[ids[i], j else 0.5] }"},
    {"histogram",
     "program p(ids: i64[300], w: f32[300]) -> (h: f32[40]) { h[b] = sum[i] (if ids[i] == b then w[i] else 0.0) }"},
    {"greatest and where", "use std\nprogram p(X: f32[23, 57]) -> (Y: i64[23]) { Y = argmax_axis<-1>(X) }"},
    {"integer arithmetic",
     "program p(a: i32[70], b: i32[70]) -> (q: i32[70], r: i32[70], s: i64[70], t: bool[70]) { q[i] = a[i] / b[i]; "
     "r[i] "
     "= a[i] % b[i]; s[i] = i64(a[i]) * i64(b[i]) - i; t[i] = a[i] < b[i] and a[i] != 3 }"},
    {"reversed and strided",
     "program p(x: f32[141]) -> (y: f32[70], z: f32[141]) { y[i] = x[2*i + 1] - x[140 - i]; z[i] = x[140 - i] }"},
    {"several writers",
     "program p(A: f32[40, 33]) -> (Y: f32[80, 33]) { Y[2*i, j] = A[i, j] for i in 0..40; Y[2*i + 1, j] = -A[39 - i, "
     "j] for i in 0..40 }"},
    {"steps over a single row",
     "program p(X: f32[1, 50000021]) -> (Y: f32[1, 50000021]) { "
     "a[i, j] = X[i - 1, j else 0.0] + X[i, j + 1 else 0.0]; "
     "b[i, j] = a[i - 1, j else 0.0] + a[i, j + 1 else 0.0]; "
     "c[i, j] = b[i - 1, j else 0.0] + b[i, j + 1 else 0.0]; "
     "d[i, j] = c[i - 1, j else 0.0] + c[i, j + 1 else 0.0]; "
     "e[i, j] = d[i - 1, j else 0.0] + d[i, j + 1 else 0.0]; "
     "f[i, j] = e[i - 1, j else 0.0] + e[i, j + 1 else 0.0]; "
     "g[i, j] = f[i - 1, j else 0.0] + f[i, j + 1 else 0.0]; "
     "h[i, j] = g[i - 1, j else 0.0] + g[i, j + 1 else 0.0]; "
     "k[i, j] = h[i - 1, j else 0.0] + h[i, j + 1 else 0.0]; "
     "Y[i, j] = k[i - 1, j else 0.0] + k[i, j + 1 else 0.0] }",
     true},
    {"functions",
     "program p(x: f32[75]) -> (y: f32[75], z: f32[75]) { y[i] = tanh(x[i]) + sin(x[i]); z[i] = log(abs(x[i]) + 1.0) + "
     "sqrt(abs(x[i])) }"},
};

}  // namespace tap::test
