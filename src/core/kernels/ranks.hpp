// The ranks of all relevant items of a topic, for measures that are functions of those ranks.
#pragma once

#include <limits>

#include "kernels/ties.hpp"

namespace cranfield {

// Where relevant items stand that were not retrieved: on the last ranks of the collection, all on
// the mean of the unused ranks, or right after the ranking.
enum class Missing { worst = 0, average = 1, optimist = 2 };

// Instead of a value, when the ranks of missing items depend on a size that nobody gave.
constexpr double size_unknown = std::numeric_limits<double>::infinity();

// Ranks are asked for by the level of relevance, the size of the collection (infinite when it is
// not known) and a policy: the first three parameters of every kernel that uses them.
struct RankQuery {
    double level, size;
    Missing missing;

    explicit RankQuery(const Params& p)
        : level(p[0]), size(p[1]), missing(static_cast<Missing>(static_cast<int>(p[2]))) {}
};

// Calls f(rank, last, count) for the relevant items in the order of their ranks: `count` of them
// share `rank`, and nothing of their group stands below rank `last`. Tied items share the mean of
// their ranks. Returns 0, or the signal above.
template <class F>
double for_each_rank(View& v, const RankQuery& query, const F& f) {
    const Relevant& relevant = v.relevant(query.level);
    const double absent = relevant.total - relevant.retrieved();
    if (absent > 0 && query.missing != Missing::optimist && std::isinf(query.size))
        return size_unknown;
    if (v.ranking().ties.empty()) {
        for (const double rank : relevant.ranks) f(rank, rank, 1.0);
    } else {
        for_each_group(
            v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
                const double count = count_relevant(v.ranking(), begin, end, query.level);
                if (count > 0) f(first + 0.5 * (size - 1), first + size - 1, count);
            });
    }
    if (query.missing == Missing::average && absent > 0) {
        f(0.5 * (v.retrieved() + 1 + query.size), query.size, absent);
        return 0;
    }
    const double before = query.missing == Missing::optimist ? v.retrieved() : query.size - absent;
    for (double i = 1; i <= absent; ++i) f(before + i, before + i, 1.0);
    return 0;
}

}  // namespace cranfield
