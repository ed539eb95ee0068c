#include "cost/model/work_table.h"

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/loops/loops_text.h"

namespace tap::cost {

struct WorkTable::State {
  struct Entry {
    std::once_flag computed;
    KernelWork work;
  };
  std::mutex mutex;                                      // of the tables; not held while work is computed
  std::unordered_map<std::string, std::size_t> numbers;  // by canonical text
  std::map<std::pair<std::size_t, std::vector<std::int64_t>>, Entry> known;
};

WorkTable::WorkTable() : state_(std::make_unique<State>()) {}
WorkTable::~WorkTable() = default;
WorkTable::WorkTable(WorkTable&&) noexcept = default;
WorkTable& WorkTable::operator=(WorkTable&&) noexcept = default;

std::size_t WorkTable::evaluations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->known.size();
}

std::size_t WorkTable::number_of(const backend::Kernel& kernel) {
  std::string text = backend::canonical(kernel);
  const std::lock_guard lock(state_->mutex);
  return state_->numbers.try_emplace(std::move(text), state_->numbers.size()).first->second;
}

const KernelWork& WorkTable::of(const backend::Kernel& kernel, const ir::Box& box, const Device& device) {
  return of(number_of(kernel), kernel, box, device);
}

const KernelWork& WorkTable::of(std::size_t number, const backend::Kernel& kernel, const ir::Box& box,
                                const Device& device) {
  std::vector<std::int64_t> ends;
  for (const ir::Range& range : box.dims) {
    ends.push_back(range.lo);
    ends.push_back(range.hi);
  }
  State::Entry* entry = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    entry = &state_->known[{number, std::move(ends)}];
  }
  std::call_once(entry->computed, [&] { entry->work = work_of(kernel, box, device); });
  return entry->work;
}

}  // namespace tap::cost
