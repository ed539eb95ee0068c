// What groups read where reads leave their tensors, one read after the other: the checker must be able to follow the pass.
#include <fmt/format.h>

#include <random>
#include <set>

#include "passes/fusion/fuse.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

// b reads a at 2 at most, and a reads X at 3 there, which is outside: found by random programs, of seed 7016278.
TEST(GroupReads, CellsOutsideANestedReadAreNotRequested) {
  Program program = lowered(
      "program p(X: f64[2]) -> (Y: f64[3]) {\n"
      "  a[i] = X[i + 1 else 1] for i in 0..3\n"
      "  b[i] = a[i + 2 else 2] for i in 0..3\n"
      "  Y[i] = b[i] + b[0] }");
  PlannedResult result = apply_fusions(program, {{PlannedFusion{{"a", "b", "Y"}, {"i"}}}});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(program, result);
}

// Of t[i, i + j] the first axis says where i is; the second alone would only say where i + j is.
TEST(GroupReads, DimOfTwoAxesIsBoundByBoth) {
  Program program = lowered(
      "program p(x: f32[4]) -> (y: f32[4]) {\n"
      "  t[i, i + j] = x[i] for i in 0..4, j in 0..4 - i\n"
      "  t[i, j] = f32(0) for i in 0..4, j in 0..i\n"
      "  y[i] = sum[j] t[j, i] }");
  PlannedResult result = apply_fusions(program, {{PlannedFusion{{"t@0", "t@1", "y"}, {"i", "j"}}}});
  ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
  expect_correct(program, result);
}

// A chain of maps of one or two dims. Each reads some cells of the one before it, which may be outside; it has one writer,
// two that write a part each (of a square also its triangles, one in skewed dims), or one that writes two cells on each point of i.
class RandomChain {
 public:
  explicit RandomChain(unsigned seed) : random_(seed), two_(number(0, 2) == 0) {
    extents_ = {number(1, 8), number(1, 6)};
    const std::string first = shape();
    std::string from = "X", body;
    for (std::int64_t maps = number(2, 5); maps > 0; --maps) {
      const std::string name = maps == 1 ? "Y" : "t" + std::to_string(maps);
      extents_ = {number(1, 8), number(1, 6)};
      body += maps == 1 ? writer(name, from, 0, extents_[0]) : writers(name, from);
      from = name;
    }
    text = "program p(X: f64" + first + ") -> (Y: f64" + shape() + ") {\n" + body + "}\n";
    line.operations.push_back("Y");
    line.dims = {"i"};
    if (two_ && number(0, 4)) line.dims = {"i", "j"};
  }
  std::string text;
  PlannedFusion line;

 private:
  std::int64_t number(std::int64_t first, std::int64_t end) {
    return first + static_cast<std::int64_t>(random_() % static_cast<unsigned>(end - first));
  }
  std::string shape() const {
    return "[" + std::to_string(extents_[0]) + (two_ ? ", " + std::to_string(extents_[1]) : "") + "]";
  }

  std::string writers(const std::string& name, const std::string& from) {
    const std::int64_t all = extents_[0], kind = number(0, 6);
    if (kind == 0 && all > 1) {
      const std::int64_t middle = number(1, all);
      for (const char* part : {"@0", "@1"}) line.operations.push_back(name + part);
      return writer(name, from, 0, middle) + writer(name, from, middle, all);
    }
    if (kind >= 4 && two_) {
      extents_[1] = extents_[0];
      const std::string n = std::to_string(all);
      const bool down = number(0, 2) == 0;
      for (const char* part : {"@0", "@1"}) line.operations.push_back(name + part);
      return "  " + name + (down ? "[i + j, i]" : "[i, i + j]") + " = " + cells(from, "i") + " for i in 0.." + n +
             ", j in 0.." + n + " - i\n  " + name + (down ? "[j, i]" : "[i, j]") + " = " + cells(from, "i") +
             " for i in 0.." + n + ", j in 0..i\n";
    }
    line.operations.push_back(name);
    if (kind == 1 && all % 2 == 0)
      return "  " + name + "[2*i + r" + (two_ ? ", j]" : "]") + " = " + cells(from, "i + r") + " for i in 0.." +
             std::to_string(all / 2) + ", r in 0..2" + over_j();
    return writer(name, from, 0, all);
  }
  std::string writer(const std::string& name, const std::string& from, std::int64_t first, std::int64_t end) {
    const std::string row = first == 0 ? "i" : "i + " + std::to_string(first);
    return "  " + name + "[" + row + (two_ ? ", j]" : "]") + " = " + cells(from, "i") + " for i in 0.." +
           std::to_string(end - first) + over_j();
  }
  std::string over_j() const { return (two_ ? ", j in 0.." + std::to_string(extents_[1]) : "") + "\n"; }

