#include "passes/rewrites/canonical.h"

#include <algorithm>
#include <numeric>

#include "passes/rewrites/canonical_operator.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;
using namespace canonical;

namespace {

constexpr std::uint64_t mark = 0x5bd1e995a3c59ac3u;
constexpr int most_leaves = 512;

// Canonical labelling: if several parts have the same colour, tries each as the first; the form is the least resulting
// code.
class Search {
 public:
  explicit Search(const Prepared& p) : p_(p) {}

  CanonicalForm run() {
    Colours colours = first_colours(p_);
    refine(p_, colours);
    explore(colours);
    return std::move(best_);
  }

 private:
  // Parts with one colour: dims, or (the second) tensors.
  struct Class {
    bool of_dims = true;
    std::vector<std::uint32_t> members;
  };

  static void collect(const std::vector<std::uint64_t>& colours, const std::vector<std::uint32_t>& parts, bool of_dims,
                      std::map<std::pair<bool, std::uint64_t>, Class>& classes) {
    for (std::uint32_t part : parts) {
      Class& c = classes[{!of_dims, colours[part]}];
      c.of_dims = of_dims;
      c.members.push_back(part);
    }
  }

  // The first class with several members; the choice depends on colours alone.
  Class undecided(const Colours& colours) const {
    std::map<std::pair<bool, std::uint64_t>, Class> classes;
    std::vector<std::uint32_t> dims(p_.op.dims.size());
    std::iota(dims.begin(), dims.end(), 0u);
    collect(colours.dims, dims, true, classes);
    collect(colours.tensors, p_.tensors, false, classes);
    for (auto& [key, c] : classes)
      if (c.members.size() > 1) return c;
    return {};
  }

  Colours choosing(const Colours& colours, const Class& c, std::uint32_t member) const {
    Colours next = colours;
    (c.of_dims ? next.dims : next.tensors)[member] ^= mark;
    refine(p_, next);
    return next;
  }

  Code first_leaf(Colours colours) {
    for (Class c = undecided(colours); !c.members.empty(); c = undecided(colours))
      colours = choosing(colours, c, c.members.front());
    return leaf(colours);
  }

  void explore(const Colours& colours) {
    Class c = undecided(colours);
    if (c.members.empty()) {
      leaf(colours);
      return;
    }
    // A member whose first leaf equals an earlier member's is equivalent to it, and so are its other leaves.
    std::vector<Code> seen;
    for (std::uint32_t member : c.members) {
      if (!seen.empty() && leaves_ >= most_leaves) return;
      Colours next = choosing(colours, c, member);
      Code first = first_leaf(next);
      if (std::find(seen.begin(), seen.end(), first) != seen.end()) continue;
      seen.push_back(std::move(first));
      explore(next);
    }
  }

  Code leaf(const Colours& colours) {
    ++leaves_;
    CanonicalForm form;
    Order order;
    order.dims.resize(p_.op.dims.size());
    std::iota(order.dims.begin(), order.dims.end(), 0u);
    order.tensors = p_.tensors;
    auto by = [](const std::vector<std::uint64_t>& c) {
      return [&c](std::uint32_t a, std::uint32_t b) { return c[a] < c[b]; };
    };
    std::stable_sort(order.dims.begin(), order.dims.end(), by(colours.dims));
    std::stable_sort(order.tensors.begin(), order.tensors.end(), by(colours.tensors));
    form.code = encode(p_, order, colours, form.results);
    form.dims = std::move(order.dims);
    form.operands = std::move(order.tensors);
    Code code = form.code;
    if (best_.code.empty() || form.code < best_.code) best_ = std::move(form);
    return code;
  }

  const Prepared& p_;
  CanonicalForm best_;
  int leaves_ = 0;
};

}  // namespace

CanonicalForm canonical_form(const Program& program, const Operator& op, const std::vector<std::int64_t>& labels) {
  TAP_CHECK(!op.region(), "a region has no canonical form");
  TAP_CHECK(labels.empty() || labels.size() == op.operands.size(), "a canonical form with the wrong number of labels");
  Prepared prepared = prepare(program, op, labels);
  return Search(prepared).run();
}

}  // namespace tap::passes
