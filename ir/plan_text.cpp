#include "ir/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "ir/parse_line.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

std::string names(const std::vector<std::string>& list) {
  std::vector<std::string> written;
  for (const std::string& name : list) written.push_back(plan_name(name));
  return joined(written);
}

std::string text(const PlannedChoice& choice) {
  return fmt::format("choose {} {}", plan_name(choice.operation), choice.alternative);
}
std::string text(const PlannedSplit& split) {
  std::string out = fmt::format("split {} dim {} into {} over {}", plan_name(split.operation), plan_name(split.dim),
                                to_string(split.blocks), words::text_of(words::placements, split.placement));
  if (split.axis) out += fmt::format(" {}.{}", written_name(split.mesh), to_string(*split.axis));
  if (split.tree) out += fmt::format(" tree {}", *split.tree);
  return out;
}
std::string text(const PlannedFusion& fusion) {
  std::string out = "fuse " + names(fusion.operations);
  return fusion.dims.empty() ? out : out + " over " + names(fusion.dims);
}
std::string text(const PlannedUnroll& unroll) {
  return fmt::format("unroll {} {}", plan_name(unroll.operation), unroll.steps);
}

// What a name without quotes is made of: H, H.m, u/v2, Y@1, H#7, #2. A `//` is a comment.
std::size_t plain_length(std::string_view text) {
  std::size_t n = text.starts_with('#') ? 1 : 0;
  auto letters = [&] {
    std::size_t begin = n;
    while (n < text.size() && (is_identifier(text.substr(n, 1)) || (text[n] >= '0' && text[n] <= '9'))) ++n;
    return n - begin;
  };
  if (n == 0 && !is_identifier(text.substr(0, 1))) return 0;
  if (letters() == 0) return 0;
  constexpr std::string_view between = "./@#";
  while (n < text.size() && between.find(text[n]) != between.npos) {
    ++n;
    if (letters() == 0) return n - 1;
  }
  return n;
}

// The decisions of a text, line by line, with their places.
class PlanReader {
 public:
  explicit PlanReader(std::string_view text) : text_(text) {}

  PlanText read() {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    bool started = false;
    for (std::size_t number = 1; at_ < text_.size(); ++number) {
      std::size_t end = std::min(text_.find('\n', at_), text_.size());
      Line line(text_.substr(at_, end - at_), number);
      if (!line.at_end()) {
        if (started) read_decision(line);
        else read_version(line);
        line.expect_end();
        started = true;
      }
      at_ = std::min(end + 1, text_.size());
    }
    if (!started) throw TextFailure{1, "the plan is empty; it begins with `plan 1`"};
    return std::move(result_);
  }

 private:
  static void read_version(Line& line) {
    std::size_t begin = line.column();
    if (!line.eat_word("plan")) line.fail("a plan begins with `plan 1`");
    if (line.integer() != 1) line.fail_at(begin, "the plan's version is not 1");
  }

  void read_decision(Line& line) {
    result_.parts.emplace_back();
    result_.parts.back().push_back({PlanPart::whole, "", at_ + line.column(), 0});
    result_.plan.decisions.push_back(decision(line));
    result_.parts.back()[0].end = at_ + line.end_of_last();
  }

  Decision decision(Line& line) {
    std::size_t begin = line.column();
    std::string_view keyword = line.word();
    if (keyword == "choose") {
      PlannedChoice choice{name(line, PlanPart::operation)};
      choice.alternative = part(line, PlanPart::number, [&] { return line.any_number(); });
      return choice;
    }
    if (keyword == "split") return split(line);
    if (keyword == "fuse") {
      PlannedFusion fusion{names(line, PlanPart::operation)};
      if (line.eat_word("over")) fusion.dims = names(line, PlanPart::dim);
      return fusion;
    }
    if (keyword == "unroll") {
      PlannedUnroll unroll{name(line, PlanPart::operation)};
      unroll.steps = part(line, PlanPart::number, [&] { return line.bounded_integer(1, 1 << 20); });
      return unroll;
    }
    line.fail_at(begin, keyword.empty() ? "a line begins with choose, split, fuse or unroll"
                                        : fmt::format("`{}` is no decision; a line begins with choose, split, fuse or "
                                                      "unroll",
                                                      keyword));
  }

