// Judgements and runs as text, block by block: TREC's format, CSV, TSV and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judgements.hpp"
#include "writers/text.hpp"

namespace cranfield {

enum class TableForm { run, judgements, csv, tsv, json };

struct TableLayout {
    TableForm form = TableForm::run;
    bool grades = false;                   // whole numbers are written without a point
    std::string tag;                       // of a run in TREC's format
    const std::int64_t* strata = nullptr;  // of judgements in TREC's format
};

// Whether every item is a text of 1 to `longest` bytes, none of which is in `breaks`. None of
// these may be above a blank.
bool items_fit(const Columns& columns, Id breaks, std::size_t longest);

// Whether an item stands twice in a topic.
bool has_repeats(const Columns& columns);

class TableWriter {
  public:
    TableWriter(Columns columns, TableLayout layout)
        : columns_(std::move(columns)), layout_(std::move(layout)) {}

    // Appends the next rows to a text, until it has so many bytes or all is written. False when
    // nothing was left to write.
    bool next(Text& text, std::size_t bytes);

  private:
    void begin_topic(Text& text);
    void end_topic(Text& text);
    void write_row(Text& text);
    void rank();
    Id topic() const { return columns_.topics[topic_]; }

    Columns columns_;
    TableLayout layout_;
    std::size_t topic_ = 0;
    std::int64_t row_ = 0;  // the rows written of this topic
    bool begun_ = false;    // whether this topic was begun
    bool finished_ = false;
    Text start_;  // what every row of this topic begins with
    std::vector<std::int64_t>
        order_;  // of the rows of this topic, where it is not that of the table
};

}  // namespace cranfield
