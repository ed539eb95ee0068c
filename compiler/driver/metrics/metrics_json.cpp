#include "compiler/driver/metrics/metrics_json.h"

#include <nlohmann/json.hpp>

namespace tap::driver {
namespace {

using Json = nlohmann::ordered_json;

Json device_of(std::int64_t number) { return number < 0 ? Json(nullptr) : Json(number); }

Json row_of(const MeasuredCall& one, std::int64_t process) {
  const PredictedCall& call = *one.call;
  const bool moves = call.kind == CallKind::transfer || call.kind == CallKind::message;
  Json row = {{"operation", call.name},
              {"what", call.what},
              {"box", call.box},
              {"process", process},
              {"device", device_of(call.device)}};
  if (moves) {
    row["from_process"] = call.kind == CallKind::message ? one.process : process;
    row["from_device"] = device_of(call.from);
  }
  row.update({{"sequence", one.sequence},
              {"batch", one.batch},
              {"task", call.task},
              {"member", call.member},
              {"runs", one.runs},
              {"bytes", call.bytes * static_cast<double>(one.runs)}});
  if (!moves) row["operations"] = call.operations * static_cast<double>(one.runs);
  row["predicted"] = call.seconds ? Json(*call.seconds * static_cast<double>(one.runs)) : Json(nullptr);
  row["measured"] = one.seconds;
  return row;
}

}  // namespace

Json metrics_of_process(const RunMetrics& metrics, std::int64_t process) {
  Json tasks = Json::array(), transfers = Json::array();
  for (const MeasuredCall& one : measure(metrics.recording, metrics.predicted)) {
    const bool moves = one.call->kind == CallKind::transfer || one.call->kind == CallKind::message;
    (moves ? transfers : tasks).push_back(row_of(one, process));
  }
  double seconds = 0;
  for (const Recording::Batch& batch : metrics.recording.batches()) seconds += seconds_of(batch.time);
  return {{"process", process},
          {"threads", metrics.threads},
          {"predicted", metrics.predicted.seconds},
          {"measured", seconds},
          {"complete", metrics.recording.is_complete()},
          {"kernels",
           {{"compiled", metrics.kernels.compiled},
            {"cached", metrics.kernels.cached},
            {"received", metrics.kernels.received},
            {"seconds", metrics.kernels.seconds}}},
          {"tasks", std::move(tasks)},
          {"transfers", std::move(transfers)}};
}

Json metrics_of_all(const RunName& name, const std::vector<Json>& processes) {
  Json all = {
      {"format", "tap-metrics"},    {"version", 1},           {"file", name.file},         {"program", name.program},
      {"processes", Json::array()}, {"tasks", Json::array()}, {"transfers", Json::array()}};
  for (Json process : processes) {
    for (const char* list : {"tasks", "transfers"}) {
      for (Json& row : process[list]) all[list].push_back(std::move(row));
      process.erase(list);
    }
    all["processes"].push_back(std::move(process));
  }
  return all;
}

}  // namespace tap::driver
