# Writes OUT: a C++ source that defines tap::embedded::explanations() with the pages T*.md of DIR, in order.
file(GLOB pages ${DIR}/T????.md)
list(SORT pages)
set(arrays "")
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(id ${page} NAME_WE)
  file(READ ${page} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "const unsigned char ${id}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${id}\", {reinterpret_cast<const char*>(${id}), sizeof ${id} - 1}},\n")
endforeach()
file(WRITE ${OUT}.tmp "#include \"compiler/driver/commands/explanations.h\"

namespace tap::embedded {
namespace {

${arrays}
const Explanation table[] = {
${rows}};

}  // namespace

std::span<const Explanation> explanations() { return table; }

}  // namespace tap::embedded
")
file(RENAME ${OUT}.tmp ${OUT})
