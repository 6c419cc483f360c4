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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    if (data[0] >= 250) {
        const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
        Table table;
        if (data[0] == 250) return read_nested_json(text, false, table), 0;
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
    if (kind == Kind::run || problems.total() > 0 || reading.table.topics.empty()) return 0;

    Columns columns;
    columns.topics.assign(reading.table.topics.begin(), reading.table.topics.end());
    columns.offsets = reading.table.offsets.data();
    columns.item_bytes = reading.table.item_bytes.data();
    columns.item_offsets = reading.table.item_offsets.data();
    columns.values = reading.table.values.data();
    columns.check(reading.table.values.size(), reading.table.item_bytes.size());
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
