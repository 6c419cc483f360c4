// Lines of TREC files: fields, numbers and what can be wrong with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ids.hpp"
#include "readers/plain_lines.hpp"
#include "readers/source.hpp"

namespace cranfield {

enum class Fault : std::uint8_t {
    short_line,
    extra_field,
    not_a_number,
    not_finite,
    not_utf8,
    long_line,
    binary,
    duplicate,
    contradiction,  // a duplicate with another value
};

struct Problem {
    Fault fault;
    std::size_t chunk;
    std::uint64_t line;  // within its chunk, from 1; after `settle`, within the input
    std::string text;    // what was found
    std::string topic;
    std::uint64_t other_line = 0;
};

// What is wrong with an input: the first problems of it, and how many there are in all.
class Problems {
  public:
    static constexpr std::size_t kept = 20;

    void add(Problem problem);
    void count_lines(std::size_t chunk, std::uint64_t lines);
    // Turns lines of chunks into lines of the input and keeps the first problems.
    void settle();
    void trim();

    const std::vector<Problem>& list() const { return list_; }
    std::uint64_t total() const { return total_; }
    std::uint64_t lines_before(std::size_t chunk) const;

    // Numbers that no double can hold and that were read as infinite or zero: no faults.
    std::atomic<std::uint64_t> beyond_double{0};

  private:
    std::mutex guard_;
    std::vector<Problem> list_;
    std::vector<std::uint64_t> lines_;
    std::uint64_t total_ = 0;
};

enum class Kind { run, judgements };

// What lines look like, and how long they may be.
struct Format {
    Kind kind;
    bool extra_fields = false;
    std::uint64_t line_bytes = Limits{}.line_bytes;
};

// Reads the lines of a chunk, many at a time.
class LineReader {
  public:
    static constexpr std::size_t batch = 64;

    LineReader(const Chunk& chunk, const Format& format, Problems& problems);

    // How many lines were read, 0 at the end. Lines with problems are reported and passed over.
    std::size_t next(Line (&lines)[batch]);
    // The lines read so far, with those that were passed over.
    std::uint64_t number() const { return place_.number; }

  private:
    bool next_odd(Line& line);
    bool parse(const char* p, const char* end, Line& line);
    bool fail(Fault fault, std::string_view text);

    Place place_;
    std::size_t chunk_;
    Format format_;
    Problems& problems_;
    int fields_;
    bool plain_;
    Id last_topic_;
};

}  // namespace cranfield
