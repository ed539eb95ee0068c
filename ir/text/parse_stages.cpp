#include <fmt/format.h>

#include <utility>

#include "ir/graph.h"
#include "ir/text/parse_line.h"
#include "ir/text/stage_text.h"

namespace tap::ir {

namespace {

// Calls `take` for every nonempty line after the header.
template <class Take>
void each_line(std::string_view text, std::string_view header, std::int64_t version, Take take) {
  bool started = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    Line line(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.at_end()) continue;
    if (started) {
      take(line.word(), line);
    } else {
      line.expect(header);
      if (line.integer() != version) line.fail(fmt::format("the version of the text must be {}", version));
      started = true;
    }
    line.expect_end();
  }
  if (!started) throw TextFailure{0, "the text is empty"};
}

Box box(Line& line) {
  return {line.list("[", "]", [&] { return line.range(); })};
}
Row row(Line& line) {
  Row levels;
  while (line.eat_word("times")) {
    const std::int64_t count = line.integer();
    line.expect_word("by");
    levels.push_back({count, line.list("(", ")", [&] { return line.integer(); })});
  }
  return levels;
}
std::int64_t number_in_row(Line& line) { return line.eat("#") ? line.integer() : 0; }
std::size_t number_after(Line& line, std::string_view word) {
  line.expect_word(word);
  return line.any_number();
}
void expect_number(Line& line, std::size_t expected) {
  std::size_t number = line.any_number();
  if (number != expected) line.fail(fmt::format("found number {}, expected {}", number, expected));
}

class BlockParser {
 public:
  std::vector<BlockGraph> run(std::string_view text) {
    each_line(text, "tap-blocks", 1, [this](std::string_view keyword, Line& line) { take(keyword, line); });
    return std::move(graphs_);
  }

 private:
  void take(std::string_view keyword, Line& line) {
    if (keyword == "graph") {
      expect_number(line, graphs_.size());
      graphs_.emplace_back();
      graphs_.back().graph = GraphId(graphs_.size() - 1);
      return;
    }
    if (graphs_.empty()) line.fail(fmt::format("`{}` before the first graph", keyword));
    BlockGraph& graph = graphs_.back();
    if (keyword == "held") held(line, graph);
    else if (keyword == "devices") graph.devices = line.list("[", "]", [&] { return line.integer(); });
    else if (keyword == "inputs") graph.inputs = ids(line);
    else if (keyword == "output") graph.outputs.push_back(ids(line));
    else if (keyword == "apply") graph.tasks.emplace_back(application(line));
    else if (keyword == "move") graph.tasks.emplace_back(move(line));
    else line.fail(fmt::format("`{}` does not begin a line of a block graph", keyword));
  }

  static std::int64_t device(Line& line) { return line.eat_word("device") ? line.integer() : everywhere; }
  static HeldMember held_member(Line& line) {
    HeldId id(line.any_number());
    return {id, number_in_row(line)};
  }
  static std::vector<HeldMember> held_members(Line& line) {
    return line.list("(", ")", [&] { return held_member(line); });
  }
  static std::vector<HeldId> ids(Line& line) {
    return line.list("(", ")", [&] { return HeldId(line.any_number()); });
  }
  static void held(Line& line, BlockGraph& graph) {
    expect_number(line, graph.held.size());
    ValueId value(number_after(line, "value"));
    Box cells = box(line);
    const std::int64_t by = device(line);
    graph.held.push_back({value, by, std::move(cells), row(line)});
  }
  static Application application(Line& line) {
    Application a{OperationId(line.any_number()), everywhere, {}, {}, {}};
    line.expect_word("on");
    a.box = box(line);
    a.device = device(line);
    a.operands = held_members(line);
    line.expect("->");
    a.results = held_members(line);
    a.row = row(line);
    return a;
  }
  static Move move(Line& line) {
    OperationId transfer(line.any_number());
    Box cells = box(line);
    line.expect_word("from");
    const HeldMember from = held_member(line);
    line.expect_word("to");
    const HeldMember to = held_member(line);
    return {transfer, from, to, std::move(cells), row(line)};
  }

  std::vector<BlockGraph> graphs_;
};

class ScheduleParser {
 public:
  Schedule run(std::string_view text) {
    each_line(text, "tap-schedule", 3, [this](std::string_view keyword, Line& line) { take(keyword, line); });
    if (s_.kernels.size() != kernels_)
      throw TextFailure{0, fmt::format("{} kernels, but {} lines that describe them", kernels_, s_.kernels.size())};
    return std::move(s_);
  }

