// Programs with alternatives of every kind, and changes to them: to what an alternative computes, to what it is called, and to
// what is claimed of it.
#pragma once

#include <random>

#include "tests/check/choices_fixture.h"
#include "tests/check/mutant.h"

namespace tap::check::alternatives_test {

using namespace choices_test;

struct Offering {
  const char* name;
  std::string text;
};

inline const std::vector<Offering>& offerings() {
  static const std::vector<Offering> all = {
      {"a product of integers", R"(program p(A: i64[2, 5], B: i64[5, 3], C: i64[3, 4]) -> (Y: i64[2, 4]) {
          Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l] })"},
      {"a product of floats", R"(program p(A: f64[2, 5], B: f64[5, 3], C: f64[3, 4]) -> (Y: f64[2, 4]) {
          Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l] })"},
      {"a square product", R"(program p(A: i32[3, 3], B: i32[3, 3], C: i32[3, 3], D: i32[3, 3]) -> (Y: i32[3, 3]) {
          Y[i, l] = sum[j, k, m] A[i, j] * B[j, k] * C[k, m] * D[m, l] })"},
      {"prepared factors", R"(program p(a: i64[4], B: i64[4, 5], c: i64[6]) -> (y: i64[4]) {
          y[i] = sum[j, k] a[i] * (B[i, j] + 1) * c[k] * k })"},
      {"a product without a sum", R"(program p(a: i64[6], b: i64[6], C: i64[6, 7]) -> (Y: i64[6, 7]) {
          Y[i, j] = a[i] * b[i] * C[i, j] })"},
      {"least sums", R"(program p(A: f64[2, 5], B: f64[5, 3], C: f64[3, 4]) -> (Y: f64[2, 4]) {
          Y[i, l] = min[j, k] A[i, j] + B[j, k] + C[k, l] })"},
      {"greatest least", R"(program p(A: i8[2, 5], B: i8[5, 3], C: i8[3, 4]) -> (Y: i8[2, 4]) {
          Y[i, l] = max[j, k] min(min(A[i, j], B[j, k]), C[k, l]) })"},
      {"paths", R"(program p(A: bool[2, 5], B: bool[5, 3], C: bool[3, 4]) -> (Y: bool[2, 4]) {
          Y[i, l] = any[j, k] A[i, j] and B[j, k] and C[k, l] })"},
      {"a fold", R"(
        monoid online(m: T, s: T, o: T) where T: float {
            identity (-inf, 0, 0)
            combine (a, b) = let m = max(a.m, b.m),
                    p = if a.m == m then 1 else exp(a.m - m),
                    q = if b.m == m then 1 else exp(b.m - m)
                    in (m, a.s * p + b.s * q, a.o * p + b.o * q)
            fold[j] (t, w, v) = let m = max[j] t[j],
                    e[j] = if t[j] == m then 1 else exp(t[j] - m)
                    in (m, sum[j] e[j] * w[j], sum[j] e[j] * v[j])
        }
        program p(T: f64[2, 6], V: f64[6, 2]) -> (Y: f64[2, 2]) {
            (mx[i], s[i], o[i, c]) = online[j] (T[i, j], 1, V[j, c])
            Y[i, c] = o[i, c] / s[i]
        })"},
      {"a rule", products + R"(
        rewrite matmul(x, w) => sum_in(products(x, w))
        program p(A: i64[3, 4], B: i64[4, 5]) -> (C: i64[3, 5]) { C[i, j] = sum[k] B[k, j] * A[i, k] })"},
      {"a rule of one value twice", R"(
        op both(x: T[n], z: T[n]) -> (s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = m[i] * z[i] }
        op other(x: T[n], z: T[n]) -> (s: T[n]) where T: number { m[i] = x[i] * z[i]  s[i] = m[i] + 7 * z[i] }
        rewrite both(x, z) => other(x, z)
        program p(X: i64[4]) -> (A: i64[4]) {
            m[i] = X[i] + 7
            A[i] = m[i] * X[i]
        })"},
      {"a rule that copies", R"(
        op flip(x: T[n]) -> (y: T[n]) where T: number { y[i] = x[n - 1 - i] }
        rewrite flip(flip(x)) => x
        program p(X: i64[5]) -> (Y: i64[5]) { Y = flip(flip(X)) })"},
      {"a rule of several results", R"(
        op both(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = m[i] * z[i] }
        op other(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = (x[i] + 7) * z[i] }
        rewrite both(x, z) => other(x, z)
        program p(X: i64[4], Z: i64[4]) -> (A: i64[4], B: i64[4]) {
            m[i] = X[i] + 7
            B[i] = m[i] * 5
            A[i] = m[i] * Z[i]
        })"},
      {"rules in rules", products + R"(
        rewrite matmul_transposed(x, w) => matmul(x, transpose(w))
        rewrite matmul(x, w) => sum_in(products(x, w))
        program p(A: i64[3, 4], B: i64[5, 4]) -> (C: i64[3, 5]) { C[i, j] = sum[k] A[i, k] * B[j, k] })"},
  };
  return all;
}

