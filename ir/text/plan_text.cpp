#include "ir/text/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ir/text/parse_line.h"
#include "ir/text_names.h"
#include "support/diagnostic.h"

namespace tap::ir {
namespace {

struct PlanFailure : TextFailure {
  std::string help;
};

constexpr std::int64_t most_devices = 1 << 24;
constexpr std::array<std::string_view, 8> keywords{"choose", "split", "place",       "fuse",
                                                   "unroll", "mesh",  "fast_reduce", "evaluations"};
constexpr std::int64_t most_evaluations = 1 << 30;

template <class List, class Text>
std::string near_one(std::string_view found, const List& list, Text text) {
  std::vector<std::string> candidates;
  for (const auto& item : list) candidates.emplace_back(text(item));
  auto near = did_you_mean(found, candidates);
  return near ? "did you mean `" + *near + "`?" : "";
}

// The decisions of a text, line by line, with their locations.
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
        refuse_other_comment(line);
        if (started) read_line(line);
        else read_version(line);
        refuse_other_comment(line);
        line.expect_end();
        started = true;
      }
      at_ = std::min(end + 1, text_.size());
    }
    if (!started) throw TextFailure{1, "the plan is empty; it must begin with `plan 2`"};
    return std::move(result_);
  }

 private:
  [[noreturn]] static void refuse(const Line& line, std::size_t column, std::string message, std::string help) {
    throw PlanFailure{{line.number(), std::move(message), column}, std::move(help)};
  }

  static void refuse_other_comment(const Line& line) {
    if (!line.rest().starts_with('#')) return;
    std::string_view comment = line.rest().substr(1);
    comment.remove_prefix(std::min(comment.find_first_not_of(" \t"), comment.size()));
    while (!comment.empty() && (comment.back() == '\r' || comment.back() == ' ')) comment.remove_suffix(1);
    refuse(line, line.column(), "comments begin with `//`", fmt::format("write `// {}`", comment));
  }

  static void read_version(Line& line) {
    std::size_t begin = line.column();
    if (!line.eat_word("plan")) line.fail("a plan must begin with `plan 2`");
    const std::int64_t version = line.integer();
    if (version == 1)
      refuse(line, begin,
             "plan version 1 is not supported; in version 2, `#` counts the operations of one name from 1, in source "
             "order: "
             "`Y.sum#1`, not `Y.sum#6`",
             "copy the names with a `#` from `tapc inspect --splits`, replace `Y.apart` by `Y.staged`, and write `plan "
             "2`");
    if (version != 2) line.fail_at(begin, "the version of the plan must be 2");
  }

  void read_line(Line& line) {
    const std::size_t begin = line.column();
    if (line.eat_word("mesh")) return result_.plan.meshes.push_back(mesh(line));
    if (line.eat_word("fast_reduce")) {
      if (std::exchange(result_.plan.fast_reduce, true)) line.fail_at(begin, "`fast_reduce` occurs twice");
      return;
    }
    if (!line.eat_word("evaluations")) return read_decision(line);
    if (result_.plan.evaluations) line.fail_at(begin, "`evaluations` occurs twice");
    result_.plan.evaluations = line.bounded_integer(0, most_evaluations);
  }

  // mesh grid = [x: 4, y: 2]
  Mesh mesh(Line& line) const {
    const std::size_t begin = line.column();
    Mesh mesh{line.name(), {}, {}};
    if (find_mesh(result_.plan.meshes, mesh.name))
      line.fail_at(begin, fmt::format("mesh `{}` occurs twice", mesh.name));
    line.expect("=");
    std::int64_t devices = 1;
    line.list("[", "]", [&] {
      const std::size_t column = line.column();
      MeshAxis axis{line.name(), 1};
      if (find_axis(mesh, axis.name)) line.fail_at(column, fmt::format("axis `{}` occurs twice", axis.name));
      line.expect(":");
      axis.size = line.bounded_integer(1, most_devices / devices);
      devices *= axis.size;
      mesh.axes.push_back(std::move(axis));
      return true;
    });
    if (mesh.axes.empty()) line.fail_at(begin, "a mesh needs an axis, as in `mesh grid = [x: 4, y: 2]`");
    return mesh;
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
    if (keyword == "place") return whole(line);
    if (keyword == "fuse") return fusion(line);
    if (keyword == "unroll") return unroll(line);
    refuse(line, begin,
           keyword.empty()
               ? "a line must begin with choose, split, place, fuse, unroll, mesh, fast_reduce or evaluations"
               : fmt::format("`{}` is not a decision; a line must begin with choose, split, place, fuse, "
                             "unroll, mesh, fast_reduce or evaluations",
                             keyword),
           near_one(keyword, keywords, [](std::string_view word) { return word; }));
  }

  // fuse H, H.m, Y over i
  PlannedFusion fusion(Line& line) {
    PlannedFusion fusion{names(line, PlanPart::operation), {}};
    if (std::size_t column = line.column(); plain_length(line.rest()) > 0 && !at_word(line, "over")) {
      std::string_view next = line.rest().substr(0, plain_length(line.rest()));
      while (plain_length(line.rest()) > 0 && !at_word(line, "over"))
        for (std::string& more : names(line, PlanPart::operation)) fusion.operations.push_back(std::move(more));
      if (line.eat_word("over")) fusion.dims = names(line, PlanPart::dim);
      refuse(line, column, fmt::format("`,` is missing before `{}`", next), "write `" + decision_text(fusion) + "`");
    }
    if (line.eat_word("over")) fusion.dims = names(line, PlanPart::dim);
    return fusion;
  }
  static bool at_word(const Line& line, std::string_view word) {
    return line.rest().substr(0, plain_length(line.rest())) == word;
  }

  // unroll u 4
  PlannedUnroll unroll(Line& line) {
    PlannedUnroll unroll{name(line, PlanPart::operation)};
    std::size_t column = line.column();
    bool by = line.eat_word("by");
    unroll.steps = part(line, PlanPart::number, [&] { return line.bounded_integer(1, 1 << 20); });
    if (by) refuse(line, column, "unexpected `by` before the number of trips", "write `" + decision_text(unroll) + "`");
    return unroll;
  }

  // split H dim k into 4 over pod.model tree 2, or as in a program: split H on axis 0 into [0..3, 3..8] over model
  PlannedSplit split(Line& line) {
    PlannedSplit split;
    split.operation = name(line, PlanPart::operation);
    split.dim = dim(line);
    line.expect_word("into");
    split.blocks = part(line, PlanPart::number, [&] { return blocks(line, split.dim); });
    if (line.eat_word("over")) part(line, PlanPart::placement, [&] { return placement(line, split); });
    if (at_word(line, "tree"))
      split.tree = part(line, PlanPart::tree, [&] {
        line.eat_word("tree");
        return line.bounded_integer(2, 1 << 30);
      });
    return split;
  }

  // place H over devices {0, 3}, place H at 2 over pod.data, or place H at 1 over devices {0}, {3}
  PlannedSplit whole(Line& line) {
    PlannedSplit all;
    all.operation = name(line, PlanPart::operation);
    all.all_at = 0;
    bool at = line.eat_word("at");
    if (at) all.all_at = part(line, PlanPart::number, [&] { return line.bounded_integer(0, most_devices); });
    line.expect_word("over");
    std::size_t begin = line.column();
    part(line, PlanPart::placement, [&] { return placement(line, all); });
    const auto sets = static_cast<std::int64_t>(all.devices.size());
    if (at ? !all.axis && *all.all_at >= sets : sets != 1)
      line.fail_at(begin,
                   "a whole operation is placed on one set of devices, or at one position of an axis or a list, as in "
                   "`place H over devices {0, 3}` and `place H at 2 over pod.data`");
    return all;
  }

  // {0, 1}, {2}
  static DeviceSets device_sets(Line& line) {
    DeviceSets sets;
    do {
      std::size_t begin = line.column();
      sets.push_back(line.list("{", "}", [&] { return line.bounded_integer(0, most_devices); }));
      std::vector<std::int64_t>& set = sets.back();
      std::sort(set.begin(), set.end());
      if (set.empty()) line.fail_at(begin, "a set of devices must not be empty");
      auto twice = std::adjacent_find(set.begin(), set.end());
      if (twice != set.end()) line.fail_at(begin, fmt::format("device {} occurs twice in one set", *twice));
    } while (line.eat(","));
    return sets;
  }

  // dim k, on k, on axis 0
  std::string dim(Line& line) {
    bool on = line.eat_word("on");
    if (!on) line.expect_word("dim");
    if (!on || !at_word(line, "axis")) return name(line, PlanPart::dim);
    std::string found = part(line, PlanPart::dim, [&] {
      line.eat_word("axis");
      return fmt::format("axis {}", line.bounded_integer(0, max_planned_axis));
    });
    return result_.parts.back().back().name = found;
  }

  // 4, [0, 3, 8], [0..3, 3..8]
  static Blocks blocks(Line& line, const std::string& dim) {
    std::string_view first = line.rest().substr(0, line.rest().find_first_of(",]"));
    if (!first.starts_with('[') || first.find("..") == first.npos)
      return line.blocks(dim.starts_with("axis ") ? dim : "dim `" + dim + "`");
    Blocks blocks{0, {}};
    line.expect("[");
    do {
      std::size_t begin = line.column();
      Range range = line.range();
      if (blocks.boundaries.empty()) blocks.boundaries.push_back(range.lo);
      if (range.lo != blocks.boundaries.back() || range.hi < range.lo)
        line.fail_at(begin, fmt::format("blocks must be contiguous: expected one that starts at {}, got {}..{}",
                                        blocks.boundaries.back(), range.lo, range.hi));
      blocks.boundaries.push_back(range.hi);
      ++blocks.count;
    } while (line.eat(","));
    line.expect("]");
    return blocks;
  }

  // threads, sequential, anywhere, devices {0, 1}, {2}, pod.model, axis pod.model, or model alone
  static bool placement(Line& line, PlannedSplit& split) {
    auto ahead = [&] { return line.rest().substr(0, plain_length(line.rest())); };
    std::string_view word = ahead();
    auto known = std::find_if(words::placements.begin(), words::placements.end(),
                              [word](const auto& entry) { return entry.text == word; });
    if (known != words::placements.end()) {
      line.take(word.size());
      split.placement = known->value;
      if (split.placement == Placement::devices) split.devices = device_sets(line);
      if (split.placement != Placement::mesh_axis) return true;
      word = ahead();
    }
    bool with_mesh = line.rest().starts_with('"') || word.find('.') != word.npos;
    std::string help = near_one(word, words::placements, [](const auto& entry) { return entry.text; });
    if (word.empty() ? !with_mesh : known == words::placements.end() && !with_mesh && !help.empty())
      refuse(line, line.column(), invalid_placement(word.empty() ? line.rest().substr(0, line.rest().find(' ')) : word),
             help);
    split.placement = Placement::mesh_axis;
    if (with_mesh) {
      split.mesh = line.name();
      line.expect(".");
    }
    split.axis = line.axis_name();
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
      return length ? std::string(line.take(length)) : line.name();  // which reports that it is missing
    });
    result_.parts.back().back().name = found;
    return found;
  }

  // Reads a part and records its location.
  template <class Read>
  std::invoke_result_t<Read> part(Line& line, PlanPart kind, Read read) {
    std::size_t begin = line.column();
    auto value = read();
    result_.parts.back().push_back({kind, "", at_ + begin, at_ + line.end_of_last()});
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;  // start of the line
  PlanText result_;
};

}  // namespace

std::variant<PlanText, PlanMistake> parse_plan_text(std::string_view text) {
  try {
    return PlanReader(text).read();
  } catch (const PlanFailure& failure) {
    return PlanMistake{{failure.line, failure.message, failure.column}, failure.help};
  } catch (const TextFailure& failure) { return PlanMistake{{failure.line, failure.message, failure.column}, ""}; }
}

const TextPart& part_of(const std::vector<TextPart>& parts, PlanPart part, std::string_view name) {
  for (const TextPart& p : parts)
    if (p.part == part && (name.empty() || p.name == name)) return p;
  return parts.front();
}

}  // namespace tap::ir
