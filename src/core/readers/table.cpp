#include "readers/table.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "text_columns.hpp"
#include "threads.hpp"

namespace cranfield {

namespace {

// The rows of one chunk.
struct Part {
    std::size_t number = 0;
    std::vector<std::string> topics;  // one per stretch of lines with one topic
    std::vector<std::int64_t> topic_rows;
    std::vector<char> bytes;
    std::vector<std::uint32_t> lengths;
    std::vector<double> values;
    std::vector<std::uint32_t> lines;
    std::string tag;
};

void read_part(const Chunk& chunk, const Format& format, Problems& problems, Part& part) {
    LineReader reader(chunk, format, problems);
    Line lines[LineReader::batch];
    part.number = chunk.number;
    Id tag;
    while (const std::size_t found = reader.next(lines)) {
        for (const Line* line = lines; line < lines + found; ++line) {
            if (part.topics.empty() || !same_id(part.topics.back(), line->topic)) {
                part.topics.emplace_back(line->topic);
                part.topic_rows.push_back(0);
            }
            ++part.topic_rows.back();
            part.bytes.insert(part.bytes.end(), line->item.begin(), line->item.end());
            part.lengths.push_back(static_cast<std::uint32_t>(line->item.size()));
            part.values.push_back(line->value);
            part.lines.push_back(line->number);
        }
        tag = lines[found - 1].tag;
    }
    part.tag = std::string(tag);
    problems.count_lines(chunk.number, reader.number());
}

// Rows in the order of the input, with the line of each.
struct Rows {
    std::vector<std::uint32_t> codes;
    std::vector<std::uint64_t> lines;
};

void append(Part& part, std::uint64_t lines_before,
            std::unordered_map<std::string, std::uint32_t>& code_of, Table& table, Rows& rows) {
    for (std::size_t i = 0; i < part.topics.size(); ++i) {
        const auto [it, fresh] =
            code_of.emplace(part.topics[i], static_cast<std::uint32_t>(table.topics.size()));
        if (fresh) table.topics.push_back(part.topics[i]);
        rows.codes.insert(rows.codes.end(), static_cast<std::size_t>(part.topic_rows[i]),
                          it->second);
    }
    for (const std::uint32_t length : part.lengths)
        table.item_offsets.push_back(table.item_offsets.back() + length);
    for (const std::uint32_t line : part.lines) rows.lines.push_back(lines_before + line);
    table.item_bytes.insert(table.item_bytes.end(), part.bytes.begin(), part.bytes.end());
    table.values.insert(table.values.end(), part.values.begin(), part.values.end());
    if (!part.tag.empty()) table.tag = part.tag;
    part = {};
}

void reorder(Table& table, const std::vector<std::int64_t>& order, Rows& rows) {
    Table sorted;
    sorted.item_bytes.reserve(table.item_bytes.size());
    sorted.item_offsets.assign(1, 0);
    std::vector<std::uint64_t> lines;
    for (const std::int64_t row : order) {
        const auto at = static_cast<std::size_t>(row);
        sorted.item_bytes.insert(sorted.item_bytes.end(),
                                 table.item_bytes.begin() + table.item_offsets[at],
                                 table.item_bytes.begin() + table.item_offsets[at + 1]);
        sorted.item_offsets.push_back(static_cast<std::int64_t>(sorted.item_bytes.size()));
        sorted.values.push_back(table.values[at]);
        lines.push_back(rows.lines[at]);
    }
    table.item_bytes = std::move(sorted.item_bytes);
    table.item_offsets = std::move(sorted.item_offsets);
    table.values = std::move(sorted.values);
    rows.lines = std::move(lines);
}

// Drops rows that repeat an earlier one word for word, and reports the others that repeat an item.
void check_repeats(TableReading& reading, Kind kind, const Rows& rows, Problems& problems) {
    IdSet seen;
    Table& table = reading.table;
    std::uint64_t& repeated = reading.repeated;
    std::vector<bool> drop(table.values.size(), false);
    const auto item = [&](std::int64_t row) {
        return Id(table.item_bytes.data() + table.item_offsets[static_cast<std::size_t>(row)],
                  static_cast<std::size_t>(table.item_offsets[static_cast<std::size_t>(row) + 1] -
                                           table.item_offsets[static_cast<std::size_t>(row)]));
    };
    for (std::size_t t = 0; t < table.topics.size(); ++t) {
        const std::int64_t begin = table.offsets[t], end = table.offsets[t + 1];
        seen.reset(static_cast<std::size_t>(end - begin));
        for (std::int64_t row = begin; row < end; ++row) {
            const std::uint32_t earlier =
                seen.insert(item(row), hash_id(item(row)), static_cast<std::uint32_t>(row - begin),
                            [&](std::uint32_t at) { return item(begin + at); });
            if (earlier == IdSet::absent) continue;
            const auto first = static_cast<std::size_t>(begin + earlier);
            const auto second = static_cast<std::size_t>(row);
            const Fault fault = kind == Kind::run ? Fault::duplicate : Fault::contradiction;
            Problem problem{fault,
                            0,
                            rows.lines[second],
                            std::string(item(row)),
                            table.topics[t],
                            rows.lines[first]};
            if (kind == Kind::judgements && table.values[first] == table.values[second]) {
                if (++repeated == 1) reading.first_repeat = std::move(problem);
                drop[second] = true;
            } else {
                problems.add(std::move(problem));
            }
        }
    }
    if (repeated > 0) {
        Table kept;
        kept.item_offsets.assign(1, 0);
        std::vector<std::int64_t> offsets{0};
        for (std::size_t t = 0; t < table.topics.size(); ++t) {
            for (std::int64_t row = table.offsets[t]; row < table.offsets[t + 1]; ++row) {
                if (drop[static_cast<std::size_t>(row)]) continue;
                const Id id = item(row);
                kept.item_bytes.insert(kept.item_bytes.end(), id.begin(), id.end());
                kept.item_offsets.push_back(static_cast<std::int64_t>(kept.item_bytes.size()));
                kept.values.push_back(table.values[static_cast<std::size_t>(row)]);
            }
            offsets.push_back(static_cast<std::int64_t>(kept.values.size()));
        }
        kept.topics = std::move(table.topics);
        kept.offsets = std::move(offsets);
        kept.tag = std::move(table.tag);
        table = std::move(kept);
    }
}

}  // namespace

TableReading read_table(Source& source, Kind kind, unsigned jobs, bool extra_fields,
                        Problems& problems, Progress& progress) {
    const Format format{kind, extra_fields, source.limits().line_bytes};
    std::deque<Part> parts;
    std::mutex guard;
    progress.total += source.total_bytes();
    on_threads(source.useful_threads(jobs), [&] {
        Chunk chunk;
        while (!progress.cancelled && source.next(chunk)) {
            Part part;
            read_part(chunk, format, problems, part);
            progress.done += chunk.size();
            const std::lock_guard lock(guard);
            parts.push_back(std::move(part));
        }
    });
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.number < b.number; });
    TableReading reading;
    reading.stop = source.stop();
    Table& table = reading.table;
    table.item_offsets.assign(1, 0);
    std::size_t count = 0, bytes = 0;
    for (const Part& part : parts) {
        count += part.values.size();
        bytes += part.bytes.size();
    }
    table.item_offsets.reserve(count + 1);
    table.item_bytes.reserve(bytes);
    table.values.reserve(count);
    Rows rows;
    rows.codes.reserve(count);
    rows.lines.reserve(count);
    std::unordered_map<std::string, std::uint32_t> code_of;
    for (Part& part : parts) append(part, problems.lines_before(part.number), code_of, table, rows);
    const auto order = group_rows(rows.codes, table.topics.size(), table.offsets);
    if (!order.empty()) reorder(table, order, rows);
    problems.settle();
    check_repeats(reading, kind, rows, problems);
    problems.trim();
    return reading;
}

}  // namespace cranfield
