// The readers on any bytes, for libFuzzer under the sanitizers. The first byte says which reader it
// is and how the rest is cut into reads, so that chunks end anywhere.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "evaluate.hpp"
#include "readers/json.hpp"
#include "readers/run_file.hpp"
#include "readers/separated.hpp"
#include "readers/table.hpp"
#include "writers/table.hpp"

using namespace cranfield;

namespace {

// Reads rows in pieces of some size; the table they make, or none.
bool read_rows(std::string_view text, char separator, std::size_t step, SeparatedTable& found) {
    SeparatedReader reader(
        {separator, {Cell::coded, Cell::text, Cell::number}, separator == ' ', text.size()});
    for (std::size_t at = 0; at < text.size(); at += step)
        if (!reader.feed(text.substr(at, step))) return false;
    if (!reader.finish() || reader.rows() == 0) return false;
    found = to_table(reader, 0, 1, Third::either);
    return true;
}

// The same table, however the bytes are cut.
void check_rows(std::string_view text, char separator, std::size_t step) {
    SeparatedTable whole, cut;
    const bool good = read_rows(text, separator, text.size() + 1, whole);
    if (good != read_rows(text, separator, step, cut)) std::abort();
    if (!good) return;
    if (whole.refused != cut.refused || whole.ranks != cut.ranks ||
        whole.table.topics != cut.table.topics || whole.table.offsets != cut.table.offsets ||
        whole.table.item_bytes != cut.table.item_bytes ||
        whole.table.item_offsets != cut.table.item_offsets ||
        whole.table.values != cut.table.values)
        std::abort();
}

Columns columns_of(const Table& table) {
    Columns columns;
    columns.topics.assign(table.topics.begin(), table.topics.end());
    columns.offsets = table.offsets.data();
    columns.item_bytes = table.item_bytes.data();
    columns.item_offsets = table.item_offsets.data();
    columns.values = table.values.data();
    columns.check(table.values.size(), table.item_bytes.size());
    return columns;
}

// The same text in blocks of any size; what is written as JSON is read back as it was.
void check_writing(const Table& table, TableForm form, std::size_t step) {
    const Columns columns = columns_of(table);
    const TableLayout layout{form, form == TableForm::judgements, "tag", nullptr};
    Text whole, part;
    std::string joined;
    TableWriter all(columns, layout), some(columns, layout);
    while (all.next(whole, Limits::none)) continue;
    while (some.next(part, step)) {
        joined.append(part.view());
        part.clear();
    }
    if (joined != whole.view()) std::abort();
    Table again;
    if (form != TableForm::json || !items_fit(columns, {}, 64) ||
        joined.find('\\') != std::string::npos || !read_nested_json(joined, false, again))
        return;
    if (again.topics != table.topics || again.offsets != table.offsets ||
        again.item_bytes != table.item_bytes || again.item_offsets != table.item_offsets ||
        again.values != table.values)
        std::abort();
}

void check_writers(const Table& table, std::size_t step) {
    if (table.topics.empty() || has_repeats(columns_of(table))) return;
    for (const TableForm form :
         {TableForm::run, TableForm::judgements, TableForm::csv, TableForm::tsv, TableForm::json})
        check_writing(table, form, step);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    if (data[0] >= 250) {
        const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
        Table table;
        if (data[0] == 250) {
            if (read_nested_json(text, false, table)) check_writers(table, 1 + size % 64);
            return 0;
        }
        check_rows(text, ",;\t "[data[0] % 4], 1 + size % 64);
        return 0;
    }
    const std::size_t step = 1 + data[0] % 64;
    const Kind kind = data[0] & 64 ? Kind::run : Kind::judgements;
    const Limits limits{data[0] & 128 ? 5 : Limits::none, 200};
    const auto* bytes = reinterpret_cast<const char*>(data + 1);
    std::size_t at = 0;
    const auto read = [&](char* buffer, std::size_t room) {
        const std::size_t got = std::min({room, step, size - 1 - at});
        std::memcpy(buffer, bytes + at, got);
        at += got;
        return static_cast<std::int64_t>(got);
    };
    Problems problems;
    Progress progress;
    Stream stream(read, 64 + step, limits);
    const TableReading reading = read_table(stream, kind, 1, false, problems, progress);
    if (problems.total() > 0 || reading.table.topics.empty()) return 0;
    check_writers(reading.table, step);
    if (kind == Kind::run) return 0;

    const Columns columns = columns_of(reading.table);
    const JudgementIndex index(columns);
    const Programme programme =
        programme_of({{"average_precision", {1.0, 1e9}}, {"err", {10.0, 4.0}}, {"bpref", {1.0}}});
    std::vector<double> values(index.size() * programme.size());
    std::vector<std::uint8_t> present(index.size());
    std::vector<TableDuplicate> duplicates;
    evaluate_table(index, columns, programme, Options{}, 1, values.data(), present.data(),
                   duplicates);
    return 0;
}
