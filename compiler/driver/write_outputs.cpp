#include "compiler/driver/write_outputs.h"

#include "compiler/driver/depfile.h"
#include "runtime/failure.h"
#include "runtime/tensors/mapped_file.h"

namespace tap::driver {

void write_outputs(const Session& session, const std::vector<OutputFile>& files) {
  for (const OutputFile& file : files)
    for (const std::string& read : files_read(session))
      if (same_file(file.path, read))
        throw wrong_data(
            Code::data_aliases,
            "the output " + tap::quoted(file.path) + " is the same file as " + tap::quoted(read) + ", which was read",
            "write to another file");
  write_files(files);
  for (const OutputFile& file : files) session.wrote(file.path);
}

}  // namespace tap::driver
