// Measures of novelty and diversity: the grade of an item is the sum of 2^s over the subtopics s
// that it is relevant to.
#include <algorithm>
#include <bit>
#include <queue>

#include "kernels/table.hpp"

namespace cranfield::kernels {

namespace {

using Subtopics = std::uint64_t;

// Grades that hold no subtopics, of judgements without any, say nothing.
Subtopics subtopics_of(double grade) {
    constexpr double most = 9007199254740992.0;
    return grade > 0 && grade < most ? static_cast<Subtopics>(grade) : 0;
}

template <class F>
void for_each_subtopic(Subtopics subtopics, const F& f) {
    for (; subtopics != 0; subtopics &= subtopics - 1)
        f(static_cast<std::size_t>(std::countr_zero(subtopics)));
}

// What an item still brings: each time that a subtopic was seen before makes it worth less.
class Novelty {
  public:
    explicit Novelty(double alpha) : alpha_(alpha), worth_(64, 1.0) {}

    double gain(Subtopics subtopics) const {
        double sum = 0;
        for_each_subtopic(subtopics, [&](std::size_t s) { sum += worth_[s]; });
        return sum;
    }
    void see(Subtopics subtopics) {
        for_each_subtopic(subtopics, [&](std::size_t s) { worth_[s] *= 1.0 - alpha_; });
    }

  private:
    double alpha_;
    std::vector<double> worth_;
};

// Parameters: cutoff, alpha, kind of discount, its beta, and what the sum is divided by.
struct Discounted {
    // 0 is the logarithm of the rank, and a division by the number of subtopics.
    static constexpr double reciprocal = 1, geometric = 2;
    static constexpr double by_ideal = 1;
    double cutoff, alpha, kind, beta;

    explicit Discounted(const Params& p) : cutoff(p[0]), alpha(p[1]), kind(p[2]), beta(p[3]) {}

    double at(double rank) const {
        if (kind == reciprocal) return 1.0 / rank;
        if (kind == geometric) return std::pow(beta, rank - 1.0);
        return 1.0 / log2_of(static_cast<std::size_t>(rank) + 1);
    }

    // The sum of a ranking of which each item is new in one subtopic and no more, without end for
    // the geometric discount: no ranking has more for each subtopic.
    double most() const {
        if (kind == geometric) return 1.0 / (1.0 - (1.0 - alpha) * beta);
        constexpr double of_no_account = 1e-20;
        double sum = 0, worth = 1;
        for (double rank = 1; rank <= cutoff && worth > of_no_account; ++rank) {
            sum += worth * at(rank);
            worth *= 1.0 - alpha;
        }
        return sum;
    }
};

Subtopics all_subtopics(const TopicJudgements& judgements) {
    Subtopics all = 0;
    for (const double grade : judgements.descending()) all |= subtopics_of(grade);
    return all;
}

double sum_of_hits(View& v, const Discounted& discount) {
    Novelty novelty(discount.alpha);
    double sum = 0;
    for (const Hit& hit : v.hits()) {
        if (hit.rank > discount.cutoff) break;
        const Subtopics subtopics = subtopics_of(hit.grade);
        if (subtopics == 0) continue;
        sum += novelty.gain(subtopics) * discount.at(hit.rank);
        novelty.see(subtopics);
    }
    return sum;
}

// The ranking that takes the item with the largest gain each time, the larger id among equals.
// Gains only fall, so that one which was worked out before is an upper bound.
double sum_of_greedy(const TopicJudgements& judgements, const Discounted& discount) {
    struct Waiting {
        double gain;
        Id id;
        Subtopics subtopics;
        bool operator<(const Waiting& o) const {
            return gain != o.gain ? gain < o.gain : id < o.id;
        }
    };
    Novelty novelty(discount.alpha);
    std::priority_queue<Waiting> queue;
    for (std::size_t i = 0; i < judgements.size(); ++i)
        if (const Subtopics s = subtopics_of(judgements.grades()[i]); s != 0)
            queue.push({novelty.gain(s), judgements.items()[i], s});
    double sum = 0;
    for (double rank = 1; rank <= discount.cutoff && !queue.empty();) {
        Waiting best = queue.top();
        queue.pop();
        if (const double gain = novelty.gain(best.subtopics); gain < best.gain) {
            best.gain = gain;
            queue.push(best);
            continue;
        }
        sum += best.gain * discount.at(rank++);
        novelty.see(best.subtopics);
    }
    return sum;
}

double count_of(Subtopics subtopics) { return static_cast<double>(std::popcount(subtopics)); }

}  // namespace

double novelty(View& v, const Params& p) {
    const Discounted discount(p);
    const Subtopics all = all_subtopics(v.judgements());
    if (all == 0) return undefined;
    const double below = p[4] == Discounted::by_ideal ? sum_of_greedy(v.judgements(), discount)
                                                      : count_of(all) * discount.most();
    return sum_of_hits(v, discount) / below;
}

// The share of the subtopics that the first k items are relevant to.
double subtopic_recall(View& v, const Params& p) {
    const Subtopics all = all_subtopics(v.judgements());
    if (all == 0) return undefined;
    Subtopics seen = 0;
    for (const Hit& hit : v.hits())
        if (hit.rank <= p[0]) seen |= subtopics_of(hit.grade);
    return count_of(seen) / count_of(all);
}

// The mean over subtopics of the precision at k for each of them.
double intent_precision(View& v, const Params& p) {
    const Subtopics all = all_subtopics(v.judgements());
    if (all == 0) return undefined;
    double found = 0;
    for (const Hit& hit : v.hits())
        if (hit.rank <= p[0]) found += count_of(subtopics_of(hit.grade));
    return found / p[0] / count_of(all);
}

// The mean over subtopics of the average precision for each of them.
double intent_ap(View& v, const Params&) {
    const Subtopics all = all_subtopics(v.judgements());
    if (all == 0) return undefined;
    std::vector<double> relevant(64), found(64);
    for (const double grade : v.judgements().descending())
        for_each_subtopic(subtopics_of(grade), [&](std::size_t s) { ++relevant[s]; });
    double sum = 0;
    for (const Hit& hit : v.hits())
        for_each_subtopic(subtopics_of(hit.grade),
                          [&](std::size_t s) { sum += ++found[s] / hit.rank / relevant[s]; });
    return sum / count_of(all);
}

}  // namespace cranfield::kernels
