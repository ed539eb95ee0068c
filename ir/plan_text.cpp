#include <fmt/format.h>

#include "ir/parse_line.h"
#include "ir/plan.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

std::string names(const std::vector<std::string>& list) {
  std::vector<std::string> written;
  for (const std::string& name : list) written.push_back(written_name(name));
  return joined(written);
}

std::string text(const PlannedChoice& choice) {
  return fmt::format("choose {} {}", written_name(choice.operation), choice.alternative);
}
std::string text(const PlannedSplit& split) {
  std::string out = fmt::format("split {} dim {} into {} over {}", written_name(split.operation),
                                written_name(split.dim), to_string(split.blocks),
                                words::text_of(words::placements, split.placement));
  if (split.axis) out += fmt::format(" {}.{}", written_name(split.mesh), to_string(*split.axis));
  if (split.tree) out += fmt::format(" tree {}", *split.tree);
  return out;
}
std::string text(const PlannedFusion& fusion) {
  std::string out = "fuse " + names(fusion.operations);
  return fusion.dims.empty() ? out : out + " over " + names(fusion.dims);
}
std::string text(const PlannedUnroll& unroll) {
  return fmt::format("unroll {} {}", written_name(unroll.operation), unroll.steps);
}

std::vector<std::string> name_list(Line& line) {
  std::vector<std::string> list;
  do list.push_back(line.name());
  while (line.eat(","));
  return list;
}

// split H dim k into 4 over axis pod.model tree 2
PlannedSplit split(Line& line) {
  PlannedSplit split;
  split.operation = line.name();
  line.expect_word("dim");
  split.dim = line.name();
  line.expect_word("into");
  split.blocks = line.blocks();
  if (line.eat_word("over")) split.placement = line.word_of(words::placements, "placement");
  if (split.placement == Placement::mesh_axis) {
    split.mesh = line.name();
    line.expect(".");
    split.axis = line.axis_ref();
  }
  if (line.eat_word("tree")) split.tree = line.bounded_integer(2, 1 << 30);
  return split;
}

Decision decision(Line& line) {
  std::string_view keyword = line.word();
  if (keyword == "choose") {
    PlannedChoice choice{line.name()};
    choice.alternative = line.any_number();
    return choice;
  }
  if (keyword == "split") return split(line);
  if (keyword == "fuse") {
    PlannedFusion fusion{name_list(line)};
    if (line.eat_word("over")) fusion.dims = name_list(line);
    return fusion;
  }
  if (keyword == "unroll") {
    PlannedUnroll unroll{line.name()};
    unroll.steps = line.bounded_integer(1, 1 << 20);
    return unroll;
  }
  line.fail(fmt::format("`{}` is no decision; a line begins with choose, split, fuse or unroll", keyword));
}

}  // namespace

std::string print(const Plan& plan) {
  std::string out = "plan 1\n";
  for (const Decision& d : plan.decisions) out += std::visit([](const auto& p) { return text(p); }, d) + "\n";
  return out;
}

std::variant<Plan, TextError> parse_plan(std::string_view text) {
  Plan plan;
  std::size_t number = 0;
  bool started = false;
  try {
    while (!text.empty()) {
      std::size_t end = std::min(text.find('\n'), text.size());
      Line line(text.substr(0, end), ++number);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.at_end()) continue;
      if (started) {
        plan.decisions.push_back(decision(line));
      } else {
        line.expect_word("plan");
        if (line.integer() != 1) line.fail("the plan's version is not 1");
      }
      started = true;
      line.expect_end();
    }
    if (!started) return TextError{number, "the plan is empty"};
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message}; }
  return plan;
}

}  // namespace tap::ir
