// Text put together piece by piece: ids, marks, and numbers as Python shows them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "ids.hpp"

namespace cranfield {

class Text {
  public:
    void append(Id piece) {
        std::memcpy(room(piece.size()), piece.data(), piece.size());
        filled_ += piece.size();
    }
    void append(char mark) {
        *room(1) = mark;
        ++filled_;
    }
    // A cell of CSV: within quotes where it holds one, an end of a line or what separates cells.
    void append_cell(Id cell, char separator);
    void append_whole(std::int64_t number);
    // The fewest digits that are read back as this number, in the words of Python's `repr`.
    void append_number(double number);
    // The same, but whole numbers without a point, as Python shows an `int`.
    void append_grade(double number);

    Id view() const { return {bytes_.data(), filled_}; }
    std::size_t size() const { return filled_; }
    void clear() { filled_ = 0; }

  private:
    // Space for so many bytes behind what is there.
    char* room(std::size_t count) {
        if (bytes_.size() - filled_ < count) bytes_.resize(2 * bytes_.size() + count);
        return bytes_.data() + filled_;
    }
    void filled_up_to(const char* end) { filled_ = static_cast<std::size_t>(end - bytes_.data()); }

    std::vector<char> bytes_ = std::vector<char>(256);
    std::size_t filled_ = 0;
};

}  // namespace cranfield
