#include "readers/lines.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cranfield {

namespace {

constexpr std::size_t longest_line = 1u << 20;
constexpr std::size_t quoted_bytes = 60;

bool blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

constexpr std::uint64_t each_byte(std::uint64_t byte) { return byte * 0x0101010101010101ull; }

// The end of a field, eight bytes at a time: taking 0x21 from a byte up to 0x20 borrows.
const char* field_end(const char* p, const char* end) {
    while (end - p >= 8) {
        const std::uint64_t word = detail::load64(p);
        const std::uint64_t blanks = (word - each_byte(0x21)) & ~word & each_byte(0x80);
        if (blanks != 0) return p + std::countr_zero(blanks) / 8;
        p += 8;
    }
    while (p < end && !blank(*p)) ++p;
    return p;
}

// A field and what follows it: blanks before the field are skipped.
Id field(const char*& p, const char* end) {
    while (p < end && blank(*p)) ++p;
    const char* start = p;
    p = field_end(p, end);
    return {start, static_cast<std::size_t>(p - start)};
}

constexpr double powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
// Bytes of a word that are above 9, as high bits.
std::uint64_t above_nine(std::uint64_t word) {
    return ((word + each_byte(0x76)) | word) & each_byte(0x80);
}

// The number that eight bytes of 0 to 9 spell, the first byte first: three multiplications for all.
std::uint64_t spelled(std::uint64_t word) {
    word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FFull;
    word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFFull;
    return (word * 10000 + (word >> 32)) & 0xFFFFFFFFull;
}

// Decimals such as 12.345678, with digits on both sides of the point and 8 in all: both sides are
// moved into one word. The digits and the power of ten are exact, so their quotient is correctly
// rounded. False for everything else, which is left to others.
bool parse_short_decimal(const char* p, const char* text_end, const char* end, double& value) {
    const bool negative = *p == '-';
    p += negative;
    const auto length = text_end - p;
    if (length > 9 || end - p < 17) return false;
    const std::uint64_t word = detail::load64(p) ^ each_byte('0');
    const std::uint64_t without_point = word ^ each_byte('0' ^ '.');
    const std::uint64_t points = (without_point - each_byte(1)) & ~without_point & each_byte(0x80);
    if (points == 0) return false;
    const int before = std::countr_zero(points) / 8;
    const int after = static_cast<int>(length) - before - 1;
    if (before == 0 || after <= 0 || before + after > 8) return false;
    const std::uint64_t fraction = detail::load64(p + before + 1) ^ each_byte('0');
    const std::uint64_t digits =
        (fraction << (64 - 8 * after)) | ((word << (64 - 8 * before)) >> (8 * after));
    if (above_nine(digits) != 0) return false;
    value = static_cast<double>(spelled(digits)) / powers_of_ten[after];
    if (negative) value = -value;
    return true;
}

#if defined(__SSE2__)
// What stands in the next 64 bytes, one bit per byte.
struct Window {
    std::uint64_t blanks = 0, newlines = 0, beyond_ascii = 0;

    explicit Window(const char* p) {
        const __m128i space = _mm_set1_epi8(' '), newline = _mm_set1_epi8('\n');
        for (int i = 0; i < 4; ++i) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
            const auto bits = [i](__m128i mask) {
                return static_cast<std::uint64_t>(
                           static_cast<std::uint32_t>(_mm_movemask_epi8(mask)))
                       << (16 * i);
            };
            blanks |= bits(_mm_cmpeq_epi8(_mm_max_epu8(bytes, space), space));
            newlines |= bits(_mm_cmpeq_epi8(bytes, newline));
            beyond_ascii |= bits(bytes);
        }
    }
};
#endif

}  // namespace

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

void Problems::add(Problem problem) {
    const std::lock_guard lock(guard_);
    ++total_;
    list_.push_back(std::move(problem));
    // Chunks are read out of order: keep the first problems of the input, not of the clock.
    if (list_.size() >= 50 * kept) trim();
}

void Problems::count_lines(std::size_t chunk, std::uint64_t lines) {
    const std::lock_guard lock(guard_);
    if (lines_.size() <= chunk) lines_.resize(chunk + 1, 0);
    lines_[chunk] = lines;
}

std::uint64_t Problems::lines_before(std::size_t chunk) const {
    std::uint64_t lines = 0;
    for (std::size_t i = 0; i < std::min(chunk, lines_.size()); ++i) lines += lines_[i];
    return lines;
}

void Problems::settle() {
    for (Problem& problem : list_) {
        const std::uint64_t before = lines_before(problem.chunk);
        problem.line += before;
        if (problem.other_line > 0) problem.other_line += before;
        problem.chunk = 0;
    }
    trim();
}

