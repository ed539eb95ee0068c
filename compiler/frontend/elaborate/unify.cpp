// Unifies the types of a signature with the given shapes: dims and packs get their sizes, or a diagnostic shows the
// two places that disagree. Ambiguities of the shapes are resolved by the `where` conditions.
#include <algorithm>
#include <functional>

#include "compiler/frontend/cells/where_conditions.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "support/checked.h"

namespace tap {
namespace {

class Unifier {
 public:
  Unifier(Elaboration& elaboration, Env& env, const std::vector<ast::WhereClause>& where, const std::string& callee,
          Span call_span)
      : elaboration_(elaboration), env_(env), where_(where), callee_(callee), call_span_(call_span) {}

  void run(std::vector<ShapeEquation> open) {
    while (!open.empty()) {
      std::vector<ShapeEquation> later;
      for (auto& equation : open)
        if (!try_bind(equation)) later.push_back(equation);
      if (later.size() == open.size()) { later = decide_packs(std::move(later)); }
      open = std::move(later);
    }
  }

 private:
  static std::string text(const ast::TypeExpr& type, Elaboration& elaboration) {
    return source_of(elaboration, type.span);
  }

  // The rank of a pack item, if it is already known.
  std::optional<std::size_t> known_rank(const ast::DimItem& item) {
    ast::TypeExpr lone{{}, {item}, item.span};
    auto shape = try_shape(elaboration_, env_, lone);
    if (auto* known = std::get_if<ShapeAndPattern>(&shape)) return known->shape.size();
    return std::nullopt;
  }

  static Code blaming(const ShapeEquation& e, Code code) { return e.data ? Code::data_shape : code; }

  [[noreturn]] void rank_mismatch(const ShapeEquation& e, std::size_t least, bool more) {
    const std::string type = quoted(text(*e.type, elaboration_));
    const std::string axes = more ? std::to_string(least) + " or more axes" : counted(least, "axis", "axes");
    if (e.cell)
      elaboration_.fail(
          Diagnostic(Code::rank_mismatch, e.span,
                     e.what + " is one cell; " + quoted(callee_) + " needs a tensor of " + axes + ", " + type)
              .label(e.type->span, "declared here")
              .help("bind the whole tensor first, " + quoted("h = " + callee_ + "(…)") + ", and read its cells"));
    elaboration_.fail(Diagnostic(blaming(e, Code::rank_mismatch), e.span,
                                 e.what + " has shape " + to_string(e.shape) + "; expected " + axes + ", as in " + type)
                          .label(e.type->span, "declared here"));
  }

  // Binds as much as possible. False if several packs have unknown ranks, or a size still depends on an unbound name.
  bool try_bind(const ShapeEquation& e) {
    std::size_t known = 0;
    std::vector<std::optional<std::size_t>> ranks;
    std::size_t unknown = 0;
    for (const auto& item : e.type->dims) {
      std::optional<std::size_t> rank = item.pack ? known_rank(item) : std::optional<std::size_t>(1);
      ranks.push_back(rank);
      if (rank) known += *rank;
      else ++unknown;
    }
    if (known > e.shape.size() || (unknown == 0 && known != e.shape.size())) rank_mismatch(e, known, unknown > 0);
    if (unknown > 1) return false;
    std::vector<std::size_t> sizes;
    for (const auto& rank : ranks) sizes.push_back(rank ? *rank : e.shape.size() - known);
    return assign(e, sizes);
  }

  bool assign(const ShapeEquation& e, const std::vector<std::size_t>& ranks) {
    std::size_t at = 0;
    bool complete = true;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const ast::DimItem& item = e.type->dims[i];
      if (item.pack) {
        complete &= assign_pack(e, item, Shape(e.shape.begin() + at, e.shape.begin() + at + ranks[i]));
      } else {
        complete &= assign_size(e, item, at);
      }
      at += ranks[i];
    }
    return complete;
  }

