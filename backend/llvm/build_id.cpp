#include "backend/llvm/build_id.h"

#include <elf.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/TargetSelect.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace tap::backend {
namespace {

struct Search {
  const void* address;  // an address inside the file to look for
  std::optional<std::string> found;
};

// The note NT_GNU_BUILD_ID among those of a segment.
std::string id_among(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    notes.remove_prefix(sizeof head);
    std::size_t name = (head.n_namesz + 3u) & ~3u, content = (head.n_descsz + 3u) & ~3u;
    if (name + content > notes.size()) return "";
    if (head.n_type == NT_GNU_BUILD_ID && notes.substr(0, name) == std::string_view("GNU\0", 4))
      return std::string(notes.substr(name, head.n_descsz));
    notes.remove_prefix(name + content);
  }
  return "";
}

int look(dl_phdr_info* file, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  auto at = reinterpret_cast<ElfW(Addr)>(search.address);
  bool in_segment = false;
  std::string id;
  for (const ElfW(Phdr) & segment : std::basic_string_view<ElfW(Phdr)>(file->dlpi_phdr, file->dlpi_phnum)) {
    ElfW(Addr) begin = file->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) in_segment = in_segment || (begin <= at && at < begin + segment.p_memsz);
    if (segment.p_type == PT_NOTE && id.empty())
      id = id_among(std::string_view(reinterpret_cast<const char*>(begin), segment.p_memsz));
  }
  if (in_segment) search.found = id;
  return in_segment ? 1 : 0;
}

std::string id_of_file_with(const void* address) {
  Search search{address, {}};
  dl_iterate_phdr(look, &search);
  return search.found.value_or("");
}

}  // namespace

std::string build_id() {
  std::string ours = id_of_file_with(reinterpret_cast<const void*>(&build_id));
  std::string llvm = id_of_file_with(reinterpret_cast<const void*>(&LLVMInitializeX86Target));
  return ours.empty() || llvm.empty() ? "" : ours + llvm + llvm_version();
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace tap::backend
