// Numbers in text: short decimals by a few multiplications, all others as strtod reads them.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "ids.hpp"

namespace cranfield {

// A decimal number, as strtod reads it, but for the whole of the text. False if it is not one;
// infinities and NaN are numbers here.
bool parse_number(std::string_view text, double& value);

namespace detail {

constexpr double powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

constexpr std::uint64_t each_byte(std::uint64_t byte) { return byte * 0x0101010101010101ull; }

// Bytes of a word that are above 9, as high bits.
inline std::uint64_t above_nine(std::uint64_t word) {
    return ((word + each_byte(0x76)) | word) & each_byte(0x80);
}

// The number that eight bytes of 0 to 9 spell, the first byte first: three multiplications for all.
inline std::uint64_t spelled(std::uint64_t word) {
    word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FFull;
    word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFFull;
    return (word * 10000 + (word >> 32)) & 0xFFFFFFFFull;
}

}  // namespace detail

// Decimals such as 12.345678 or 7, with a digit before the point and 8 in all: both sides of the
// point are moved into one word. The digits and the power of ten are exact, so their quotient is
// correctly rounded. False for everything else, which is left to `parse_number`. Up to `readable`
// bytes may be looked at.
inline bool parse_short_decimal(std::string_view text, const char* readable, double& value) {
    using namespace detail;
    const char* p = text.data();
    if (readable - p < 18 || text.empty()) return false;
    const bool negative = *p == '-';
    p += negative;
    const auto length = static_cast<int>(text.size()) - negative;
    if (length > 9 || length == 0) return false;
    const std::uint64_t word = load64(p) ^ each_byte('0');
    const std::uint64_t without_point = word ^ each_byte('0' ^ '.');
    const std::uint64_t points = (without_point - each_byte(1)) & ~without_point & each_byte(0x80);
    const int before = points == 0 ? 8 : std::countr_zero(points) / 8;
    std::uint64_t digits = 0;
    int after = length - before - 1;
    if (after < 0) {
        // No point within the text.
        if (length > 8) return false;
        digits = word << (64 - 8 * length);
        after = 0;
    } else {
        if (before == 0 || after == 0 || before + after > 8) return false;
        const std::uint64_t fraction = load64(p + before + 1) ^ each_byte('0');
        digits = (fraction << (64 - 8 * after)) | ((word << (64 - 8 * before)) >> (8 * after));
    }
    if (above_nine(digits) != 0) return false;
    value = static_cast<double>(spelled(digits)) / powers_of_ten[after];
    if (negative) value = -value;
    return true;
}

}  // namespace cranfield
