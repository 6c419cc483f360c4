// Numbers in text: short decimals by a few multiplications, all others as strtod reads them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ids.hpp"

namespace cranfield {

// A decimal number, as strtod reads it, but for the whole of the text. False if it is not one;
// infinities and NaN are numbers here.
bool parse_number(std::string_view text, double& value);

// Whether a number that was read as infinite or as zero is neither: no double can hold it.
bool is_beyond_double(std::string_view text, double value);

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

// So many bytes from its start on are looked at to read a short decimal.
constexpr std::ptrdiff_t decimal_bytes = 18;

// Decimals such as 12.345678, with digits on both sides of the point and up to 8 in all: both sides
// are moved into one word. The digits and the power of ten are exact, so their quotient is
// correctly rounded. False for everything else, which is left to others.
inline bool parse_fraction(const char* p, std::size_t length, double& value) {
    using namespace detail;
    if (length - 3 > 6) return false;
    const std::uint64_t word = load64(p) ^ each_byte('0');
    const std::uint64_t without_point = word ^ each_byte('0' ^ '.');
    const std::uint64_t points = (without_point - each_byte(1)) & ~without_point & each_byte(0x80);
    if (points == 0) return false;
    // Digits before and after the point, as bits of a word.
    const auto before = static_cast<unsigned>(std::countr_zero(points)) & ~7u;
    const unsigned after = 8 * static_cast<unsigned>(length - 1) - before;
    if (before == 0 || after - 8 > 48) return false;
    const std::uint64_t fraction = load64(p + before / 8 + 1) ^ each_byte('0');
    const std::uint64_t digits = (fraction << (64 - after)) | ((word << (64 - before)) >> after);
    if (above_nine(digits) != 0) return false;
    value = static_cast<double>(spelled(digits)) / powers_of_ten[after / 8];
    return true;
}

// The same with a sign, or without a point. Up to `readable` bytes may be looked at.
inline bool parse_short_decimal(std::string_view text, const char* readable, double& value) {
    using namespace detail;
    if (readable - text.data() < decimal_bytes) return false;
    if (parse_fraction(text.data(), text.size(), value)) return true;
    const bool negative = !text.empty() && text[0] == '-';
    if (negative) text.remove_prefix(1);
    if (!parse_fraction(text.data(), text.size(), value)) {
        if (text.empty() || text.size() > 8) return false;
        const std::uint64_t digits = (load64(text.data()) ^ each_byte('0'))
                                     << (64 - 8 * text.size());
        if (above_nine(digits) != 0) return false;
        value = static_cast<double>(spelled(digits));
    }
    if (negative) value = -value;
    return true;
}

}  // namespace cranfield
