#include "backend/llvm/shared_objects.h"

#include <algorithm>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "ir/interpret/interpret.h"

namespace tap::backend {
namespace {

static_assert(std::is_trivially_copyable_v<WantedObject>);  // it is sent as bytes

// Transfers that are complete at `wait`; throws there if one was not.
class Transfers {
 public:
  explicit Transfers(const executor::Messages& messages) : messages_(messages) {}
  template <class T>
  void send(std::int64_t to, const T* data, std::size_t count) {
    lost_ |= messages_.send(messages_.self, to, data, static_cast<std::int64_t>(count * sizeof(T))) != 0;
  }
  template <class T>
  void receive(std::int64_t from, T* data, std::size_t count) {
    lost_ |= messages_.receive(messages_.self, from, data, static_cast<std::int64_t>(count * sizeof(T))) != 0;
  }
  void wait() {
    lost_ |= messages_.wait(messages_.self) != 0;
    if (lost_) throw ir::EvaluationError{"a message of another process did not arrive", ""};
  }

 private:
  const executor::Messages& messages_;
  bool lost_ = false;
};

std::vector<WantedObject> wanted(const std::vector<Object>& found) {
  std::map<Digest, WantedObject> by_key;
  for (const Object& object : found) by_key[object.key] = {object.key, object.size, !object.bytes.empty()};
  std::vector<WantedObject> result;
  for (const auto& [key, one] : by_key) result.push_back(one);
  return result;
}

// The processes that need an object.
struct Need {
  Digest key = {};
  std::uint64_t cost = 0;
  std::vector<std::size_t> by = {}, lacking = {};
  std::size_t first_owner() const {
    auto has = [&](std::size_t process) { return std::ranges::find(lacking, process) == lacking.end(); };
    return *std::ranges::find_if(by, has);
  }
};

}  // namespace

std::vector<ObjectRoute> routes_of(const std::vector<std::vector<WantedObject>>& by_process) {
  std::map<Digest, Need> by_key;
  for (std::size_t p = 0; p < by_process.size(); ++p)
    for (const WantedObject& object : by_process[p]) {
      Need& need = by_key[object.key];
      need.key = object.key;
      need.cost = object.cost;
      need.by.push_back(p);
      if (!object.is_there) need.lacking.push_back(p);
    }
  std::vector<Need> needs;
  for (auto& [key, need] : by_key)
    if (!need.lacking.empty()) needs.push_back(std::move(need));
  std::ranges::stable_sort(needs, std::ranges::greater(), &Need::cost);
  std::vector<std::uint64_t> share(by_process.size());
  std::vector<ObjectRoute> routes;
  for (Need& need : needs) {
    const bool exists = need.lacking.size() < need.by.size();
    auto until_then = [&](std::size_t process) { return share[process]; };
    const std::size_t from = exists ? need.first_owner() : *std::ranges::min_element(need.lacking, {}, until_then);
    if (!exists) {
      share[from] += need.cost;
      std::erase(need.lacking, from);
    }
    routes.push_back({need.key, from, std::move(need.lacking)});
  }
  return routes;
}

SharedObjects::SharedObjects(const executor::Messages& messages, std::int64_t self, std::vector<std::int64_t> processes)
    : messages_(messages), processes_(std::move(processes)) {
  self_ = static_cast<std::size_t>(std::ranges::find(processes_, self) - processes_.begin());
}

// The first process collects the lists and gives all of them to all.
std::vector<std::vector<WantedObject>> SharedObjects::all_wanted(const std::vector<WantedObject>& own) const {
  std::vector<std::int64_t> sizes(processes_.size());
  sizes[self_] = static_cast<std::int64_t>(own.size());
  std::vector<std::vector<WantedObject>> lists(processes_.size());
  Transfers transfers(messages_);
  const std::int64_t first = processes_.front();
  for (std::size_t p = 1; p < processes_.size() && self_ == 0; ++p) transfers.receive(processes_[p], &sizes[p], 1);
  if (self_ != 0) transfers.send(first, &sizes[self_], 1);
  transfers.wait();
  lists[self_] = own;
  for (std::size_t p = 1; p < processes_.size() && self_ == 0; ++p) {
    lists[p].resize(static_cast<std::size_t>(sizes[p]));
    transfers.receive(processes_[p], lists[p].data(), lists[p].size());
  }
  if (self_ != 0) transfers.send(first, own.data(), own.size());
  transfers.wait();
  for (std::size_t p = 1; p < processes_.size() && self_ == 0; ++p)
    transfers.send(processes_[p], sizes.data(), sizes.size());
  if (self_ != 0) transfers.receive(first, sizes.data(), sizes.size());
  transfers.wait();
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    lists[p].resize(static_cast<std::size_t>(sizes[p]));
    for (std::size_t to = 1; to < processes_.size() && self_ == 0; ++to)
      transfers.send(processes_[to], lists[p].data(), lists[p].size());
    if (self_ != 0) transfers.receive(first, lists[p].data(), lists[p].size());
  }
  transfers.wait();
  return lists;
}

std::vector<bool> SharedObjects::own_share(const std::vector<Object>& found) {
  routes_ = routes_of(all_wanted(wanted(found)));
  std::map<Digest, bool> compiles;
  for (const ObjectRoute& route : routes_)
    if (route.from == self_) compiles[route.key] = true;
  std::vector<bool> chosen;
  for (const Object& object : found)
    chosen.push_back(object.bytes.empty() && std::exchange(compiles[object.key], false));
  return chosen;
}

void SharedObjects::exchange(std::vector<Object>& objects) const {
  std::map<Digest, std::string> bytes;
  for (const Object& object : objects)
    if (!object.bytes.empty()) bytes.emplace(object.key, object.bytes);
  std::vector<std::uint64_t> sizes(routes_.size());
  Transfers transfers(messages_);
  // In the order of routes on both sides.
  auto each = [&](const auto& gives, const auto& gets) {
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      for (std::size_t to : routes_[r].to)
        if (routes_[r].from == self_) gives(r, processes_[to]);
        else if (to == self_) gets(r, processes_[routes_[r].from]);
    }
    transfers.wait();
  };
  for (std::size_t r = 0; r < routes_.size(); ++r)
    if (routes_[r].from == self_) sizes[r] = bytes[routes_[r].key].size();
  each([&](std::size_t r, std::int64_t to) { transfers.send(to, &sizes[r], 1); },
       [&](std::size_t r, std::int64_t from) { transfers.receive(from, &sizes[r], 1); });
  each([&](std::size_t r, std::int64_t to) { transfers.send(to, bytes[routes_[r].key].data(), sizes[r]); },
       [&](std::size_t r, std::int64_t from) {
         std::string& object = bytes[routes_[r].key];
         object.resize(sizes[r]);
         transfers.receive(from, object.data(), sizes[r]);
       });
  for (Object& object : objects)
    if (object.bytes.empty()) {
      object.bytes = bytes[object.key];
      object.received = true;
    }
}

}  // namespace tap::backend
