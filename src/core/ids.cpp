#include "ids.hpp"

namespace cranfield {

namespace {
bool continuation(unsigned char c) { return (c & 0xC0) == 0x80; }
}  // namespace

bool is_utf8(Id id) {
    const auto* p = reinterpret_cast<const unsigned char*>(id.data());
    const auto* end = p + id.size();
    while (p < end) {
        const unsigned char c = *p;
        if (c < 0x80) {
            ++p;
            continue;
        }
        const int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : c >= 0xC2 ? 1 : 0;
        if (more == 0 || c > 0xF4 || end - p <= more) return false;
        for (int i = 1; i <= more; ++i)
            if (!continuation(p[i])) return false;
        // Overlong forms, surrogates and code points beyond U+10FFFF.
        if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F) ||
            (c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] > 0x8F))
            return false;
        p += more + 1;
    }
    return true;
}

}  // namespace cranfield
