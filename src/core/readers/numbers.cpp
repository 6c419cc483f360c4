#include "readers/numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

// The library of macOS has no from_chars for doubles before its version of 2025.
#if !defined(CRANFIELD_PORTABLE) && (defined(__cpp_lib_to_chars) || defined(_MSC_VER))
#define CRANFIELD_FROM_CHARS
#else
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace cranfield {

#if defined(CRANFIELD_FROM_CHARS)

bool parse_number(std::string_view text, double& value) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc::result_out_of_range) {
        // Too small to tell from zero, or too large to be finite: what strtod makes of it.
        value = std::strtod(std::string(text).c_str(), nullptr);
        return result.ptr == text.data() + text.size();
    }
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

#else

// The same with strtod, which also takes blanks, a second sign and hexadecimal numbers. The point
// is a point whatever the language of the user.
bool parse_number(std::string_view text, double& value) {
    static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    if (text.empty() || static_cast<unsigned char>(text[0]) <= ' ' || text[0] == '+') return false;
    const bool word = text.find_first_of("nN") != std::string_view::npos;
    if (!word && text.find_first_of("xX") != std::string_view::npos) return false;
    const std::string copy(text);
    char* end = nullptr;
    value = ::strtod_l(copy.c_str(), &end, plain);
    return end == copy.c_str() + copy.size();
}

#endif

bool is_beyond_double(std::string_view text, double value) {
    if (std::isinf(value)) return text.find_first_of("123456789") != std::string_view::npos;
    const std::string_view digits = text.substr(0, text.find_first_of("eE"));
    return value == 0 && digits.find_first_of("123456789") != std::string_view::npos;
}

}  // namespace cranfield
