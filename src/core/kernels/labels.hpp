// Kernels over items x concepts: ranked measures in both directions, matching, assignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield::labels {

// A matrix that somebody else owns; strides count elements, so a block of columns is a view.
template <class T>
struct Matrix {
    const T* data;
    std::size_t rows;
    std::size_t cols;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t col_stride;

    T operator()(std::size_t i, std::size_t j) const {
        return data[static_cast<std::ptrdiff_t>(i) * row_stride +
                    static_cast<std::ptrdiff_t>(j) * col_stride];
    }
};

using Flags = Matrix<bool>;
using Reals = Matrix<double>;

// Columns of concept_ranked before those of P@k.
enum ConceptColumn : std::size_t { auc, eer, average_precision, interpolated, r_precision };
constexpr std::size_t concept_columns = 5;

// The items of every concept in rising order of their scores, with keys that order as these do: for
// a run that meets many truths.
class ConceptOrder {
  public:
    ConceptOrder(const Reals& scores, unsigned jobs);

    std::size_t rows() const { return rows_; }
    std::size_t cols() const { return cols_; }
    const std::uint32_t* items(std::size_t concept_at) const {
        return items_.data() + concept_at * rows_;
    }
    const std::uint64_t* keys(std::size_t concept_at) const {
        return keys_.data() + concept_at * rows_;
    }

  private:
    std::size_t rows_, cols_;
    std::vector<std::uint32_t> items_;
    std::vector<std::uint64_t> keys_;
};

// One row per concept: AUC, EER, AP, iAP, Rprec and P at each cutoff. Equal scores are one step
// of the curve; Rprec and P@k break ties by `order`, the items in order of preference. NaN for
// a concept without a positive (AUC, EER: or a negative). What has been sorted is not sorted again.
std::vector<double> concept_ranked(const Flags& truth, const Reals& scores,
                                   const std::int64_t* order,
                                   const std::vector<std::int64_t>& cutoffs, unsigned jobs,
                                   const ConceptOrder* sorted = nullptr);

// A row per column of concept_ranked, a value per item: how much the sum of the concepts' values by
// weights (a row per concept, a column per measure) changes when the item counts a little more.
std::vector<double> concept_influence(const Flags& truth, const Reals& scores,
                                      const std::int64_t* order,
                                      const std::vector<std::int64_t>& cutoffs,
                                      const Reals& weights, unsigned jobs);

// Columns of item_ranked; `top` is the position of the best concept.
enum ItemColumn : std::size_t { one_error, coverage, ranking_loss, item_ap, top };
constexpr std::size_t item_columns = 5;

// One row per item; NaN for an item without a true concept (ranking loss: or a wrong one).
std::vector<double> item_ranked(const Flags& truth, const Reals& scores, unsigned jobs);

// Of the best ranked concepts of an item, the part that is true: of as many as are true, or of
// `depth` of them when that is not 0. NaN without a true concept.
std::vector<double> item_precision(const Flags& truth, const Reals& scores, std::size_t depth,
                                   unsigned jobs);

// The cost of every item's prediction (No 7.1): broken labels cost 1, labels that are wrong or
// missed pay their least cost to the other set, scaled by the agreement on the true concept.
std::vector<double> match_costs(const Flags& truth, const Flags& labels, const Flags& broken,
                                const Reals& costs, const double* agreement, unsigned jobs);

// The same for one item, label by label: each pays cost times agreement, to the concepts that it
// was matched with (none where it pays the whole cost).
enum class MatchRole { broken, wrong, missed };
struct MatchPart {
    std::size_t label;
    MatchRole role;
    double cost, agreement;
    std::vector<std::size_t> partners;
};
std::vector<MatchPart> match_parts(const Flags& truth, const Flags& labels, const Flags& broken,
                                   const Reals& costs, const double* agreement, std::size_t item);

// The least cost of assigning the |Y| best concepts of an item one to one to its |Y| true ones
// (No 9.3); NaN for an item without a true concept.
std::vector<double> ranked_assignment(const Flags& truth, const Reals& scores, const Reals& costs,
                                      unsigned jobs);

// The pairs of that assignment for one item: a ranked concept, a true one, their cost.
struct AssignedPair {
    std::size_t ranked, wanted;
    double cost;
};
std::vector<AssignedPair> assigned_pairs(const Flags& truth, const Reals& scores,
                                         const Reals& costs, std::size_t item);

// The least cost of assigning true and predicted labels one to one, where the smaller set is
// filled up with dummies at a fixed cost.
std::vector<double> set_assignment(const Flags& truth, const Flags& labels, const Reals& costs,
                                   double dummy, unsigned jobs);

}  // namespace cranfield::labels
