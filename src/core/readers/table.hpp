// A whole file as a table grouped by topic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "judgements.hpp"
#include "readers/lines.hpp"
#include "readers/source.hpp"

namespace cranfield {

// Rows of topic t are offsets[t] to offsets[t+1]; topics stand in order of first appearance.
struct Table {
    std::vector<std::string> topics;
    std::vector<std::int64_t> offsets;
    std::vector<char> item_bytes;
    std::vector<std::int64_t> item_offsets;
    std::vector<double> values;
    std::string tag;  // the run's name, as its last line has it
};

struct TableReading {
    Table table;
    std::uint64_t repeated = 0;  // equal judgements that were given twice
    std::optional<Problem> first_repeat;
    Stop stop = Stop::not_stopped;
};

TableReading read_table(Source& source, Kind kind, unsigned jobs, bool extra_fields,
                        Problems& problems, Progress& progress);

}  // namespace cranfield
