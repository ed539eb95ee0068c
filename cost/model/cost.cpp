#include "cost/model/cost.h"

#include <algorithm>
#include <numeric>

#include "cost/model/term_names.h"

namespace tap::cost {
namespace {

// All single numbers of a cost, without the lists.
constexpr double Cost::*numbers[] = {
    &Cost::operations, &Cost::instructions, &Cost::loads,     &Cost::stores,     &Cost::rounds,  &Cost::calls,
    &Cost::messages,   &Cost::received,     &Cost::lanes,     &Cost::lanes_used, &Cost::compute, &Cost::waiting,
    &Cost::hidden,     &Cost::starting,     &Cost::imbalance, &Cost::latency,    &Cost::transfer};
constexpr std::vector<double> Cost::*lists[] = {&Cost::bytes, &Cost::moving, &Cost::own};

}  // namespace

double Cost::total() const {
  return compute + waiting + std::accumulate(moving.begin(), moving.end(), 0.0) - hidden + starting + imbalance +
         latency + transfer + std::accumulate(own.begin(), own.end(), 0.0);
}

Cost& Cost::operator+=(const Cost& other) {
  for (auto number : numbers) this->*number += other.*number;
  for (auto list : lists) {
    std::vector<double>& mine = this->*list;
    const std::vector<double>& its = other.*list;
    mine.resize(std::max(mine.size(), its.size()), 0);
    for (std::size_t k = 0; k < its.size(); ++k) mine[k] += its[k];
  }
  return *this;
}

Cost& Cost::operator*=(double times) {
  for (auto number : numbers) this->*number *= times;
  for (auto list : lists)
    for (double& one : this->*list) one *= times;
  return *this;
}

std::vector<Amount> terms_of(const Cost& cost, const Cluster& cluster, const Device& device) {
  std::vector<Amount> terms = {{"compute", cost.compute}, {"waiting", cost.waiting}};
  for (std::size_t l = 1; l < device.levels.size(); ++l)
    terms.push_back({device.levels[l].name, l < cost.moving.size() ? cost.moving[l] : 0});
  terms.push_back({"hidden", -cost.hidden});
  terms.push_back({"starting", cost.starting});
  terms.push_back({"imbalance", cost.imbalance});
  terms.push_back({"latency", cost.latency});
  terms.push_back({"transfer", cost.transfer});
  for (std::size_t t = 0; t < cost.own.size() && t < cluster.terms.size(); ++t)
    if (std::ranges::none_of(terms, [&](const Amount& a) { return a.name == cluster.terms[t].name; }))
      terms.push_back({cluster.terms[t].name, cost.own[t]});
  return terms;
}

std::vector<Amount> quantities_of(const Cost& cost, const Device& device) {
  std::vector<Amount> all = {{"operations", cost.operations},
                             {"instructions", cost.instructions},
                             {"loads", cost.loads},
                             {"stores", cost.stores},
                             {"rounds", cost.rounds},
                             {"calls", cost.calls},
                             {"messages", cost.messages},
                             {"received", cost.received},
                             {"lanes_used", cost.lanes > 0 ? cost.lanes_used / cost.lanes : 1}};
  for (std::size_t l = 1; l < device.levels.size(); ++l)
    all.push_back({"bytes_" + device.levels[l].name, l < cost.bytes.size() ? cost.bytes[l] : 0});
  return all;
}

std::vector<std::string> built_in_terms(const Device& device) {
  Cost none;
  none.moving.resize(device.levels.size(), 0);
  std::vector<std::string> names;
  for (const Amount& term : terms_of(none, {}, device)) names.push_back(term.name);
  return names;
}

std::vector<std::string> names_for_formulas(const Device& device) {
  Cost none;
  none.bytes.resize(device.levels.size(), 0);
  std::vector<std::string> names = built_in_terms(device);
  for (const Amount& amount : quantities_of(none, device)) names.push_back(amount.name);
  return names;
}

bool replace_term(Cost& cost, const Device& device, const std::string& name, double seconds) {
  if (name == "hidden") return cost.hidden = -seconds, true;
  for (auto [own, term] : {std::pair("compute", &Cost::compute),
                           {"waiting", &Cost::waiting},
                           {"starting", &Cost::starting},
                           {"imbalance", &Cost::imbalance},
                           {"latency", &Cost::latency},
                           {"transfer", &Cost::transfer}})
    if (name == own) return cost.*term = seconds, true;
  for (std::size_t l = 1; l < device.levels.size(); ++l) {
    if (name != device.levels[l].name) continue;
    cost.moving.resize(device.levels.size(), 0);
    cost.moving[l] = seconds;
    return true;
  }
  return false;
}

}  // namespace tap::cost
