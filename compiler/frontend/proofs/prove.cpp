#include "compiler/frontend/proofs/prove.h"

#include <algorithm>

#include "compiler/frontend/elaborate/several_writers.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/proofs/legality_reads.h"
#include "compiler/frontend/proofs/uncounted_guards.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap {
namespace {

std::string point_text(const ir::Operator& op, const std::optional<ir::OperationNames>& names, const ir::Point& point) {
  std::string text;
  for (std::size_t i = 0; i < point.size() && i < op.dims.size(); ++i)
    text += (i ? ", " : "") + own_dim_name(op, names, i) + "=" + std::to_string(point[i]);
  return text;
}

std::string cell_text(const std::string& name, const ir::Point& cell) {
  std::string text = name + "[";
  for (std::size_t i = 0; i < cell.size(); ++i) text += (i ? ", " : "") + std::to_string(cell[i]);
  return text + "]";
}

// The name before the bracket of a read's source, for example x of x[i - 1].
std::string base_of(const Elaboration& elaboration, Span span) {
  std::string text = source_of(elaboration, span);
  return text.substr(0, text.find_first_of(" [("));
}

// x of `read x at [i - 1] shape [1]`
std::string input_of(const Elaboration& elaboration, Span span) {
  constexpr const char* spaces = " \t\r\n";
  std::string text = source_of(elaboration, span);
  std::size_t begin = text.find_first_not_of(spaces, text.find_first_of(spaces));
  if (begin == std::string::npos) return "its input";
  return text.substr(begin, text.find_first_of(spaces, begin) - begin);
}

// If an equation's range is too long, its writes are out of bounds, too.
bool writes_outside(const ir::Operator& op, const ir::Point& point) {
  return std::any_of(op.writes.begin(), op.writes.end(), [&](const ir::Access& write) {
    ir::Box cell = write.projection.image(point), all = ir::Box::of_shape(op.results[write.tensor].shape);
    return !all.contains(cell);
  });
}

// The texts between a read's brackets, one for each axis; none if packs or line ends make the axes ambiguous.
std::vector<std::string> index_texts(const Elaboration& elaboration, Span span, std::size_t rank) {
  std::string text = source_of(elaboration, span);
  std::size_t open = text.find('[');
  if (text != elaboration.sources.text(span) || open == std::string::npos || !text.ends_with(']')) return {};
  if (text.find("..") != std::string::npos) return {};
  std::vector<std::string> parts{""};
  int depth = 0;
  for (char c : text.substr(open + 1, text.size() - open - 2)) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == ',' && depth == 0) parts.emplace_back();
    else if (c != ' ' || !parts.back().empty()) parts.back() += c;
  }
  return parts.size() == rank ? parts : std::vector<std::string>{};
}

std::string read_text(const std::string& name, const std::vector<std::string>& indices) {
  std::string text = name + "[";
  for (std::size_t i = 0; i < indices.size(); ++i) text += (i ? ", " : "") + indices[i];
  return text + "]";
}

// x[j, i] for x[i, j]: the index that is out of bounds has exactly the range of another axis, and exchanged both are in
// bounds.
std::optional<std::string> exchanged(const ir::Operator& op, const ReadOutside& v, const std::string& name,
                                     std::vector<std::string> indices) {
  const ir::Access& access = op.reads[v.read];
  const Shape& shape = op.operands[access.tensor].shape;
  std::vector<ir::Range> runs;
  for (const ir::AffineExpr& row : access.projection.start.rows) runs.push_back(row.bounds(op.box()));
  if (!coordinate_cells(access).empty() || runs.size() != shape.size() || indices.size() != shape.size()) return {};
  auto covers = [&](std::size_t index, std::size_t axis) { return runs[index] == ir::Range{0, shape[axis]}; };
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (v.cell[a] >= 0 && v.cell[a] < shape[a]) continue;
    for (std::size_t b = 0; b < shape.size(); ++b) {
      if (a == b || !covers(a, b) || !covers(b, a)) continue;
      std::swap(indices[a], indices[b]);
      return read_text(name, indices);
    }
  }
  return std::nullopt;
}

// x[-1] for the last cell of x.
std::optional<std::string> from_the_end(const ir::Operator& op, const ReadOutside& v, const std::string& name,
                                        std::vector<std::string> indices) {
  const ir::Access& access = op.reads[v.read];
  const Shape& shape = op.operands[access.tensor].shape;
  bool any = false;
  for (std::size_t a = 0; a < indices.size() && a < shape.size(); ++a) {
    bool literal = indices[a].size() > 1 && indices[a][0] == '-' &&
                   indices[a].find_first_not_of("0123456789", 1) == std::string::npos;
    if (!literal || v.cell[a] + shape[a] < 0) continue;
    indices[a] = std::to_string(shape[a]) + " - " + indices[a].substr(1);
    any = true;
  }
  return any ? std::optional(read_text(name, indices)) : std::nullopt;
}

