#include "readers/lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace cranfield {

namespace {

constexpr std::size_t longest_line = 1u << 20;
constexpr std::size_t quoted_bytes = 60;

// White space and other control bytes part fields. NUL does not: it marks binary data.
bool blank(char c) { return static_cast<unsigned char>(c - 1) < ' '; }

// A field and what follows it: blanks before the field are skipped.
Id field(const char*& p, const char* end) {
    while (p < end && blank(*p)) ++p;
    const char* start = p;
    while (p < end && !blank(*p)) ++p;
    return {start, static_cast<std::size_t>(p - start)};
}

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Plain decimals of up to 15 digits: both parts are exact, so their quotient is correctly rounded.
bool parse_short_decimal(std::string_view text, double& value) {
    if (text.size() > 17) return false;
    const char* p = text.data();
    const char* end = p + text.size();
    const bool negative = p < end && *p == '-';
    if (negative) ++p;
    std::uint64_t digits = 0;
    int count = 0, after_point = 0;
    bool point = false;
    for (; p < end; ++p) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        const unsigned digit = static_cast<unsigned char>(*p) - '0';
        if (digit > 9) return false;
        digits = digits * 10 + digit;
        ++count;
        after_point += point;
    }
    if (count == 0 || count > 15) return false;
    value = static_cast<double>(digits) / powers_of_ten[after_point];
    if (negative) value = -value;
    return true;
}

}  // namespace

bool parse_number(std::string_view text, double& value) {
    if (parse_short_decimal(text, value)) return true;
    if (!text.empty() && text[0] == '+') text.remove_prefix(1);
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

bool LineReader::fail(Fault fault, std::string_view text) {
    problems_.add({fault, chunk_, number_, std::string(text.substr(0, quoted_bytes)), {}, 0});
    return false;
}

bool LineReader::check_text(Id id, std::string_view whole) {
    if (id.find('\0') != Id::npos) return fail(Fault::binary, whole);
    return is_utf8(id) || fail(Fault::not_utf8, id);
}

bool LineReader::next(Line& line) {
    while (p_ < end_) {
        const char* start = p_;
        const void* newline = std::memchr(start, '\n', static_cast<std::size_t>(end_ - start));
        const char* stop = newline == nullptr ? end_ : static_cast<const char*>(newline);
        p_ = newline == nullptr ? end_ : stop + 1;
        ++number_;
        while (start < stop && blank(*start)) ++start;
        if (start == stop || *start == '#') continue;
        if (parse(start, stop, line)) return true;
    }
    return false;
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
    if (!is_plain(line.item) && !check_text(line.item, whole)) return false;
    if (line.topic != last_topic_) {
        if (!is_plain(line.topic) && !check_text(line.topic, whole)) return false;
        last_topic_ = line.topic;
    }
    return true;
}

}  // namespace cranfield
