// The work of lower(): shared by lower.cpp (maps and plain reductions) and lower_patterns.cpp (scans and scatters).
#pragma once

#include "backend/loops.h"
#include "backend/patterns.h"

namespace tap::backend {

class Lowering {
 public:
  Lowering(const ir::Program& program, const ir::Operator& op) : program_(program), op_(op) {}
  Kernel run();

 private:
  void declare_tensors();
  void declare_variables();
  void declare_cut();
  void declare_loads();
  Load load_of(const ir::Access& access);

  ir::AffineExpr over_variables(const ir::AffineExpr& over_dims) const;
  ir::AffineExpr variable(std::uint32_t v) const { return ir::AffineExpr::variable(kernel_.variables.size(), v); }
  ir::AffineExpr number(std::int64_t n) const { return ir::AffineExpr::constant(kernel_.variables.size(), n); }
  ir::AffineExpr shifted(ir::AffineExpr e, std::uint32_t v, std::int64_t by) const;

  ir::CellId cell(ir::CellId id);
  ir::CellId monoid_cell(const ir::Monoid& monoid, ir::CellId id, const std::vector<ir::CellId>& arguments);
  std::vector<ir::CellId> identity(const ir::Monoid& monoid);
  std::vector<ir::CellId> combination(const ir::Monoid& monoid, const std::vector<ir::CellId>& a,
                                      const std::vector<ir::CellId>& b);

  std::vector<std::size_t> dims_with(bool reduction) const;
  For loop(std::size_t dim, const std::vector<bool>& outside) const;
  std::vector<Statement> nest(const std::vector<std::size_t>& order, std::vector<bool> outside,
                              std::vector<Statement> inner) const;
  std::vector<Statement> whole_nest(const std::vector<std::size_t>& order, std::vector<Statement> inner) const;
  Store store(const std::vector<ir::CellId>& values) const;
  std::vector<ir::CellId> accumulators(const ir::Monoid& monoid);
  Statement accumulate(const ir::Monoid& monoid, bool descending);

  void map_body();
  void reduction_body();
  void scan_body(const Scan& scan);
  void scatter_body(const Scatter& scatter);
  std::vector<Statement> if_any_result(std::vector<Statement> body) const;
  std::vector<ir::CellId> result_cells(const ir::Monoid& monoid);
  std::vector<Statement> scatter_point(const Scatter& scatter, const ir::Monoid& monoid);

  const ir::Program& program_;
  const ir::Operator& op_;
  Kernel kernel_;
  std::vector<std::optional<ir::CellId>> cells_;
};

// One assignment of all accumulators.
Assign assign(std::vector<ir::CellId> values);

}  // namespace tap::backend
