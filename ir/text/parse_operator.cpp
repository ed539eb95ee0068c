#include <fmt/format.h>

#include "ir/text/parse_program.h"
#include "ir/text_names.h"

namespace tap::ir::parsing {
namespace {

// Every affine expression has one coefficient per dim: a megabyte of text must not allocate gigabytes.
constexpr std::size_t most_dims = 1000;

}  // namespace

void OperatorSection::take(std::string_view keyword, Line& line) {
  if (has_body_) line.fail("unexpected line after the body of an operator");
  if (keyword == "dim") {
    dim(line);
  } else if (keyword == "where") {
    op_.constraints.push_back(line.constraint(variables()));
  } else if (keyword == "block") {
    op_.blockings.push_back(blocking(line));
  } else if (keyword == "operand") {
    op_.operands.push_back(line.tensor_type());
  } else if (keyword == "result") {
    op_.results.push_back(line.tensor_type());
  } else if (keyword == "operands" || keyword == "results") {
    line.expect_word("named");
    (keyword == "operands" ? op_.operand_names : op_.result_names) = line.list("(", ")", [&] { return line.name(); });
  } else if (keyword == "cell") {
    parse_cell(line, op_.exprs, references_);
  } else if (keyword == "read") {
    access(line, op_.reads, op_.operands.size());
  } else if (keyword == "write") {
    access(line, op_.writes, op_.results.size());
  } else {
    body(keyword, line);
    has_body_ = true;
  }
}

// dim k 0..16 reduce keep level 1
void OperatorSection::dim(Line& line) {
  if (!op_.constraints.empty() || !op_.reads.empty() || !op_.writes.empty())
    line.fail("a dim must precede lines that depend on all dims");
  IndexDim dim;
  dim.name = line.name();
  dim.range = line.range();
  dim.role = line.word_of(words::roles, "role of a dim");
  dim.keep = line.eat_word("keep");
  if (line.eat_word("level")) dim.level = line.any_number();
  op_.dims.push_back(std::move(dim));
  if (op_.dims.size() > most_dims) line.fail(fmt::format("an operator has more than {} dims", most_dims));
}

// block 2 by 0 into 4
Blocking OperatorSection::blocking(Line& line) {
  Blocking b;
  b.dim = line.number_below(op_.dims.size(), "dims");
  line.expect_word("by");
  b.block_dim = line.number_below(op_.dims.size(), "dims");
  line.expect_word("into");
  b.blocks = line.blocks();
  return b;
}

const std::vector<std::string>& OperatorSection::variables() {
  if (variables_.size() != op_.dims.size()) variables_ = variable_names(op_);
  return variables_;
}

void OperatorSection::access(Line& line, std::vector<Access>& accesses, std::size_t tensors) {
  Access access;
  access.tensor = line.number_below(tensors, "tensors");
  access.projection.start.inputs = op_.dims.size();
  line.expect_word("at");
  access.projection.start.rows = line.list("[", "]", [&] { return line.affine(variables()); });
  line.expect_word("shape");
  access.projection.shape = line.integers();
  std::size_t rank = access.projection.start.rows.size();
  if (access.projection.shape.size() != rank)
    line.fail(fmt::format("the shape has rank {}, but the start has rank {}", access.projection.shape.size(), rank));
  auto coordinate = [&]() -> std::optional<CellId> {
    if (line.eat("_")) return std::nullopt;
    return line.cell_of(op_.exprs);
  };
  if (line.eat_word("by")) {
    access.coordinates = line.list("[", "]", coordinate);
    if (access.coordinates.size() != rank)
      line.fail(fmt::format("{} coordinates for rank {}", access.coordinates.size(), rank));
  }
  if (line.eat_word("else")) access.fill = line.cell_of(op_.exprs);
  if (line.eat_word("invariant"))
    access.invariant_dims = line.list("[", "]", [&] { return line.number_below(op_.dims.size(), "dims"); });
  accesses.push_back(std::move(access));
}

std::vector<CellId> OperatorSection::cells(Line& line) {
  return line.list("(", ")", [&] { return line.cell_of(op_.exprs); });
}

// 0 at 3.1
GroupAnchor OperatorSection::anchor(Line& line) {
  GroupAnchor a;
  a.dim = line.number_below(op_.dims.size(), "dims");
  line.expect_word("at");
  a.operation = line.any_number();
  line.expect(".");
  a.inner_dim = line.any_number();
  return a;
}

std::uint32_t OperatorSection::reference(Line& line, Reference::Kind kind) {
  std::uint32_t number = line.any_number();
  references_.push_back({line.number(), number, kind});
  return number;
}

void OperatorSection::body(std::string_view keyword, Line& line) {
  if (keyword == "map") {
    op_.body = MapBody{cells(line)};
  } else if (keyword == "reduce") {
    MonoidId monoid(reference(line, Reference::monoid));
    op_.body = ReduceBody{monoid, cells(line)};
  } else if (keyword == "kernel") {
    KernelBody kernel;
    kernel.symbol = line.quoted_text();
    if (line.eat_word("flops")) kernel.flops = line.integer();
    if (line.eat_word("by")) kernel.reduced_by = MonoidId(reference(line, Reference::monoid));
    op_.body = std::move(kernel);
  } else if (keyword == "region") {
    RegionBody region;
    region.kind = line.word_of(words::regions, "kind of region");
    region.graph = GraphId(reference(line, Reference::graph));
    region.trips = line.range();
    if (line.eat_word("anchors")) region.anchors = line.list("[", "]", [&] { return anchor(line); });
    if (line.eat_word("or"))
      region.alternatives = line.list("[", "]", [&] {
        GraphId graph(reference(line, Reference::graph));
        return Alternative{graph, line.quoted_text()};
      });
    op_.body = region;
  } else if (keyword == "transfer") {
    op_.body = TransferBody{};
  } else {
    line.fail(fmt::format("unexpected `{}` in an operator", keyword));
  }
}

void OperatorSection::finish(const Line& last) const {
  if (!has_body_) last.fail("an operator has no body");
  for (std::size_t k = 0; k < op_.exprs.size(); ++k) {
    const CellNode& node = op_.exprs[CellId(k)];
    std::size_t limit = node.op == CellOp::index ? op_.dims.size() : op_.reads.size();
    if ((node.op == CellOp::index || node.op == CellOp::read) && node.attribute >= limit)
      last.fail(fmt::format("{} {} of {}", info(node.op).name, node.attribute, limit));
    if (node.op == CellOp::argument || node.op == CellOp::reduce) last.fail("an operator's cell belongs in a monoid");
  }
}

}  // namespace tap::ir::parsing
