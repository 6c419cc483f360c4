// Rows of labels as text: an item and a number for each concept, or one concept at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "writers/text.hpp"

namespace cranfield {

// Some rows of a matrix, row by row: confidences, or labels (0 and 1).
template <class Value>
struct LabelRows {
    const std::vector<Id>& items;
    const Value* values;
    std::size_t concepts;
};

// `item 0.5 1.0 ...` for each item; cells of CSV are put into quotes where they need them.
template <class Value>
void append_rows(Text& text, const LabelRows<Value>& rows, char separator, bool quoted);

// `item,concept,value` for each value that is not 0; an item without any has a row of the first.
template <class Value>
void append_long_rows(Text& text, const LabelRows<Value>& rows, const std::vector<Id>& concepts);

}  // namespace cranfield
