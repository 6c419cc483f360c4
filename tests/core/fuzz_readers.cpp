// The readers of TREC files on any bytes, for libFuzzer under the sanitizers. The first byte says
// how the rest is cut into reads, so that chunks end anywhere.
#include <cstdint>
#include <cstring>
#include <string>

#include "evaluate.hpp"
#include "readers/run_file.hpp"
#include "readers/table.hpp"

using namespace cranfield;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
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
