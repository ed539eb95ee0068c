#include "backend/mlir/operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/mlir/arithmetic.h"
#include "backend/mlir/body.h"
#include "ir/graph.h"

namespace tap::backend::mlir {
namespace {

using ir::CellId;
using ir::Constraint;

class OperationWriter {
 public:
  OperationWriter(Text& text, const OperationText& in)
      : text_(text), in_(in), op_(in.op), loops_(loops_of(op_, in.counters)), results_(in.results) {
    for (std::size_t k = 0; k < loops_.dims.size(); ++k)
      if (op_.dims[loops_.dims[k]].role == ir::DimRole::parallel) parallel_.push_back(k);
    roots_ = op_.map() ? op_.map()->values : op_.reduce()->operands;
  }

  std::vector<std::string> write() {
    for (std::size_t k = 0; k < op_.writes.size(); ++k) {
      std::vector<Row> rows = rows_of(op_, op_.writes[k], loops_);
      targets_.push_back(has_no_points() ? Slice{} : slice_of(std::move(rows), result_type(k).shape));
    }
    if (!has_no_points()) op_.map() ? write_map() : write_reduction();
    for (std::size_t r = 0; r < op_.results.size(); ++r)
      if (results_[r].empty()) results_[r] = empty_tensor(text_, op_.results[r].element, op_.results[r].shape);
    return results_;
  }

 private:
  const ir::TensorType& result_type(std::size_t write) const { return op_.results[op_.writes[write].tensor]; }
  bool has_size(std::size_t loop) const { return loops_.sizes[loop] > 0; }
  bool has_no_points() const {
    return !std::all_of(parallel_.begin(), parallel_.end(), [&](std::size_t k) { return has_size(k); });
  }
  bool has_empty_loop() const {
    for (std::size_t k = 0; k < loops_.sizes.size(); ++k)
      if (!has_size(k)) return true;
    return false;
  }
  // The constraints on reduced dims, or the others.
  std::vector<Constraint> constraints(bool of_reduced) const {
    std::vector<Constraint> selected;
    for (const Constraint& c : op_.constraints) {
      bool reduced = false;
      for (std::size_t d = 0; d < op_.dims.size(); ++d)
        reduced = reduced || (c.expr.coefficients[d] != 0 && op_.dims[d].role == ir::DimRole::reduction);
      if (reduced == of_reduced) selected.push_back(c);
    }
    return selected;
  }

  // The tensor into which a write inserts: earlier writes, or an empty tensor.
  std::string so_far(std::size_t write) {
    std::string& result = results_[op_.writes[write].tensor];
    if (result.empty()) result = empty_tensor(text_, result_type(write).element, result_type(write).shape);
    return result;
  }
  GenericTensor target(std::size_t write, bool all_cells) {
    const Slice& slice = targets_[write];
    const ir::TensorType& type = result_type(write);
    const bool fresh = all_cells && slice.dense;
    return {fresh ? empty_tensor(text_, type.element, slice.sizes) : take_slice(text_, so_far(write), type, slice),
            type.element, slice.sizes, slice.rows, "out"};
  }
  void finish(std::size_t write, const std::string& part) {
    const Slice& slice = targets_[write];
    results_[op_.writes[write].tensor] = slice.whole ? part
                                                     : put_slice(text_, part, so_far(write), result_type(write), slice);
  }

  Generic generic_of(const std::vector<std::size_t>& loops) const {
    Generic generic;
    for (std::size_t k : loops) {
      generic.loops.push_back(loops_.sizes[k]);
      generic.reduced.push_back(op_.dims[loops_.dims[k]].role == ir::DimRole::reduction);
    }
    return generic;
  }
  std::vector<std::size_t> all_loops() const {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < loops_.dims.size(); ++k) all.push_back(k);
    return all;
  }