// c[i] = a[i] next to c[2 + i] = b[i]: the variable of the axis that is out of bounds runs over all of c, and should
// run over all of a.
std::optional<std::string> range_that_fits(const ir::Operator& op, const std::optional<ir::OperationNames>& names,
                                           const ReadOutside& v, const ast::Equation& equation) {
  const ir::Access& access = op.reads[v.read];
  const Shape& shape = op.operands[access.tensor].shape;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    if (v.cell[a] >= 0 && v.cell[a] < shape[a]) continue;
    const ir::AffineExpr& row = access.projection.start.rows[a];
    auto dim = (row - ir::AffineExpr::constant(op.dims.size(), row.offset)).as_variable();
    if (!dim || op.dims[*dim].role != ir::DimRole::parallel) return std::nullopt;
    std::string name = own_dim_name(op, names, *dim);
    for (const ast::RangeVar& range : equation.ranges)
      if (range.name.text == name) return std::nullopt;
    const ir::Range all = op.dims[*dim].range;
    std::int64_t lo = std::max(all.lo, -row.offset), hi = std::min(all.hi, shape[a] - row.offset);
    if (lo >= hi) return std::nullopt;
    return name + " in " + std::to_string(lo) + ".." + std::to_string(hi);
  }
  return std::nullopt;
}

// Conditions that the proof ignores, and that may exclude the witness.
std::vector<Span> ignored_guards(const ir::Operator& op, const std::optional<ir::OperationNames>& names, Span read,
                                 const ast::Module& module) {
  std::vector<std::string> variables;
  for (std::size_t i = 0; i < op.dims.size(); ++i) variables.push_back(own_dim_name(op, names, i));
  return uncounted_guards(module, read, variables);
}

// Without this note the message would seem wrong.
void note_ignored(const Elaboration& elaboration, Diagnostic& d, const std::vector<Span>& guards) {
  for (Span guard : guards) {
    d.label(guard, "not affine");
    d.note("the condition " + quoted(source_of(elaboration, guard)) + " is not affine, so the proof ignores it");
  }
}

void report_read(Elaboration& elaboration, const ir::Operator& op, const std::optional<ir::OperationNames>& names,
                 const ReadOutside& v, Span span, Span statement, const ast::Module& module) {
  const ir::Access& access = op.reads[v.read];
  const Shape& shape = op.operands[access.tensor].shape;
  bool kernel = op.kernel() != nullptr;
  std::string name = kernel ? input_of(elaboration, span) : base_of(elaboration, span);
  const std::vector<Span> guards = kernel ? std::vector<Span>() : ignored_guards(op, names, span, module);
  const std::string point = point_text(op, names, v.point), at = point.empty() ? "" : "at " + point + " ";
  const std::string cell = quoted(cell_text(name, v.cell));
  Diagnostic d(Code::read_outside, span,
               guards.empty()
                   ? at + "this reads " + cell + ", but the shape of " + quoted(name) + " is " + to_string(shape)
                   : "cannot prove that this stays inside " + quoted(name) + ", of shape " + to_string(shape) + ": " +
                         at + "it would read " + cell);
  d.at_caret(guards.empty() ? "reads outside" : "may read outside");
  note_ignored(elaboration, d, guards);
  if (!kernel && writes_outside(op, v.point)) {
    d.help("narrow the range: the cell that is written there is outside, too");
    elaboration.fail(std::move(d));
  }
  if (const ast::Equation* equation = kernel ? nullptr : equation_with_other_writers(module, statement)) {
    if (auto range = range_that_fits(op, names, v, *equation)) {
      std::string end = (equation->ranges.empty() ? " for " : ", ") + *range;
      d.help("other equations write the rest of " + quoted(equation->left[0].base.text) +
             "; give this one its range: " + quoted("…" + end));
      d.fix({statement.file, statement.end, statement.end}, end);
      elaboration.fail(std::move(d));
    }
  }
  auto indices = kernel ? std::vector<std::string>{} : index_texts(elaboration, span, shape.size());
  if (auto fix_text = exchanged(op, v, name, indices)) {
    d.help("did you mean " + quoted(*fix_text) + "?").fix(span, *fix_text);
    elaboration.fail(std::move(d));
  }
  if (auto fix_text = from_the_end(op, v, name, indices)) {
    d.help("indices start at 0; from the end, write " + quoted(*fix_text) +
           ", the size minus the offset; if the size is a dim, write its name");
    elaboration.fail(std::move(d));
  }
  if (kernel) {
    d.help("append `else 0` to the region: cells outside are then 0");
  } else {
    ElementType type = op.operands[access.tensor].element;
    std::string fill = is_bool(type) ? "false" : "0";
    d.help("give a value for cells outside: " + quoted("… else " + fill + "]") + ", or narrow the range");
    if (span.valid() && elaboration.sources.text(span).ends_with(']'))
      d.fix({span.file, span.end - 1, span.end}, " else " + fill + "]");
  }
  elaboration.fail(std::move(d));
}

