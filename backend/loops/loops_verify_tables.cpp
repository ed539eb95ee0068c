#include <bit>

#include "backend/abi.h"
#include "backend/loops/loops_verify_parts.h"
#include "ir/graph.h"

namespace tap::backend::verifying {

using namespace ir;
using ir::verifying::fits;
using ir::verifying::valid;

namespace {

class Tables {
 public:
  Tables(Violations& out, const Kernel& kernel) : out_(out), kernel_(kernel) {}
  void run() {
    std::size_t before = out_.count();
    shape();
    tensors();
    for (std::size_t s = 0; s < kernel_.sections.size(); ++s) section(s);
    registers();
    if (!cells_exist() || out_.count() > before) return;
    types();
    if (out_.count() == before) order();
  }

 private:
  bool in_range(const AffineExpr& e) {
    return out_.expect(e.coefficients.size() <= kernel_.variables.size(),
                       "an expression has {} coefficients for {} variables", e.coefficients.size(),
                       kernel_.variables.size());
  }

  void shape() {
    out_.expect(kernel_.variables.size() >= 3 * kernel_.dims, "{} variables for a box of {} dims",
                kernel_.variables.size(), kernel_.dims);
    if (kernel_.tile_dim)
      out_.expect(*kernel_.tile_dim < kernel_.dims, "invalid split of dim {} of {}", *kernel_.tile_dim, kernel_.dims);
    out_.expect(kernel_.grain >= 1, "invalid multiple {} for splits of the box", kernel_.grain);
    out_.expect(kernel_.worth >= 1, "the least number of parts of a call is {}", kernel_.worth);
    out_.expect(!kernel_.sections.empty(), "section 0 is missing");
  }

  void tensors() {
    std::size_t arguments = kernel_.operands + kernel_.results;
    out_.expect(kernel_.tensors.size() >= arguments, "{} tensors for {} operands and {} results",
                kernel_.tensors.size(), kernel_.operands, kernel_.results);
    for (std::size_t t = 0; t < kernel_.tensors.size(); ++t) {
      const TensorArgument& tensor = kernel_.tensors[t];
      Violations::Scope at(out_, "tensor {}", t);
      out_.expect(tensor.local.has_value() == (t >= arguments), "local memory occurs among the arguments");
      out_.expect(tensor.whole == 0 || (!tensor.local && tensor.whole < tensor.type.shape.size()),
                  "{} whole axes of {}", tensor.whole, tensor.type.shape.size());
      if (!tensor.local) continue;
      std::size_t rank = tensor.type.shape.size();
      out_.expect(tensor.local->extents.size() == rank, "{} extents for {} axes", tensor.local->extents.size(), rank);
      out_.expect(tensor.local->origin.size() == rank, "an origin with {} coordinates for {} axes",
                  tensor.local->origin.size(), rank);
      for (std::int64_t extent : tensor.local->extents) out_.expect(extent >= 0, "an extent is {}", extent);
      for (const AffineExpr& e : tensor.local->origin) in_range(e);
      if (const auto& of = tensor.local->reuses)
        out_.expect(*of < t && kernel_.tensors[*of].local && !kernel_.tensors[*of].local->reuses,
                    "it reuses tensor {}, which has no memory of its own before it", *of);
    }
  }

  void section(std::size_t number) {
    const SectionDims& dims = kernel_.sections[number];
    Violations::Scope at(out_, "section {}", number);
    out_.expect(dims.lo.size() == dims.at.size(), "{} dim starts for {} dims", dims.lo.size(), dims.at.size());
    out_.expect(dims.at.size() <= max_index_dims, "{} dims, but {} can be reported", dims.at.size(), max_index_dims);
    for (const auto* numbers : {&dims.lo, &dims.at})
      for (std::uint32_t v : *numbers)
        out_.expect(v < kernel_.variables.size(), "variable {} of {}", v, kernel_.variables.size());
    for (std::uint32_t t : dims.operands)
      out_.expect(t < kernel_.tensors.size(), "tensor {} of {}", t, kernel_.tensors.size());
  }

