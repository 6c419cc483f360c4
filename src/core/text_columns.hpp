// Columns of text, as one run of bytes and the offsets in it: made, grouped by topic, reordered.
#pragma once

#include <cstdint>
#include <vector>

#include "ids.hpp"

namespace cranfield {

// A text column that belongs to someone else.
struct TextView {
    const char* bytes;
    const std::int64_t* offsets;
    std::size_t rows;

    Id operator[](std::size_t row) const {
        return {bytes + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
    }
    // Throws std::invalid_argument unless every text lies within the bytes.
    void check(std::size_t size) const;
};

struct TextColumn {
    std::vector<char> bytes;
    std::vector<std::int64_t> offsets{0};

    void append(Id text) {
        bytes.insert(bytes.end(), text.begin(), text.end());
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    std::size_t rows() const { return offsets.size() - 1; }
    TextView view() const { return {bytes.data(), offsets.data(), rows()}; }
    Id operator[](std::size_t row) const { return view()[row]; }
};

// Rows of `width` code points filled up with zeros, as numpy keeps text. Throws
// std::invalid_argument for a code point that UTF-8 cannot express.
TextColumn column_of_codes(const std::uint32_t* codes, std::size_t rows, std::size_t width);
// Whole numbers as their decimal text.
TextColumn column_of_integers(const std::int64_t* numbers, std::size_t rows);
// Some rows, in the order given. Throws std::invalid_argument for a row that is not there.
TextColumn taken(const TextView& texts, const std::int64_t* order, std::size_t rows);

// Topics of rows in order of first appearance, the offsets of their rows, and the order in which
// rows must be taken to stand together (nothing when they do).
struct Grouping {
    std::vector<Id> topics;
    std::vector<std::int64_t> offsets, order;
};
Grouping grouped(const TextView& topics);

// Groups rows by topic: `codes` gives the topic of each row. Returns the rows in the new order,
// or nothing when they stand together already, and the offsets of topics.
std::vector<std::int64_t> group_rows(const std::vector<std::uint32_t>& codes, std::size_t topics,
                                     std::vector<std::int64_t>& offsets);

}  // namespace cranfield
