#include "compiler/driver/show/program_diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "compiler/driver/show/graph_text.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"

namespace tap::driver {
namespace {

// One operation of one of the programs.
struct Item {
  ir::GraphId graph;
  ir::OperationId operation;
  std::string name;
  std::string path;
};

std::vector<Item> items_of(const ir::Program& program) {
  std::vector<Item> items;
  for (const auto& [graph, path] : ir::graph_paths(program)) {
    const std::vector<std::string> names = ir::operation_names(program[graph]);
    for (std::uint32_t o = 0; o < names.size(); ++o)
      items.push_back({graph, ir::OperationId(o), path + names[o], path});
  }
  return items;
}

const ir::Operation& of(const ir::Program& program, const Item& item) { return program[item.graph][item.operation]; }

bool same_values(const ir::Graph& a, const std::vector<ir::ValueId>& left, const ir::Graph& b,
                 const std::vector<ir::ValueId>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [&](ir::ValueId x, ir::ValueId y) {
    return a[x].name == b[y].name && a[x].type == b[y].type && a[x].sharding == b[y].sharding;
  });
}

// Bodies of regions have their own operations.
bool same_operator(const ir::Operator& a, const ir::Operator& b) {
  if (!a.region() || !b.region()) return a == b;
  return a.region()->kind == b.region()->kind && a.region()->trips == b.region()->trips &&
         a.region()->alternatives.size() == b.region()->alternatives.size();
}

bool same(const ir::Program& before, const Item& a, const ir::Program& after, const Item& b) {
  const ir::Operation &x = of(before, a), &y = of(after, b);
  return same_values(before[a.graph], x.operands, after[b.graph], y.operands) &&
         same_values(before[a.graph], x.results, after[b.graph], y.results) &&
         x.operand_shardings == y.operand_shardings && x.placements == y.placements &&
         same_operator(before[x.op], after[y.op]);
}

// Without the lines of the index space and of accesses, which the equation implies.
std::string short_text(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    const std::string line = text.substr(at, end + 1 - at);
    if (!line.starts_with("  index") && !line.starts_with("  read") && !line.starts_with("  write")) out += line;
    at = end + 1;
  }
  return out;
}

class Changes {
 public:
  Changes(const ir::Program& before, const ir::Program& after) : programs_{&before, &after} {
    const std::vector<Item> old = items_of(before), now = items_of(after);
    std::map<std::string_view, const Item*> by_name;
    for (const Item& item : old) by_name.emplace(item.name, &item);
    std::set<std::string_view> unchanged;
    for (const Item& item : now)
      if (auto found = by_name.find(item.name); found != by_name.end() && same(before, *found->second, after, item))
        unchanged.insert(found->second->name);
    for (const Item& item : old)
      if (!unchanged.contains(item.name)) items_.push_back({item, 0});
    for (const Item& item : now)
      if (!unchanged.contains(item.name)) items_.push_back({item, 1});
    group_.resize(items_.size());
    std::iota(group_.begin(), group_.end(), 0);
    connect();
  }

  std::vector<Change> list(std::size_t most, std::size_t most_of_side) {
    std::map<std::size_t, std::size_t> numbers;
    std::vector<Change> changes;
    const std::array<OperationText, 2> texts{operation_texts(*programs_[0]), operation_texts(*programs_[1])};
    for (std::size_t k = 0; k < items_.size(); ++k) {
      const auto [number, fresh] = numbers.try_emplace(root(k), changes.size());
      if (fresh) changes.emplace_back();
      const auto& [item, side] = items_[k];
      Change& change = changes[number->second];
      std::vector<ListedOperation>& list = side ? change.after : change.before;
      std::string text;
      if (number->second < most && list.size() < most_of_side)
        text = texts[side](programs_[side]->graphs[item.graph.index()], of(*programs_[side], item), item.name);
      list.push_back({item.name, std::move(text)});
    }
    for (Change& change : changes) shorten(change);
    return changes;
  }

 private:
  std::size_t root(std::size_t k) {
    while (group_[k] != k) k = group_[k] = group_[group_[k]];
    return k;
  }
  void join(std::size_t a, std::size_t b) { group_[std::max(root(a), root(b))] = std::min(root(a), root(b)); }

  // By their names, and by values that one of them writes and another one reads.
  void connect() {
    std::map<std::string, std::size_t> names, writers;
    for (std::size_t k = 0; k < items_.size(); ++k) {
      const auto& [item, side] = items_[k];
      if (auto [other, fresh] = names.try_emplace(item.name, k); !fresh) join(k, other->second);
      const ir::Graph& graph = (*programs_[side])[item.graph];
      for (ir::ValueId v : of(*programs_[side], item).results)
        if (auto [other, fresh] = writers.try_emplace(item.path + graph[v].name, k); !fresh) join(k, other->second);
    }
    for (std::size_t k = 0; k < items_.size(); ++k) {
      const auto& [item, side] = items_[k];
      const ir::Graph& graph = (*programs_[side])[item.graph];
      // The body of a region is part of its operation.
      if (!item.path.empty())
        if (auto around = names.find(item.path.substr(0, item.path.size() - 1)); around != names.end())
          join(k, around->second);
      for (ir::ValueId v : of(*programs_[side], item).operands)
        if (auto writer = writers.find(item.path + graph[v].name); writer != writers.end()) join(k, writer->second);
    }
  }

  // The equations alone, unless they do not show the change.
  static void shorten(Change& change) {
    Change shorter = change;
    std::vector<std::string> texts[2];
    for (auto* list : {&shorter.before, &shorter.after})
      for (ListedOperation& operation : *list) {
        operation.text = short_text(operation.text);
        texts[list == &shorter.after].push_back(operation.text);
      }
    if (texts[0] != texts[1]) change = std::move(shorter);
  }

  struct Sided {
    Item item;
    int side;  // 0: before
  };
  const ir::Program* programs_[2];
  std::vector<Sided> items_;  // that changed
  std::vector<std::size_t> group_;
};

std::string marked(const std::vector<ListedOperation>& list, char mark) {
  std::string text;
  for (const ListedOperation& operation : list)
    for (std::size_t at = 0; at < operation.text.size();) {
      const std::size_t end = std::min(operation.text.find('\n', at), operation.text.size() - 1);
      text += std::string(1, mark) + " " + operation.text.substr(at, end + 1 - at);
      at = end + 1;
    }
  return text;
}

}  // namespace

std::vector<Change> changes_between(const ir::Program& before, const ir::Program& after, std::size_t most,
                                    std::size_t most_of_side) {
  return Changes(before, after).list(most, most_of_side);
}

std::string diff_text(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes)
    text += (text.empty() ? "" : "\n") + marked(change.before, '-') + marked(change.after, '+');
  return text.empty() ? "nothing changed\n" : text;
}

}  // namespace tap::driver
