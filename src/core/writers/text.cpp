#include "writers/text.hpp"

#include <charconv>
#include <cmath>

namespace cranfield {

namespace {

// No double has more digits before its point.
constexpr std::size_t longest_whole = 320;
// Of the shortest decimal that is read back as a double, with its sign, point and exponent.
constexpr std::size_t longest_number = 32;

char* copied(char* out, Id piece) {
    std::memcpy(out, piece.data(), piece.size());
    return out + piece.size();
}

// Numbers of up to six digits behind the point, of fifteen in all: as no two decimals of fifteen
// digits are the same double, one that equals the number is the shortest that does. Null for
// others.
char* write_short(char* out, double number) {
    constexpr double smallest = 1e-4, end = 1e9, scale = 1e6;
    if (number >= end || (number < smallest && number != 0)) return nullptr;
    const auto millionths = static_cast<std::uint64_t>(number * scale + 0.5);
    if (static_cast<double>(millionths) / scale != number) return nullptr;
    out = std::to_chars(out, out + longest_number, millionths / 1'000'000).ptr;
    *out++ = '.';
    auto rest = static_cast<std::uint32_t>(millionths % 1'000'000);
    for (std::size_t i = 6; i-- > 0; rest /= 10) out[i] = static_cast<char>('0' + rest % 10);
    std::size_t digits = 6;
    while (digits > 1 && out[digits - 1] == '0') --digits;
    return out + digits;
}

// Digits as they stand in `text` (d.ddd), with the point behind 1 + exponent of them.
char* write_fixed(char* out, Id text, int exponent) {
    char digits[longest_number];
    std::size_t count = 0;
    for (const char c : text)
        if (c != '.') digits[count++] = c;
    if (exponent < 0) {
        out = copied(out, "0.");
        for (int zeros = -1 - exponent; zeros > 0; --zeros) *out++ = '0';
        return copied(out, {digits, count});
    }
    const std::size_t before = 1 + static_cast<std::size_t>(exponent);
    for (std::size_t i = 0; i < before; ++i) *out++ = i < count ? digits[i] : '0';
    *out++ = '.';
    if (before >= count) *out++ = '0';
    return before >= count ? out : copied(out, {digits + before, count - before});
}

char* write_number(char* out, double number) {
    if (std::isnan(number)) return copied(out, "nan");
    if (std::signbit(number)) *out++ = '-';
    number = std::fabs(number);
    if (std::isinf(number)) return copied(out, "inf");
    if (char* end = write_short(out, number)) return end;
    char text[longest_number];
    const char* end =
        std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
    const Id whole(text, static_cast<std::size_t>(end - text));
    const std::size_t mark = whole.find('e');
    int exponent = 0;
    // A plus sign is not read by from_chars.
    std::from_chars(text + mark + (text[mark + 1] == '+' ? 2 : 1), end, exponent);
    if (exponent < -4 || exponent > 15) return copied(out, whole);
    return write_fixed(out, whole.substr(0, mark), exponent);
}

}  // namespace

void Text::append_cell(Id cell, char separator) {
    const char odd[] = {separator, '"', '\n', '\r'};
    if (cell.find_first_of(Id(odd, sizeof odd)) == Id::npos) {
        append(cell);
        return;
    }
    append('"');
    for (const char c : cell) {
        if (c == '"') append('"');
        append(c);
    }
    append('"');
}

void Text::append_whole(std::int64_t number) {
    char* out = room(longest_number);
    filled_up_to(std::to_chars(out, out + longest_number, number).ptr);
}

void Text::append_number(double number) {
    filled_up_to(write_number(room(2 * longest_number), number));
}

void Text::append_grade(double number) {
    if (std::floor(number) != number || std::isinf(number)) {
        append_number(number);
    } else if (std::fabs(number) < 1e18) {
        append_whole(static_cast<std::int64_t>(number));
    } else {
        char* out = room(longest_whole);
        filled_up_to(
            std::to_chars(out, out + longest_whole, number, std::chars_format::fixed, 0).ptr);
    }
}

}  // namespace cranfield
