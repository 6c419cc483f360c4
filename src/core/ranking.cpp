#include "ranking.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace cranfield {

bool Ranker::rank(const Block& block, const TopicJudgements& judgements, const Options& options,
                  Ranking& ranking, std::vector<Duplicate>& duplicates) {
    const std::size_t before = duplicates.size();
    join(block, judgements, options.check_duplicates, duplicates);
    ranking.judgements = &judgements;
    ranking.hits.clear();
    ranking.ties.clear();
    if (!rank_judged(block, options, ranking)) {
        order_by_score(block);
        collect(block, options, ranking);
    }
    return duplicates.size() == before;
}

void Ranker::join(const Block& block, const TopicJudgements& judgements, bool check_duplicates,
                  std::vector<Duplicate>& duplicates) {
    const std::size_t n = block.size();
    grades_.resize(n);
    judged_.clear();
    if (check_duplicates) seen_.reset(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t hash = hash_id(block.items[i]);
        const auto position = static_cast<std::uint32_t>(i);
        grades_[i] = judgements.grade(block.items[i], hash);
        if (!std::isnan(grades_[i])) judged_.push_back(position);
        if (check_duplicates) {
            const std::uint32_t earlier = seen_.insert(
                block.items[i], hash, position, [&](std::uint32_t at) { return block.items[at]; });
            if (earlier != IdSet::absent) duplicates.push_back({earlier, position});
        }
    }
}

// Measures ask for nothing but the ranks of judged items, and those are few: they are read off
// or counted, and nothing else is sorted. False when the block must be ordered after all.
bool Ranker::rank_judged(const Block& block, const Options& options, Ranking& ranking) {
    const bool decided = options.ties == Ties::id || options.ties == Ties::id_ascending ||
                         options.ties == Ties::file;
    if (options.judged_only || !decided) return false;
    const auto& scores = block.scores;
    const bool strictly_ordered =
        std::adjacent_find(scores.begin(), scores.end(),
                           [](double a, double b) { return !(a > b); }) == scores.end();
    if (strictly_ordered)
        for (const std::uint32_t item : judged_) ranking.hits.push_back({item + 1, grades_[item]});
    else if (!judged_.empty())
        count_ranks(block, options.ties, ranking);
    while (!ranking.hits.empty() && ranking.hits.back().rank > options.max_items)
        ranking.hits.pop_back();
    ranking.retrieved =
        static_cast<std::uint32_t>(std::min<std::size_t>(block.size(), options.max_items));
    return true;
}

// Orders the judged items, and counts for each how many of the others stand above it.
void Ranker::count_ranks(const Block& block, Ties ties, Ranking& ranking) {
    const auto& scores = block.scores;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        if (ties == Ties::file) return a < b;
        return ties == Ties::id ? block.items[a] > block.items[b] : block.items[a] < block.items[b];
    };
    std::sort(judged_.begin(), judged_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : before(a, b);
    });
    keys_.clear();
    for (const std::uint32_t item : judged_) keys_.push_back(scores[item]);
    above_.assign(keys_.size() + 1, 0);
    for (std::uint32_t item = 0; item < scores.size(); ++item) {
        if (!std::isnan(grades_[item])) continue;
        const double score = scores[item];
        // The number of judged items with a score at least as high, searched without branches.
        const double* base = keys_.data();
        for (std::size_t n = keys_.size(); n > 1;) {
            const std::size_t half = n / 2;
            base += base[half - 1] >= score ? half : 0;
            n -= half;
        }
        auto place = static_cast<std::size_t>(base - keys_.data()) + (*base >= score);
        if (place > 0 && keys_[place - 1] == score) {
            const auto tied = std::lower_bound(keys_.begin(), keys_.end(), score, std::greater<>());
            const auto first = judged_.begin() + (tied - keys_.begin());
            const auto last = judged_.begin() + static_cast<std::ptrdiff_t>(place);
            place = static_cast<std::size_t>(
                std::partition_point(first, last,
                                     [&](std::uint32_t other) { return before(other, item); }) -
                judged_.begin());
        }
        ++above_[place];
    }
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < judged_.size(); ++i) {
        rank += above_[i] + 1;
        ranking.hits.push_back({rank, grades_[judged_[i]]});
    }
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
