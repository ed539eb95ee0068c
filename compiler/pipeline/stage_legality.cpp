#include "compiler/pipeline/stage_legality.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "check/check.h"
#include "compiler/frontend/proofs/legality.h"
#include "compiler/pipeline/line_span.h"
#include "ir/graph.h"
#include "ir/text_names.h"
#include "support/checked.h"
#include "support/exit_code.h"

namespace tap::pipeline {

namespace {

using namespace ir;

// A block dim splits others into blocks that tile them, so each of their points is in one block. A write that uses only
// the dim writes each cell once; a read that uses the block is in bounds if it is for all blocks.
Operator without_blocks(Operator op) {
  for (const Blocking& b : std::exchange(op.blockings, {}))
    for (Access& write : op.writes) {
      auto speaks = [&](const AffineExpr& row) { return row.coefficients[b.block_dim] != 0; };
      const auto& rows = write.projection.start.rows;
      const bool known = std::ranges::count(write.invariant_dims, b.block_dim) > 0;
      const bool parallel = op.dims[b.block_dim].role == DimRole::parallel;
      if (parallel && !known && std::ranges::none_of(rows, speaks)) write.invariant_dims.push_back(b.block_dim);
    }
  return op;
}

std::string point_of(const Operator& op, const Point& point) {
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < point.size() && d < op.dims.size(); ++d)
    parts.push_back(fmt::format("{}={}", op.dims[d].name, point[d]));
  return parts.empty() ? "the only index point" : fmt::format("{}", fmt::join(parts, ", "));
}

class StageLegality {
 public:
  StageLegality(const SourceMap& sources, FileId file, const Program& program)
      : sources_(sources), file_(file), program_(program) {
    for (const Operator& op : program.operators) operators_.push_back(without_blocks(op));
  }

  void run() {
    for (std::size_t g = 0; g < program_.graphs.size(); ++g) sizes(g);
    for (std::size_t o = 0; o < operators_.size(); ++o) blocks(o), reads(o);
    for (std::size_t g = 0; g < program_.graphs.size(); ++g)
      for (std::size_t v = 0; v < program_.graphs[g].values.size(); ++v) writes(g, v);
    check::Verdict verdict;
    check::check_source(program_, true, verdict);
    for (const check::Finding& finding : verdict.findings)
      if (finding.standing == check::Standing::refused)
        refuse(Code::bad_stage, 1, fmt::format("{}: {}", finding.where, finding.detail));
  }

 private:
  [[noreturn]] void refuse(Code code, std::size_t line, const std::string& what) const {
    throw Failure{exit_code::wrong_program,
                  Diagnostic(code, error_span(sources_.file(file_), file_, {line, what}), what)};
  }
  // The first line with this beginning, from line `from` on; `from` itself if there is none.
  std::size_t line_of(const std::string& begin, std::size_t from = 1) const {
    const std::string& text = sources_.file(file_).text();
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
      if (line >= from && text.compare(at, begin.size(), begin) == 0) return line;
      at = text.find('\n', at);
      if (at == text.npos) break;
      ++at;
    }
    return from;
  }
  std::size_t line_of_operator(std::size_t o) const { return line_of(fmt::format("operator {} ", o)); }
  std::size_t line_of_value(std::size_t g, std::size_t v) const {
    return line_of(fmt::format("  value {} ", v), line_of(fmt::format("graph {} ", g)));
  }

