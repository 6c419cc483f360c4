#include "writers/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "readers/marks.hpp"

namespace cranfield {

namespace {

// A string of JSON, in which only what must be escaped is.
void append_string(Text& text, Id string) {
    constexpr char hex[] = "0123456789abcdef";
    text.append('"');
    for (const char c : string) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text.append('\\');
            text.append(c);
        } else if (byte >= ' ') {
            text.append(c);
        } else if (const std::size_t at = Id("\b\t\n\f\r").find(c); at != Id::npos) {
            text.append('\\');
            text.append("btnfr"[at]);
        } else {
            text.append("\\u00");
            text.append(hex[byte >> 4]);
            text.append(hex[byte & 15]);
        }
    }
    text.append('"');
}

// JSON to the letter: an infinite number is one that no double can hold.
void append_json_number(Text& text, double number, bool grades) {
    constexpr double past_whole = 9007199254740992.0;
    if (std::isinf(number))
        text.append(number < 0 ? Id("-1e999") : Id("1e999"));
    else if (std::isnan(number))
        text.append("NaN");
    else if (grades && std::fabs(number) < past_whole)
        text.append_grade(number);
    else
        text.append_number(number);
}

// Numbers in their order as whole numbers, with both zeros the same.
std::uint64_t order_of(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? ~bits : bits | sign;
}

}  // namespace

bool items_fit(const Columns& columns, Id breaks, std::size_t longest) {
    const std::int64_t rows = columns.offsets[columns.topics.size()];
    for (std::int64_t row = 0; row < rows; ++row)
        if (columns.item(row).size() - 1 >= longest) return false;
    const char* p = columns.item_bytes + columns.item_offsets[0];
    const char* end = columns.item_bytes + columns.item_offsets[rows];
    const auto breaking = [&](char c) { return breaks.find(c) != Id::npos; };
    for (; end - p >= Lane::size; p += Lane::size)
        if (Lane::bits(Lane(p).up_to(' ')) != 0 && std::any_of(p, p + Lane::size, breaking))
            return false;
    return std::none_of(p, end, breaking);
}

bool has_repeats(const Columns& columns) {
    IdSet seen;
    for (std::size_t t = 0; t < columns.topics.size(); ++t) {
        const std::int64_t begin = columns.offsets[t], end = columns.offsets[t + 1];
        seen.reset(static_cast<std::size_t>(end - begin));
        const auto item = [&](std::uint32_t at) { return columns.item(begin + at); };
        for (std::uint32_t at = 0; at < end - begin; ++at)
            if (seen.insert(item(at), hash_id(item(at)), at, item) != IdSet::absent) return true;
    }
    return false;
}

// Best first, ties by item with the larger one first; as they stand where that is so already.
void TableWriter::rank() {
    const std::int64_t begin = columns_.offsets[topic_], end = columns_.offsets[topic_ + 1];
    const auto better = [&](std::int64_t a, std::int64_t b) {
        const std::uint64_t one = order_of(columns_.values[a]),
                            other = order_of(columns_.values[b]);
        return one != other ? one > other : columns_.item(a) > columns_.item(b);
    };
    order_.clear();
    bool sorted = true;
    for (std::int64_t row = begin + 1; row < end && sorted; ++row) sorted = !better(row, row - 1);
    if (sorted) return;
    for (std::int64_t row = begin; row < end; ++row) order_.push_back(row);
    std::sort(order_.begin(), order_.end(), better);
}

void TableWriter::begin_topic(Text& text) {
    start_.clear();
    row_ = 0;
    begun_ = true;
    switch (layout_.form) {
        case TableForm::run:
            start_.append(topic());
            start_.append(" Q0 ");
            rank();
            break;
        case TableForm::judgements:
            start_.append(topic());
            start_.append(" 0 ");
            break;
        case TableForm::csv:
        case TableForm::tsv: {
            const char separator = layout_.form == TableForm::csv ? ',' : '\t';
            start_.append_cell(topic(), separator);
            start_.append(separator);
            break;
        }
        case TableForm::json:
            text.append(topic_ == 0 ? Id("{\n") : Id(",\n"));
            append_string(text, topic());
            text.append(": {");
    }
}

void TableWriter::end_topic(Text& text) {
    if (layout_.form == TableForm::json) text.append(row_ == 0 ? Id("}") : Id("\n}"));
    ++topic_;
    begun_ = false;
}

void TableWriter::write_row(Text& text) {
    std::int64_t row = columns_.offsets[topic_] + row_;
    if (layout_.form == TableForm::run && !order_.empty())
        row = order_[static_cast<std::size_t>(row_)];
    const Id item = columns_.item(row);
    const double value = columns_.values[row];
    text.append(start_.view());
    switch (layout_.form) {
        case TableForm::run:
            text.append(item);
            text.append(' ');
            text.append_whole(row_ + 1);
            text.append(' ');
            text.append_number(value);
            text.append(' ');
            text.append(layout_.tag);
            text.append('\n');
            break;
        case TableForm::judgements:
            text.append(item);
            text.append(' ');
            if (layout_.strata != nullptr) {
                text.append_whole(layout_.strata[row]);
                text.append(' ');
            }
            text.append_grade(value);
            text.append('\n');
            break;
        case TableForm::csv:
        case TableForm::tsv: {
            const char separator = layout_.form == TableForm::csv ? ',' : '\t';
            text.append_cell(item, separator);
            text.append(separator);
            if (layout_.grades)
                text.append_grade(value);
            else
                text.append_number(value);
            text.append('\n');
            break;
        }
        case TableForm::json:
            text.append(row_ == 0 ? Id("\n") : Id(",\n"));
            append_string(text, item);
            text.append(": ");
            append_json_number(text, value, layout_.grades);
    }
    ++row_;
}

bool TableWriter::next(Text& text, std::size_t bytes) {
    if (finished_) return false;
    while (topic_ < columns_.topics.size()) {
        if (!begun_) begin_topic(text);
        const std::int64_t rows = columns_.offsets[topic_ + 1] - columns_.offsets[topic_];
        while (row_ < rows && text.size() < bytes) write_row(text);
        if (row_ < rows) return true;
        end_topic(text);
    }
    finished_ = true;
    if (layout_.form == TableForm::json) text.append(topic_ == 0 ? Id("{}\n") : Id("\n}\n"));
    return true;
}

}  // namespace cranfield
