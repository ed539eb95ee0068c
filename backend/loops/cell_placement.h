// Assigns each cell of a statement to a scope, so that each is emitted once although `if`, `and`, `or` and the fill of
// a read are lazy. Lazy branches form a tree of scopes. A cell belongs to the innermost scope that contains all of its
// uses:
//
//   let a = x[i] / n in (if p then a else 0) + (if q then a * 2 else 0)      a belongs outside both branches
//
// It may then be computed without being needed, which is harmless if it cannot fail. If it can, it is *tried*: the
// failure is recorded beside the value and raised where the value is used. Emitting it in each branch instead would
// double the code at every level of a chain of such cells.
#pragma once

#include <set>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

class CellPlacement {
 public:
  struct Home {
    int depth = -1;      // of the scope, 0 is the statement; -1: cheap, emitted at each use
    bool tried = false;  // in its own scope inside that one
  };
  CellPlacement(const Kernel& kernel, const std::vector<ir::CellId>& roots);
  const Home& operator[](ir::CellId id) const { return homes_[id.index()]; }
  // Whether it may be evaluated where the program would not.
  bool harmless(ir::CellId id);

 private:
  struct Scope {
    std::uint32_t parent = 0;
    std::uint32_t other = 0;  // the other side of the branch; itself if there is none
    int depth = 0;
  };
  using Scopes = std::set<std::uint32_t>;

  bool may_speculate(const ir::CellNode& node);
  bool is_small(const ir::CellNode& node) const;
  void sort(ir::CellId id, std::vector<bool>& seen, std::vector<ir::CellId>& arguments_first) const;
  void place(ir::CellId id);
  void use_arguments(const ir::CellNode& node, std::uint32_t scope);
  void use(ir::CellId id, std::uint32_t scope) { uses_[id.index()].insert(scope); }
  std::uint32_t innermost(const Scopes& scopes) const;
  bool always_used(Scopes scopes, std::uint32_t within) const;
  std::uint32_t add_scope(std::uint32_t parent);
  std::uint32_t add_branch(std::uint32_t parent);

  const Kernel& kernel_;
  std::vector<Scope> scopes_;  // parents before children
  std::vector<Scopes> uses_;   // by cell: the scopes that use it
  std::vector<Home> homes_;
  std::vector<signed char> harmless_;  // by cell; -1: not yet computed
};

}  // namespace tap::backend
