#include "support/spare_threads.h"

#include <atomic>
#include <exception>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

namespace tap {

namespace {

class Items {
 public:
  Items(std::size_t count, SpareThreads* spare) : count_(count), spare_(spare) {}

  void run(const std::function<WorkOnItem()>& worker) {
    const WorkOnItem own = worker();
    std::vector<std::future<void>> others;
    auto take_more = [&] {
      while (next_ + 1 < count_ && spare_ && spare_->take()) begin(worker(), others);
    };
    work(own, take_more);
    if (others.empty()) return rethrow();
    spare_->give();  // this one waits
    for (std::future<void>& other : others) other.wait();
    spare_->take_back();
    rethrow();
  }

 private:
  // Where the system gives no thread, the others do all the work.
  void begin(WorkOnItem own, std::vector<std::future<void>>& others) {
    auto work_and_give = [this, own = std::move(own)] {
      work(own, [] {});
      spare_->give();
    };
    try {
      others.push_back(std::async(std::launch::async, work_and_give));
    } catch (const std::system_error&) { spare_->give(); }
  }
  template <class BeforeEach>
  void work(const WorkOnItem& own, BeforeEach before_each) {
    try {
      while (true) {
        before_each();
        const std::size_t item = next_++;
        if (item >= count_) return;
        own(item);
      }
    } catch (...) {
      next_ = count_;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  const std::size_t count_;
  SpareThreads* const spare_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void for_each_item(std::size_t count, SpareThreads* spare, const std::function<WorkOnItem()>& worker) {
  Items(count, spare).run(worker);
}

}  // namespace tap