  // split H dim k into 4 over pod.model tree 2
  PlannedSplit split(Line& line) {
    PlannedSplit split;
    split.operation = name(line, PlanPart::operation);
    line.expect_word("dim");
    split.dim = name(line, PlanPart::dim);
    line.expect_word("into");
    split.blocks = part(line, PlanPart::number, [&] { return line.blocks(); });
    if (line.eat_word("over")) part(line, PlanPart::place, [&] { return place(line, split); });
    if (line.eat_word("tree")) split.tree = line.bounded_integer(2, 1 << 30);
    return split;
  }

  // threads, sequential, anywhere, pod.model, axis pod.model
  static bool place(Line& line, PlannedSplit& split) {
    std::size_t begin = line.column();
    std::string_view rest = line.rest();
    bool is_axis = rest.starts_with('"') || rest.substr(0, plain_length(rest)).find('.') != rest.npos;
    if (!is_axis) {
      std::string_view word = line.word();
      auto known = std::find_if(words::placements.begin(), words::placements.end(),
                                [word](const auto& entry) { return entry.text == word; });
      if (known == words::placements.end())
        line.fail_at(begin,
                     fmt::format("`{}` is no place for blocks; they go over threads, sequential, anywhere, or an "
                                 "axis of a mesh, as in pod.data",
                                 word.empty() ? rest.substr(0, rest.find(' ')) : word));
      split.placement = known->value;
      if (split.placement != Placement::mesh_axis) return true;
    }
    split.placement = Placement::mesh_axis;
    split.mesh = line.name();
    line.expect(".");
    split.axis = line.axis_ref();
    return true;
  }

  std::vector<std::string> names(Line& line, PlanPart kind) {
    std::vector<std::string> list;
    do list.push_back(name(line, kind));
    while (line.eat(","));
    return list;
  }

  std::string name(Line& line, PlanPart kind) {
    std::string found = part(line, kind, [&] {
      if (line.rest().starts_with('"')) return line.quoted_text();
      std::size_t length = plain_length(line.rest());
      return length ? std::string(line.take(length)) : line.name();  // which says that it is missing
    });
    result_.parts.back().back().name = found;
    return found;
  }

  // Reads a part and keeps its place.
  template <class Read>
  std::invoke_result_t<Read> part(Line& line, PlanPart kind, Read read) {
    std::size_t begin = line.column();
    auto value = read();
    result_.parts.back().push_back({kind, "", at_ + begin, at_ + line.end_of_last()});
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;  // the line's begin
  PlanText result_;
};

}  // namespace

bool is_plain_name(std::string_view name) { return !name.empty() && name != "_" && plain_length(name) == name.size(); }

std::string plan_name(const std::string& name) { return is_plain_name(name) ? name : quoted(name); }

std::string print(const Plan& plan) {
  std::string out = "plan 1\n";
  for (const Decision& d : plan.decisions) out += std::visit([](const auto& p) { return text(p); }, d) + "\n";
  return out;
}

std::variant<PlanText, TextError> parse_plan_text(std::string_view text) {
  try {
    return PlanReader(text).read();
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

std::variant<Plan, TextError> parse_plan(std::string_view text) {
  auto parsed = parse_plan_text(text);
  if (auto* error = std::get_if<TextError>(&parsed)) return std::move(*error);
  return std::move(std::get<PlanText>(parsed).plan);
}

const TextPart& part_of(const std::vector<TextPart>& parts, PlanPart part, std::string_view name) {
  for (const TextPart& p : parts)
    if (p.part == part && (name.empty() || p.name == name)) return p;
  return parts.front();
}

}  // namespace tap::ir
