// Rows of separated text (CSV, TSV, columns between blanks) straight into arrays.
//
// What nearly every file consists of is read here: rows of the right number of cells, cells without
// quotes or wholly within them, numbers where numbers are expected. Everything else is refused, not
// explained: whoever feeds the reader has another way to read the input, which says what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ids.hpp"
#include "readers/table.hpp"
#include "text_columns.hpp"

namespace cranfield {

// Texts and their codes, which count them in order of first appearance.
class Vocabulary {
  public:
    Vocabulary() : slots_(64) {}
    std::int32_t code(Id text) {
        if (texts_.rows() > 0 && same_id(text, last())) return last_;
        return last_ = look_up(text);
    }
    const TextColumn& texts() const { return texts_; }
    std::size_t size() const { return texts_.rows(); }

  private:
    struct Slot {
        std::uint32_t tag = 0;
        std::int32_t code = -1;
    };
    Id last() const { return texts_[static_cast<std::size_t>(last_)]; }
    std::int32_t look_up(Id text);
    void grow();

    std::vector<Slot> slots_;
    TextColumn texts_;
    std::int32_t last_ = 0;
};

// What the cells of a column become: nothing, codes of their texts, the texts, numbers.
enum class Cell : std::uint8_t { skipped, coded, text, number };

struct Separation {
    char separator = ',';     // a blank stands for any number of blanks and tabs
    std::vector<Cell> cells;  // what each column holds
    bool comments = false;    // between blanks: lines that begin with # are passed over
    std::uint64_t bytes = 0;  // so many are expected, if that is known
};

class SeparatedReader {
  public:
    explicit SeparatedReader(Separation form);

    // Takes the next bytes, which may end anywhere. False when something in them is left to
    // others; the reader is then of no more use.
    bool feed(std::string_view bytes);
    // False, too, when the last line is left to others.
    bool finish();

    std::size_t rows() const { return rows_; }
    Vocabulary& vocabulary(std::size_t column) { return vocabularies_.at(place(column)); }
    std::vector<std::int32_t>& codes(std::size_t column) { return codes_.at(place(column)); }
    TextColumn& texts(std::size_t column) { return texts_.at(place(column)); }
    // The numbers of all columns that have them, row by row.
    std::vector<double>& numbers() { return numbers_; }
    bool has_infinities() const { return infinite_; }
    // Lines without cells, counted from 0 at the first that was fed.
    std::vector<std::int64_t>& blank_lines() { return blank_lines_; }

  private:
    std::size_t place(std::size_t column) const { return places_.at(column); }
    bool read(const char* begin, const char* end, const char* readable);
    bool read_separated(const char* begin, const char* end, const char* readable);
    bool read_blanks(const char* begin, const char* end, const char* readable);
    bool take(Id cell, const char* readable);
    bool end_row();
    const char* past_quotes(const char* quote, const char* end, Id& cell) const;
    void expect_rows(std::size_t bytes);

    Separation form_;
    std::vector<std::size_t> places_;  // of each column, among those that become the same
    std::vector<Vocabulary> vocabularies_;
    std::vector<std::vector<std::int32_t>> codes_;
    std::vector<TextColumn> texts_;
    std::vector<double> numbers_;
    std::vector<std::int64_t> blank_lines_;
    std::size_t rows_ = 0, column_ = 0;
    std::int64_t lines_ = 0;
    std::string carried_;  // the start of a line that goes on in the next bytes
    bool quoted_ = false, odd_blanks_ = false, expected_ = false, refused_ = false,
         infinite_ = false;
};

// What the numbers of a run without scores are.
enum class Third { value, rank, either };

struct SeparatedTable {
    Table table;
    bool ranks = false;    // the numbers were ranks, and are negated
    bool refused = false;  // an id is empty, or an item stands twice in its topic
};

// The rows as a table grouped by topic; the reader is empty afterwards.
SeparatedTable to_table(SeparatedReader& reader, std::size_t topic, std::size_t item, Third third);

}  // namespace cranfield