  // --- maps ---
  void write_map() {
    require_every_loop_written();
    Body body(text_, in_, loops_, roots_);
    Generic generic = generic_of(all_loops());
    body.add_operands(generic);
    std::vector<ElementType> types;
    for (std::size_t k = 0; k < op_.writes.size(); ++k) {
      types.push_back(result_type(k).element);
      generic.outs.push_back(writes_every_loop(k) ? target(k, op_.constraints.empty()) : at_every_point(types[k]));
    }
    generic.indices = body.needed_loops(op_.constraints, true);
    const std::vector<std::string> parts = write_generic(text_, std::move(generic), [&](const GenericBody& names) {
      Cells cells = body.cells_at(names);
      return body.where(cells, op_.constraints, names.outs, types, [&] {
        cells.compute(roots_);
        std::vector<std::string> values;
        for (std::size_t k = 0; k < roots_.size(); ++k) values.push_back(rounded(text_, types[k], cells[roots_[k]]));
        return values;
      });
    });
    for (std::size_t k = 0; k < parts.size(); ++k)
      writes_every_loop(k) ? finish(k, parts[k]) : copy(k, parts[k], types[k]);
  }
  GenericTensor at_every_point(ElementType type) {
    return {empty_tensor(text_, type, parallel_shape()), type, parallel_shape(), parallel_rows(), "out"};
  }

