// Explicit splits: resolved to an operation and one of its index dims, checked, and recorded.
#include <algorithm>

#include "compiler/frontend/elaborate/annotations.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "support/checked.h"

namespace tap {
namespace {

constexpr std::int64_t max_blocks = 1 << 20;

// `f#1`, `f#2`, …, at most eight
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t k = 0; k < names.size() && k < most; ++k) text += (k == 0 ? "" : ", ") + quoted(names[k]);
  return names.size() <= most ? text : text + " and " + std::to_string(names.size() - most) + " more";
}

}  // namespace

// f#1 on k: the first call of f.
ir::OperationId BodyBuilder::instance_named(const std::string& instance, Span span) {
  auto found = std::find_if(instances_.begin(), instances_.end(), [&](const auto& i) { return i.first == instance; });
  if (found != instances_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, operation] : instances_) names.push_back(name);
  Diagnostic d(Code::bad_split, span, "unknown operation " + quoted(instance));
  if (auto near = did_you_mean(instance, names)) d.help("did you mean " + quoted(*near) + "?");
  else if (!names.empty()) d.help("the calls in " + quoted(graph_.name) + " are " + listed(names));
  else d.help("an operation is named by the value that it writes; `operator#1` is the first call of an operator");
  elaboration_.fail(std::move(d));
}

// Y on axis 0: the operation that writes Y, and the axis, if any.
ir::SplitRequest BodyBuilder::split_target(const ast::SplitStatement& split, const std::string& what) {
  ir::SplitRequest request;
  if (split.instance) {
    request.operation = instance_named(what, split.target.span);
    return request;
  }
  ir::ValueId value = annotated_value(split.target);
  request.operation = sole_writer(value, split.target);
  if (!split.axis) return request;
  const Shape& shape = graph_[value].type.shape;
  if (*split.axis < 0 || *split.axis >= static_cast<std::int64_t>(shape.size()))
    elaboration_.fail(Diagnostic(Code::bad_split, split.axis_span,
                                 quoted(what) + " has no axis " + std::to_string(*split.axis) + "; it has " +
                                     counted(shape.size(), "axis", "axes") +
                                     (shape.empty() ? "" : ", numbered from 0")));
  request.value = value;
  request.axis = static_cast<std::uint32_t>(*split.axis);
  return request;
}

// into 4, or into [0..3, 3..8]
std::vector<ir::Range> BodyBuilder::split_blocks(const ast::SplitStatement& split, ir::Range range,
                                                 const std::string& what, Span span) {
  auto refuse = [&](Span at, const std::string& why) { elaboration_.fail(Diagnostic(Code::bad_split, at, why)); };
  if (split.count) {
    Span written = env_[*split.count].span;
    std::int64_t count = eval_size(elaboration_, env_, *split.count);
    if (count < 1 || count > max_blocks)
      refuse(written, "a split must have 1 to " + std::to_string(max_blocks) + " blocks; got " + std::to_string(count));
    if (count > std::max<std::int64_t>(range.size(), 1))
      refuse(written, quoted(what) + " has " + counted(range.size(), "index", "indices") + " along this dim; got " +
                          counted(count, "block"));
    return ir::ceil_blocks(range, count);
  }
  std::vector<ir::Range> blocks;
  std::int64_t at = range.lo;
  for (const auto& [lo_id, hi_id] : split.blocks) {
    ir::Range block{eval_size(elaboration_, env_, lo_id), eval_size(elaboration_, env_, hi_id)};
    if (block.lo != at || block.hi < block.lo)
      refuse(join(env_[lo_id].span, env_[hi_id].span), "blocks must be contiguous: expected one that starts at " +
                                                           std::to_string(at) + "; got " + to_string(block));
    at = block.hi;
    blocks.push_back(block);
  }
  Span last = split.blocks.empty() ? span : env_[split.blocks.back().second].span;
  if (at != range.hi) refuse(last, "the blocks end at " + std::to_string(at) + "; the range is " + to_string(range));
  return blocks;
}

void BodyBuilder::request_split(const ast::SplitStatement& split, Span span) {
  auto refuse = [&](const std::string& why) { elaboration_.fail(Diagnostic(Code::bad_split, span, why)); };
  std::string what = split.target.text + (split.instance ? "#" + std::to_string(*split.instance) : "");
  ir::SplitRequest request = split_target(split, what);
  ir::Range range;
  if (request.value) {
    range = {0, graph_[*request.value].type.shape[request.axis]};
  } else if (split.dim) {
    request.dim = split.dim->text;
    range = split_range(graph_[request.operation], *split.dim, what);
  } else {
    refuse("a split needs `on axis 0` for a value, or `on k` for an index variable");
  }
  request.blocks = split_blocks(split, range, what, span);
  request.placement = static_cast<ir::Placement>(split.placement);
  if (split.axis_ref) split_over_axis(split, request);
  for (const ir::SplitRequest& other : graph_.splits)
    if (other.operation == request.operation && other.value == request.value && other.axis == request.axis &&
        other.dim == request.dim)
      refuse(quoted(what) + " is already split along this dim");
  graph_.splits.push_back(std::move(request));
  provenance_.splits.push_back(span);
}

