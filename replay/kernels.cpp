// The table of kernels. The code of a kernel is tested, not proved; but the schedule states which operator it
// computes, and here every operator that uses a kernel is compared with that operator, and every layout with its
// operand.
//
//   kernel 0 of 3, kernel 1 of 3 packs 1       operators 3 and 7 have kernel 0: 7 must equal 3, want operand 1 in the same layout,
//   kernel_of [none, …, 0, …, 0]               and have kernel 1 make that of what 7 reads
#include "check/justify.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

constexpr auto obligation = Obligation::schedule;

bool is_group(const ir::Operator& op) { return op.region() && op.region()->kind == ir::RegionKind::group; }

// Refuses two operators that differ in more than names. Operands and results correspond by number.
void same_operator(const ir::Program& program, const ir::Operator& a, const ir::Operator& b) {
  auto side = [&](const ir::Operator& op) {
    Side made{&program, nullptr, &op};
    Class next = 0;
    for (std::size_t k = 0; k < op.operands.size(); ++k) made.operands.push_back(next++);
    for (std::size_t k = 0; k < op.results.size(); ++k) made.results.push_back(next++);
    return made;
  };
  expect(obligation, a.operands == b.operands && a.results == b.results, "its types differ");
  const Side mine = side(a), other = side(b);
  Match match(mine, other, in_order(b, a.dims.size(), obligation), obligation);
  match.is(match.form());
  if (!is_group(a)) return match.expect(!a.region(), "the operator has no kernel");
  const ir::Graph &x = program[a.region()->graph], &y = program[b.region()->graph];
  bool same = is_group(b) && a.region()->anchors == b.region()->anchors && x.inputs == y.inputs &&
              x.outputs == y.outputs && x.operations.size() == y.operations.size();
  match.expect(same, "the groups differ");
  for (std::size_t o = 0; o < x.operations.size(); ++o) {
    const ir::Operation &one = x.operations[o], &its = y.operations[o];
    match.expect(one.operands == its.operands && one.results == its.results,
                 "operation {} has different operands or results", o);
    same_operator(program, program[one.op], program[its.op]);
  }
}

// The operator that reads an operand: itself, or for a group the inner one, and the number of its operand.
struct Reader {
  const ir::Operator* op;
  std::uint32_t operand;
};
Reader reader_of(const ir::Program& program, const ir::Operator& op, const ir::Preparation& how) {
  if (!op.region()) return {&op, how.operand};
  const ir::Graph& inner = program[op.region()->graph];
  std::optional<Reader> found;
  for (std::size_t o = 0; o < inner.operations.size(); ++o)
    for (std::uint32_t k = 0; k < inner.operations[o].operands.size(); ++k) {
      if (inner.operations[o].operands[k] != inner.inputs[how.operand]) continue;
      expect(obligation, !found, "a prepared operand is read by two operations");
      found = Reader{&program[inner.operations[o].op], k};
      for (const ir::GroupAnchor& a : op.region()->anchors)  // the layout's dims must be whole
        for (const ir::Blocking& b : op.blockings)
          expect(obligation,
                 a.operation != o || !std::ranges::count(how.dims, a.inner_dim) ||
                     (b.dim != a.dim && b.block_dim != a.dim) || op.dims[b.block_dim].range.size() == 1,
                 "a prepared operand is read in blocks");
    }
  expect(obligation, found.has_value() && !found->op->region(), "a prepared operand is never read");
  return *found;
}