void Problems::trim() {
    std::sort(list_.begin(), list_.end(), [](const Problem& a, const Problem& b) {
        return a.chunk != b.chunk ? a.chunk < b.chunk : a.line < b.line;
    });
    if (list_.size() > kept) list_.resize(kept);
}

LineReader::LineReader(const Chunk& chunk, Kind kind, bool extra_fields, Problems& problems)
    : p_(chunk.begin),
      end_(chunk.end),
      chunk_(chunk.number),
      kind_(kind),
      extra_fields_(extra_fields),
      problems_(problems),
      has_nul_(std::memchr(chunk.begin, '\0', chunk.size()) != nullptr) {}

bool LineReader::fail(Fault fault, std::string_view text) {
    problems_.add({fault, chunk_, number_, std::string(text.substr(0, quoted_bytes)), {}, 0});
    return false;
}

bool LineReader::next(Line& line) {
    while (p_ < end_) {
        if (!has_nul_ && next_plain(line)) return true;
        const char* start = p_;
        const void* newline = std::memchr(start, '\n', static_cast<std::size_t>(end_ - start));
        const char* stop = newline == nullptr ? end_ : static_cast<const char*>(newline);
        p_ = newline == nullptr ? end_ : stop + 1;
        ++number_;
        if (has_nul_ && std::memchr(start, '\0', static_cast<std::size_t>(stop - start))) {
            // Zeros are blanks to what follows, which would take a damaged file for an empty one.
            fail(Fault::binary, {start, static_cast<std::size_t>(stop - start)});
            continue;
        }
        while (start < stop && blank(*start)) ++start;
        if (start == stop || *start == '#') continue;
        if (parse(start, stop, line)) return true;
    }
    return false;
}

// A line of up to 63 bytes, all ASCII, with the right number of fields and a finite number:
// nearly every line. All others are left to `parse`, which also says what is wrong with them.
bool LineReader::next_plain([[maybe_unused]] Line& line) {
#if defined(__SSE2__)
    if (end_ - p_ < 64) return false;
    const Window window(p_);
    if (window.newlines == 0) return false;
    const int length = std::countr_zero(window.newlines);
    const std::uint64_t before = (std::uint64_t{1} << length) - 1;  // bits of the line itself
    if (((window.beyond_ascii | (window.blanks & 1)) & before) != 0 || *p_ == '#') return false;
    // A field begins after a blank and ends before one; the newline ends the last.
    const std::uint64_t blanks = window.blanks;
    std::uint64_t begins = ~blanks & ((blanks << 1) | 1) & before;
    std::uint64_t ends = blanks & ~(blanks << 1) & (before | (std::uint64_t{1} << length));
    const int wanted = kind_ == Kind::run ? 6 : 4;
    Id fields[6];
    for (int i = 0; i < wanted; ++i, begins &= begins - 1, ends &= ends - 1) {
        if (begins == 0) return false;
        fields[i] = {p_ + std::countr_zero(begins),
                     static_cast<std::size_t>(std::countr_zero(ends) - std::countr_zero(begins))};
    }
    if (begins != 0) return false;
    const Id number = fields[wanted == 6 ? 4 : 3];
    if (!parse_short_decimal(number.data(), number.data() + number.size(), end_, line.value) &&
        !(parse_number(number, line.value) && std::isfinite(line.value)))
        return false;
    line.topic = fields[0];
    line.item = fields[2];
    line.tag = fields[wanted - 1];
    p_ += length + 1;
    ++number_;
    return true;
#else
    return false;
#endif
}

bool LineReader::parse(const char* p, const char* end, Line& line) {
    const std::string_view whole(p, static_cast<std::size_t>(end - p));
    if (whole.size() > longest_line) return fail(Fault::long_line, whole);
    line.topic = field(p, end);
    field(p, end);  // the iteration, or Q0
    line.item = field(p, end);
    if (kind_ == Kind::run) field(p, end);  // the rank: scores give the order
    const Id number = field(p, end);
    line.tag = kind_ == Kind::run ? field(p, end) : number;
    const Id rest = field(p, end);
    if (line.tag.empty()) return fail(Fault::short_line, whole);
    if (!rest.empty() && !extra_fields_) return fail(Fault::extra_field, rest);
    if (!parse_number(number, line.value)) return fail(Fault::not_a_number, number);
    if (!std::isfinite(line.value)) return fail(Fault::not_finite, number);
    if (!is_ascii(line.item) && !is_utf8(line.item)) return fail(Fault::not_utf8, line.item);
    if (line.topic != last_topic_) {
        if (!is_ascii(line.topic) && !is_utf8(line.topic)) return fail(Fault::not_utf8, line.topic);
        last_topic_ = line.topic;
    }
    return true;
}

}  // namespace cranfield