  void registers() {
    for (std::size_t a = 0; a < kernel_.accumulators.size(); ++a) {
      const Accumulator& accumulator = kernel_.accumulators[a];
      out_.expect(accumulator.count >= 1, "acc{} is an empty array", a);
      out_.expect(std::has_single_bit(accumulator.lanes), "acc{} has {} lanes, which is not a power of two", a,
                  accumulator.lanes);
    }
    for (const Slot& slot : kernel_.slots) {
      out_.expect(slot.accumulator < kernel_.accumulators.size(), "acc{} of {}", slot.accumulator,
                  kernel_.accumulators.size());
      in_range(slot.at);
    }
  }

  bool cells_exist() {
    bool all = true;
    for (std::size_t c = 0; c < kernel_.exprs.size(); ++c)
      for (CellId arg : kernel_.exprs[CellId(c)].args)
        all &= out_.expect(arg.valid() && arg.index() < c, "cell {} comes before its arguments", c);
    for (std::size_t n = 0; n < kernel_.loads.size(); ++n) {
      const Load& load = kernel_.loads[n];
      Violations::Scope at(out_, "load {}", n);
      all &= out_.expect(load.tensor < kernel_.tensors.size(), "tensor {} of {}", load.tensor, kernel_.tensors.size());
      for (const Coordinate& c : load.at) {
        all &= in_range(c.affine);
        if (c.data) all &= out_.expect(valid(*c.data, kernel_.exprs), "a coordinate has no cell");
      }
      if (load.fill) all &= out_.expect(valid(*load.fill, kernel_.exprs), "the fill has no cell");
    }
    return all;
  }

  // Types the cells like those of an operator with the variables as dims and the loads as reads, and of a monoid with
  // the slots as components.
  void types() {
    Operator op;
    op.dims.resize(kernel_.variables.size());
    for (const TensorArgument& tensor : kernel_.tensors) op.operands.push_back(tensor.type);
    for (const Load& load : kernel_.loads) op.reads.push_back({.tensor = load.tensor});
    std::vector<MonoidComponent> components;
    for (const Slot& slot : kernel_.slots) components.push_back({"", kernel_.accumulators[slot.accumulator].type});
    verify_cells(out_, {}, kernel_.exprs, {&op, &components, components.size(), false});
    for (std::size_t n = 0; n < kernel_.loads.size(); ++n) {
      Violations::Scope at(out_, "load {}", n);
      load(kernel_.loads[n]);
    }
  }

  void load(const Load& load) {
    const TensorType& type = kernel_.tensors[load.tensor].type;
    out_.expect(load.at.size() == type.shape.size(), "{} coordinates for {} axes", load.at.size(), type.shape.size());
    bool checked = false;
    for (const Coordinate& c : load.at) {
      checked = checked || c.checked;
      if (!c.data) continue;
      ElementType found = kernel_.exprs[*c.data].type;
      out_.expect(is_integer(found), "a coordinate is {}", name_of(found));
    }
    if (load.fill) {
      ElementType found = kernel_.exprs[*load.fill].type;
      out_.expect(fits(found, type.element), "the fill is {}, but the tensor is {}", name_of(found),
                  name_of(type.element));
    }
    out_.expect(!checked || load.fill || !load.anywhere, "it may fail, so it must not be evaluated early");
  }

  // A cell must not depend on itself through a coordinate.
  void order() {
    enum class State : std::uint8_t { fresh, open, done };
    std::vector<State> states(kernel_.exprs.size(), State::fresh);
    auto visit = [&](auto& self, CellId id) -> bool {
      State& state = states[id.index()];
      if (state != State::fresh) return state == State::done;
      state = State::open;
      for (CellId other : needs(kernel_, id))
        if (!self(self, other)) return false;
      states[id.index()] = State::done;
      return true;
    };
    for (std::size_t c = 0; c < kernel_.exprs.size(); ++c)
      if (!out_.expect(visit(visit, CellId(c)), "cell {} depends on itself", c)) return;
  }

  Violations& out_;
  const Kernel& kernel_;
};

}  // namespace

void verify_tables(Violations& out, const Kernel& kernel) { Tables(out, kernel).run(); }

}  // namespace tap::backend::verifying
