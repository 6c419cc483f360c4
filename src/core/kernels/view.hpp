// A ranking with what several measures ask of it, worked out once.
#pragma once

#include <cmath>
#include <deque>
#include <vector>

#include "ranking.hpp"

namespace cranfield {

// The relevant items of a topic for one level of relevance.
struct Relevant {
    double level;
    double total;                      // in the judgements
    std::vector<std::uint32_t> ranks;  // of those retrieved, increasing

    double retrieved() const { return static_cast<double>(ranks.size()); }
    // How many stand at rank k or before.
    double within(double k) const;
};

class View {
  public:
    void reset(const Ranking& ranking) {
        ranking_ = &ranking;
        used_ = 0;
    }
    const Ranking& ranking() const { return *ranking_; }
    const std::vector<Hit>& hits() const { return ranking_->hits; }
    const TopicJudgements& judgements() const { return *ranking_->judgements; }
    double retrieved() const { return ranking_->retrieved; }
    const Relevant& relevant(double level);

  private:
    const Ranking* ranking_ = nullptr;
    std::deque<Relevant> cache_;  // entries beyond `used_` belong to an earlier topic
    std::size_t used_ = 0;
};

// log2 of whole numbers, which discounts need again and again.
double log2_of(std::size_t n);

using Params = std::vector<double>;
using Kernel = double (*)(View&, const Params&);

}  // namespace cranfield
