// The cost of programs on a machine: each is lowered, scheduled and priced once; a sharded program is priced on one device,
// that of the first blocks, which are the largest. Their number is limited, not the time, so that a decision does not
// depend on how busy the machine is.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cost/model/model.h"
#include "ir/certificate.h"
#include "ir/graph.h"
#include "ir/plan.h"
#include "passes/caution.h"
#include "support/spare_threads.h"

namespace tap::cost {

struct Prediction {
  double seconds = 0;
  double bytes = 0;  // of memory, without inputs and results
  double given = 0;  // of inputs and results
  Cost cost = {};    // the seconds, term by term
  bool operator==(const Prediction&) const = default;
};

// The value to minimise: a plan with twice the memory must save a tenth of the time.
double score(const Prediction& prediction);
// Whether the first is better than the second, by more than the accuracy of the model.
bool is_better(const Prediction& now, const Prediction& before);
// Whether it is no slower when it runs for the first time, with fresh memory, within the accuracy of the model.
bool is_as_fast(const Prediction& now, const Prediction& before);

// How many programs may be evaluated, and optionally for how long.
struct Budget {
  std::size_t evaluations = 0;
  std::optional<double> seconds = {};
};

class Pricer {
 public:
  // `spare` (null: none): threads that it may take, to price several programs at the same time.
  Pricer(Cluster cluster, std::int64_t threads, const passes::Caution& caution, const Budget& budget,
         SpareThreads* spare = nullptr);

  struct Candidate {
    const ir::Program& program;
    const ir::Plan& plan;
  };
  // Prices them at the same time, as many as the budget allows, for `of` to find. Uses up none of the budget, so that a decision does
  // not depend on how many threads there are.
  void prepare(const std::vector<Candidate>& candidates);
  // Whether `of` may answer.
  bool may_price(const ir::Program& program, const ir::Plan& plan) const;

  // `plan`: its splits over a mesh are applied first, as are the program's shardings. Nothing if the budget is exhausted, or
  // if the plan cannot be applied. Pre: no operation is placed on devices.
  std::optional<Prediction> of(const ir::Program& program, const ir::Plan& plan = {});

  // Keeps enough of the budget to evaluate this program later. Returns how much, for `give_back`.
  std::size_t set_aside(const ir::Program& program);
  void give_back(std::size_t evaluations) { left_ += evaluations; }

  // Whether the independent checker accepts the step. A step that it refuses would end the compilation, so it is not
  // chosen.
  bool is_justified(const ir::Program& before, const ir::Program& after, const ir::Step& step);

  std::size_t used() const { return used_; }
  bool refused() const { return refused_; }  // an evaluation, since the budget was exhausted
  const Device& device() const { return model_.device(); }

 private:
  std::optional<Prediction> on_all(const ir::Program& program);
  std::optional<Prediction> on_device(const ir::Program& program, const ir::Plan& plan);

  std::string text_of(const ir::Program& program, const ir::Plan& plan) const;
  std::optional<Prediction> priced(const ir::Program& program, const ir::Plan& plan);
  bool is_out_of_time() const;

  Model model_;
  passes::Caution caution_;
  SpareThreads* spare_;
  std::size_t left_, used_ = 0;
  bool refused_ = false;
  std::optional<std::chrono::steady_clock::time_point> end_;
  std::unordered_map<std::string, Prediction> known_;  // by the text of the program and its plan
  std::unordered_map<std::string, std::optional<Prediction>> prepared_;
  std::unordered_map<std::string, bool> justified_;  // by the text of the step's result
};

}  // namespace tap::cost