// y[0] = 1 and y[i] = x[i]: the second equation writes a whole 1-d result, whose first or last cell the other writes.
// The remaining range: for i in 1..8
std::optional<std::string> remaining_range(const Elaboration& elaboration, const WriterAt& writer, const Shape& shape,
                                           const ir::Point& cell) {
  const ir::Operator& op = elaboration.program[writer.op];
  std::size_t parallel = 0, dim = 0;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::parallel) ++parallel, dim = d;
  if (shape.size() != 1 || parallel != 1 || op.dims[dim].range != ir::Range{0, shape[0]}) return std::nullopt;
  const ir::AffineExpr& row = op.writes[writer.write].projection.start.rows[0];
  if (!op.constraints.empty() || !(row == ir::AffineExpr::variable(op.dims.size(), dim))) return std::nullopt;
  std::int64_t lo = cell[0] == 0, hi = shape[0] - (cell[0] == shape[0] - 1);
  if (lo + hi == 0 || lo >= hi || (lo == 0 && hi == shape[0])) return std::nullopt;
  return "for " + op.dims[dim].name + " in " + std::to_string(lo) + ".." + std::to_string(hi);
}

// t=1: the counters of the trip that omits a cell, by their names in the source.
std::string trip_text(const Elaboration& elaboration, const std::vector<WriterAt>& writers,
                      const NeverWritten& violation) {
  std::string text;
  for (auto [level, value] : violation.trip) {
    std::string name;
    for (const WriterAt& writer : writers) {
      const ir::Operator& op = elaboration.program[writer.op];
      for (std::size_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == ir::DimRole::counter && op.dims[d].level == level && name.empty())
          name = own_dim_name(op, writer.names, d);
    }
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  }
  return text;
}

void report_writes(Elaboration& elaboration, const std::string& name, Span declared, const Shape& shape,
                   const std::vector<WriterAt>& writers, const Violation& violation) {
  auto point = [&](std::uint32_t writer, const ir::Point& at) {
    const std::string text = point_text(elaboration.program[writers[writer].op], writers[writer].names, at);
    return text.empty() ? "" : "at " + text;
  };
  auto where = [&](std::uint32_t writer, const ir::Point& at) {
    const std::string text = point(writer, at);
    return text.empty() ? "by a statement without index variables" : text;
  };
  if (auto* v = std::get_if<WrittenTwice>(&violation)) {
    bool one = v->first == v->second;
    Diagnostic d(Code::written_twice, writers[v->second].span,
                 "overlapping writes: " + quoted(cell_text(name, v->cell)) + " is written " +
                     where(v->first, v->first_point) + " and " + (one ? "again " : "") +
                     where(v->second, v->second_point));
    if (!one) d.label(writers[v->first].span, "also written here");
    if (declared.valid()) d.label(declared, "declared here");
    if (auto rest = remaining_range(elaboration, writers[v->second], shape, v->cell); rest && !one)
      elaboration.fail(std::move(d).help("exclude that cell: " + quoted("… " + *rest)));
    elaboration.fail(
        std::move(d).help("every cell must be written exactly once; write a sum over an index as `sum[k] …`"));
  }
  if (auto* v = std::get_if<NeverWritten>(&violation)) {
    Diagnostic d(Code::never_written,
                 declared.valid()  ? declared
                 : writers.empty() ? declared
                                   : writers.back().span,
                 (v->trip.empty() ? "" : "at " + trip_text(elaboration, writers, *v) + " ") + "the cell " +
                     quoted(cell_text(name, v->cell)) + " is never written; the shape of " + quoted(name) + " is " +
                     to_string(shape));
    for (const auto& writer : writers)
      if (!(writer.span == d.span)) d.label(writer.span, writers.size() == 1 ? "the only writer" : "a writer");
    elaboration.fail(
        std::move(d).help("every cell must be written exactly once; write the remaining cells with another equation"));
  }
  if (auto* v = std::get_if<WriteOutside>(&violation)) {
    const std::string at = point(v->writer, v->point);
    Diagnostic d(Code::write_outside, writers[v->writer].span,
                 (at.empty() ? "" : at + " ") + "this writes " + quoted(cell_text(name, v->cell)) +
                     ", but the shape of " + quoted(name) + " is " + to_string(shape));
    if (declared.valid()) d.label(declared, "declared here");
    elaboration.fail(std::move(d));
  }
}

