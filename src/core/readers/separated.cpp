#include "readers/separated.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "readers/marks.hpp"
#include "readers/numbers.hpp"

namespace cranfield {

namespace {

// What Python's csv grants a field.
constexpr std::size_t longest_cell = 131'072;

// White space that Python strips from numbers and nobody takes for a part of them.
Id trimmed(Id text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// Whether a text may hold blanks or line ends beyond ASCII, by how those begin in UTF-8.
bool may_hold_wide_blanks(const char* begin, const char* end) {
    return std::any_of(begin, end, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0xC2 || (byte >= 0xE1 && byte <= 0xE3);
    });
}

}  // namespace

std::int32_t Vocabulary::look_up(Id text) {
    const std::uint64_t hash = hash_id(text);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    for (; slots_[i].code >= 0; i = (i + 1) & mask)
        if (slots_[i].tag == tag && same_id(texts_[static_cast<std::size_t>(slots_[i].code)], text))
            return slots_[i].code;
    const auto fresh = static_cast<std::int32_t>(texts_.rows());
    slots_[i] = {tag, fresh};
    texts_.append(text);
    if (texts_.rows() * 2 > slots_.size()) grow();
    return fresh;
}

void Vocabulary::grow() {
    slots_.assign(slots_.size() * 2, {});
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t row = 0; row < texts_.rows(); ++row) {
        const std::uint64_t hash = hash_id(texts_[row]);
        std::size_t i = hash & mask;
        while (slots_[i].code >= 0) i = (i + 1) & mask;
        slots_[i] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::int32_t>(row)};
    }
}

SeparatedReader::SeparatedReader(Separation form) : form_(std::move(form)) {
    std::size_t numbers = 0;
    for (const Cell cell : form_.cells) {
        if (cell == Cell::coded) {
            places_.push_back(codes_.size());
            codes_.emplace_back();
            vocabularies_.emplace_back();
        } else if (cell == Cell::text) {
            places_.push_back(texts_.size());
            texts_.emplace_back();
        } else {
            places_.push_back(numbers++);
        }
    }
}

bool SeparatedReader::feed(std::string_view bytes) {
    if (refused_) return false;
    const std::size_t fed = bytes.size();
    if (!carried_.empty()) {
        const std::size_t newline = bytes.find('\n');
        carried_.append(bytes.substr(0, newline == Id::npos ? bytes.size() : newline + 1));
        if (newline == Id::npos) return true;
        bytes.remove_prefix(newline + 1);
        const char* begin = carried_.data();
        const char* end = begin + carried_.size();
        if (!read(begin, end, end)) return false;
        carried_.clear();
    }
    const std::size_t newline = bytes.rfind('\n');
    const std::size_t whole = newline == Id::npos ? 0 : newline + 1;
    const char* begin = bytes.data();
    if (!read(begin, begin + whole, begin + bytes.size())) return false;
    carried_.assign(bytes.substr(whole));
    expect_rows(fed);
    return true;
}

bool SeparatedReader::finish() {
    if (refused_) return false;
    if (!carried_.empty()) {
        carried_.push_back('\n');
        const char* begin = carried_.data();
        const char* end = begin + carried_.size();
        if (!read(begin, end, end)) return false;
        carried_.clear();
    }
    // Rows of a text with quotes end at every line end that Python knows.
    return !(quoted_ && odd_blanks_);
}

// Whole lines. Up to `readable` there are bytes that may be looked at.
bool SeparatedReader::read(const char* begin, const char* end, const char* readable) {
    const bool good = form_.separator == ' ' ? read_blanks(begin, end, readable)
                                             : read_separated(begin, end, readable);
    refused_ = !good || rows_ > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
    return !refused_;
}

// After the first bytes: room for as many rows as their share says.
void SeparatedReader::expect_rows(std::size_t bytes) {
    if (expected_ || rows_ == 0 || form_.bytes <= bytes) return;
    expected_ = true;
    const double share = 1.02 * static_cast<double>(form_.bytes) / static_cast<double>(bytes);
    const auto grown = [share](std::size_t size) {
        return static_cast<std::size_t>(static_cast<double>(size) * share) + 16;
    };
    for (auto& column : codes_) column.reserve(grown(column.size()));
    for (TextColumn& column : texts_) {
        column.bytes.reserve(grown(column.bytes.size()));
        column.offsets.reserve(grown(column.offsets.size()));
    }
    numbers_.reserve(grown(numbers_.size()));
}