  // The bytes of a value must fit in 64 bits.
  void sizes(std::size_t g) const {
    for (std::size_t v = 0; v < program_.graphs[g].values.size(); ++v) {
      const Value& value = program_.graphs[g].values[v];
      std::int64_t bytes = static_cast<std::int64_t>(size_of(value.type.element));
      for (std::int64_t extent : value.type.shape)
        if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes))
          refuse(
              Code::overflow, line_of_value(g, v),
              fmt::format("`{}` is {}; its size in bytes does not fit in 64 bits", value.name, to_string(value.type)));
    }
  }

  // A write at a dim and at the numbers of its blocks would leave out the cells of all other pairs.
  void blocks(std::size_t o) const {
    const Operator& op = program_.operators[o];
    if (op.region() || op.transfer()) return;
    for (const Blocking& b : op.blockings)
      for (const Access& write : op.writes) {
        const auto& rows = write.projection.start.rows;
        auto follows = [&](std::uint32_t d) {
          return std::ranges::any_of(rows, [d](const AffineExpr& row) { return row.coefficients[d] != 0; });
        };
        if (follows(b.dim) && follows(b.block_dim))
          refuse(Code::never_written, line_of_operator(o),
                 fmt::format("`{}` writes at {} and at {}, the number of its block: other cells are never written",
                             op.name, op.dims[b.dim].name, op.dims[b.block_dim].name));
      }
  }

  void reads(std::size_t o) {
    const Operator& op = operators_[o];
    if (op.region() || op.transfer()) return;  // a transfer moves only cells in bounds
    for (const auto* accesses : {&op.reads, &op.writes})
      for (const Access& access : *accesses) try {
          if (!op.box().empty()) access.projection.bounds(op.box());
        } catch (const Overflow&) {
          refuse(Code::overflow, line_of_operator(o),
                 fmt::format("a coordinate of `{}` does not fit in 64 bits", op.name));
        }
    decide(line_of_operator(o), [&] {
      const auto found = legality_.check_reads(op);
      if (!found) return;
      const Shape& shape = op.operands[op.reads[found->read].tensor].shape;
      refuse(Code::read_outside, line_of_operator(o),
             fmt::format("at {}, read {} of `{}` reads cell [{}] of a tensor of shape {}", point_of(op, found->point),
                         found->read, op.name, fmt::join(found->cell, ", "), to_string(shape)));
    });
  }

  template <class Run>
  void decide(std::size_t line, Run run) const {
    try {
      run();
    } catch (const Undecided& undecided) {
      refuse(Code::legality_undecided, line, undecided.what());
    } catch (const Overflow&) { refuse(Code::overflow, line, "a coordinate does not fit in 64 bits"); }
  }

  // A region or a transfer is the only writer of a value; the writes of inner graphs are checked separately, and moved
  // cells by check_source.
  void writes(std::size_t g, std::size_t v) {
    const Graph& graph = program_.graphs[g];
    if (std::ranges::count(graph.inputs, ValueId(v)) > 0) return;
    std::vector<Writer> writers;
    std::size_t results = 0, whole = 0;
    for (const Operation& operation : graph.operations)
      for (std::size_t r = 0; r < operation.results.size(); ++r) {
        if (operation.results[r] != ValueId(v)) continue;
        const Operator& op = operators_[operation.op.index()];
        ++results;
        whole += op.region() || op.transfer();
        for (std::uint32_t w = 0; w < op.writes.size(); ++w)
          if (op.writes[w].tensor == r) writers.push_back({&op, w});
      }
    const std::size_t line = line_of_value(g, v);
    if (whole > 0 && results > 1)
      refuse(Code::written_twice, line, fmt::format("all of `{}` is written more than once", graph.values[v].name));
    if (whole > 0) return;
    decide(line, [&] {
      const Shape& shape = graph.values[v].type.shape;
      auto found = legality_.check_writes(shape, writers);
      if (found && std::holds_alternative<NeverWritten>(*found))
        if (const auto readers = readers_of(graph, ValueId(v))) {  // partials of a part of a value are that part alone
          const auto cell = legality_.unwritten_read(shape, writers, *readers);
          found = cell ? std::optional<Violation>(NeverWritten{*cell}) : std::nullopt;
        }
      if (found) std::visit([&](const auto& violation) { report(graph.values[v], line, writers, violation); }, *found);
    });
  }
  // None if the whole value is used.
  std::optional<std::vector<Reader>> readers_of(const Graph& graph, ValueId v) const {
    if (std::ranges::count(graph.outputs, v) > 0) return std::nullopt;
    std::vector<Reader> readers;
    for (const Operation& operation : graph.operations)
      for (std::uint32_t k = 0; k < operation.operands.size(); ++k) {
        if (operation.operands[k] != v) continue;
        const Operator& op = operators_[operation.op.index()];
        const std::size_t before = readers.size();
        for (std::uint32_t r = 0; r < op.reads.size(); ++r)
          if (op.reads[r].tensor == k) readers.push_back({&op, r});
        if (readers.size() == before) return std::nullopt;
      }
    return readers;
  }
  void report(const Value&, std::size_t, const std::vector<Writer>&, const ReadOutside&) const {}
  void report(const Value& value, std::size_t line, const std::vector<Writer>& writers, const WrittenTwice& v) const {
    const Operator &first = *writers[v.first].op, &second = *writers[v.second].op;
    refuse(
        Code::written_twice, line,
        fmt::format("cell [{}] of `{}` is written by `{}` at {} and by `{}` at {}", fmt::join(v.cell, ", "), value.name,
                    first.name, point_of(first, v.first_point), second.name, point_of(second, v.second_point)));
  }
  void report(const Value& value, std::size_t line, const std::vector<Writer>& writers, const WriteOutside& v) const {
    const Operator& op = *writers[v.writer].op;
    refuse(Code::write_outside, line,
           fmt::format("at {}, `{}` writes cell [{}] of `{}`, whose shape is {}", point_of(op, v.point), op.name,
                       fmt::join(v.cell, ", "), value.name, to_string(value.type.shape)));
  }
  void report(const Value& value, std::size_t line, const std::vector<Writer>&, const NeverWritten& v) const {
    refuse(Code::never_written, line,
           fmt::format("cell [{}] of `{}` is never written", fmt::join(v.cell, ", "), value.name));
  }

  const SourceMap& sources_;
  const FileId file_;
  const Program& program_;
  std::vector<Operator> operators_;
  Legality legality_;
};

}  // namespace

void require_legal(const SourceMap& sources, FileId file, const Program& program) {
  StageLegality(sources, file, program).run();
}

}  // namespace tap::pipeline
