// The parts of the verifier, each for one table of a Program. Every part reports sentences that start with `where`.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/shardings/sharding.h"

namespace tap::ir::verifying {

// Of a mesh, and the largest number of a listed one: as in source files and plans.
inline constexpr std::int64_t most_devices = 1 << 24;

class Violations {
 public:
  // Prefixes reports during its lifetime: `operator 3 (matmul): read 0: `.
  class Scope {
   public:
    template <class... Args>
    Scope(Violations& all, fmt::format_string<Args...> format, Args&&... args) : all_(all), before_(all.where_.size()) {
      all.where_ += fmt::format(format, std::forward<Args>(args)...) + ": ";
    }
    ~Scope() { all_.where_.resize(before_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Violations& all_;
    std::size_t before_;
  };

  // Reports unless `holds`; returns it, so that callers can skip dependent checks.
  template <class... Args>
  bool expect(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds) found_.push_back(where_ + fmt::format(format, std::forward<Args>(args)...));
    return holds;
  }

  std::size_t count() const { return found_.size(); }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::string where_;
  std::vector<std::string> found_;
};

// The position of a cell, which determines the leaves that it may have.
struct CellContext {
  const Operator* op = nullptr;                             // index and read
  const std::vector<MonoidComponent>* arguments = nullptr;  // argument: component k % size …
  std::size_t argument_count = 0;                           // … for k below this
  bool may_reduce = false;
};
void verify_cells(Violations& out, const Program& program, const CellExprs& exprs, const CellContext& context);

void verify_monoids(Violations& out, const Program& program);
void verify_operator(Violations& out, const Program& program, const Operator& op);
// For an operator that has this inner graph.
void verify_region(Violations& out, const Program& program, const Operator& op, const RegionBody& region);
void verify_meshes(Violations& out, const Program& program);
void verify_sharding(Violations& out, const Program& program, const Sharding& sharding, std::size_t rank);
// `sound`: for each operator, whether it is well-formed.
void verify_graph(Violations& out, const Program& program, const Graph& graph, const std::vector<bool>& sound);
// Pre: all ids are in range.
void verify_nesting(Violations& out, const Program& program);

inline bool valid(CellId id, const CellExprs& exprs) { return id.valid() && id.index() < exprs.size(); }
template <class Id, class T>
bool valid(Id id, const std::vector<T>& table) {
  return id.valid() && id.index() < table.size();
}

// Does a cell of type `cell` fit where `wanted` is stored? 16-bit floats are computed in f32 and rounded when stored.
inline bool fits(ElementType cell, ElementType expected) { return cell == expected || cell == compute_type(expected); }

}  // namespace tap::ir::verifying
