#include "kernels/view.hpp"

#include <algorithm>
#include <array>

namespace cranfield {

double Relevant::within(double k) const {
    if (k >= 4294967295.0) return retrieved();
    const auto limit = static_cast<std::uint32_t>(k);
    return static_cast<double>(std::upper_bound(ranks.begin(), ranks.end(), limit) - ranks.begin());
}

const Relevant& View::relevant(double level) {
    for (std::size_t i = 0; i < used_; ++i)
        if (cache_[i].level == level) return cache_[i];
    if (used_ == cache_.size()) cache_.emplace_back();
    Relevant& entry = cache_[used_++];
    entry.level = level;
    entry.total = static_cast<double>(judgements().count_at_least(level));
    entry.ranks.clear();
    for (const Hit& hit : hits())
        if (hit.grade >= level) entry.ranks.push_back(hit.rank);
    return entry;
}

double log2_of(std::size_t n) {
    static const auto table = [] {
        std::array<double, 4096> logs{};
        for (std::size_t i = 1; i < logs.size(); ++i) logs[i] = std::log2(static_cast<double>(i));
        return logs;
    }();
    return n < table.size() ? table[n] : std::log2(static_cast<double>(n));
}

}  // namespace cranfield
