#include "compiler/driver/show/report_sources.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tap::driver {

using nlohmann::ordered_json;

ordered_json ReportSources::lines_of(Span span) {
  auto at = std::find(files_.begin(), files_.end(), span.file);
  const std::size_t number = static_cast<std::size_t>(at - files_.begin());
  if (at == files_.end()) files_.push_back(span.file);
  const SourceFile& file = session_.sources.file(span.file);
  return {number, file.position(span.begin).line, file.position(span.end > span.begin ? span.end - 1 : span.end).line};
}

ordered_json ReportSources::lines_of(std::string_view operation) {
  ordered_json frames = ordered_json::array();
  while (true) {
    if (auto found = session_.operations.find(operation); found != session_.operations.end() && found->second.valid()) {
      ordered_json lines = lines_of(found->second);
      if (frames.empty() || frames.back() != lines) frames.push_back(std::move(lines));
    }
    const std::size_t end = operation.find_last_of("./@#");
    if (end == operation.npos || end == 0) return frames;
    operation = operation.substr(0, end);
  }
}

ordered_json ReportSources::lines_of_input(std::string_view input) {
  ordered_json frames = ordered_json::array();
  auto found = session_.inputs.find(input);
  if (found != session_.inputs.end() && found->second.valid()) frames.push_back(lines_of(found->second));
  return frames;
}

std::vector<std::string> ReportSources::paths() const {
  std::vector<std::string> paths;
  for (FileId id : files_) paths.push_back(session_.sources.file(id).path());
  return paths;
}

ordered_json ReportSources::to_json() const {
  ordered_json files = ordered_json::array();
  for (FileId id : files_) {
    const SourceFile& file = session_.sources.file(id);
    files.push_back({{"path", file.path()}, {"text", file.text()}});
  }
  return files;
}

}  // namespace tap::driver
