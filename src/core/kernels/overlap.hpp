// Overlaps of glosses, scored as Banerjee and Pedersen do: the longest run of words that two texts
// share counts its length squared, is taken out, and so on until they share nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield::overlap {

// Texts of word numbers, one after the other. A negative number is a boundary: it equals nothing.
// Text t is words[starts[t] .. starts[t + 1]).
class Texts {
  public:
    Texts(const std::int32_t* words, const std::int64_t* starts, std::size_t count);

    struct View {
        const std::int32_t* words;
        std::size_t size;
        // The positions of its words, by word and then by position, without the boundaries.
        const std::int32_t* sorted;
        std::size_t sorted_size;
    };
    View operator[](std::size_t text) const;

  private:
    const std::int32_t* words_;
    const std::int64_t* starts_;
    std::vector<std::int32_t> sorted_;
    std::vector<std::int64_t> sorted_starts_;
};

// The overlap of two texts; one scorer per thread, because it keeps its memory between calls.
class Scorer {
  public:
    double operator()(const Texts::View& first, const Texts::View& second);

  private:
    struct Range {
        const std::int32_t* begin = nullptr;
        const std::int32_t* end = nullptr;
    };
    bool match(const Texts::View& first, const Texts::View& second);
    std::int32_t longest_from(const Texts::View& first, std::int32_t at, std::int32_t most) const;
    bool take(const Texts::View& first, std::int32_t at, std::int32_t length);

    std::vector<Range> candidates_;     // where in the second text each word of the first stands
    std::vector<std::int32_t> shared_;  // positions of the first text whose word is in the second
    std::vector<std::int32_t> length_;  // how long a run may start at each position of the first
    std::vector<std::int32_t> remaining_;  // the second text, with what was taken out marked
};

// scores[k] = sum over r of the overlap of text (left[k], first[r]) and text (right[k], second[r]),
// where text (s, r) is number s * per_sense + r.
struct Request {
    const std::int32_t* left;
    const std::int32_t* right;
    std::size_t pairs;
    const std::int32_t* first;
    const std::int32_t* second;
    std::size_t relations;
    std::size_t per_sense;
};
void score_pairs(const Texts& texts, const Request& request, unsigned jobs, double* scores);

}  // namespace cranfield::overlap