ir::OperationId BodyBuilder::sole_writer(ir::ValueId value, const ast::Name& name) {
  std::vector<std::size_t> writers;
  for (std::size_t i = 0; i < graph_.operations.size(); ++i)
    for (ir::ValueId result : graph_.operations[i].results)
      if (result == value) writers.push_back(i);
  if (writers.empty())
    elaboration_.fail(
        Diagnostic(Code::bad_split, name.span, quoted(name.text) + " is an input: it has no operation to split"));
  if (writers.size() > 1)
    elaboration_.fail(Diagnostic(Code::bad_split, name.span,
                                 quoted(name.text) + " is written by " + std::to_string(writers.size()) +
                                     " equations; a split applies to one operation")
                          .label(provenance_.operations[writers[0]], "one of them")
                          .label(provenance_.operations[writers[1]], "another")
                          .help("write each part as a separate tensor, split it, and concatenate the parts"));
  return ir::OperationId(writers[0]);
}

// The blocks of a split over a mesh axis: one for each of its devices.
void BodyBuilder::split_over_axis(const ast::SplitStatement& split, ir::SplitRequest& request) {
  const ast::AxisRef& written = *split.axis_ref;
  const ir::Program& program = elaboration_.program;
  if (split.mesh) resolve_axis(elaboration_, program[mesh_named(elaboration_, *env_.scope, *split.mesh)], written);
  std::vector<ir::MeshId> candidates;
  for (std::size_t m = 0; m < program.meshes.size(); ++m)
    if (find_axis(program.meshes[m], written.name.text)) candidates.emplace_back(m);
  if (candidates.empty())
    elaboration_.fail(Diagnostic(Code::unknown_axis, written.span, "no mesh has an axis " + quoted(written.name.text)));
  const ir::Mesh& found = program[candidates.front()];
  if (candidates.size() > 1)
    elaboration_.fail(
        Diagnostic(Code::bad_split, written.span,
                   "the meshes " + quoted(found.name) + " and " + quoted(program[candidates[1]].name) +
                       " both have an axis " + quoted(written.name.text))
            .help("rename one of them, or use a plan: " +
                  quoted("over " + (split.mesh ? split.mesh->text : found.name) + "." + written.name.text)));
  request.mesh = candidates.front();
  request.mesh_axis = resolve_axis(elaboration_, found, written);
  const std::int64_t size = size_of(found, *request.mesh_axis);
  if (std::ssize(request.blocks) != size)
    elaboration_.fail(Diagnostic(Code::bad_split, written.span,
                                 "the axis " + quoted(source_of(elaboration_, written.span)) + " has " +
                                     counted(size, "device") + ", so " + counted(size, "block") +
                                     (size == 1 ? " is" : " are") + " needed; got " +
                                     std::to_string(request.blocks.size())));
}

// The range of an index variable of an operation; for a call, of its inner operations.
ir::Range BodyBuilder::split_range(const ir::Operation& operation, const ast::Name& dim, const std::string& what) {
  std::vector<std::string> names;
  std::optional<ir::Range> found;
  std::vector<const ir::Operation*> open{&operation};
  while (!open.empty()) {
    const ir::Operation& one = *open.back();
    const ir::Operator& at = elaboration_.program[one.op];
    open.pop_back();
    for (std::size_t k = 0; k < at.dims.size(); ++k) {
      const ir::IndexDim& d = at.dims[k];
      names.push_back(own_dim_name(at, one.names, k));
      if (names.back() != dim.text) continue;
      if (d.keep)
        elaboration_.fail(Diagnostic(
            Code::bad_split, dim.span,
            "the dim " + quoted(dim.text) + " of " + quoted(what) + " is declared `keep`: it must not be split"));
      if (d.role == ir::DimRole::counter)
        elaboration_.fail(Diagnostic(
            Code::bad_split, dim.span,
            quoted(dim.text) + " is the counter of an iterate and cannot be split: trips run one after another"));
      found = d.range;
    }
    if (auto* region = at.region())
      for (const auto& inner : elaboration_.program[region->graph].operations) open.push_back(&inner);
  }
  if (found) return *found;
  elaboration_.fail(
      with_near_name(Diagnostic(Code::bad_split, dim.span, quoted(what) + " has no index variable " + quoted(dim.text)),
                     dim.span, dim.text, names));
}

}  // namespace tap