bool SeparatedReader::take(Id cell, const char* readable) {
    if (column_ >= form_.cells.size() || cell.size() > longest_cell) return false;
    const std::size_t at = places_[column_];
    switch (form_.cells[column_++]) {
        case Cell::skipped:
            return true;
        case Cell::coded:
            codes_[at].push_back(vocabularies_[at].code(cell));
            return true;
        case Cell::text:
            texts_[at].append(cell);
            return true;
        case Cell::number: {
            double value = 0;
            if (!parse_short_decimal(cell, readable, value)) {
                if (!parse_number(trimmed(cell), value) || std::isnan(value)) return false;
                infinite_ = infinite_ || std::isinf(value);
            }
            numbers_.push_back(value);
            return true;
        }
    }
    return false;
}

bool SeparatedReader::end_row() {
    if (column_ != form_.cells.size()) return false;
    column_ = 0;
    ++rows_;
    ++lines_;
    return true;
}

// A cell wholly within quotes, without any inside: the place after it, or nothing.
const char* SeparatedReader::past_quotes(const char* quote, const char* end, Id& cell) const {
    const char* first = quote + 1;
    const char* last = std::find_if(
        first, end, [](char c) { return c == '"' || static_cast<unsigned char>(c) < ' '; });
    if (last == end || *last != '"' || last + 1 == end) return nullptr;
    cell = {first, static_cast<std::size_t>(last - first)};
    const char* after = last + 1;
    if (*after == '\r' && after + 1 < end && after[1] == '\n') ++after;
    return *after == form_.separator || *after == '\n' ? after : nullptr;
}

bool SeparatedReader::read_separated(const char* begin, const char* end, const char* readable) {
    const char separator = form_.separator;
    const char* cell = begin;
    const char* line = begin;
    const char* resume = begin;  // marks before it have been dealt with
    std::uint64_t beyond_ascii = 0;
    char padded[64];
    for (const char* at = begin; at < end; at += 64) {
        const char* window = at;
        if (end - at < 64) {
            std::memset(padded, 'x', sizeof padded);
            std::memcpy(padded, at, static_cast<std::size_t>(end - at));
            window = padded;
        }
        std::uint64_t marks[2];
        look_at(window, marks, [separator](Lane lane, Lane::Mask(&masks)[2]) {
            masks[0] = Lane::either(Lane::either(lane.equal(separator), lane.equal('"')),
                                    lane.up_to(0x1F));
            masks[1] = lane.high();
        });
        beyond_ascii |= marks[1];
        for (std::uint64_t bits = marks[0]; bits != 0; bits &= bits - 1) {
            const char* mark = at + std::countr_zero(bits);
            if (mark < resume) continue;
            const char c = *mark;
            if (c == separator) {
                if (!take({cell, static_cast<std::size_t>(mark - cell)}, readable)) return false;
                cell = mark + 1;
            } else if (c == '\n') {
                const char* stop = mark > line && mark[-1] == '\r' ? mark - 1 : mark;
                if (stop == line) {
                    blank_lines_.push_back(lines_++);
                } else if (!take({cell, static_cast<std::size_t>(stop - cell)}, readable) ||
                           !end_row()) {
                    return false;
                }
                cell = line = mark + 1;
            } else if (c == '"') {
                // Within a cell they are text, which only those who know the dialect may say.
                Id text;
                const char* after = mark == cell ? past_quotes(mark, end, text) : nullptr;
                if (after == nullptr || !take(text, readable)) return false;
                quoted_ = true;
                if (*after == '\n') {
                    if (!end_row()) return false;
                    line = after + 1;
                }
                cell = resume = after + 1;
            } else if (!(c == '\t' || (c == '\r' && mark + 1 < end && mark[1] == '\n'))) {
                return false;
            }
        }
    }
    if (beyond_ascii == 0) return true;
    odd_blanks_ = odd_blanks_ || may_hold_wide_blanks(begin, end);
    return is_utf8({begin, static_cast<std::size_t>(end - begin)});
}

