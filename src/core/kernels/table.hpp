// Every kernel by name, with the names and kinds of its parameters. A kernel is a pure function of
// a ranking and its numeric parameters.
#pragma once

#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "kernels/view.hpp"

namespace cranfield {

// What a parameter may be. NaN is none of them.
enum class ParamKind {
    number,   // any number, an infinite one among them
    finite,   // any number but an infinite one
    amount,   // from 0 on, perhaps infinite
    rank,     // from 1 on, perhaps infinite
    levels,   // a number of grades: from 0 to 10,000
    of_three  // 0, 1 or 2: one of the policies that its kernel knows
};

struct Param {
    std::string_view name;
    ParamKind kind;
};

// What may follow the named parameters: nothing, numbers, or pairs of a grade and its gain.
enum class Rest { nothing, numbers, pairs };

struct KernelEntry {
    std::string_view name;
    std::vector<Param> params;
    Kernel value;
    // The expected value over all orders within ties, where a closed form is known; else null.
    Kernel expected;
    Rest rest = Rest::nothing;
};

// A call that no kernel can answer.
struct KernelCallError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

const std::vector<KernelEntry>& all_kernels();
// The kernel of a call whose parameters fit it in number and kind; KernelCallError for any other.
const KernelEntry& checked_kernel(std::string_view name, const Params& params);

// The value of a topic that a mean leaves out.
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// How many items a measure looks at: down to a cutoff, or to a multiple of the number of relevant
// items (negative for the cutoff). trec_eval rounds that product up from one tenth on.
double depth_of(double cutoff, double multiple, double relevant);

namespace kernels {
double num_ret(View&, const Params&);
double num_rel(View&, const Params&);
double num_rel_ret(View&, const Params&);
double num_nonrel_judged_ret(View&, const Params&);
double precision_at(View&, const Params&);
double recall_at(View&, const Params&);
double success_at(View&, const Params&);
double relative_precision_at(View&, const Params&);
double reciprocal_rank(View&, const Params&);
double average_precision(View&, const Params&);
double yaap(View&, const Params&);
double r_precision(View&, const Params&);
double set_precision(View&, const Params&);
double set_recall(View&, const Params&);
double set_relative_precision(View&, const Params&);
double set_ap(View&, const Params&);
double set_f(View&, const Params&);
double utility(View&, const Params&);
double interpolated_at(View&, const Params&);
double interpolated_mean(View&, const Params&);
double binary_g(View&, const Params&);
double bpref(View&, const Params&);
double inferred_ap(View&, const Params&);
double extended_inferred_ap(View&, const Params&);
double judged_at(View&, const Params&);
double unjudged_at(View&, const Params&);
double grade_at(View&, const Params&);
double dcg(View&, const Params&);
double ideal_dcg(View&, const Params&);
double ndcg(View&, const Params&);
double ndcg_rel(View&, const Params&);
double rndcg(View&, const Params&);
double normalized_g(View&, const Params&);
double rbp(View&, const Params&);
double rbp_graded(View&, const Params&);
double rbp_residual(View&, const Params&);
double err(View&, const Params&);
double counts(View&, const Params&);
double counts_ratio(View&, const Params&);
double judged_count(View&, const Params&);
double novelty(View&, const Params&);
double subtopic_recall(View&, const Params&);
double intent_precision(View&, const Params&);
double intent_ap(View&, const Params&);
double average_rank(View&, const Params&);
double modified_rank(View&, const Params&);
double nmrr(View&, const Params&);
double rank_of(View&, const Params&);
double nar(View&, const Params&);
double mnro(View&, const Params&);
double graded_nmrr(View&, const Params&);
double graded_mnro(View&, const Params&);
double graded_norm_recall(View&, const Params&);
double graded_norm_precision(View&, const Params&);
double judged_mnro(View&, const Params&);
double recall_error(View&, const Params&);
double precision_error(View&, const Params&);
double norm_recall(View&, const Params&);
double norm_precision(View&, const Params&);
double rank_recall(View&, const Params&);
double log_precision(View&, const Params&);
double tier(View&, const Params&);
double shrec_ap(View&, const Params&);
double adr(View&, const Params&);
}  // namespace kernels

// Expected values over the orders within ties (expected.cpp).
namespace expected {
double precision_at(View&, const Params&);
double recall_at(View&, const Params&);
double success_at(View&, const Params&);
double relative_precision_at(View&, const Params&);
double reciprocal_rank(View&, const Params&);
double average_precision(View&, const Params&);
double r_precision(View&, const Params&);
double dcg(View&, const Params&);
double ndcg(View&, const Params&);
double rbp(View&, const Params&);
double err(View&, const Params&);
double judged_at(View&, const Params&);
double unjudged_at(View&, const Params&);
double tier(View&, const Params&);
double shrec_ap(View&, const Params&);
double adr(View&, const Params&);
}  // namespace expected

}  // namespace cranfield
