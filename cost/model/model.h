// The cost model: from a trace to seconds, term by term.
//
//   Model model(cluster, 2);
//   ProgramCost cost = model.of(trace_of(schedule, kernels), kernels);
//   cost.total.total()                       seconds of one of several consecutive runs
//   model.works().evaluations()              analysed loop nests; a second call analyses none
//
// The cost of an event depends only on its loop nest and on the data that is still in the caches; no term depends on
// which operation it is.
#pragma once

#include "cost/model/cost.h"
#include "cost/model/formula.h"
#include "cost/model/trace.h"
#include "cost/model/work_table.h"

namespace tap::cost {

struct CostRow {
  std::string name, what;
  double times = 1;  // repetitions
  Cost cost;         // of all repetitions
};
struct ProgramCost {
  std::vector<CostRow> rows;
  Cost total;
};

class Recency;

// Several threads may use a model at the same time.
class Model {
 public:
  Model(Cluster cluster, std::int64_t threads);

  ProgramCost of(const Trace& trace, const std::vector<backend::Kernel>& kernels, std::int64_t on_device = 0);

  const Cluster& cluster() const { return cluster_; }
  const Device& device() const { return cluster_.types.front(); }
  std::int64_t threads() const { return threads_; }
  const WorkTable& works() const { return works_; }

 private:
  struct Run;  // one evaluation of a trace
  void all(Run& run, const Trace& trace, double times, bool priced);
  Cost of(Run& run, const KernelEvent& event);
  static std::optional<double> distinct_bytes(const KernelEvent& event, double bytes, std::size_t tensor);
  Cost on_threads(const Run& run, const KernelEvent& event, std::int64_t wanted);
  Cost of(Run& run, const CopyEvent& event);
  Cost of(Run& run, const MessageEvent& event);
  Cost of(Run& run, const OutsideEvent& event);
  // `starts`: of the bytes, the share that takes twice as long.
  void move(Cost& cost, std::size_t level, double bytes, bool writes, double threads, double starts) const;
  void finish(Cost& cost) const;

  Cluster cluster_;
  std::int64_t threads_ = 1;
  WorkTable works_;
  std::vector<Formula> formulas_;  // by term of the cluster
};

}  // namespace tap::cost