// The way from the source, with calls written out, to its choices, each of which is justified.
inline CertifiedRun offered(const std::string& text) {
  Rules rules(text);
  passes::PassContext context;
  context.rules = &rules.set();
  Program source = passes::run(passes::passes_before("offer_choices"), rules.program).program;
  return certified_run(std::move(source), pass("offer_choices"), context);
}

// With the hashes computed anew.
inline Verdict resealed(CertifiedRun w) {
  for (std::size_t k = 0; k < w.certificate.steps.size(); ++k) {
    w.certificate.steps[k].before = hash_of(w.stages[k]);
    w.certificate.steps[k].after = hash_of(w.stages[k + 1]);
  }
  return verdict_of(w);
}

// ---- changes, each to the last step: false where there is nothing of the kind

class Changes {
 public:
  Changes(CertifiedRun& w, std::mt19937& random)
      : program_(w.stages.back()), step_(w.certificate.steps.back()), random_(random) {
    for (const AlternativeClaim& a : step_.alternatives) offered_.push_back(a.claim.after);
  }

  bool any_change() {
    using Change = bool (Changes::*)();
    static constexpr Change changes[] = {
        &Changes::cell,       &Changes::cell,        &Changes::constant, &Changes::operand_order, &Changes::read_row,
        &Changes::write_row,  &Changes::range,       &Changes::role,     &Changes::type,          &Changes::monoid,
        &Changes::root,       &Changes::operands,    &Changes::outputs,  &Changes::swap,          &Changes::rename,
        &Changes::dims,       &Changes::fold,        &Changes::rule,     &Changes::value,         &Changes::fill,
        &Changes::constraint, &Changes::first_for_it};
    return (this->*changes[any(std::size(changes))])();
  }

