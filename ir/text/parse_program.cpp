#include "ir/text/parse_program.h"

#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/text.h"

namespace tap::ir {
namespace {

using namespace parsing;

class ProgramParser {
 public:
  explicit ProgramParser(std::string_view text) : rest_(text) {}

  Program run() {
    bool started = false;
    std::size_t number = 0;
    while (!rest_.empty()) {
      std::size_t end = std::min(rest_.find('\n'), rest_.size());
      last_ = Line(rest_.substr(0, end), ++number);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (last_.at_end()) continue;
      if (started) take(last_);
      else header(last_);
      started = true;
      last_.expect_end();
    }
    if (!started) last_.fail("the text is empty");
    finish_section();
    check_references();
    return std::move(program_);
  }

 private:
  static void header(Line& line) {
    line.expect("tap-ir");
    if (line.integer() != 1) line.fail("the version of the text must be 1");
  }

  void take(Line& line) {
    std::string_view keyword = line.word();
    if (keyword == "monoid") {
      start(line, program_.monoids);
      section_.emplace<MonoidSection>(program_.monoids.back(), references_);
    } else if (keyword == "operator") {
      start(line, program_.operators);
      section_.emplace<OperatorSection>(program_.operators.back(), references_);
    } else if (keyword == "graph") {
      start(line, program_.graphs);
      section_.emplace<GraphSection>(program_.graphs.back(), program_.meshes, references_);
    } else if (keyword == "mesh") {
      leave();
      mesh(line);
    } else if (keyword == "rewrite") {
      leave();
      program_.rewrites.push_back({line.quoted_text()});
    } else if (keyword == "main") {
      leave();
      if (program_.main.valid()) line.fail("`main` occurs twice");
      program_.main = GraphId(line.any_number());
      references_.push_back({line.number(), static_cast<std::uint32_t>(program_.main.index()), Reference::graph});
    } else {
      in_section(keyword, line);
    }
  }

  void in_section(std::string_view keyword, Line& line) {
    if (auto* monoid = std::get_if<MonoidSection>(&section_)) return monoid->take(keyword, line);
    if (auto* op = std::get_if<OperatorSection>(&section_)) return op->take(keyword, line);
    if (auto* graph = std::get_if<GraphSection>(&section_)) return graph->take(keyword, line);
    line.fail(fmt::format("`{}` does not begin a section", keyword));
  }

  // operator 3 relu
  template <class T>
  void start(Line& line, std::vector<T>& table) {
    leave();
    std::size_t number = line.any_number();
    if (number != table.size()) line.fail(fmt::format("found number {}, expected {}", number, table.size()));
    table.emplace_back().name = line.name();
  }

  void leave() {
    finish_section();
    section_ = std::monostate();
  }

  void finish_section() {
    if (auto* monoid = std::get_if<MonoidSection>(&section_)) monoid->finish(last_);
    if (auto* op = std::get_if<OperatorSection>(&section_)) op->finish(last_);
  }

  // mesh pod [data: 4, model: 4] devices [0, 1]
  void mesh(Line& line) {
    Mesh mesh;
    mesh.name = line.name();
    mesh.axes = line.list("[", "]", [&] {
      std::string name = line.name();
      line.expect(":");
      return MeshAxis{std::move(name), line.integer()};
    });
    if (line.eat_word("devices")) mesh.devices = line.integers();
    program_.meshes.push_back(std::move(mesh));
  }

  void check_references() const {
    for (const Reference& r : references_) {
      std::size_t limit = r.kind == Reference::monoid      ? program_.monoids.size()
                          : r.kind == Reference::operator_ ? program_.operators.size()
                                                           : program_.graphs.size();
      constexpr std::string_view kinds[] = {"monoids", "operators", "graphs"};
      if (r.number >= limit)
        throw TextFailure{r.line, fmt::format("number {} of {} {}", r.number, limit, kinds[r.kind])};
    }
  }

  std::string_view rest_;
  Line last_{"", 0};
  Program program_;
  References references_;
  std::variant<std::monostate, MonoidSection, OperatorSection, GraphSection> section_;
};

}  // namespace

std::variant<Program, TextError> parse_program(std::string_view text) {
  try {
    return ProgramParser(text).run();
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

}  // namespace tap::ir
