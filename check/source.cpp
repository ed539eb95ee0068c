// Checks the first program of a certificate, which no step made. Its reads and writes are legal, writes do not depend
// on invariant dims, groups compute all that they contain, and transfers copy what is read.
#include "check/check.h"
#include "check/justify.h"
#include "check/legal.h"

namespace tap::check {

namespace {

class Source {
 public:
  Source(const ir::Program& program, bool is_legal, Verdict& verdict)
      : program_(program), is_legal_(is_legal), verdict_(verdict) {}

  void run() {
    for (std::size_t o = 0; o < program_.operators.size(); ++o) {
      const ir::Operator& op = program_.operators[o];
      verdict_.attempt({}, fmt::format("the source, operator {} ({})", o, op.name), [&] { look_at(op); });
    }
    for (std::size_t g = 0; g < program_.graphs.size(); ++g) graph(g);
  }

 private:
  void look_at(const ir::Operator& op) {
    for (std::size_t w = 0; w < op.writes.size(); ++w)
      for (std::uint32_t d : op.writes[w].invariant_dims)
        if (op.map() || op.reduce())
          expect(Obligation::legal, !depends(op, w, d), "write {} depends on {}, which it declares invariant", w,
                 op.dims[d].name);
    Assumptions assumed;
    if (op.region() && op.region()->kind == ir::RegionKind::group) check_group(program_, op, assumed);
    for (auto& [obligation, what] : assumed)
      verdict_.findings.push_back({obligation, Standing::assumed, "the source", std::move(what)});
    if (!is_legal_ && !reads_are_inside(op)) assume("the reads of `" + op.name + "` are in bounds");
  }
  void assume(std::string what) {
    verdict_.findings.push_back({Obligation::legal, Standing::assumed, "the source", std::move(what)});
  }

  void graph(std::size_t g) {
    const ir::Graph& graph = program_.graphs[g];
    const Uses writers = writers_of(graph);
    const Uses readers = readers_of(graph);
    for (const ir::Operation& operation : graph.operations)
      verdict_.attempt({}, fmt::format("the source, graph {}", g), [&] {
        check_placements(program_, operation);
        if (program_[operation.op].transfer()) check_moved(program_, graph, readers, operation);
      });
    for (std::size_t v = 0; v < writers.size(); ++v)
      verdict_.attempt({}, fmt::format("the source, graph {}, value {} ({})", g, v, graph.values[v].name),
                       [&] { value(graph, ir::ValueId(v), writers[v]); });
  }
  void value(const ir::Graph& graph, ir::ValueId v, const Uses::value_type& writers) {
    std::vector<OneWrite> writes;
    for (auto [operation, result] : writers) {
      const ir::Operator& op = program_[graph[operation].op];
      const bool alone = op.region() || op.transfer();
      expect(Obligation::legal, !alone || writers.size() == 1, "all of it is written more than once");
      if (alone) return;
      for (const ir::Access& write : op.writes)
        if (write.tensor == result) writes.push_back({&op, &write});
    }
    if (!is_legal_ && !writes.empty() && !is_written_once(graph[v].type.shape, writes))
      assume("every cell of `" + graph[v].name + "` is written once");
  }

  // Whether the write depends on the dim: through cells and reads, and through bounds of a reduction.
  bool depends(const ir::Operator& op, std::size_t write, std::uint32_t dim) const {
    std::vector<ir::CellId> open;
    if (op.map()) open = {op.map()->values[write]};
    for (std::size_t k : op.reduce() ? needed(program_[op.reduce()->monoid], write) : std::set<std::size_t>{})
      open.push_back(op.reduce()->operands[k]);
    for (const ir::Constraint& c : op.constraints)
      for (std::uint32_t r : dims_of_role(op, ir::DimRole::reduction))
        if (uses_dim(c.expr, dim) && uses_dim(c.expr, r)) return true;
    std::vector<bool> seen(op.exprs.size(), false);
    auto add = [&](ir::CellId cell) {
      if (!seen[cell.index()]) seen[cell.index()] = true, open.push_back(cell);
    };
    while (!open.empty()) {
      const ir::CellNode& node = op.exprs[open.back()];
      open.pop_back();
      for (ir::CellId arg : node.args) add(arg);
      if (node.op == ir::CellOp::index && node.attribute == dim) return true;
      if (node.op != ir::CellOp::read) continue;
      const ir::Access& read = op.reads[node.attribute];
      for (const AffineExpr& row : read.projection.start.rows)
        if (uses_dim(row, dim)) return true;
      for (const auto& coordinate : read.coordinates)
        if (coordinate) add(*coordinate);
      if (read.fill) add(*read.fill);
    }
    return false;
  }
  // The components that a component of a combination depends on, transitively.
  static std::set<std::size_t> needed(const ir::Monoid& monoid, std::size_t component) {
    const std::size_t n = monoid.components.size();
    std::set<std::size_t> found{component};
    for (std::vector<std::size_t> left{component}; !left.empty();) {
      std::vector<ir::CellId> open{monoid.combine[left.back()]};
      left.pop_back();
      std::set<ir::CellId> seen;
      while (!open.empty()) {
        const ir::CellId cell = open.back();
        open.pop_back();
        if (!seen.insert(cell).second) continue;
        const ir::CellNode& node = monoid.exprs[cell];
        open.insert(open.end(), node.args.begin(), node.args.end());
        if (node.op == ir::CellOp::argument && found.insert(node.attribute % n).second)
          left.push_back(node.attribute % n);
      }
    }
    return found;
  }

  const ir::Program& program_;
  const bool is_legal_;
  Verdict& verdict_;
};

}  // namespace

void check_source(const ir::Program& program, bool is_legal, Verdict& verdict) {
  Source(program, is_legal, verdict).run();
}

}  // namespace tap::check
