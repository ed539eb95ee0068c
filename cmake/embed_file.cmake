# Writes OUT: a C++ source that defines `tap::embedded::SYMBOL` (a std::string_view) with the bytes of IN.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT}.tmp "#include <string_view>
namespace tap::embedded {
static const unsigned char ${SYMBOL}_bytes[] = {${bytes}0};
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}(reinterpret_cast<const char*>(${SYMBOL}_bytes), sizeof ${SYMBOL}_bytes - 1);
}
")
file(RENAME ${OUT}.tmp ${OUT})
