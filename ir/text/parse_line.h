// Parses one line of the text form, from left to right. Unexpected input throws a TextFailure that says what was
// expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operator.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text/text_tables.h"

namespace tap::ir {

struct TextFailure {
  std::size_t line;
  std::string message;
  std::size_t column = 0;  // bytes before it in the line
};

class Line {
 public:
  Line(std::string_view text, std::size_t number) : whole_(text), rest_(text), number_(number) { skip(); }

  std::size_t number() const { return number_; }
  std::size_t column() const { return whole_.size() - rest_.size(); }  // of the next item, or of the end
  std::size_t end_of_last() const { return end_of_last_; }             // where the last item ends
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }
  void expect_end();
  bool at_parenthesis() const { return rest_.starts_with('('); }
  [[noreturn]] void fail(const std::string& message) const { fail_at(column(), message); }
  [[noreturn]] void fail_at(std::size_t column, const std::string& message) const;

  bool eat(std::string_view symbol);  // punctuation
  void expect(std::string_view symbol);
  bool eat_word(std::string_view word);
  void expect_word(std::string_view word);
  std::string_view word();  // an identifier, or empty
  std::string_view take(std::size_t length);
  std::string name();  // an identifier or a quoted text
  std::string quoted_text();

  std::int64_t integer();
  std::uint64_t magnitude();  // digits
  std::uint32_t number_below(std::size_t limit, std::string_view what);
  template <class Id, class T>
  Id id_in(const std::vector<T>& table, std::string_view what) {
    return Id(number_below(table.size(), what));
  }
  CellId cell_of(const CellExprs& exprs) { return CellId(number_below(exprs.size(), "cells")); }
  std::uint32_t any_number();  // of an item that may be defined later in the text
  std::int64_t bounded_integer(std::int64_t least, std::int64_t greatest);
  Range range();
  Blocks blocks(std::string_view what = "a range");  // `what` is named if there are too few blocks
  ElementType element();
  TensorType tensor_type();
  Scalar scalar(ElementType type);
  AffineExpr affine(const std::vector<std::string>& variables);
  Constraint constraint(const std::vector<std::string>& variables);
  AxisName axis_name();
  AxisRef axis_of(const Mesh& mesh);                // refuses a name that the mesh does not have
  MeshId mesh_of(const std::vector<Mesh>& meshes);  // likewise
  Sharding sharding(const std::vector<Mesh>& meshes);

  // ( a, b, c )
  template <class Element>
  auto list(std::string_view open, std::string_view close, Element element) {
    std::vector<decltype(element())> result;
    expect(open);
    if (eat(close)) return result;
    do result.push_back(element());
    while (eat(","));
    expect(close);
    return result;
  }
  std::vector<std::int64_t> integers() {
    return list("[", "]", [this] { return integer(); });
  }

  template <class Table>
  auto word_of(const Table& table, std::string_view what) {
    std::size_t begin = column();
    std::string_view found = word();
    for (const auto& entry : table)
      if (entry.text == found) return entry.value;
    fail_at(begin, "`" + std::string(found) + "` is not a " + std::string(what));
  }

 private:
  void skip();  // blanks and comments, up to the end
  std::string ahead() const;
  std::vector<AxisRef> axes_in_braces(const Mesh& mesh, bool* open);
  std::size_t variable(const std::vector<std::string>& variables);

  std::string_view whole_, rest_;
  std::size_t number_;
  std::size_t end_of_last_ = 0;
};

}  // namespace tap::ir
