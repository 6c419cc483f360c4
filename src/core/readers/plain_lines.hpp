// Plain lines of TREC files, many at a time: what nearly all lines of nearly all files are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ids.hpp"

namespace cranfield {

struct Line {
    Id topic, item, tag;
    double value = 0;
    std::uint32_t number = 0;  // within its chunk, from 1
};

// What stands in 64 bytes, one bit for each: what separates fields, what ends lines, and what is
// no plain text.
struct Window {
    std::uint64_t blanks = 0, newlines = 0, odd = 0;
};

// Where a reader of lines stands.
struct Place {
    const char* p = nullptr;
    const char* end = nullptr;
    std::uint64_t number = 0;       // lines read so far
    const char* seen_at = nullptr;  // of the two windows that were looked at last
    Window seen[2] = {};
};

// Reads lines of `fields` (4 or 6) fields into `lines`, up to `room` of them or up to a line that
// is not plain: one of more than 63 bytes, of anything but ASCII text, a comment, or a faulty one.
// Returns how many were read. On processors that have them, later instructions are used.
std::size_t read_plain_lines(Place& place, int fields, Line* lines, std::size_t room);

}  // namespace cranfield