 private:
  void take(std::string_view keyword, Line& line) {
    if (keyword == "kernels") head(line);
    else if (keyword == "kernel_of") kernels(line);
    else if (keyword == "prepares") prepares(line);
    else if (keyword == "kernel" && s_.sequences.empty()) kernel(line);
    else if (keyword == "preparation") s_.preparation = line.any_number();
    else if (keyword == "input") s_.inputs.push_back(tensor(line));
    else if (keyword == "output") s_.outputs.push_back(tensor(line));
    else if (keyword == "operation") operation(line);
    else if (keyword == "sequence") expect_number(line, s_.sequences.size()), s_.sequences.emplace_back();
    else if (keyword == "batch" && !s_.sequences.empty()) s_.sequences.back().emplace_back();
    else if (keyword == "outside" && s_.sequences.empty()) s_.outside.push_back(line.quoted_text());
    else if (s_.sequences.empty() && keyword.starts_with('b')) buffer(keyword, line);
    else if (s_.sequences.empty() || s_.sequences.back().empty())
      line.fail(fmt::format("`{}` before the first batch", keyword));
    else s_.sequences.back().back().push_back(task(keyword, line));
  }

  void head(Line& line) {
    kernels_ = line.any_number();
    line.expect(",");
    line.expect_word("arena");
    s_.arena_bytes = line.integer();
    line.expect_word("bytes");
    line.expect(",");
    line.expect_word("prepared");
    s_.prepared_bytes = line.integer();
    line.expect_word("bytes");
  }
  void kernels(Line& line) {
    s_.kernel_of = line.list("[", "]", [&] {
      return line.eat_word("none") ? std::optional<std::size_t>() : std::optional<std::size_t>(line.any_number());
    });
    s_.prepared.resize(s_.kernel_of.size());
  }
  void prepares(Line& line) {
    std::size_t op = line.number_below(s_.prepared.size(), "operators");
    std::uint32_t operand = static_cast<std::uint32_t>(number_after(line, "operand"));
    std::size_t kernel = number_after(line, "by");
    line.expect_word("as");
    Preparation p{operand, kernel, line.tensor_type()};
    line.expect_word("over");
    p.dims = line.list("(", ")", [&] {
      const std::uint32_t dim = line.any_number();
      if (line.eat_word("by")) p.along = dim, p.step = line.integer();
      return dim;
    });
    s_.prepared[op].push_back(std::move(p));
  }
  void kernel(Line& line) {
    expect_number(line, s_.kernels.size());
    ScheduledKernel k;
    line.expect_word("of");
    k.computes = OperatorId(line.any_number());
    if (line.eat_word("packs")) k.packs = line.any_number();
    if (line.eat_word("on")) {
      line.expect_word("any");
      line.expect_word("box");
      k.any_box = true;
    }
    if (line.eat_word("cut")) {
      k.tile_dim = line.any_number();
      line.expect_word("by");
      k.grain = line.integer();
    }
    s_.kernels.push_back(k);
  }
  static ProgramTensor tensor(Line& line) {
    ProgramTensor t{line.name(), {}, false};
    line.expect(":");
    t.type = line.tensor_type();
    t.constant = line.eat_word("const");
    return t;
  }
  void operation(Line& line) {
    expect_number(line, s_.operations.size());
    ScheduledOperation& o = s_.operations.emplace_back();
    line.expect_word("of");
    while (true) {
      OperationId number(line.any_number());
      std::uint32_t alternative = line.eat(":") ? line.any_number() : 0;
      if (!line.eat("/")) {
        o.what.operation = number;
        break;
      }
      o.what.path.push_back({number, alternative});
    }
    line.expect_word("is");
    o.name = line.name();
    line.expect_word("writes");
    o.result = line.name();
    line.expect_word("over");
    o.dims = line.list("(", ")", [&] {
      std::string name = line.name();
      return ScheduledOperation::Dim{std::move(name), line.eat_word("hidden")};
    });
    line.expect_word("from");
    o.operands = line.list("(", ")", [&] {
      std::string name = line.name();
      return std::pair<std::string, Shape>(std::move(name), line.integers());
    });
  }