struct OverflowAt {
  std::string point;    // i=7
  std::string product;  // 4 * i
};

// If a product alone overflows 64 bits.
std::optional<OverflowAt> product_that_overflows(const ir::Operator& op, const std::optional<ir::OperationNames>& names,
                                                 const ir::AffineExpr& row) {
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    for (std::int64_t at : {op.dims[d].range.lo, op.dims[d].range.hi - 1}) {
      std::int64_t product;
      if (__builtin_mul_overflow(row.coefficients[d], at, &product))
        return OverflowAt{own_dim_name(op, names, d) + "=" + std::to_string(at),
                          std::to_string(row.coefficients[d]) + " * " + own_dim_name(op, names, d)};
    }
  }
  return std::nullopt;
}

[[noreturn]] void report_overflow(Elaboration& elaboration, const ir::Operator& op,
                                  const std::optional<ir::OperationNames>& names, const ir::Access& read, Span span) {
  const bool kernel = op.kernel() != nullptr;
  std::string what = "an index of " + quoted(source_of(elaboration, span));
  for (const ir::AffineExpr& row : read.projection.start.rows)
    if (auto at = product_that_overflows(op, names, row)) {
      what = "at " + at->point + " the index " + quoted(at->product) + " of " +
             quoted(kernel ? input_of(elaboration, span) : base_of(elaboration, span));
      break;
    }
  elaboration.fail(Diagnostic(Code::overflow, span, what + " does not fit in 64 bits"));
}

void report_undecided(Elaboration& elaboration, const Undecided& undecided, Span span) {
  Diagnostic d(Code::legality_undecided, span, undecided.what());
  elaboration.fail(std::move(d).help(
      "write the equation over fewer index variables, or with coefficients that nest: 12*i + 4*j + k"));
}

}  // namespace

void prove_reads(Elaboration& elaboration, ir::OperatorId id, const std::optional<ir::OperationNames>& names,
                 const std::vector<Span>& spans, Span statement, const ast::Module& module) {
  if (elaboration.reads_proved.size() <= id.index()) elaboration.reads_proved.resize(id.index() + 1, false);
  if (elaboration.reads_proved[id.index()]) return;
  const ir::Operator& op = elaboration.program[id];
  // Coordinates are computed even if a fill replaces cells out of bounds: they must fit, else Overflow is thrown.
  for (std::size_t r = 0; r < op.reads.size(); ++r) {
    try {
      op.reads[r].projection.bounds(op.box());
    } catch (const Overflow&) {
      report_overflow(elaboration, op, names, op.reads[r], r < spans.size() ? spans[r] : statement);
    }
  }
  try {
    if (auto violation = elaboration.legality.check_reads(op))
      report_read(elaboration, op, names, *violation,
                  violation->read < spans.size() ? spans[violation->read] : statement, statement, module);
  } catch (const Undecided& undecided) { report_undecided(elaboration, undecided, statement); }
  elaboration.reads_proved[id.index()] = true;
}

void prove_writes(Elaboration& elaboration, const std::string& name, Span declared, const Shape& shape,
                  const std::vector<WriterAt>& writers) {
  bool sole = writers.size() == 1;
  auto key = sole ? std::pair(writers[0].op, writers[0].write) : std::pair(ir::OperatorId(), 0u);
  if (sole && elaboration.write_proved.count(key)) return;
  std::vector<Writer> list;
  for (const auto& writer : writers) list.push_back({&elaboration.program[writer.op], writer.write});
  try {
    if (auto violation = elaboration.legality.check_writes(shape, list))
      report_writes(elaboration, name, declared, shape, writers, *violation);
  } catch (const Undecided& undecided) {
    report_undecided(elaboration, undecided, writers.empty() ? declared : writers.back().span);
  }
  if (sole) elaboration.write_proved[key] = true;
}

}  // namespace tap
