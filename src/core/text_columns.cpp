#include "text_columns.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace cranfield {

namespace {

// Appends a code point as UTF-8; false when it is none.
bool append_utf8(std::uint32_t c, std::vector<char>& bytes) {
    const auto tail = [&](int shift) {
        bytes.push_back(static_cast<char>(0x80u | ((c >> shift) & 0x3Fu)));
    };
    if (c < 0x80u) {
        bytes.push_back(static_cast<char>(c));
    } else if (c < 0x800u) {
        bytes.push_back(static_cast<char>(0xC0u | (c >> 6)));
        tail(0);
    } else if (c < 0x10000u) {
        if (c >= 0xD800u && c < 0xE000u) return false;
        bytes.push_back(static_cast<char>(0xE0u | (c >> 12)));
        tail(6), tail(0);
    } else {
        if (c > 0x10FFFFu) return false;
        bytes.push_back(static_cast<char>(0xF0u | (c >> 18)));
        tail(12), tail(6), tail(0);
    }
    return true;
}

// Text in rows of `width` code points filled up with zeros, as numpy keeps it.
struct FixedWidth {
    const std::uint32_t* codes;
    std::size_t rows, width;
    std::vector<char>& bytes;
    std::vector<std::int64_t>& offsets;

    // False when a code point cannot be expressed. A width known to the compiler is much faster.
    template <std::size_t Known>
    bool convert() {
        const std::size_t n = Known > 0 ? Known : width;
        offsets.resize(rows + 1);
        bytes.resize(rows * n + n);  // enough as long as all text is ASCII
        std::size_t filled = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            const std::uint32_t* row = codes + r * n;
            std::uint32_t all = 0;
            for (std::size_t i = 0; i < n; ++i) all |= row[i];
            std::size_t length = n;
            while (length > 0 && row[length - 1] == 0) --length;
            if (all < 0x80u) {
                if (bytes.size() - filled < n) bytes.resize(2 * bytes.size() + n);
                char* out = bytes.data() + filled;
                for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(row[i]);
                filled += length;
            } else {
                bytes.resize(filled);
                for (std::size_t i = 0; i < length; ++i)
                    if (!append_utf8(row[i], bytes)) return false;
                filled = bytes.size();
            }
            offsets[r + 1] = static_cast<std::int64_t>(filled);
        }
        bytes.resize(filled);
        return true;
    }

    template <std::size_t... Widths>
    bool dispatch(std::index_sequence<Widths...>) {
        bool valid = false;
        const bool known = ((width == Widths + 1 && (valid = convert<Widths + 1>(), true)) || ...);
        return known ? valid : convert<0>();
    }
};

}  // namespace

void TextView::check(std::size_t size) const {
    if (offsets[0] < 0 || !std::is_sorted(offsets, offsets + rows + 1) ||
        static_cast<std::size_t>(offsets[rows]) > size)
        throw std::invalid_argument("offsets of a column of text do not fit its bytes");
}

TextColumn column_of_codes(const std::uint32_t* codes, std::size_t rows, std::size_t width) {
    TextColumn column;
    FixedWidth text{codes, rows, width, column.bytes, column.offsets};
    if (!text.dispatch(std::make_index_sequence<16>()))
        throw std::invalid_argument("a text holds a code point that UTF-8 cannot express");
    return column;
}

TextColumn column_of_integers(const std::int64_t* numbers, std::size_t rows) {
    TextColumn column;
    column.offsets.reserve(rows + 1);
    char text[24];
    for (std::size_t i = 0; i < rows; ++i) {
        const auto end = std::to_chars(text, text + sizeof text, numbers[i]).ptr;
        column.append({text, static_cast<std::size_t>(end - text)});
    }
    return column;
}

TextColumn taken(const TextView& texts, const std::int64_t* order, std::size_t rows) {
    TextColumn column;
    column.offsets.reserve(rows + 1);
    column.bytes.reserve(static_cast<std::size_t>(texts.offsets[texts.rows]));
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = static_cast<std::size_t>(order[i]);
        if (row >= texts.rows) throw std::invalid_argument("a row is taken that is not there");
        column.append(texts[row]);
    }
    return column;
}

Grouping grouped(const TextView& topics) {
    Grouping result;
    std::unordered_map<Id, std::uint32_t> code_of;
    std::vector<std::uint32_t> stretches;  // the topic of each stretch of equal ones
    std::vector<std::int64_t> starts;
    for (std::size_t i = 0; i < topics.rows; ++i) {
        if (i > 0 && topics[i] == topics[i - 1]) continue;
        const auto fresh = static_cast<std::uint32_t>(result.topics.size());
        const std::uint32_t code = code_of.emplace(topics[i], fresh).first->second;
        if (code == fresh) result.topics.push_back(topics[i]);
        stretches.push_back(code);
        starts.push_back(static_cast<std::int64_t>(i));
    }
    starts.push_back(static_cast<std::int64_t>(topics.rows));
    if (stretches.size() == result.topics.size()) {
        result.offsets = std::move(starts);
        return result;
    }
    std::vector<std::uint32_t> codes(topics.rows);
    for (std::size_t s = 0; s < stretches.size(); ++s)
        std::fill(codes.begin() + starts[s], codes.begin() + starts[s + 1], stretches[s]);
    result.order = group_rows(codes, result.topics.size(), result.offsets);
    return result;
}

std::vector<std::int64_t> group_rows(const std::vector<std::uint32_t>& codes, std::size_t topics,
                                     std::vector<std::int64_t>& offsets) {
    offsets.assign(topics + 1, 0);
    bool together = true;
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        ++offsets[codes[i] + 1];
        // Codes count topics in order of appearance: rows stand together when they never fall.
        together = together && codes[i] >= highest;
        highest = std::max(highest, codes[i]);
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    if (together) return {};
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1), order(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i)
        order[static_cast<std::size_t>(next[codes[i]]++)] = static_cast<std::int64_t>(i);
    return order;
}

}  // namespace cranfield
