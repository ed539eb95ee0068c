"""Programs in which a mesh axis does not come to a value, each with the edits that remove the causes.

`«kind|text|replacement»` marks a cause: with the text it stands, with the replacement it is gone. Marks of one kind are one
cause; `barrier'` is a second barrier. A cause is found in the line that ends with `// kind`, else in the line of its first mark.
`«kind|--option|»` in the first line is an option of the command. The mesh is `m = [a: 2, b: 4]`; `inc` is an
operator.

A case: the value, the axis, the program. The dim of the value at which the axis appears is not given: a value that has the
axis elsewhere says what it lost, by `lost`."""

CASES = {
    # Each cause alone.
    "barrier_forward": ("H", "a", """
program p(X: f32[8, 8] @ m[{a}, {?}]) -> (Y: f32[8, 8]) {
    «barrier|barrier H forward|»
    H[i, j] = X[i, j] + 1
    Y[i, j] = 2 * H[i, j]
}"""),
    "barrier_far_away": ("Z", "a", """
program p(X: f32[8, 8] @ m[{a}, {?}]) -> (Z: f32[8, 8]) {
    «barrier|barrier H both|»
    H[i, j] = X[i, j] + 1
    Y[j, i] = 2 * H[i, j]
    Z[i, j] = Y[i, j] + 1
}"""),
    "barrier_on_an_input": ("Y", "a", """
program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) {
    «barrier|barrier X forward|»
    Y[i] = X[i] + 1
}"""),
    "barrier_backward": ("X", "a", """
program p(X: f32[8]) -> (Y: f32[8] @ m[{a}]) {
    «barrier|barrier Y backward|»
    Y[i] = X[i] + 1
}"""),
    "barrier_in_an_iterate": ("Y/v", "a", """
program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) {
    Y = iterate 3 (u = X) {
        «barrier|barrier v forward|»
        v[i] = u[i] + 1
        w[i] = u[i] * v[0]
        w
    }
}"""),
    "barrier_in_an_operator": ("Y.t", "a", """
op scaled(x: f32[n]) -> (y: f32[n]) {
    «barrier|barrier t both|»
    t[i] = 2 * x[i]
    y[i] = t[i] + 1
}
program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) { Y = scaled(X) }"""),
    "closed_result": ("Y", "a", """
program p(X: f32[8, 8] @ m[{a}, {?}]) -> (
        Y: f32[8, 8] @ m[{«closed||?»}, {?}]) {
    Y[i, j] = X[i, j] + 1
}"""),
    "closed_between": ("Y", "a", """
program p(X: f32[8, 8] @ m[{a}, {?}]) -> (Y: f32[8, 8]) {
    H = inc(X) @ m[{«closed||?»}, {?}]
    Y[i, j] = 2 * H[i, j]
}"""),
    "closed_operand": ("W", "a", """
program p(X: f32[8, 8] @ m[{}, {a}],
          W: f32[8, 8] @ m[{«closed||?»}, {}]) -> (Y: f32[8, 8]) {
    Y[i, j] = sum[k] X[i, k] * W[k, j]
}"""),
    "replicated": ("Y", "a", """
program p(X: f32[8] @ m[{a}]) -> (
        Y: f32[8] @ m[{?}«replicated|; replicated {a}|»]) {
    Y[i] = X[i] + 1
}"""),
    "unreduced": ("P", "a", """
program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) {
    P = inc(X) @ m[{?}«unreduced|; unreduced {a} by sum|»]
    Y[i] = P[i] * 2
}"""),
    "conflict_of_sizes": ("Y", "a", """
program p(X: f32[8, 4] @ m[{a}, {}], W: f32[4, 32] @ m[{}, {«conflict|a|?»}]) -> (Y: f32[8]) {
    H[i, j] = sum[k] X[i, k] * W[k, j]     // conflict
    Y[i] = H[i, 0]
}"""),
    "conflict_of_lists": ("Y", "a", """
program p(X: f32[8] @ m[{a}], W: f32[8] @ m[{«conflict|b|?»}]) -> (Y: f32[8]) {
    Y[i] = X[i] + W[i]     // conflict
}"""),
    "conflict_with_an_annotation": ("Y", "a", """
program p(X: f32[8, 8] @ m[{a}, {?}]) -> (Y: f32[8]) {
    H = inc(X) @ m[{?}, {«conflict|a, |»?}]
    Y[i] = H[i, 0]
}"""),
    "conflict_within_a_prefix": ("Y", "b", """
program p(X: f32[8, 8] @ m[{a, b}, {?}]) -> (Y: f32[8]) {
    H = inc(X) @ m[{?}, {«conflict|a, |»?}]
    Y[i] = H[i, 0]
}"""),
    "conflict_undecided": ("Y", "a", """«conflict|--strategy=basic|»
program p(X: f32[8, 4] @ m[{a}, {}], W: f32[4, 8] @ m[{}, {a}]) -> (Y: f32[8, 8]) {
    Y[i, j] = sum[k] X[i, k] * W[k, j]     // conflict
}"""),
    "sizes_of_a_result": ("Y", "b", """
program p(X: f32[«sizes|6|8»] @ m[{b}]) -> (Y: f32[«sizes|6|8»]) {
    Y[i] = X[i] + 1
}"""),
    "sizes_of_an_input": ("W", "b", """
program p(
    W: f32[«sizes|6|8»], X: f32[«sizes|6|8»] @ m[{b}]) -> (Y: f32[«sizes|6|8»] @ m[{b}]) {
    Y[i] = X[i] * W[i]
}"""),
    "sizes_of_a_compound_axis": ("Y", "b", """
program p(X: f32[«sizes|6|8»] @ m[{b}]) -> (Y: f32[«sizes|3|4», 2]) {
    Y[i, j] = X[2*i + j]     // sizes
}"""),
    "sizes_of_a_minor_part": ("Y", "b", """
program p(X: f32[2, 8] @ m[{«sizes||a»}, {b}]) -> (Y: f32[16]) {
    Y[8*i + j] = X[i, j]     // sizes
}"""),
    "moves_cells": ("Y", "a", """«moves_cells|--conservative|»
program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) {
    Y[i] = X[i - 1 else 0]     // moves_cells
}"""),
    "meshes": ("Y", "a", """
mesh other = [c: 8]
program p(X: f32[8] @ m[{a}],
          W: f32[8]«meshes| @ other[{c}]|») -> (Y: f32[8]) {
    Y[i] = X[i] + W[i]
}"""),
    "kept": ("Y", "a", """
extern op smooth(x: f32[r, n]) -> (y: f32[r, n]) {
    index [i: r, «kept|keep j|j»: n]
    read  x at [i, j] shape [1, 1]
    write y at [i, j] shape [1, 1]
    kernel "smooth"
}
program p(X: f32[8, 8] @ m[{}, {a}]) -> (Y: f32[8, 8]) {
    Y = smooth(X)     // kept
}"""),
    "reduction": ("Y", "a", """
program p(X: f32[8, 8] @ m[{}, {a}]) -> (Y: f32[8«reduction||, 8»]) {
    Y[i«reduction||, k»] = «reduction|sum[k] |»X[i, k]     // reduction
}"""),
    "reduction_earlier": ("Z", "a", """
program p(X: f32[8, 8] @ m[{}, {a}]) -> (Z: f32[8«reduction||, 8»]) {
    Y[i«reduction||, k»] = «reduction|max[k] |»X[i, k]     // reduction
    Z[i«reduction||, k»] = exp(Y[i«reduction||, k»])
}"""),
    "data_dependent_table": ("Y", "a", """
program p(T: i64[8] @ m[{a}], ids: i64[8]) -> (Y: i64[8]) {
    Y[n] = T[«data_dependent|ids[n]|n»] + ids[n]     // data_dependent
}"""),
    "data_dependent_result": ("T", "a", """
program p(T: i64[8], ids: i64[8]) -> (Y: i64[8] @ m[{a}]) {
    Y[n] = T[«data_dependent|ids[n]|n»] + ids[n]     // data_dependent
}"""),
    "fixed_position": ("Y", "a", """
program p(X: f32[8, 8] @ m[{a}, {}]) -> (Y: f32[8]) {
    Y[j] = X[«fixed_position|0, j|j, 0»]     // fixed_position
}"""),
    "repeated": ("B", "a", """
program p(X: f32[8, 8] @ m[{a}, {}], B: f32[8]) -> (Y: f32[8, 8]) {
    Y[i, j] = X[i, j] + B[«repeated|j|i»]     // repeated
}"""),

    # Several causes: each edit alone changes nothing.
    "two_barriers": ("Y", "a", """
program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) {
    «barrier|barrier H both|»
    H[i] = X[i] + 1
    «barrier'|barrier Y forward|»
    Y[i] = 2 * H[i]
}"""),
    "barrier_and_closed": ("Y", "a", """
program p(X: f32[8] @ m[{a}]) -> (
        Y: f32[8] @ m[{«closed||?»}]) {
    «barrier|barrier H both|»
    H[i] = X[i] + 1
    Y[i] = 2 * H[i]
}"""),
    "barrier_and_closed_at_once": ("Y", "a", """
program p(X: f32[8] @ m[{a}]) -> (
        Y: f32[8] @ m[{«closed||?»}]) {
    «barrier|barrier Y both|»
    Y[i] = 2 * X[i]
}"""),
    "closed_and_replicated": ("Y", "a", """
program p(X: f32[8] @ m[{a}]) -> (
        Y: f32[8] @ m[{?}«replicated|; replicated {a}|»]) {
    H = inc(X) @ m[{«closed||?»}]
    Y[i] = 2 * H[i]
}"""),
    "conflict_and_barrier": ("Y", "a", """
program p(X: f32[8, 4] @ m[{a}, {}], W: f32[4, 32] @ m[{}, {«conflict|a|?»}]) -> (Y: f32[8]) {
    H[i, j] = sum[k] X[i, k] * W[k, j]     // conflict
    «barrier|barrier Y forward|»
    Y[i] = H[i, 0]
}"""),
    "lists_and_closed": ("Y", "a", """
program p(X: f32[8] @ m[{a}], W: f32[8] @ m[{«conflict|b|?»}]) -> (
        Y: f32[8] @ m[{«closed||?»}]) {
    H[i] = X[i] + W[i]     // conflict
    Y[i] = 2 * H[i]
}"""),
    "undecided_and_closed": ("Z", "a", """«conflict|--strategy=basic|»
program p(X: f32[8, 4] @ m[{a}, {}], W: f32[4, 8] @ m[{}, {a}]) -> (Z: f32[8, 8]) {
    Y[i, j] = sum[k] X[i, k] * W[k, j]     // conflict
    H = inc(Y) @ m[{«closed||?»}, {«closed||?»}]
    Z[i, j] = 2 * H[i, j]
}"""),
    "sizes_and_barrier": ("Y", "b", """
program p(X: f32[«sizes|6|8»] @ m[{b}]) -> (Y: f32[«sizes|3|4», 2]) {
    «barrier|barrier H both|»
    H[i] = X[i] + 1
    Y[i, j] = H[2*i + j]     // sizes
}"""),
    "moves_cells_and_closed": ("Y", "a", """«moves_cells|--conservative|»
program p(X: f32[8] @ m[{a}]) -> (
        Y: f32[8] @ m[{«closed||?»}]) {
    H[i] = X[i] + X[i - 1 else 0]     // moves_cells
    Y[i] = 2 * H[i]
}"""),
    "meshes_and_barrier": ("Y", "a", """
mesh other = [c: 8]
program p(X: f32[8] @ m[{a}],
          W: f32[8]«meshes| @ other[{c}]|») -> (Y: f32[8]) {
    H[i] = X[i] + W[i]
    «barrier|barrier Y both|»
    Y[i] = 2 * H[i]
}"""),
    "kept_and_closed": ("Y", "a", """
extern op smooth(x: f32[r, n]) -> (y: f32[r, n]) {
    index [i: r, «kept|keep j|j»: n]
    read  x at [i, j] shape [1, 1]
    write y at [i, j] shape [1, 1]
    kernel "smooth"
}
program p(X: f32[8, 8] @ m[{}, {a}]) -> (
        Y: f32[8, 8] @ m[{}, {«closed||?»}]) {
    H = smooth(X)     // kept
    Y[i, j] = 2 * H[i, j]
}"""),
    "reduction_and_barrier": ("Y", "a", """
program p(X: f32[8, 8] @ m[{}, {a}]) -> (Y: f32[8«reduction||, 8»]) {
    «barrier|barrier H both|»
    H[i, j] = X[i, j] + 1
    Y[i«reduction||, k»] = «reduction|sum[k] |»H[i, k]     // reduction
}"""),
    "data_and_closed": ("Y", "a", """
program p(T: i64[8] @ m[{a}], ids: i64[8]) -> (Y: i64[8]) {
    H = inc(T) @ m[{«closed||?»}]
    Y[n] = H[«data_dependent|ids[n]|n»] + ids[n]     // data_dependent
}"""),
    "position_and_barrier": ("Y", "a", """
program p(X: f32[8, 8] @ m[{a}, {}]) -> (Y: f32[8]) {
    «barrier|barrier H both|»
    H[i, j] = X[i, j] + 1
    Y[j] = H[«fixed_position|0, j|j, 0»]     // fixed_position
}"""),
    "barrier_closed_and_sizes": ("Z", "b", """
program p(X: f32[«sizes|6|8»] @ m[{b}]) -> (Z: f32[«sizes|3|4», 2]) {
    «barrier|barrier H both|»
    H[i] = X[i] + 1
    Y = inc(H) @ m[{«closed||?»}]
    Z[i, j] = Y[2*i + j]     // sizes
}"""),
    "three_barriers_and_a_conflict": ("Z", "a", """
program p(X: f32[8, 4] @ m[{a}, {}], W: f32[4, 32] @ m[{}, {«conflict|a|?»}]) -> (Z: f32[8]) {
    «barrier|barrier U both|»
    U[i, k] = 2 * X[i, k]
    H[i, j] = sum[k] U[i, k] * W[k, j]     // conflict
    «barrier'|barrier V both|»
    V[i] = H[i, 0]
    «barrier''|barrier Z both|»
    Z[i] = V[i] + 1
}"""),
    "closed_copy_and_barrier": ("Z", "a", """
program p(X: f32[8] @ m[{a}]) -> (Z: f32[8]) {
    G[i] = X[i] + 1
    H = G @ m[{«closed||?»}]
    «barrier|barrier Z both|»
    Z[i] = H[i] + 1
}"""),
}
