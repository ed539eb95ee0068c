// Source texts of the report, and the lines that an operation comes from: those of its equation in an operator, then
// those of the call.
//
//   U.matmul     std.tap:310, layer.tap:31
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/session.h"
#include "support/source.h"

namespace tap::driver {

class ReportSources {
 public:
  ReportSources(const Session& session, FileId main) : session_(session), files_{main} {}

  // By the operation's name after inlining: [file, first line, last line] from the inside out. Empty if nothing is known.
  nlohmann::ordered_json lines_of(std::string_view operation);
  // Of an input's declaration.
  nlohmann::ordered_json lines_of_input(std::string_view input);
  nlohmann::ordered_json lines_of(Span span);  // of this text alone
  std::vector<std::string> paths() const;      // of the files that were mentioned
  nlohmann::ordered_json to_json() const;      // the files that were mentioned, with their texts

 private:
  const Session& session_;
  std::vector<FileId> files_;
};

}  // namespace tap::driver
