// What the resamples say of pairs of runs: counting and selecting over thousands of draws, which is
// all that is left once the sums over topics are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield {

// Some pairs under the studentised bootstrap. `squares` are the sums of the squared centred
// differences in every draw (pairs x draws), `means` the centred means of all runs (runs x draws).
struct BootstrapPairs {
    std::size_t pairs, draws;
    const double* squares;
    const double* means;
    const std::int64_t* runs;  // pairs x 2
    double topics;
    const double* noise;  // a variance of at most this has no spread ...
    const double* own;    // ... and is that of the data
    const std::uint8_t* flat;
};

// The ratio of the mean to its standard error in every draw, squared but with its sign.
void signed_squares(const BootstrapPairs& pairs, std::size_t pair, double* answer);

// How draws lie to the data: `low` and `high` are the squared ratio of the data less and plus what
// may be rounding, `turn` is its direction.
struct Bars {
    double turn, low, high;
};

struct Held {
    std::int64_t seen, against, two;
    double reached;  // by as many draws as `rank`, in size
};

// The values become their sizes. A rank of 0 asks for nothing.
Held hold(double* values, std::size_t count, const Bars& bars, std::size_t rank);

// The largest statistic so far among pairs that come in the order of theirs, for every draw, and
// how many draws reach the bar of each pair. `sums` are of runs (rows x draws); a second run below
// 0 is none.
struct StepDown {
    std::size_t pairs, draws;
    const double* sums;
    const std::int64_t* runs;  // pairs x 2
    const double *scale, *bar;
    bool two_tailed;
};

void step_down(const StepDown& family, std::int64_t* hits, double* largest);

// In how many draws each run stands at each place (runs x runs). `means` are draws x runs, greater
// is better; those that differ by `slack` or less share the better place.
std::vector<std::int64_t> count_places(const double* means, std::size_t draws, std::size_t runs,
                                       double slack);

// Values of one sorted row above those of another, less those below.
std::int64_t dominance(const double* x, const double* y, std::size_t size);

}  // namespace cranfield