 private:
  std::size_t any(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  template <class T>
  T* any(std::vector<T>& list) {
    return list.empty() ? nullptr : &list[any(list.size())];
  }
  Graph* graph() { return offered_.empty() ? nullptr : &program_.graphs[any(offered_)->index()]; }
  Operation* operation() {
    Graph* g = graph();
    return g ? any(g->operations) : nullptr;
  }
  // Its own operator, so that others keep theirs.
  Operator* op() {
    Operation* operation = this->operation();
    if (!operation) return nullptr;
    program_.operators.push_back(Operator(program_[operation->op]));
    operation->op = OperatorId(program_.operators.size() - 1);
    return &program_.operators.back();
  }
  bool change_node(bool (*fits)(const CellNode&), void (*change)(CellNode&, std::size_t)) {
    Operator* o = op();
    std::vector<std::size_t> found;
    for (std::size_t k = 0; o && k < o->exprs.size(); ++k)
      if (fits(o->exprs[CellId(k)])) found.push_back(k);
    if (found.empty()) return false;
    const std::size_t at = found[any(found.size())];
    CellNode node = o->exprs[CellId(at)];
    change(node, any(97));
    return cases::Mutant::change_cell(*o, at, node);
  }

  bool cell() {
    return change_node(
        [](const CellNode& n) { return n.args.size() == 2; },
        [](CellNode& n, std::size_t k) {
          static constexpr CellOp numbers[] = {CellOp::add, CellOp::sub, CellOp::mul, CellOp::min, CellOp::max};
          if (is_bool(n.type)) n.op = n.op == CellOp::logical_and ? CellOp::logical_or : CellOp::logical_and;
          else n.op = numbers[k % 5];
        });
  }
  bool operand_order() {
    return change_node([](const CellNode& n) { return n.args.size() >= 2; },
                       [](CellNode& n, std::size_t k) {
                         if (k % 2) std::swap(n.args[0], n.args[1]);
                         else n.args[0] = n.args[1];
                       });
  }
  bool constant() {
    return change_node([](const CellNode& n) { return n.op == CellOp::constant && !is_bool(n.type); },
                       [](CellNode& n, std::size_t k) {
                         if (is_float(n.type)) n.value.f += 1 + static_cast<double>(k % 3);
                         else n.value.i += 1 + static_cast<std::int64_t>(k % 3);
                       });
  }
  bool row(std::vector<Access> Operator::*accesses) {
    Operator* o = op();
    Access* access = o ? any(o->*accesses) : nullptr;
    AffineExpr* e = access ? any(access->projection.start.rows) : nullptr;
    if (!e) return false;
    auto& rows = access->projection.start.rows;
    switch (any(4)) {
      case 0: e->offset += any(2) ? 1 : -1; return true;
      case 1:
        if (e->coefficients.empty()) return false;
        *any(e->coefficients) += any(2) ? 1 : -1;
        return true;
      case 2: std::swap(rows.front(), rows.back()); return rows.size() > 1;
      default:
        if (o->operands.size() < 2 || accesses != &Operator::reads) return false;
        access->tensor = static_cast<std::uint32_t>(any(o->operands.size()));
        return true;
    }
  }
  bool read_row() { return row(&Operator::reads); }
  bool write_row() { return row(&Operator::writes); }
  bool range() {
    Operator* o = op();
    IndexDim* d = o ? any(o->dims) : nullptr;
    if (!d) return false;
    (any(2) ? d->range.hi : d->range.lo) += any(2) ? 1 : -1;
    return true;
  }
  bool role() {
    Operator* o = op();
    IndexDim* d = o ? any(o->dims) : nullptr;
    if (!d) return false;
    if (any(2) && o->dims.size() > 1) std::swap(o->dims.front(), o->dims.back());
    else d->role = d->role == DimRole::parallel ? DimRole::reduction : DimRole::parallel;
    return true;
  }
  bool type() {
    Graph* g = graph();
    Value* v = g ? any(g->values) : nullptr;
    if (!v) return false;
    v->type.element = v->type.element == ElementType::i64 ? ElementType::i32 : ElementType::i64;
    return true;
  }
  bool monoid() {
    Operator* o = op();
    auto* reduce = o ? std::get_if<ReduceBody>(&o->body) : nullptr;
    if (!reduce) return false;
    Monoid other = program_[reduce->monoid];
    if (any(2)) {
      Scalar value = other.exprs[other.identity[0]].value;
      if (is_bool(value.type)) value.i = !value.i;
      else if (is_float(value.type)) value.f = 3;
      else value.i = 3;
      other.identity[0] = other.exprs.constant(value);
    } else {
      CellNode node = other.exprs[other.combine[0]];
      if (is_bool(node.type)) return false;
      node.op = node.op == CellOp::min ? CellOp::max : CellOp::min;
      other.combine[0] = other.exprs.add(node);
    }
    program_.monoids.push_back(std::move(other));
    reduce->monoid = MonoidId(program_.monoids.size() - 1);
    return true;
  }
  bool root() {
    Operator* o = op();
    auto* map = o ? std::get_if<MapBody>(&o->body) : nullptr;
    auto* reduce = o ? std::get_if<ReduceBody>(&o->body) : nullptr;
    if (!map && !reduce) return false;
    CellId& root = map ? map->values[0] : reduce->operands[0];
    CellId other(any(o->exprs.size()));
    if (other == root || o->exprs[other].type != o->exprs[root].type) return false;
    root = other;
    return true;
  }
  bool operands() {
    Operation* o = operation();
    if (!o || o->operands.size() < 2) return false;
    std::swap(o->operands[0], o->operands[any(o->operands.size() - 1) + 1]);
    return true;
  }
  bool outputs() {
    Graph* g = graph();
    if (!g) return false;
    auto& list = any(2) ? g->inputs : g->outputs;
    if (list.size() < 2) return false;
    std::swap(list.front(), list.back());
    return true;
  }
  RegionBody* choice() {
    std::vector<RegionBody*> found;
    for (Operator& o : program_.operators)
      if (auto* region = std::get_if<RegionBody>(&o.body); region && !region->alternatives.empty())
        found.push_back(region);
    return found.empty() ? nullptr : found[any(found.size())];
  }
  // Two alternatives of one choice take each other's graph, with or without what is claimed of it.
  bool swap() {
    RegionBody* c = choice();
    if (!c || c->alternatives.size() < 2) return false;
    std::swap(c->alternatives.front().graph, c->alternatives.back().graph);
    return true;
  }
  bool rename() {
    RegionBody* c = choice();
    if (!c) return false;
    std::string& rule = any(c->alternatives)->rule;
    switch (any(3)) {
      case 0: rule = rule.substr(0, rule.find(assuming)); return true;
      case 1: rule = "rewrite a(x) => b(x)"; return true;
      default: rule += "!"; return true;
    }
  }
  AlternativeClaim* claimed() { return any(step_.alternatives); }
  bool dims() {
    AlternativeClaim* a = claimed();
    if (!a) return false;
    GraphClaim& claim = a->rule && any(2) ? a->rule->pattern : a->claim;
    Justification* j = any(claim.operations);
    std::vector<std::uint32_t>* dims = nullptr;
    if (auto* product = j ? std::get_if<ProductOf>(j) : nullptr) dims = &product->dims;
    if (auto* reordered = j ? std::get_if<Reordered>(j) : nullptr) dims = &reordered->dims;
    if (!dims || dims->empty()) return false;
    if (any(2)) std::swap(dims->front(), dims->back());
    else ++*any(*dims);
    return true;
  }
  bool fold() {
    AlternativeClaim* a = claimed();
    Justification* j = a ? any(a->claim.operations) : nullptr;
    auto* fold = j ? std::get_if<FoldOf>(j) : nullptr;
    if (!fold) return false;
    (any(2) ? fold->size += 1 : fold->dim += 1);
    return true;
  }
  bool rule() {
    AlternativeClaim* a = claimed();
    if (!a) return false;
    if (!a->rule) return a->rule = RuleUse{}, true;
    RuleUse& use = *a->rule;
    switch (any(5)) {
      case 0: std::reverse(use.inputs.begin(), use.inputs.end()); return use.inputs.size() > 1;
      case 1: std::reverse(use.outputs.begin(), use.outputs.end()); return use.outputs.size() > 1;
      case 2: ++use.instance; return true;
      case 3: std::swap(use.pattern.before, a->claim.before); return true;
      default: a->rule.reset(); return true;
    }
  }
  bool value() {
    AlternativeClaim* a = claimed();
    if (!a) return false;
    GraphClaim& claim = a->rule && any(2) ? a->rule->pattern : a->claim;
    auto* one = any(claim.values);
    auto* other = any(claim.values);
    if (!one || *one == *other) return false;
    std::swap(*one, *other);
    return true;
  }
  bool fill() {
    Operator* o = op();
    Access* read = o ? any(o->reads) : nullptr;
    if (!read) return false;
    const ElementType type = o->operands[read->tensor].element;
    if (read->fill) read->fill.reset();
    else read->fill = o->exprs.constant(Scalar::zero(type));
    return true;
  }
  bool constraint() {
    Operator* o = op();
    if (!o || o->dims.empty()) return false;
    if (!o->constraints.empty() && any(2)) return o->constraints.pop_back(), true;
    AffineExpr e{std::vector<std::int64_t>(o->dims.size(), 0), -1};
    *any(e.coefficients) = 1;
    o->constraints.push_back({e, Comparison::at_least_zero});
    return true;
  }
  // Another graph is offered: what was written itself. It is right, and not what is claimed.
  bool first_for_it() {
    RegionBody* c = choice();
    if (!c) return false;
    any(c->alternatives)->graph = c->graph;
    return true;
  }

  Program& program_;
  Step& step_;
  std::mt19937& random_;
  std::vector<GraphId> offered_;
};

}  // namespace tap::check::alternatives_test
