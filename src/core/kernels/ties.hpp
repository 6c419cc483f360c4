// Walking a ranking by groups of one score, for values under ties.
#pragma once

#include <algorithm>

#include "kernels/view.hpp"

namespace cranfield {

// Calls f(first rank, size, hits begin, hits end) for every group of one score with judged items.
// Without ties every judged item is a group of its own.
template <class F>
void for_each_group(const Ranking& ranking, const F& f) {
    std::size_t at = 0;
    const auto alone = [&](std::size_t until) {
        for (; at < until; ++at) f(ranking.hits[at].rank, 1u, at, at + 1);
    };
    for (const TieGroup& group : ranking.ties) {
        alone(group.hits_begin);
        f(group.first_rank, group.size, static_cast<std::size_t>(group.hits_begin),
          static_cast<std::size_t>(group.hits_end));
        at = group.hits_end;
    }
    alone(ranking.hits.size());
}

inline double count_relevant(const Ranking& ranking, std::size_t begin, std::size_t end,
                             double level) {
    return static_cast<double>(std::count_if(ranking.hits.begin() + begin,
                                             ranking.hits.begin() + end,
                                             [&](const Hit& h) { return h.grade >= level; }));
}

// How many of a group's positions are within the first k.
inline double positions_within(double k, double first_rank, double size) {
    return std::clamp(k - first_rank + 1.0, 0.0, size);
}

// The expected number of relevant items among the first k.
inline double relevant_within(View& v, double level, double k) {
    double found = 0;
    for_each_group(v.ranking(), [&](double first, double size, std::size_t begin, std::size_t end) {
        found += count_relevant(v.ranking(), begin, end, level) * positions_within(k, first, size) /
                 size;
    });
    return found;
}

}  // namespace cranfield
