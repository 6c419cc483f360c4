#include "ranking.hpp"

#include <algorithm>
#include <numeric>

namespace cranfield {

bool Ranker::rank(const Block& block, const TopicJudgements& judgements, const Options& options,
                  Ranking& ranking, std::vector<Duplicate>& duplicates) {
    const std::size_t n = block.size();
    const std::size_t before = duplicates.size();
    grades_.resize(n);
    if (options.check_duplicates) seen_.reset(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t hash = hash_id(block.items[i]);
        grades_[i] = judgements.grade(block.items[i], hash);
        if (options.check_duplicates) {
            const auto position = static_cast<std::uint32_t>(i);
            const std::uint32_t earlier = seen_.insert(
                block.items[i], hash, position, [&](std::uint32_t at) { return block.items[at]; });
            if (earlier != IdSet::absent) duplicates.push_back({earlier, position});
        }
    }
    ranking.judgements = &judgements;
    ranking.hits.clear();
    ranking.ties.clear();
    order_by_score(block);
    collect(block, options, ranking);
    return duplicates.size() == before;
}

void Ranker::order_by_score(const Block& block) {
    order_.resize(block.size());
    std::iota(order_.begin(), order_.end(), 0u);
    const auto& scores = block.scores;
    if (std::is_sorted(scores.begin(), scores.end(), std::greater<>())) return;
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
}

// Walks groups of one score from the top. Only groups that hold judged items need an inner order.
void Ranker::collect(const Block& block, const Options& options, Ranking& ranking) {
    const std::size_t n = std::min<std::size_t>(block.size(), options.max_items);
    const auto is_judged = [&](std::uint32_t item) { return !std::isnan(grades_[item]); };
    const bool only_judged = options.judged_only;
    std::uint32_t kept = 0;  // items ranked so far
    for (std::size_t begin = 0; begin < n;) {
        std::size_t end = begin + 1;
        const double score = block.scores[order_[begin]];
        while (end < block.size() && block.scores[order_[end]] == score) ++end;
        if (end - begin > 1 && std::any_of(order_.begin() + begin, order_.begin() + end, is_judged))
            order_group(block, begin, end, options.ties);
        const auto first_hit = static_cast<std::uint32_t>(ranking.hits.size());
        const std::uint32_t first_rank = kept + 1;
        for (std::size_t i = begin; i < std::min(end, n); ++i) {
            const double grade = grades_[order_[i]];
            const bool counts = only_judged ? grade >= 0 : true;
            if (counts) ++kept;
            if (counts && !std::isnan(grade)) ranking.hits.push_back({kept, grade});
        }
        const auto last_hit = static_cast<std::uint32_t>(ranking.hits.size());
        if (options.ties == Ties::average && kept > first_rank && last_hit > first_hit)
            ranking.ties.push_back({first_rank, kept - first_rank + 1, first_hit, last_hit});
        begin = end;
    }
    ranking.retrieved = kept;
}

void Ranker::order_group(const Block& block, std::size_t begin, std::size_t end, Ties ties) {
    const auto first = order_.begin() + begin, last = order_.begin() + end;
    // Good items, then items nobody judged, then items judged to be bad.
    const auto merit = [&](std::uint32_t item) {
        const double grade = grades_[item];
        return std::isnan(grade) ? 0.5 : grade > 0 ? grade + 1.0 : std::min(grade, 0.0);
    };
    switch (ties) {
        case Ties::id:
            std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
                return block.items[a] > block.items[b];
            });
            break;
        case Ties::id_ascending:
            std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
                return block.items[a] < block.items[b];
            });
            break;
        case Ties::best:
            std::stable_sort(first, last,
                             [&](std::uint32_t a, std::uint32_t b) { return merit(a) > merit(b); });
            break;
        case Ties::worst:
            std::stable_sort(first, last,
                             [&](std::uint32_t a, std::uint32_t b) { return merit(a) < merit(b); });
            break;
        case Ties::file:
        case Ties::average:
            break;
    }
}

}  // namespace cranfield
