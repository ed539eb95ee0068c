#include "compiler/driver/machines/chosen_processors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "cost/machine/host.h"
#include "runtime/failure.h"

namespace tap::driver {
namespace {

using processors::Set;

constexpr int too_large = 1'000'000'000;  // of numbers with more digits

// Takes digits from the front.
std::optional<int> take_number(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return std::nullopt;
  int number = 0;
  for (const char digit : text.substr(0, digits))
    number = number >= too_large / 10 ? too_large : number * 10 + (digit - '0');
  text.remove_prefix(digits);
  return number;
}

// "3", "0-3".
std::optional<std::pair<int, int>> range_of(std::string_view text) {
  const auto first = take_number(text);
  auto last = first;
  if (first && text.starts_with('-')) {
    text.remove_prefix(1);
    last = take_number(text);
  }
  if (!last || !text.empty() || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

// 0-3,8
std::string text_of(const Set& set) {
  std::string text;
  for (int first = 0; first < Set::most; ++first) {
    if (!set.has(first)) continue;
    int last = first;
    while (last + 1 < Set::most && set.has(last + 1)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  return text;
}

std::string named(const char* what, const std::string& numbers) {
  return fmt::format("{}{} {}", what, numbers.find_first_of(",-") == numbers.npos ? "" : "s", numbers);
}

// What is in the ranges, and what of it the machine does not have.
struct Found {
  Set set, lacking;
  std::string beyond;  // the first number that no system has
};
Found found_in(const std::vector<std::pair<int, int>>& ranges, const Set& there) {
  Found found;
  for (const auto& [first, last] : ranges) {
    for (int number = first; number <= std::min(last, Set::most - 1); ++number)
      (there.has(number) ? found.set : found.lacking).add(number);
    if (last >= Set::most && found.beyond.empty()) found.beyond = std::to_string(std::max(first, Set::most));
  }
  return found;
}

void require_there(const Found& found, const char* what, const Set& there, const std::string& from) {
  const std::string lacking = found.lacking.count() > 0 ? text_of(found.lacking) : found.beyond;
  if (lacking.empty()) return;
  throw resource_failure(Code::no_processor, fmt::format("{}: this machine has no {}", from, named(what, lacking)),
                         fmt::format("it has {}", named(what, text_of(there))));
}

[[noreturn]] void refuse(const std::string& from, const Set& refused, const Processors& here) {
  throw resource_failure(Code::no_processor,
                         fmt::format("{}: this process may not use {}", from, named("processor", text_of(refused))),
                         fmt::format("its affinity mask allows {}; a launcher, `taskset` or a container has set it",
                                     named("processor", text_of(here.allowed))));
}

// Of the nodes that there are; a machine without nodes is one.
Set processors_of_nodes(const Set& nodes, const Processors& here) {
  Set all;
  for (int node = 0; node < Set::most; ++node) {
    Set own;
    if (nodes.has(node)) all.add(processors::read_node(node, here.folder.c_str(), own) ? own : here.online);
  }
  return all;
}

}  // namespace

std::optional<ProcessorList> read_processor_list(const std::string& text) {
  constexpr std::string_view node = "node:";
  ProcessorList list;
  if (text == "all") {
    list.all = true;
    return list;
  }
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    const bool is_node = one.starts_with(node);
    if (is_node) one.remove_prefix(node.size());
    const auto range = range_of(one);
    if (!range) return std::nullopt;
    (is_node ? list.nodes : list.processors).push_back(*range);
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return list;
}

Processors processors_here() {
  Processors here;
  if (!processors::read_set((here.folder + "/cpu/online").c_str(), here.online))
    for (int number = 0; number < std::min<long>(sysconf(_SC_NPROCESSORS_ONLN), Set::most); ++number)
      here.online.add(number);
  if (!processors::read_allowed(here.allowed)) here.allowed = here.online;
  return here;
}

ChosenProcessors choose(const ProcessorList& list, const std::string& from, const Processors& here, bool in_job) {
  if (list.all) return {here.allowed, false, true};
  Set nodes;
  if (!processors::read_nodes(here.folder.c_str(), nodes)) nodes.add(0);
  const Found named_nodes = found_in(list.nodes, nodes), named_processors = found_in(list.processors, here.online);
  require_there(named_nodes, "node", nodes, from);
  require_there(named_processors, "processor", here.online, from);
  ChosenProcessors chosen;
  const Set of_nodes = processors_of_nodes(named_nodes.set, here);
  chosen.is_whole = here.allowed.includes(of_nodes) && here.allowed.includes(named_processors.set);
  Set refused = named_processors.set;
  refused.drop(here.allowed);
  if (!in_job && refused.count() > 0) refuse(from, refused, here);
  chosen.set = of_nodes;
  chosen.set.add(named_processors.set);
  if (chosen.set.count() == 0)
    throw resource_failure(Code::no_processor,
                           fmt::format("{}: no processor is of {}", from, named("node", text_of(named_nodes.set))));
  refused = chosen.set;
  chosen.set.keep(here.allowed);
  if (chosen.set.count() == 0) refuse(from, refused, here);
  return chosen;
}

bool keep_to_processors(const ProcessorList& list, const std::string& from, bool in_job) {
  const ChosenProcessors chosen = choose(list, from, processors_here(), in_job);
  if (chosen.siblings) cost::count_siblings();
  else if (!processors::allow_only(chosen.set))
    throw resource_failure(Code::no_processor,
                           fmt::format("{}: the system refuses these processors: {}", from, system_reason(errno)));
  return (chosen.is_whole || !in_job) && !chosen.siblings;
}

}  // namespace tap::driver
