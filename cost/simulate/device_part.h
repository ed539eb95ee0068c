// What one device of a mesh does in a run, with the time that the cost model predicts for each task.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cost/model/model.h"
#include "cost/model/trace.h"
#include "ir/graph_ids.h"

namespace tap::cost {

struct DevicePart {
  Trace trace;
  std::vector<double> seconds;  // of each event, without those of repeats, in order; one trip
  double peak_bytes = 0;
};

// Parts by device, each made once.
class DeviceParts {
 public:
  DeviceParts(const ir::Program& program, bool strict_fp, Model& model)
      : program_(program), strict_fp_(strict_fp), model_(model) {}
  const DevicePart& of(std::int64_t device);
  const Model& model() const { return model_; }
  std::size_t made() const { return parts_.size(); }

 private:
  const ir::Program& program_;
  const bool strict_fp_;
  Model& model_;
  std::map<std::int64_t, std::unique_ptr<DevicePart>> parts_;
};

// Equal for devices that do the same at the same cost, and receive messages of the same sizes over the same links from
// devices of the same roles.
std::string signature(const DevicePart& part, std::int64_t device, const Cluster& cluster,
                      const std::function<std::size_t(std::int64_t device)>& role_of);

}  // namespace tap::cost