bool SeparatedReader::read_blanks(const char* begin, const char* end, const char* readable) {
    const char* cell = begin;
    std::uint64_t beyond_ascii = 0;
    bool comment = false;
    char padded[64];
    for (const char* at = begin; at < end; at += 64) {
        const char* window = at;
        if (end - at < 64) {
            std::memset(padded, 'x', sizeof padded);
            std::memcpy(padded, at, static_cast<std::size_t>(end - at));
            window = padded;
        }
        std::uint64_t marks[2];
        look_at(window, marks, [](Lane lane, Lane::Mask(&masks)[2]) {
            masks[0] = lane.up_to(' ');
            masks[1] = lane.high();
        });
        beyond_ascii |= marks[1];
        for (std::uint64_t bits = marks[0]; bits != 0; bits &= bits - 1) {
            const char* mark = at + std::countr_zero(bits);
            const char c = *mark;
            if (mark > cell && !comment) {
                const Id text{cell, static_cast<std::size_t>(mark - cell)};
                comment = form_.comments && column_ == 0 && text[0] == '#';
                if (!comment && !take(text, readable)) return false;
            }
            cell = mark + 1;
            if (c == '\n') {
                if (column_ == 0) {
                    blank_lines_.push_back(lines_++);
                } else if (!end_row()) {
                    return false;
                }
                comment = false;
            } else if (!(c == ' ' || c == '\t' ||
                         (c == '\r' && mark + 1 < end && mark[1] == '\n'))) {
                return false;
            }
        }
    }
    if (beyond_ascii == 0) return true;
    return !may_hold_wide_blanks(begin, end) &&
           is_utf8({begin, static_cast<std::size_t>(end - begin)});
}

namespace {

// Whether an item stands twice in a topic.
bool has_repeats(const Table& table) {
    IdSet seen;
    const auto item = [&](std::size_t row) {
        return Id(table.item_bytes.data() + table.item_offsets[row],
                  static_cast<std::size_t>(table.item_offsets[row + 1] - table.item_offsets[row]));
    };
    for (std::size_t t = 0; t < table.topics.size(); ++t) {
        const auto begin = static_cast<std::size_t>(table.offsets[t]);
        const auto end = static_cast<std::size_t>(table.offsets[t + 1]);
        seen.reset(end - begin);
        for (std::size_t row = begin; row < end; ++row) {
            const Id id = item(row);
            if (seen.insert(id, hash_id(id), static_cast<std::uint32_t>(row - begin),
                            [&](std::uint32_t at) { return item(begin + at); }) != IdSet::absent)
                return true;
        }
    }
    return false;
}

// Whether the numbers of every topic are 1 to n.
bool are_ranks(const Table& table) {
    std::vector<bool> seen;
    for (std::size_t t = 0; t < table.topics.size(); ++t) {
        const auto begin = static_cast<std::size_t>(table.offsets[t]);
        const auto end = static_cast<std::size_t>(table.offsets[t + 1]);
        seen.assign(end - begin + 1, false);
        for (std::size_t row = begin; row < end; ++row) {
            const double value = table.values[row];
            if (!(value >= 1 && value <= static_cast<double>(end - begin)) ||
                value != std::floor(value) || seen[static_cast<std::size_t>(value)])
                return false;
            seen[static_cast<std::size_t>(value)] = true;
        }
    }
    return true;
}

}  // namespace

SeparatedTable to_table(SeparatedReader& reader, std::size_t topic, std::size_t item, Third third) {
    SeparatedTable result;
    Table& table = result.table;
    const TextColumn& names = reader.vocabulary(topic).texts();
    for (std::size_t t = 0; t < names.rows(); ++t) table.topics.emplace_back(names[t]);
    const auto given = std::move(reader.codes(topic));
    const std::vector<std::uint32_t> codes(given.begin(), given.end());
    const auto order = group_rows(codes, table.topics.size(), table.offsets);
    TextColumn items = std::move(reader.texts(item));
    table.values = std::move(reader.numbers());
    if (!order.empty()) {
        items = taken(items.view(), order.data(), order.size());
        std::vector<double> values;
        values.reserve(order.size());
        for (const std::int64_t row : order)
            values.push_back(table.values[static_cast<std::size_t>(row)]);
        table.values = std::move(values);
    }
    table.item_bytes = std::move(items.bytes);
    table.item_offsets = std::move(items.offsets);
    const auto no_text = [](std::int64_t from, std::int64_t to) { return from == to; };
    const auto& ends = table.item_offsets;
    result.refused = std::adjacent_find(ends.begin(), ends.end(), no_text) != ends.end() ||
                     std::any_of(table.topics.begin(), table.topics.end(),
                                 [](const std::string& name) { return name.empty(); }) ||
                     has_repeats(table);
    result.ranks = third == Third::rank || (third == Third::either && are_ranks(table));
    if (result.ranks)
        for (double& value : table.values) value = -value;
    return result;
}

}  // namespace cranfield
