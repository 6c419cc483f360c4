// {topic: {item: number}} in JSON, straight into columns.
#pragma once

#include <string_view>

#include "readers/table.hpp"

namespace cranfield {

// False for everything but plain JSON of that shape: strings with escapes, topics or items that
// stand twice, numbers that no double can hold, faults. Whoever asks has another way to read it,
// which says what is wrong. Infinite numbers are allowed unless `finite` is asked for.
bool read_nested_json(std::string_view text, bool finite, Table& table);

}  // namespace cranfield