  std::string cells(const std::string& from, const std::string& row) {
    std::string sum;
    for (std::int64_t reads = number(1, 4); reads > 0; --reads) {
      std::string coordinates = coordinate(row);
      if (two_) {
        const std::string other = coordinate("j");
        if (number(0, 4)) coordinates += ", " + other;
        else coordinates = fmt::format("{}, {}", other, coordinates);
      }
      sum += fmt::format("{}{}[{} else {}]", sum.empty() ? "" : " + ", from, coordinates, number(-3, 4));
    }
    return sum;
  }
  std::string coordinate(const std::string& dim) {
    const std::int64_t kind = number(0, 8), far = number(-4, 5);
    const std::string offset = " + " + std::to_string(far);
    if (kind == 0) return std::to_string(far);
    if (kind == 1) return std::to_string(far + 4) + " - (" + dim + ")";
    if (kind == 2) return "2*(" + dim + ")" + offset;
    if (kind == 3 && two_) return "i + j" + offset;
    if (kind == 4 && two_) return "i - j" + offset;
    return dim + offset;
  }

  std::mt19937 random_;
  bool two_;
  std::vector<std::int64_t> extents_;
};

using Cells = std::set<Point>;

template <class Visit>
void for_each_point(const Box& box, Visit visit) {
  for (std::optional<Point> p = first_point(box); p;) {
    visit(*p);
    if (!next_point(box, *p)) return;
  }
}
Point cell_of(const Access& access, const Point& p) {
  Point cell;
  for (const Range& range : access.projection.image(p).dims) cell.push_back(range.lo);
  return cell;
}

// Cell by cell: what one point of a group needs of each value inside.
std::vector<Cells> needed(const Program& program, const Operator& group, const Point& at) {
  const Graph& inner = program[group.region()->graph];
  std::vector<Cells> needed(inner.values.size());
  for (std::size_t o = inner.operations.size(); o-- > 0;) {
    const Operation& operation = inner.operations[o];
    const Operator& op = program[operation.op];
    const bool last = operation.results[0] == inner.outputs[0];
    Box box = op.box();
    for (const GroupAnchor& a : group.region()->anchors)
      if (a.operation == o) box.dims[a.inner_dim] = {at[a.dim], at[a.dim] + 1};
    const Domain domain{box, op.constraints};
    for_each_point(box, [&](const Point& p) {
      if (!domain.contains(p)) return;
      if (!last && !needed[operation.results[0].index()].contains(cell_of(op.writes[0], p))) return;
      for (const Access& read : op.reads) {
        const Point cell = cell_of(read, p);
        if (Box::of_shape(op.operands[read.tensor].shape).contains(cell))
          needed[operation.operands[read.tensor].index()].insert(cell);
      }
    });
  }
  return needed;
}
bool reads_all_needed(const Program& program, const Operator& group) {
  const ValueId input = program[group.region()->graph].inputs[0];
  bool all = true;
  for_each_point(group.box(), [&](const Point& p) {
    const std::vector<Cells> values = needed(program, group, p);
    const Box declared = group.reads[0].projection.image(p);
    for (const Point& cell : values[input.index()]) all = all && declared.contains(cell);
  });
  return all;
}

// What the pass declares is enough, and believed. With a row of cells less it is refused where some cell is then missing.
TEST(GroupReads, ChainsOfReadsThatLeaveTheirTensors) {
  int fused = 0, too_little = 0;
  for (unsigned seed = 2000; seed < 2400; ++seed) {
    const RandomChain chain(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + chain.text);
    Program program = lowered(chain.text);
    PlannedResult result = apply_fusions(program, {{chain.line}});
    if (!result.problems.empty()) continue;
    ++fused;
    expect_correct(program, result);
    Operator& group = result.program.operators[result.program[result.program.main].operations[0].op.index()];
    EXPECT_TRUE(reads_all_needed(result.program, group));
    const Projection declared = group.reads[0].projection;
    for (std::size_t axis = 0; axis < declared.rank(); ++axis)
      for (const bool from_front : {true, false}) {
        Projection& less = group.reads[0].projection = declared;
        if (--less.shape[axis] < 0) continue;
        less.start.rows[axis].offset += from_front;
        if (reads_all_needed(result.program, group)) continue;
        ++too_little;
        check::Verdict verdict;
        check::check_step(program, result.program, result.steps[0], "fuse", verdict);
        EXPECT_TRUE(verdict.refused()) << "axis " << axis;
      }
  }
  EXPECT_GE(fused, 300);
  EXPECT_GE(too_little, 100);
}

}  // namespace
}  // namespace tap::passes::test