// The map that computes the layout:  to[p, k, s] = from[k, 32 p + s else 0]
ir::Operator packing_of(const ir::Program& program, const ir::Operator& of, const ir::Preparation& how) {
  const auto [op, operand] = reader_of(program, of, how);
  auto unless = [](bool holds, const char* why) { expect(obligation, holds, "{}", why); };
  auto reads_it = [k = operand](const ir::Access& a) { return a.tensor == k; };
  unless(std::ranges::count_if(op->reads, reads_it) == 1, "a prepared operand is not read at a single place");
  const ir::Access& read = *std::ranges::find_if(op->reads, reads_it);
  unless(read.coordinates.empty() && (!read.fill || op->exprs[*read.fill].op == ir::CellOp::constant),
         "a prepared operand has data-dependent reads");
  unless(std::ranges::count(how.dims, how.along) == 1, "a layout has no panels");
  const std::size_t axes = how.dims.size() + 1;
  ir::Operator map;
  std::vector<AffineExpr> coordinates;  // by dim that indexes the operand
  for (const ir::IndexDim& dim : op->dims) coordinates.push_back(number(axes, dim.range.lo));
  for (std::size_t axis = 0; axis < how.dims.size(); ++axis) {
    const std::uint32_t d = how.dims[axis];
    unless(d < op->dims.size() && std::ranges::count(how.dims, d) == 1, "a layout repeats or invents a dim");
    const ir::Range all = op->dims[d].range;
    auto is_blocked = [d](const ir::Blocking& b) { return b.dim == d || b.block_dim == d; };
    unless(op->dims[d].role != ir::DimRole::counter && std::ranges::none_of(op->blockings, is_blocked),
           "a layout follows a split dim or a counter");
    const std::int64_t size = checked::sub(all.hi, all.lo), step = d == how.along ? how.step : 1;
    map.dims.push_back({"", {0, size / step + (size % step != 0)}});
    coordinates[d] = scale(unit(axes, axis), step) + number(axes, all.lo);
    if (d == how.along) coordinates[d] = coordinates[d] + unit(axes, axes - 1);
  }
  for (std::size_t d = 0; d < op->dims.size(); ++d)
    for (const AffineExpr& row : read.projection.start.rows)
      unless(!uses_dim(row, d) || op->dims[d].range.size() == 1 || std::ranges::count(how.dims, d) == 1,
             "a layout omits a dim that the operand depends on");
  map.dims.push_back({"", {0, how.step}});
  const ir::TensorType& type = op->operands[operand];
  ir::Access from, to;
  from.projection.start.inputs = to.projection.start.inputs = axes;
  from.projection.shape = Shape(type.shape.size(), 1);
  for (const AffineExpr& row : read.projection.start.rows)
    from.projection.start.rows.push_back(substituted(row, coordinates, axes));
  Shape shape;
  for (const ir::IndexDim& dim : map.dims) {
    shape.push_back(dim.range.hi);
    to.projection.start.rows.push_back(unit(axes, shape.size() - 1));
  }
  to.projection.shape = Shape(axes, 1);
  from.fill = map.exprs.constant(read.fill ? op->exprs[*read.fill].value : ir::Scalar::zero(type.element));
  map.body = ir::MapBody{{map.exprs.read(0, type.element)}};
  map.operands = {type};
  map.results = {{type.element, std::move(shape)}};
  map.reads = {std::move(from)};
  map.writes = {std::move(to)};
  unless(map.results[0] == how.type, "the type of a layout does not match its axes");
  return map;
}

class Kernels {
 public:
  Kernels(const ir::Program& program, const ir::Schedule& schedule) : program_(program), s_(schedule) {}

  void run() {
    for (const ir::ScheduledKernel& kernel : s_.kernels) what_.push_back(what(kernel));
    for (std::size_t o = 0; o < s_.kernel_of.size(); ++o) try {
        look_at(o);
      } catch (Refusal& refusal) {
        refusal.detail = fmt::format("the kernel of operator {}: {}", o, refusal.detail);
        throw;
      }
  }

 private:
  ir::Operator what(const ir::ScheduledKernel& kernel) const {
    const ir::Operator& op = program_[kernel.computes];
    if (!kernel.packs) return op;
    for (const ir::Preparation& how : s_.prepared[kernel.computes.index()])
      if (how.operand == *kernel.packs) return packing_of(program_, op, how);
    throw Refusal{obligation, "it packs an operand that no kernel needs"};
  }
  void look_at(std::size_t o) const {
    const ir::Operator& op = program_.operators[o];
    const auto& kernel = s_.kernel_of[o];
    const std::vector<ir::Preparation>& layouts = s_.prepared[o];
    expect(obligation, kernel || layouts.empty(), "it is not a kernel, but its operands are prepared");
    if (!kernel) return;
    same_operator(program_, op, what_[*kernel]);
    expect(obligation, layouts == required_layouts(*kernel), "its kernel needs different operand layouts");
    for (const ir::Preparation& how : layouts) {
      expect(obligation, required_layouts(how.kernel).empty(),
             "the preparation of operand {} needs a prepared operand itself", how.operand);
      same_operator(program_, packing_of(program_, op, how), what_[how.kernel]);
    }
  }
  std::vector<ir::Preparation> required_layouts(std::size_t kernel) const {
    const ir::ScheduledKernel& its = s_.kernels[kernel];
    return its.packs ? std::vector<ir::Preparation>{} : s_.prepared[its.computes.index()];
  }

  const ir::Program& program_;
  const ir::Schedule& s_;
  std::vector<ir::Operator> what_;  // by kernel
};

}  // namespace

void check_kernels(const ir::Program& program, const ir::Schedule& schedule) { Kernels(program, schedule).run(); }

}  // namespace tap::check
