#include "compiler/frontend/syntax/numpy_names.h"

#include <algorithm>
#include <array>

namespace tap {
namespace {

struct Counterpart {
  std::string_view name, fix_text;
};
constexpr auto counterparts = std::to_array<Counterpart>({
    {"amax", "over a whole tensor: `max_all(x)`, over one axis: `max_axis<-1>(x)`"},
    {"amin", "over a whole tensor: `min_all(x)`, over one axis: `min_axis<-1>(x)`"},
    {"arange", "an index variable is a value: `y[i] = i`"},
    {"argmax", "over one axis: `argmax_axis<-1>(x)`, over all: `argmax_all(x)`"},
    {"argmin", "over one axis: `argmin_axis<-1>(x)`, over all: `argmin_all(x)`"},
    {"average", "over a whole tensor: `mean_all(x)`, over one axis: `mean_axis<-1>(x)`"},
    {"clamp", "`min(max(x, lo), hi)`; for whole tensors `clip<lo, hi>(x)` from std"},
    {"concatenate", "`concat<0>(a, b)`, or two equations: `y[i] = a[i]` and `y[n + j] = b[j]`"},
    {"einsum", "write an equation: `C[i, j] = sum[k] A[i, k] * B[k, j]`"},
    {"expf", "`exp(x)` works for every float type"},
    {"eye", "write its cells: `I[i, j] = if i == j then f32(1) else 0`"},
    {"fabs", "`abs(x)`"},
    {"fabsf", "`abs(x)`"},
    {"fma", "`x * y + z`"},
    {"fmax", "`max(a, b)`"},
    {"fmaxf", "`max(a, b)`"},
    {"fmin", "`min(a, b)`"},
    {"fminf", "`min(a, b)`"},
    {"foldl", "use a reduction by a monoid, `s[] = m[i] (x[i])`, or an `iterate`"},
    {"foldr", "use a reduction by a monoid, `s[] = m[i] (x[i])`, or an `iterate`"},
    {"full", "write its cells: `y[i] = 3`"},
    {"grad", "Tap has no automatic differentiation: write the equations of the derivative"},
    {"jit", "every program is compiled: write only the call"},
    {"len", "use the dims of its type: with `x: f32[n]`, the length of x is `n`"},
    {"logf", "`log(x)` works for every float type"},
    {"map", "an operator is applied to cells, `y[i] = f(x[i])`, or to a whole tensor, `y = f(x)`"},
    {"mean", "over a whole tensor: `mean_all(x)`, over one axis: `mean_axis<-1>(x)`"},
    {"mm", "a matrix product is `matmul(a, b)`"},
    {"norm", "the Euclidean norm is `norm2(x)`"},
    {"ones", "write its cells, `y[i] = 1`, or take another tensor's shape: `ones_like(x)`"},
    {"permute", "an equation orders the axes: `y[k, i, j] = x[i, j, k]`"},
    {"powf", "`pow(x, y)` works for every float type"},
    {"print", "make the value a result of the program; `tapc run` prints results"},
    {"rand", "pass random numbers as an input: `-i X=rand:42`"},
    {"randn", "pass random numbers as an input: `-i X=randn:42`"},
    {"range", "a range is written `0..n`, as in `y[i] = x[i] for i in 0..n`"},
    {"reduce", "a reduction names its variables: `s[] = sum[i] x[i]`, or `s[] = m[i] (x[i])` for your own monoid"},
    {"scan",
     "write a running sum as `y[i] = sum[k in 0..i+1] x[k]`, or with another monoid in place of `sum`; for other "
     "recurrences use `iterate`"},
    {"sqrtf", "`sqrt(x)` works for every float type"},
    {"std", "the square root of a variance: `sqrt(variance_all(x))`"},
    {"tril", "`lower_triangle(x)`, or its cells: `if j <= i then x[i, j] else 0`"},
    {"triu", "`upper_triangle(x)`, or its cells: `if j >= i then x[i, j] else 0`"},
    {"var", "over a whole tensor: `variance_all(x)`, over one axis: `variance_axis<-1>(x)`"},
    {"vmap", "an operator accepts any leading dims by a pack: `op f(x: T[d.., n]) …`"},
    {"where", "for whole tensors: `select(c, a, b)`; in an equation: `if c[i] then a[i] else b[i]`"},
    {"zeros", "write its cells, `y[i] = 0`, or take another tensor's shape: `zeros_like(x)`"},
});
static_assert(std::is_sorted(counterparts.begin(), counterparts.end(),
                             [](const Counterpart& a, const Counterpart& b) { return a.name < b.name; }));

}  // namespace

std::string instead_of_numpy(std::string_view name) {
  auto at = std::lower_bound(counterparts.begin(), counterparts.end(), name,
                             [](const Counterpart& c, std::string_view n) { return c.name < n; });
  return at != counterparts.end() && at->name == name ? std::string(at->fix_text) : std::string();
}

}  // namespace tap
