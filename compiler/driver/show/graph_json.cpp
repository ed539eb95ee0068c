#include "compiler/driver/show/graph_json.h"

#include <nlohmann/json.hpp>

#include "compiler/driver/show/drawing.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json index_or_null(Id<T> id) {
  return id.valid() ? ordered_json(id.index()) : ordered_json(nullptr);
}

ordered_json ids(const std::vector<ir::ValueId>& list) {
  ordered_json out = ordered_json::array();
  for (ir::ValueId id : list) out.push_back(id.index());
  return out;
}

ordered_json type_json(const ir::TensorType& type) {
  return {{"element", name_of(type.element)}, {"shape", type.shape}};
}

std::string_view role_name(ir::DimRole role) {
  switch (role) {
    case ir::DimRole::parallel: return "parallel";
    case ir::DimRole::reduction: return "reduction";
    case ir::DimRole::counter: return "counter";
  }
  return "";
}

std::string_view body_kind(const ir::Operator& op) {
  if (op.map()) return "map";
  if (op.reduce()) return "reduce";
  if (op.kernel()) return "kernel";
  if (op.transfer()) return "transfer";
  switch (op.region()->kind) {
    case ir::RegionKind::call: return "call";
    case ir::RegionKind::iterate: return "iterate";
    case ir::RegionKind::group: return "group";
    case ir::RegionKind::choice: return "choice";
  }
  return "";
}

// start = matrix · index + offset; the text is for people.
ordered_json access_json(const ir::Operator& op, const ir::Access& access, bool is_read) {
  ordered_json matrix = ordered_json::array(), offset = ordered_json::array();
  for (const ir::AffineExpr& row : access.projection.start.rows) {
    matrix.push_back(row.coefficients);
    offset.push_back(row.offset);
  }
  ordered_json out = {{"tensor", access.tensor},
                      {"matrix", matrix},
                      {"offset", offset},
                      {"shape", access.projection.shape},
                      {"text", to_string(access.projection, op.dim_names())}};
  if (!is_read) return out;
  ordered_json dependent = ordered_json::array();
  for (std::size_t axis = 0; axis < access.coordinates.size(); ++axis)
    if (access.coordinates[axis]) dependent.push_back(axis);
  out["data_dependent_axes"] = dependent;
  out["fill"] = access.fill ? ordered_json(ir::print_cell(op, *access.fill)) : ordered_json(nullptr);
  return out;
}

ordered_json body_json(const ir::Program& program, const ir::Operator& op) {
  ordered_json body = {{"kind", body_kind(op)}};
  ordered_json cells = ordered_json::array();
  if (const ir::MapBody* map = op.map()) {
    for (ir::CellId cell : map->values) cells.push_back(ir::print_cell(op, cell));
    body["cells"] = cells;
  } else if (const ir::ReduceBody* reduce = op.reduce()) {
    for (ir::CellId cell : reduce->operands) cells.push_back(ir::print_cell(op, cell));
    body["monoid"] = program[reduce->monoid].name;
    body["cells"] = cells;
  } else if (const ir::KernelBody* kernel = op.kernel()) {
    body["symbol"] = kernel->symbol;
    body["flops"] = kernel->flops ? ordered_json(*kernel->flops) : ordered_json(nullptr);
    body["monoid"] = kernel->reduced_by ? ordered_json(program[*kernel->reduced_by].name) : ordered_json(nullptr);
  } else if (op.region()) {
    const ir::RegionBody& region = *op.region();
    body["graph"] = region.graph.index();
    if (region.kind == ir::RegionKind::iterate) body["trips"] = {region.trips.lo, region.trips.hi};
  }
  if (const auto* region = op.region()) {
    for (const ir::Alternative& a : region->alternatives)
      body["alternatives"].push_back({{"graph", a.graph.index()}, {"rule", a.rule}});
    for (const ir::GroupAnchor& a : region->anchors)
      body["anchors"].push_back({{"dim", a.dim}, {"operation", a.operation}, {"inner_dim", a.inner_dim}});
  }
  return body;
}

ordered_json operator_json(const ir::Program& program, const ir::Operator& op) {
  ordered_json dims = ordered_json::array(), constraints = ordered_json::array(), reads = ordered_json::array(),
               writes = ordered_json::array(), operands = ordered_json::array(), results = ordered_json::array();
  for (const ir::IndexDim& dim : op.dims)
    dims.push_back({{"name", dim.name},
                    {"lo", dim.range.lo},
                    {"hi", dim.range.hi},
                    {"role", role_name(dim.role)},
                    {"keep", dim.keep}});
  for (const ir::Constraint& constraint : op.constraints) constraints.push_back(to_string(constraint, op.dim_names()));
  ordered_json blockings = ordered_json::array();
  for (const ir::Blocking& b : op.blockings)
    blockings.push_back(
        {{"dim", b.dim}, {"block_dim", b.block_dim}, {"count", b.blocks.count}, {"boundaries", b.blocks.boundaries}});
  for (const ir::Access& read : op.reads) reads.push_back(access_json(op, read, true));
  for (const ir::Access& write : op.writes) writes.push_back(access_json(op, write, false));
  for (const ir::TensorType& type : op.operands) operands.push_back(type_json(type));
  for (const ir::TensorType& type : op.results) results.push_back(type_json(type));
  return {{"name", op.name},        {"dims", dims},         {"constraints", constraints},
          {"blockings", blockings}, {"operands", operands}, {"results", results},
          {"reads", reads},         {"writes", writes},     {"body", body_json(program, op)}};
}

ordered_json operation_json(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  ordered_json dims = ordered_json::array();
  for (std::size_t d = 0; d < op.dims.size(); ++d) dims.push_back(own_dim_name(op, operation.names, d));
  ordered_json placements = ordered_json::array();
  for (const ir::BlockPlacement& p : operation.placements)
    placements.push_back({{"dim", p.dim == ir::whole_operation ? ordered_json() : ordered_json(p.dim)},
                          {"over", place_name(program, p)}});
  return {{"name", own_name(op, operation.names)},
          {"dims", dims},
          {"placements", placements},
          {"operator", index_or_null(operation.op)},
          {"operands", ids(operation.operands)},
          {"results", ids(operation.results)}};
}

ordered_json graph_json(const ir::Program& program, const ir::Graph& graph) {
  ordered_json values = ordered_json::array(), operations = ordered_json::array();
  for (const ir::Value& value : graph.values)
    values.push_back({{"name", value.name},
                      {"type", type_json(value.type)},
                      {"const", value.is_const},
                      {"sharding", value.sharding ? ordered_json(to_string(program.meshes, *value.sharding))
                                                  : ordered_json(nullptr)}});
  for (const ir::Operation& operation : graph.operations) operations.push_back(operation_json(program, operation));
  return {{"name", graph.name},
          {"inputs", ids(graph.inputs)},
          {"outputs", ids(graph.outputs)},
          {"values", values},
          {"operations", operations}};
}

}  // namespace

std::string to_json(const ir::Program& program, const std::string& name) {
  AllocationMustSucceed memory_guard;
  ordered_json graphs = ordered_json::array(), operators = ordered_json::array();
  for (const ir::Graph& graph : program.graphs) graphs.push_back(graph_json(program, graph));
  for (const ir::Operator& op : program.operators) operators.push_back(operator_json(program, op));
  ordered_json all = {{"format", "tap-graph"}, {"version", 1},
                      {"program", name},       {"main", index_or_null(program.main)},
                      {"graphs", graphs},      {"operators", operators}};
  return all.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tap::driver
