// Rows of codes: do any two say the same?
#pragma once

#include <cstddef>
#include <cstdint>

namespace cranfield {

struct CodeRows {
    const std::int32_t* first;
    const std::int32_t* second;
    const std::int32_t* third;
    std::size_t rows;
};

// Whether no row stands twice; negative codes are a std::invalid_argument.
bool rows_differ(const CodeRows& codes);

}  // namespace cranfield
