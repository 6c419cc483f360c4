#include "readers/lines.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "readers/numbers.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cranfield {

namespace {

constexpr std::size_t quoted_bytes = 60;

bool blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Tabs and carriage returns separate fields as blanks do; other bytes below a blank are no text.
bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' && (byte < '\t' || byte > '\r');
}

using detail::each_byte;

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

bool has_control(const char* p, const char* end) {
    for (; end - p >= 8; p += 8) {
        const std::uint64_t word = detail::load64(p);
        const std::uint64_t low = (word - each_byte(0x20)) & ~word & each_byte(0x80);
        if (low != 0 && std::any_of(p, p + 8, is_control)) return true;
    }
    return std::any_of(p, end, is_control);
}

// A field and what follows it: blanks before the field are skipped.
Id field(const char*& p, const char* end) {
    while (p < end && blank(*p)) ++p;
    const char* start = p;
    p = field_end(p, end);
    return {start, static_cast<std::size_t>(p - start)};
}

#if defined(__SSE2__)
// What stands in the next 64 bytes, one bit per byte.
struct Window {
    std::uint64_t blanks = 0, newlines = 0, beyond_text = 0;

    explicit Window(const char* p) {
        const __m128i space = _mm_set1_epi8(' '), newline = _mm_set1_epi8('\n');
        const __m128i tab = _mm_set1_epi8('\t'), four = _mm_set1_epi8(4);
        for (int i = 0; i < 4; ++i) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
            const auto bits = [i](__m128i mask) {
                return static_cast<std::uint64_t>(
                           static_cast<std::uint32_t>(_mm_movemask_epi8(mask)))
                       << (16 * i);
            };
            const __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(bytes, space), space);
            // From a tab to a carriage return there are four steps; a blank is fine, too.
            const __m128i steps = _mm_sub_epi8(bytes, tab);
            const __m128i fine = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(steps, four), steps),
                                              _mm_cmpeq_epi8(bytes, space));
            blanks |= bits(low);
            newlines |= bits(_mm_cmpeq_epi8(bytes, newline));
            beyond_text |= bits(_mm_or_si128(bytes, _mm_andnot_si128(fine, low)));
        }
    }
};
#endif

}  // namespace

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

LineReader::LineReader(const Chunk& chunk, const Format& format, Problems& problems)
    : p_(chunk.begin),
      end_(chunk.end),
      chunk_(chunk.number),
      format_(format),
      problems_(problems) {}

bool LineReader::fail(Fault fault, std::string_view text) {
    problems_.add({fault, chunk_, number_, std::string(text.substr(0, quoted_bytes)), {}, 0});
    return false;
}

bool LineReader::next(Line& line) {
    while (p_ < end_) {
        if (next_plain(line)) return true;
        const char* start = p_;
        const void* newline = std::memchr(start, '\n', static_cast<std::size_t>(end_ - start));
        const char* stop = newline == nullptr ? end_ : static_cast<const char*>(newline);
        p_ = newline == nullptr ? end_ : stop + 1;
        ++number_;
        const std::string_view whole(start, static_cast<std::size_t>(stop - start));
        if (whole.size() > format_.line_bytes) {
            fail(Fault::long_line, whole);
            continue;
        }
        if (has_control(start, stop)) {
            // Blanks to what follows, which would take a damaged file for an empty one.
            fail(Fault::binary, whole);
            continue;
        }
        while (start < stop && blank(*start)) ++start;
        if (start == stop || *start == '#') continue;
        if (parse(start, stop, line)) return true;
    }
    return false;
}

// A line of up to 63 bytes, all ASCII text, with the right number of fields and a finite number:
// nearly every line. All others are left to `parse`, which also says what is wrong with them.
bool LineReader::next_plain([[maybe_unused]] Line& line) {
#if defined(__SSE2__)
    if (end_ - p_ < 64 || format_.line_bytes < 64) return false;
    const Window window(p_);
    if (window.newlines == 0) return false;
    const int length = std::countr_zero(window.newlines);
    const std::uint64_t before = (std::uint64_t{1} << length) - 1;  // bits of the line itself
    if (((window.beyond_text | (window.blanks & 1)) & before) != 0 || *p_ == '#') return false;
    // A field begins after a blank and ends before one; the newline ends the last.
    const std::uint64_t blanks = window.blanks;
    std::uint64_t begins = ~blanks & ((blanks << 1) | 1) & before;
    std::uint64_t ends = blanks & ~(blanks << 1) & (before | (std::uint64_t{1} << length));
    const int wanted = format_.kind == Kind::run ? 6 : 4;
    Id fields[6];
    for (int i = 0; i < wanted; ++i, begins &= begins - 1, ends &= ends - 1) {
        if (begins == 0) return false;
        fields[i] = {p_ + std::countr_zero(begins),
                     static_cast<std::size_t>(std::countr_zero(ends) - std::countr_zero(begins))};
    }
    if (begins != 0) return false;
    const Id number = fields[wanted == 6 ? 4 : 3];
    if (!parse_short_decimal(number, end_, line.value) &&
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
    line.topic = field(p, end);
    field(p, end);  // the iteration, or Q0
    line.item = field(p, end);
    if (format_.kind == Kind::run) field(p, end);  // the rank: scores give the order
    const Id number = field(p, end);
    line.tag = format_.kind == Kind::run ? field(p, end) : number;
    const Id rest = field(p, end);
    if (line.tag.empty()) return fail(Fault::short_line, whole);
    if (!rest.empty() && !format_.extra_fields) return fail(Fault::extra_field, rest);
    if (!parse_number(number, line.value)) return fail(Fault::not_a_number, number);
    // Infinite scores have their place in a ranking; an infinite grade is worth nothing.
    if (std::isnan(line.value) || (format_.kind != Kind::run && std::isinf(line.value)))
        return fail(Fault::not_finite, number);
    if (!is_ascii(line.item) && !is_utf8(line.item)) return fail(Fault::not_utf8, line.item);
    if (line.topic != last_topic_) {
        if (!is_ascii(line.topic) && !is_utf8(line.topic)) return fail(Fault::not_utf8, line.topic);
        last_topic_ = line.topic;
    }
    return true;
}

}  // namespace cranfield