  static BufferId buffer_id(Line& line) { return BufferId(buffer_number(line.word(), line)); }
  static std::size_t buffer_number(std::string_view word, Line& line) {
    if (!word.starts_with('b')) line.fail("a buffer is missing");
    Line digits(word.substr(1), line.number());
    std::size_t number = digits.any_number();
    digits.expect_end();
    return number;
  }
  static BufferMember buffer_member(Line& line) {
    const BufferId id = buffer_id(line);
    return {id, number_in_row(line)};
  }
  static std::vector<BufferMember> buffers(Line& line) {
    return line.list("(", ")", [&] { return buffer_member(line); });
  }
  void buffer(std::string_view word, Line& line) {
    std::size_t number = buffer_number(word, line);
    if (number != s_.buffers.size()) line.fail(fmt::format("found b{}, expected b{}", number, s_.buffers.size()));
    Buffer b{"", line.element(), box(line), {}, 0, {}};
    b.space = line.word_of(words::memory_spaces, "place of a buffer");
    b.at = line.integer();
    b.row = row(line);
    s_.buffers.push_back(std::move(b));
  }

  ScheduledTask task(std::string_view keyword, Line& line) {
    ScheduledTask t;
    if (keyword == "kernel") t.what = kernel_call(line);
    else if (keyword == "copy") t.what = copy(line);
    else if (keyword == "fill") t.what = fill(line);
    else if (keyword == "outside") t.what = outside_call(line);
    else if (keyword == "iterate") t.what = iteration(line);
    else line.fail(fmt::format("`{}` is not a task", keyword));
    if (line.eat(",")) {
      line.expect_word("parts");
      t.tiles = line.integer();
    }
    return t;
  }
  static KernelCall kernel_call(Line& line) {
    KernelCall call;
    call.kernel = line.any_number();
    call.operations = number_after(line, "of");
    line.expect_word("on");
    call.box = box(line);
    call.buffers = buffers(line);
    if (line.eat_word("counters"))
      call.counters = line.list("(", ")", [&] {
        std::uint32_t dim = line.any_number();
        line.expect(":");
        return Counter{dim, line.any_number()};
      });
    line.expect(",");
    call.tiles = line.integer();
    line.expect_word("tiles");
    call.row = row(line);
    return call;
  }
  static CopyBox copy(Line& line) {
    Box cells = box(line);
    line.expect_word("from");
    const BufferMember from = buffer_member(line);
    line.expect_word("to");
    const BufferMember to = buffer_member(line);
    return {from, to, std::move(cells), row(line)};
  }
  static Fill fill(Line& line) {
    const BufferMember buffer = buffer_member(line);
    line.expect_word("with");
    const Scalar value = line.scalar(line.element());
    return {buffer, value, row(line)};
  }
  static OutsideCall outside_call(Line& line) {
    OutsideCall call;
    call.outside = line.any_number();
    call.operation = number_after(line, "of");
    line.expect_word("on");
    call.box = box(line);
    line.expect_word("of");
    call.extents = line.integers();
    call.regions = buffers(line);
    call.row = row(line);
    return call;
  }
  static Iteration iteration(Line& line) {
    Iteration loop;
    loop.steps = line.range();
    loop.operation = number_after(line, "of");
    line.expect_word("by");
    loop.body = number_after(line, "sequence");
    loop.states = line.list("(", ")", [&] {
      ExchangedState one{line.any_number(), {}, {}};
      line.expect_word("in");
      one.now = buffer_id(line);
      line.expect_word("and");
      one.next = buffer_id(line);
      return one;
    });
    return loop;
  }

  Schedule s_;
  std::size_t kernels_ = 0;
};

}  // namespace

std::variant<std::vector<BlockGraph>, TextError> parse_blocks(std::string_view text) {
  try {
    return BlockParser().run(text);
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

std::variant<Schedule, TextError> parse_schedule(std::string_view text) {
  try {
    return ScheduleParser().run(text);
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

std::variant<StageValue, TextError> parse_stage(std::string_view text) {
  using Result = std::variant<StageValue, TextError>;
  auto any = [](auto parsed) {
    auto* error = std::get_if<TextError>(&parsed);
    return error ? Result(std::move(*error)) : Result(StageValue(std::move(std::get<0>(parsed))));
  };
  if (text.starts_with("tap-blocks")) return any(parse_blocks(text));
  return text.starts_with("tap-schedule") ? any(parse_schedule(text)) : any(parse_program(text));
}

}  // namespace tap::ir