  bool assign_pack(const ShapeEquation& e, const ast::DimItem& item, Shape part) {
    if (auto* ref = std::get_if<ast::PackRef>(&env_[item.size].node)) {
      auto* bound = env_.find_as<PackEntity>(ref->name);
      if (!bound) {
        env_.names[ref->name] = PackEntity{std::move(part), e.span};
        sources_[ref->name] = e.what;
        return true;
      }
      if (bound->sizes == part) return true;
      disagree(Code::shape_mismatch, e, ref->name + "..", to_string(bound->sizes), to_string(part), bound->span,
               sources_[ref->name]);
    }
    ast::TypeExpr lone{{}, {item}, item.span};
    auto shape = try_shape(elaboration_, env_, lone);
    auto* known = std::get_if<ShapeAndPattern>(&shape);
    if (!known) return false;
    if (known->shape == part) return true;
    disagree(Code::shape_mismatch, e, source_of(elaboration_, item.span), to_string(known->shape), to_string(part),
             item.span, "");
  }

  bool assign_size(const ShapeEquation& e, const ast::DimItem& item, std::size_t at) {
    std::int64_t actual = e.shape[at];
    if (auto* name = std::get_if<ast::NameRef>(&env_[item.size].node); name && !env_.find(name->name)) {
      env_.names[name->name] = DimEntity{actual, e.span};
      sources_[name->name] = e.what;
      return true;
    }
    auto size = try_size(elaboration_, env_, item.size);
    if (auto* unbound = std::get_if<Unbound>(&size)) return solve(e, item, *unbound, actual);
    std::int64_t expected = std::get<std::int64_t>(size);
    if (expected == actual) return true;
    if (auto* name = std::get_if<ast::NameRef>(&env_[item.size].node)) {
      if (auto* dim = env_.find_as<DimEntity>(name->name))
        disagree(Code::dim_conflict, e, name->name, std::to_string(expected), std::to_string(actual), dim->span,
                 sources_[name->name]);
    }
    std::string source = source_of(elaboration_, item.span), value = std::to_string(expected);
    elaboration_.fail(Diagnostic(blaming(e, Code::shape_mismatch), e.span,
                                 e.what + " has shape " + to_string(e.shape) + "; expected " +
                                     (source == value ? value : quoted(source) + " = " + value) + " at axis " +
                                     std::to_string(at))
                          .label(item.span, "declared here"));
  }

  [[noreturn]] void disagree(Code code, const ShapeEquation& e, const std::string& name, const std::string& before,
                             const std::string& now, Span where, const std::string& source) {
    Diagnostic d(blaming(e, code), e.span,
                 e.what + " has shape " + to_string(e.shape) + ", so " + quoted(name) + " would be " + now +
                     "; it is " + before + (source.empty() ? "" : " by " + source) +
                     (!where.valid() && elaboration_.options.dims.count(name) ? " by --dim" : ""));
    d.label(where, quoted(name) + " is " + before + " here");
    d.label(e.type->span, "declared here");
    elaboration_.fail(std::move(d));
  }

  // x: f32[m] for `x: f32[n % 3]`
  std::string with_own_dim(const ShapeEquation& e, const ast::DimItem& item) const {
    std::string type(elaboration_.sources.text(e.type->span)), dim = "m";
    for (const char* other : {"k", "q", "m2"})
      if (env_.find(dim) || type.find(dim) != std::string::npos) dim = other;
    type.replace(item.span.begin - e.type->span.begin, item.span.end - item.span.begin, dim);
    const std::size_t name = e.what.find('`') + 1;
    return e.what.substr(name, e.what.rfind('`') - name) + ": " + type;
  }

