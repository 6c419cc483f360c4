// Measures under a truth that is not sure of itself: runs are ranked once, the truth is drawn again
// and again, and every run is scored under every draw.
#pragma once

#include <cstdint>
#include <vector>

#include "evaluate.hpp"

namespace cranfield {

// Where the judged items of each topic stand in a run; an item is its position among the judged
// items of its topic. The hits of topic t are offsets[t] to offsets[t+1].
struct JudgedRanks {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> ranks, entries, retrieved;
    std::vector<std::uint8_t> present;
};

// `index` has as the grade of each item its position.
JudgedRanks judged_ranks(const JudgementIndex& index, const Columns& run, const Options& options,
                         unsigned jobs, std::vector<TableDuplicate>& duplicates);

// The same as a view of columns.
struct RunView {
    const std::int64_t* offsets;
    const std::uint32_t *ranks, *entries, *retrieved;
    const std::uint8_t* counted;  // topics that count for the run
};

// For each judged item the chance of a grade of at most each level. Levels rise.
struct SoftTruth {
    std::size_t topics, count;
    const std::int64_t* offsets;
    const double* levels;
    const double* cumulative;  // rows x count
};

struct Guard {
    std::size_t column, guard;
};

// A parameter that depends on the whole truth: how many items of the topic that has most of them
// have at least some grade.
struct Largest {
    std::size_t column, place;
    double level;
};

struct Drawing {
    std::uint64_t seed;
    std::size_t first, draws;
    unsigned jobs;
    std::vector<std::size_t> order;    // topics as they are added up
    std::vector<Guard> guards;         // a column is undefined where its guard is 0
    std::vector<std::size_t> watched;  // columns of which the effect of single items is asked
    double smallest;                   // that logarithms see
    std::vector<Largest> largest;      // parameters that every draw has anew
};

// All that is known of the draws. Sums go over topics: runs x draws x columns; the others over
// draws: runs x topics x columns, with values less those of the first draw.
struct Drawn {
    std::vector<double> sums, logarithms;
    std::vector<std::int32_t> defined;
    std::vector<double> first, topic_sums, topic_squares;
    std::vector<std::int32_t> topic_defined;
    // rows x levels: draws that gave an item a level; rows x levels x watched: the sum of the
    // values of its topic in these, averaged over runs and less those of the first draw.
    std::vector<std::int32_t> effect_counts;
    std::vector<double> effect_sums;
};

Drawn draw_scores(const SoftTruth& truth, const std::vector<RunView>& runs,
                  const Programme& programme, const Drawing& how, Progress& progress);

// The probability of every concept of every item: items x concepts. Where they exclude one another
// an item has exactly one.
struct SoftConcepts {
    std::size_t items, concepts;
    const double* chances;
    bool exclusive;
};

// The labels of one draw: items x concepts, 0 or 1.
std::vector<std::uint8_t> draw_labels(const SoftConcepts& truth, std::uint64_t seed,
                                      std::size_t draw, unsigned jobs);

// Expected values and variances of kernels to which every item adds by itself: topics x calls.
struct Expected {
    std::vector<double> values, variances;
};
Expected expected_sums(const SoftTruth& truth, const RunView& run, const Programme& programme);

}  // namespace cranfield
