// Parses the text of a kernel (backend/loops/loops_text.h) line by line; indentation gives the nesting.
#pragma once

#include "tests/kernel_text/parse_loop_cell.h"

namespace tap::backend {

class KernelParser {
 public:
  explicit KernelParser(std::string_view text);
  Kernel run();

 private:
  struct TextLine {
    std::size_t number, indent;
    std::string_view text;
  };
  ir::Line line() const { return {lines_[next_].text, lines_[next_].number}; }
  bool at_block(std::size_t indent) const { return next_ < lines_.size() && lines_[next_].indent >= indent; }
  std::uint32_t variable(ir::Line& line) const;
  std::vector<std::uint32_t> variables(ir::Line& line) {
    return line.list("(", ")", [&] { return variable(line); });
  }
  void add_variable(const std::string& name);
  void add_tensor(ir::Line& line);
  void first_line();
  void find_definitions();
  bool declaration();
  void local(ir::Line& line);
  void accumulator(ir::Line& line);
  void section_dims(ir::Line& line);

  std::vector<Statement> body(std::size_t indent);  // of a statement that is indented so far
  Statement statement();
  For loop(ir::Line& line, LoopKind kind);
  Guard guard(ir::Line& line);
  std::variant<Define, Let> let(ir::Line& line);
  void name_cell(ir::Line& line);
  std::variant<Assign, FoldLanes> assign(ir::Line& line);
  FoldLanes fold(ir::Line& line, std::vector<std::uint32_t> to);
  Store store(ir::Line& line);
  Prefetch prefetch(ir::Line& line);
  std::vector<ir::AffineExpr> coordinates(ir::Line& line) {
    return line.list("[", "]", [&] { return line.affine(kernel_.variables); });
  }
  std::vector<ir::CellId> values(ir::Line& line, std::size_t count);
  std::vector<std::uint32_t> slots(ir::Line& line);
  Bound bound(ir::Line& line, bool lower);
  std::vector<Bound> bounds(ir::Line& line, bool lower);
  CellParser cells(ir::Line& line) { return {line, kernel_, names_}; }

  std::vector<TextLine> lines_;
  std::size_t next_ = 0;
  Kernel kernel_;
  KernelNames names_;
};

}  // namespace tap::backend
