#include "compiler/driver/write_outputs.h"

#include "compiler/driver/standard_library.h"
#include "runtime/failure.h"
#include "runtime/tensors/mapped_file.h"

namespace tap::driver {

void write_outputs(const Session& session, const std::vector<OutputFile>& files) {
  for (const OutputFile& file : files)
    for (std::size_t k = 0; k < session.sources.size(); ++k) {
      if (session.sources.file(FileId(k)).text() == embedded::std_tap) continue;  // which is in no folder
      const std::string& read = session.sources.file(FileId(k)).path();
      if (same_file(file.path, read))
        throw wrong_data(Code::data_aliases,
                         tap::quoted(file.path) + ", named as an output, is the same file as " + tap::quoted(read) +
                             ", which was read",
                         "write to another file");
    }
  write_files(files);
  for (const OutputFile& file : files) session.wrote(file.path);
}

}  // namespace tap::driver
