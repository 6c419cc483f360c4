// Gains of grades and discounts of ranks, as the cumulated-gain measures use them.
#pragma once

#include <vector>

#include "kernels/view.hpp"

namespace cranfield {

// Parameters of a gain measure: cutoff, kind of gain, kind of discount, then pairs of a grade
// and the gain that replaces it.
class Gains {
  public:
    static constexpr double linear = 0, exponential = 1, binary = 2;
    static constexpr double log2_of_rank_plus_1 = 0, jarvelin_kekalainen = 1, none = 2;

    explicit Gains(const Params& p) : p_(p) {}

    double cutoff() const { return p_[0]; }
    // Items that nobody judged, and negative grades, bring nothing.
    double of(double grade) const;
    double discounted(double gain, std::uint32_t rank) const;
    // Positive gains of all judged items, best first.
    void ideal(const TopicJudgements& judgements, std::vector<double>& gains) const;
    // The cumulated gain of the ideal ranking down to rank k.
    double ideal_sum(const std::vector<double>& gains, double k) const;
    double sum(const std::vector<Hit>& hits, double k) const;

  private:
    const Params& p_;
};

}  // namespace cranfield