  // 2*n + 1 = 7  gives  n = 3. Only if the size is affine in one unbound dim; false if another must be bound first.
  bool solve(const ShapeEquation& e, const ast::DimItem& item, const Unbound& unbound, std::int64_t actual) {
    auto at = [&](std::int64_t x) -> std::optional<std::int64_t> {
      Env probe = Env::inside(env_);
      probe.names[unbound.name] = DimEntity{x, unbound.span};
      auto value = try_size(elaboration_, probe, item.size);
      if (auto* v = std::get_if<std::int64_t>(&value)) return *v;
      return std::nullopt;
    };
    auto zero = at(0), one = at(1);
    if (!zero || !one) return stuck(e, item, unbound);
    std::int64_t slope = checked::sub(*one, *zero);
    std::string equation = quoted(source_of(elaboration_, item.span) + " = " + std::to_string(actual));
    const std::int64_t above = checked::sub(actual, *zero);
    const bool solvable = slope != 0 && above % slope == 0 && above / slope >= 0;
    // Searched up to here: n % 3 is n at 0, 1 and 2, and n % 5000 up to 4999.
    constexpr std::int64_t far = 4099;
    bool affine = slope != 0 && at(far) == checked::add(*zero, checked::mul(far, slope));
    if (!affine || (solvable && at(above / slope) != actual))
      elaboration_.fail(Diagnostic(Code::dim_not_solvable, item.span,
                                   quoted(unbound.name) + " cannot be inferred: the size " +
                                       quoted(source_of(elaboration_, item.span)) + " is not affine in " +
                                       quoted(unbound.name))
                            .label(e.span, e.what + " has shape " + to_string(e.shape))
                            .help("give this axis a dim of its own, " + quoted(with_own_dim(e, item))));
    if (above % slope != 0 || above / slope < 0)
      elaboration_.fail(Diagnostic(blaming(e, Code::dim_not_solvable), e.span,
                                   equation + " has no non-negative integer solution for " + quoted(unbound.name) +
                                       (above % slope != 0 ? " (it would be " + std::to_string(above) + "/" +
                                                                 std::to_string(slope) + ")"
                                                           : " (it would be " + std::to_string(above / slope) + ")"))
                            .label(item.span, "this size"));
    env_.names[unbound.name] = DimEntity{above / slope, e.span};
    sources_[unbound.name] = e.what;
    return true;
  }

  bool stuck(const ShapeEquation& e, const ast::DimItem& item, const Unbound& unbound) {
    if (++stuck_ > 64)
      elaboration_.fail(Diagnostic(Code::dim_not_solvable, item.span,
                                   "the size " + quoted(source_of(elaboration_, item.span)) +
                                       " contains several unknown dims, among them " + quoted(unbound.name))
                            .label(e.span, e.what + " has shape " + to_string(e.shape)));
    return false;
  }

  // Ranks of packs that shapes alone do not determine: the only split that satisfies the conditions.
  std::vector<ShapeEquation> decide_packs(std::vector<ShapeEquation> open) {
    const ShapeEquation e = open.front();
    std::vector<std::vector<std::size_t>> fitting, nearest;
    std::size_t fewest = where_.size() + 1;
    enumerate(e, [&](const std::vector<std::size_t>& ranks) {
      std::size_t broken = broken_conditions(e, ranks);
      if (broken == 0) fitting.push_back(ranks);
      if (broken < fewest) nearest.clear(), fewest = broken;
      if (broken == fewest) nearest.push_back(ranks);
    });
    // A split that only one condition excludes is probably intended: reports that condition, with its numbers.
    if (fitting.empty() && fewest == 1 && nearest.size() == 1) {
      assign(e, nearest.front());
      check_decided_conditions(elaboration_, env_, where_, callee_, call_span_);
    }
    if (fitting.empty()) no_split(e, nearest);
    if (fitting.size() != 1) {
      Diagnostic d(Code::pack_ambiguous, e.span,
                   e.what + " has shape " + to_string(e.shape) + ", which can be split into " +
                       quoted(text(*e.type, elaboration_)) + " in " + std::to_string(fitting.size()) + " ways");
      d.label(e.type->span, "declared here");
      for (const auto& clause : where_)
        if (clause.condition) d.label(clause.span, "this condition does not determine the split");
      elaboration_.fail(std::move(d));
    }
    if (!assign(e, fitting.front())) return open;  // packs are bound, a size is not
    open.erase(open.begin());
    return open;
  }

