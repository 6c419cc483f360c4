#include "readers/numbers.hpp"

#include <charconv>
#include <cstdlib>
#include <string>

namespace cranfield {

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

}  // namespace cranfield
