// The parser of the text form, with one part for each kind of section.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/placement.h"
#include "ir/text/parse_line.h"

namespace tap::ir::parsing {

// Numbers of items that may be defined later in the text; checked at the end.
struct Reference {
  std::size_t line;
  std::uint32_t number;
  enum Kind : std::uint8_t { monoid, operator_, graph } kind;
};
using References = std::vector<Reference>;

// cell 2 = mul f32 (0, 1)
void parse_cell(Line& line, CellExprs& exprs, References& references);

// The sections: `take` reads the rest of a line whose first word has been read, `finish` checks the whole.
class MonoidSection {
 public:
  MonoidSection(Monoid& monoid, References& references) : monoid_(monoid), references_(references) {}
  void take(std::string_view keyword, Line& line);
  void finish(const Line& last) const;

 private:
  CellExprs& exprs() { return monoid_.fold ? monoid_.fold->exprs : monoid_.exprs; }
  std::vector<CellId> cells(Line& line, std::size_t count);

  Monoid& monoid_;
  References& references_;
};

class OperatorSection {
 public:
  OperatorSection(Operator& op, References& references) : op_(op), references_(references) {}
  void take(std::string_view keyword, Line& line);
  void finish(const Line& last) const;

 private:
  void dim(Line& line);
  Blocking blocking(Line& line);
  GroupAnchor anchor(Line& line);
  void access(Line& line, std::vector<Access>& accesses, std::size_t tensors);
  void body(std::string_view keyword, Line& line);
  std::vector<CellId> cells(Line& line);
  const std::vector<std::string>& variables();
  std::uint32_t reference(Line& line, Reference::Kind kind);

  Operator& op_;
  References& references_;
  std::vector<std::string> variables_;
  bool has_body_ = false;
};

class GraphSection {
 public:
  GraphSection(Graph& graph, const std::vector<Mesh>& meshes, References& references)
      : graph_(graph), meshes_(meshes), references_(references) {}
  void take(std::string_view keyword, Line& line);

 private:
  void value(Line& line);
  void operation(Line& line);
  void split(Line& line);
  void mesh_axis(Line& line, SplitRequest& split);
  BlockPlacement placement(Line& line);
  std::vector<ValueId> values(Line& line);

  Graph& graph_;
  const std::vector<Mesh>& meshes_;
  References& references_;
};

}  // namespace tap::ir::parsing