  template <class Visit>
  void enumerate(const ShapeEquation& e, Visit visit) {
    std::vector<std::size_t> ranks(e.type->dims.size(), 1);
    std::function<void(std::size_t, std::size_t)> assign_ranks = [&](std::size_t i, std::size_t left) {
      if (i == ranks.size()) {
        if (left == 0) visit(ranks);
        return;
      }
      const ast::DimItem& item = e.type->dims[i];
      std::optional<std::size_t> fixed = item.pack ? known_rank(item) : std::optional<std::size_t>(1);
      for (std::size_t r = fixed ? *fixed : 0; r <= (fixed ? *fixed : left); ++r) {
        if (r > left) break;
        ranks[i] = r;
        assign_ranks(i + 1, left - r);
      }
    };
    assign_ranks(0, e.shape.size());
  }

  // The environment if the packs have these ranks; none if a pack would have two different values.
  std::optional<Env> with_ranks(const ShapeEquation& e, const std::vector<std::size_t>& ranks) {
    Env probe = Env::inside(env_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      auto* ref = std::get_if<ast::PackRef>(&env_[e.type->dims[i].size].node);
      if (ref && !env_.find(ref->name)) {
        Shape part(e.shape.begin() + at, e.shape.begin() + at + ranks[i]);
        if (auto* twice = probe.find_as<PackEntity>(ref->name); twice && twice->sizes != part) return std::nullopt;
        probe.names[ref->name] = PackEntity{std::move(part), e.span};
      }
      at += ranks[i];
    }
    return probe;
  }

  bool is_broken(const ast::WhereClause& clause, const Env& env) {
    if (!clause.condition) return false;
    auto holds = try_condition(elaboration_, env, *clause.condition);
    auto* decided = std::get_if<bool>(&holds);
    return decided && !*decided;
  }

  std::size_t broken_conditions(const ShapeEquation& e, const std::vector<std::size_t>& ranks) {
    std::optional<Env> probe = with_ranks(e, ranks);
    if (!probe) return where_.size() + 1;
    return static_cast<std::size_t>(std::count_if(
        where_.begin(), where_.end(), [&](const ast::WhereClause& clause) { return is_broken(clause, *probe); }));
  }

  [[noreturn]] void no_split(const ShapeEquation& e, const std::vector<std::vector<std::size_t>>& nearest) {
    Diagnostic d(Code::condition_not_met, e.span,
                 e.what + " has shape " + to_string(e.shape) + ", and no split of it into " +
                     quoted(text(*e.type, elaboration_)) + " meets the conditions of " + quoted(callee_));
    d.label(e.type->span, "declared here");
    for (const auto& clause : where_) {
      bool against = std::any_of(nearest.begin(), nearest.end(), [&](const std::vector<std::size_t>& ranks) {
        std::optional<Env> probe = with_ranks(e, ranks);
        return probe && is_broken(clause, *probe);
      });
      if (!against) continue;
      std::string values = values_in_condition(env_, *clause.condition);
      d.label(clause.span, "required here" + (values.empty() ? "" : ", where " + values));
    }
    elaboration_.fail(std::move(d));
  }

  Elaboration& elaboration_;
  Env& env_;
  const std::vector<ast::WhereClause>& where_;
  const std::string& callee_;
  Span call_span_;
  std::map<std::string, std::string> sources_;  // which argument bound a dim
  int stuck_ = 0;
};

}  // namespace

void unify_shapes(Elaboration& elaboration, Env& env, std::vector<ShapeEquation> equations,
                  const std::vector<ast::WhereClause>& where, const std::string& callee, Span call_span) {
  Unifier(elaboration, env, where, callee, call_span).run(std::move(equations));
}

}  // namespace tap
