#include "readers/lines.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "readers/numbers.hpp"

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
    : chunk_(chunk.number),
      format_(format),
      problems_(problems),
      fields_(format.kind == Kind::run ? 6 : 4),
      plain_(format.line_bytes >= 64) {
    place_.p = chunk.begin;
    place_.end = chunk.end;
}

bool LineReader::fail(Fault fault, std::string_view text) {
    problems_.add({fault, chunk_, place_.number, std::string(text.substr(0, quoted_bytes)), {}, 0});
    return false;
}

std::size_t LineReader::next(Line (&lines)[batch]) {
    std::size_t found = 0;
    while (found == 0 && place_.p < place_.end) {
        if (plain_) found = read_plain_lines(place_, fields_, lines, batch);
        // A line that is not plain, or the last ones.
        if (found < batch && place_.p < place_.end && next_odd(lines[found])) ++found;
    }
    return found;
}

bool LineReader::next_odd(Line& line) {
    const char* start = place_.p;
    const void* newline = std::memchr(start, '\n', static_cast<std::size_t>(place_.end - start));
    const char* stop = newline == nullptr ? place_.end : static_cast<const char*>(newline);
    place_.p = newline == nullptr ? place_.end : stop + 1;
    line.number = static_cast<std::uint32_t>(++place_.number);
    const std::string_view whole(start, static_cast<std::size_t>(stop - start));
    if (whole.size() > format_.line_bytes) return fail(Fault::long_line, whole);
    // Blanks to what follows, which would take a damaged file for an empty one.
    if (has_control(start, stop)) return fail(Fault::binary, whole);
    while (start < stop && blank(*start)) ++start;
    return start < stop && *start != '#' && parse(start, stop, line);
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
    if (is_beyond_double(number, line.value)) ++problems_.beyond_double;
    if (!is_ascii(line.item) && !is_utf8(line.item)) return fail(Fault::not_utf8, line.item);
    if (line.topic != last_topic_) {
        if (!is_ascii(line.topic) && !is_utf8(line.topic)) return fail(Fault::not_utf8, line.topic);
        last_topic_ = line.topic;
    }
    return true;
}

}  // namespace cranfield