  bool is_written_by(std::size_t write, std::size_t loop) const {
    const std::vector<Row>& rows = targets_[write].rows;
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.coefficients[loop] != 0; });
  }
  bool writes_every_loop(std::size_t write) const {
    return std::ranges::all_of(parallel_,
                               [&](std::size_t loop) { return loops_.sizes[loop] <= 1 || is_written_by(write, loop); });
  }
  // There is no order between points of a map that write one cell, unless they write the same.
  void require_every_loop_written() const {
    for (std::size_t k = 0; k < op_.writes.size(); ++k)
      for (std::size_t loop : parallel_)
        if (loops_.sizes[loop] > 1 && !is_written_by(k, loop) &&
            (!op_.constraints.empty() || std::ranges::count(op_.writes[k].invariant_dims, loops_.dims[loop]) == 0))
          throw Refused{
              fmt::format("`{}` writes one cell at many points of `{}`", in_.name, op_.dims[loops_.dims[loop]].name),
              "remove that index from the equation"};
  }

  // --- reductions ---
  // Each component is combined in a tensor of all parallel dims, in its computation type, and then copied to its place;
  // or directly, if the place is such a tensor.
  void write_reduction() {
    const ir::Monoid& monoid = in_.program[op_.reduce()->monoid];
    Body body(text_, in_, loops_, roots_);
    Generic generic = generic_of(all_loops());
    std::vector<ElementType> types;
    for (std::size_t k = 0; k < monoid.arity(); ++k) {
      types.push_back(compute_type(monoid.components[k].type));
      generic.outs.push_back(state(monoid, k, types[k]));
    }
    std::vector<std::string> parts;
    for (const GenericTensor& out : generic.outs) parts.push_back(out.value);
    if (!has_empty_loop()) {
      body.add_operands(generic);
      generic.indices = body.needed_loops(constraints(true), true);
      parts = write_generic(text_, std::move(generic), [&](const GenericBody& names) {
        Cells cells = body.cells_at(names);
        return body.where(cells, constraints(true), names.outs, types, [&] {
          cells.compute(roots_);
          return combined(monoid, names.outs, cells);
        });
      });
    }
    for (std::size_t k = 0; k < parts.size(); ++k) is_direct(k) ? finish(k, parts[k]) : copy(k, parts[k], types[k]);
  }

  bool is_direct(std::size_t write) const {
    const ElementType type = result_type(write).element;
    if (!targets_[write].dense || compute_type(type) != type || !constraints(false).empty()) return false;
    return std::all_of(parallel_.begin(), parallel_.end(),
                       [&](std::size_t loop) { return is_written_by(write, loop); });
  }

  GenericTensor state(const ir::Monoid& monoid, std::size_t k, ElementType type) {
    ir::Scalar identity = monoid.exprs[monoid.identity[k]].value;
    const std::string start = define(text_, "k", "arith.constant " + literal(identity));
    const bool direct = is_direct(k);
    const Shape shape = direct ? targets_[k].sizes : parallel_shape();
    return {filled_tensor(text_, start, type, shape), type, shape, direct ? targets_[k].rows : parallel_rows(), "acc"};
  }
  Shape parallel_shape() const {
    Shape shape;
    for (std::size_t loop : parallel_) shape.push_back(loops_.sizes[loop]);
    return shape;
  }
  std::vector<Row> parallel_rows() const {
    std::vector<Row> rows;
    for (std::size_t loop : parallel_) {
      rows.push_back({std::vector<std::int64_t>(loops_.dims.size()), 0, {}, {}, {}});
      rows.back().coefficients[loop] = 1;
    }
    return rows;
  }

  std::vector<std::string> combined(const ir::Monoid& monoid, const std::vector<std::string>& earlier,
                                    const Cells& cells) {
    CellContext context{&monoid.exprs, {}, nullptr, {}, earlier, in_.name};
    for (CellId root : roots_) context.arguments.push_back(cells[root]);
    Cells combine(text_, std::move(context));
    combine.compute(monoid.combine);
    std::vector<std::string> values;
    for (CellId root : monoid.combine) values.push_back(combine[root]);
    return values;
  }

  // From a tensor of all parallel dims to the place of the write, which does not depend on dims that it does not use.
  void copy(std::size_t write, const std::string& from, ElementType type) {
    std::vector<std::size_t> kept;
    std::vector<std::int64_t> sizes;
    for (std::size_t loop : parallel_) {
      if (is_written_by(write, loop)) kept.push_back(loop);
      sizes.push_back(is_written_by(write, loop) ? loops_.sizes[loop] : 1);
    }
    const std::vector<Constraint> within = constraints(false);
    Generic generic = generic_of(kept);
    generic.ins.push_back(narrowed(from, type, sizes, kept));
    generic.outs.push_back(target(write, within.empty()));
    for (Row& row : generic.outs[0].rows) {
      std::vector<std::int64_t> coefficients;
      for (std::size_t loop : kept) coefficients.push_back(row.coefficients[loop]);
      row.coefficients = std::move(coefficients);
    }
    require_known(within, kept);
    const Body body(text_, in_, loops_, {});
    const std::vector<bool> needed = body.needed_loops(within, false);
    for (std::size_t loop : kept) generic.indices.push_back(needed[loop]);
    const ElementType result = result_type(write).element;
    auto parts = write_generic(text_, std::move(generic), [&](const GenericBody& names) {
      GenericBody spread = names;
      spread.indices.assign(loops_.dims.size(), "");
      for (std::size_t k = 0; k < kept.size(); ++k) spread.indices[kept[k]] = names.indices[k];
      Cells cells = body.cells_at(spread);
      return body.where(cells, within, names.outs, {result},
                        [&] { return std::vector<std::string>{rounded(text_, result, names.ins[0])}; });
    });
    finish(write, parts[0]);
  }
  void require_known(const std::vector<Constraint>& within, const std::vector<std::size_t>& kept) const {
    for (const Constraint& c : within)
      for (std::size_t loop : parallel_)
        if (c.expr.coefficients[loops_.dims[loop]] != 0 && std::find(kept.begin(), kept.end(), loop) == kept.end())
          throw Refused{fmt::format("`{}` has a component without an index that bounds its writes", in_.name), ""};
  }

  GenericTensor narrowed(const std::string& from, ElementType type, const std::vector<std::int64_t>& sizes,
                         const std::vector<std::size_t>& kept) {
    GenericTensor tensor{from, type, {}, {}, "x"};
    for (std::size_t k = 0; k < kept.size(); ++k) {
      tensor.shape.push_back(loops_.sizes[kept[k]]);
      tensor.rows.push_back({std::vector<std::int64_t>(kept.size()), 0, {}, {}, {}});
      tensor.rows.back().coefficients[k] = 1;
    }
    if (kept.size() == parallel_.size()) return tensor;
    tensor.value = define(
        text_, "x",
        fmt::format("tensor.extract_slice {}{}{}{} : {} to {}", from, list(std::vector<std::int64_t>(sizes.size())),
                    list(sizes), list(std::vector<std::int64_t>(sizes.size(), 1)), tensor_type(type, parallel_shape()),
                    tensor_type(type, tensor.shape)));
    return tensor;
  }

  Text& text_;
  const OperationText& in_;
  const ir::Operator& op_;
  Loops loops_;
  std::vector<std::size_t> parallel_;  // loops
  std::vector<CellId> roots_;
  std::vector<Slice> targets_;  // by write
  std::vector<std::string> results_;
};

}  // namespace

std::vector<std::string> write_operation(Text& text, const OperationText& operation) {
  OperationText in = operation;
  in.name = on_one_line(in.name);
  if (!in.op.blockings.empty())
    throw Refused{fmt::format("`{}` is split into blocks", in.name), "write the MLIR of the program without `split`"};
  return OperationWriter(text, in).write();
}

}  // namespace tap::backend::mlir
