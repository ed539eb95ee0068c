// The index variables of one equation: their packs, ranges and constraints, inferred from its reads and writes.
//
//   y[i.., o] = b[o] + sum[k] x[i.., k] * w[k, o]
//     i.. has the rank of x less one, o runs over y's last dim, k over the dims that it indexes alone (x's last, w's first)
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// Affine in index variables: Σ coefficient·var + offset, vars ascending, no zero coefficients.
struct VarAffine {
  std::vector<std::pair<VarId, std::int64_t>> terms;
  std::int64_t offset = 0;
  bool is_constant() const { return terms.empty(); }
  std::optional<VarId> as_variable() const;
  bool operator==(const VarAffine&) const = default;
};
VarAffine operator+(const VarAffine& a, const VarAffine& b);
VarAffine operator-(const VarAffine& a, const VarAffine& b);
VarAffine scale(const VarAffine& a, std::int64_t factor);

enum class VarRole : std::uint8_t { left, reduction, counter };

struct IndexVar {
  std::string name;
  Span span;
  VarRole role = VarRole::left;
  std::uint32_t depth = 0;          // counters
  const Env* bounds_env = nullptr;  // for explicit bounds
  std::optional<ast::ExprId> lo, hi;
  bool resolved = false;
  ir::Range range;
  std::vector<VarAffine> constraints;  // each >= 0; from bounds that depend on other variables
};

struct IndexPack {
  std::string name;
  Span span;
  VarRole role = VarRole::left;
  bool known = false;
  bool broadcast = false;  // reads are right-aligned, at 0 where the size is 1
  std::vector<VarId> vars;
};

// One place where a tensor is indexed.
struct IndexedAccess {
  const Env* env;
  const std::vector<ast::ExprId>* indices;
  Span span;
  std::string tensor;
  const Shape* shape = nullptr;  // null: a local that is being written
  const std::vector<PatternItem>* pattern = nullptr;
  bool left = false;
  bool bounded = false;
};

// The index of one axis of a tensor, with packs expanded.
struct AxisIndex {
  enum class Kind : std::uint8_t { expression, variable, zero, linear } kind = Kind::expression;
  ast::ExprId expr;
  VarId var;
  std::uint32_t pack = 0;
  Span span;
};

struct NotAffine {
  Span span;
  std::string message;
  std::string help;
};
struct DependsOnData {
  Span span;
};
using IndexValue = std::variant<VarAffine, DependsOnData, NotAffine>;

class IndexSpace {
 public:
  explicit IndexSpace(Elaboration& elaboration, bool of_monoid = false)
      : elaboration_(elaboration), of_monoid_(of_monoid) {}

  // Declares the variables that a left side or a `for` binds.
  void bind_left(Env& env, const std::vector<ast::LeftSide>& cells, const std::vector<ast::RangeVar>& ranges);
  // Traverses an expression: scopes for its reductions and lets, every indexed tensor. Then solve() determines packs
  // and ranges.
  void walk(const Env& env, ast::ExprId expr);
  void add_left(const Env& env, const ast::LeftSide& cell, const TensorEntity* declared);
  void solve();
  Span whole() const { return whole_; }

  // The scope of a reduction's operand (or a let's body) in `env`; null if it was not traversed.
  const Env* inner_scope(const Env& env, ast::ExprId expr) const;
  const std::vector<VarId>& reduction_vars(const Env& env, ast::ExprId expr) const;

  std::vector<AxisIndex> expand(const IndexedAccess& at);
  std::vector<PatternItem> pattern_of(const Env& env, const std::vector<ast::ExprId>& indices) const;
  IndexValue value_of(const Env& env, ast::ExprId expr);  // of an index expression
  VarAffine linear_index(std::uint32_t pack);
  VarAffine affine_or_fail(const Env& env, const AxisIndex& index);
  VarId counter(std::uint32_t depth, const std::string& name, ir::Range trips, Span span);
  const IndexVar& operator[](VarId id) const { return vars_[id.index()]; }
  // Left variables without an explicit range whose tensor on the left is shorter than an axis that they index alone.
  struct PartlyRead {
    VarId var;
    Span index;  // in the read
    std::string tensor;
    std::int64_t axis_size;
  };
  std::vector<PartlyRead> partly_read() const;
  // The left side's indices, `i.., j`, if a tensor of that shape can be read with them.
  std::optional<std::string> left_indices(const Shape& shape) const;
  const std::vector<VarId>& left_vars() const { return left_; }
  ir::Range bounds(const VarAffine& a) const;
  Env& new_scope(const Env& outer);
  std::vector<VarId> over_shape(const Shape& shape, Span span);        // one resolved variable per axis
  void bind_empty_pack(Env& env, const std::string& name, Span span);  // inlined operators: rank 0

 private:
  friend class IndexWalker;
  VarId add_var(IndexVar var);
  std::vector<VarId> in_order(const std::vector<std::pair<bool, std::uint32_t>>& bound) const;
  void bind_name(Env& env, const ast::Name& name, VarRole role, const ast::RangeVar* range);
  void bind_pack(Env& env, const ast::Name& name, VarRole role);
  void collect_left_names(Env& env, ast::ExprId expr);
  void solve_packs();
  bool solve_pack(const IndexedAccess& at);
  void solve_ranges();
  void set_pack(std::uint32_t pack, std::size_t rank, bool broadcast);
  bool resolve_written(VarId self);

  struct Candidate {
    std::int64_t size;
    Span span;
    bool left, bounded;
    std::size_t access;  // index into accesses_
  };
  // A reduction's operand or a let's body: its scope, and the variables that it binds, in order (is pack, number).
  struct Scoped {
    const Env* scope;
    std::vector<std::pair<bool, std::uint32_t>> bound;
    std::vector<VarId> vars;
  };

  Elaboration& elaboration_;
  Span whole_;      // of the first traversed expression: an equation's right side
  bool of_monoid_;  // reductions there run over a fold's index, which has no range
  std::vector<IndexVar> vars_;
  std::vector<IndexPack> packs_;
  std::vector<VarId> left_;
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<IndexedAccess> accesses_;
  std::size_t accesses_done_ = 0;
  std::deque<Env> scopes_;
  std::map<std::pair<std::size_t, const Env*>, Scoped> scoped_;
  std::map<std::uint32_t, VarId> counters_;
  std::vector<std::pair<bool, std::uint32_t>> left_order_;  // (is pack, number): the order of the left side
};

}  // namespace tap
