#include "kernels/table.hpp"

#include <algorithm>
#include <iterator>

namespace cranfield {

namespace {
// Kernels that no order within a tie can change are their own expected value.
constexpr KernelEntry fixed(std::string_view name, Kernel kernel) { return {name, kernel, kernel}; }

constexpr KernelEntry table[] = {
    fixed("num_ret", kernels::num_ret),
    fixed("num_rel", kernels::num_rel),
    fixed("num_rel_ret", kernels::num_rel_ret),
    fixed("num_nonrel_judged_ret", kernels::num_nonrel_judged_ret),
    fixed("set_precision", kernels::set_precision),
    fixed("set_recall", kernels::set_recall),
    fixed("set_relative_precision", kernels::set_relative_precision),
    fixed("set_ap", kernels::set_ap),
    fixed("set_f", kernels::set_f),
    fixed("utility", kernels::utility),
    fixed("ideal_dcg", kernels::ideal_dcg),
    // These take the mean rank of tied items, or counts that are linear in positions.
    fixed("nmrr", kernels::nmrr),
    fixed("nar", kernels::nar),
    fixed("mnro", kernels::mnro),
    fixed("norm_recall", kernels::norm_recall),
    fixed("norm_precision", kernels::norm_precision),
    fixed("rank_recall", kernels::rank_recall),
    fixed("log_precision", kernels::log_precision),
    fixed("counts", kernels::counts),
    fixed("counts_ratio", kernels::counts_ratio),
    fixed("judged_count", kernels::judged_count),
    {"tier", kernels::tier, expected::tier},
    {"shrec_ap", kernels::shrec_ap, expected::shrec_ap},
    {"adr", kernels::adr, expected::adr},
    {"precision_at", kernels::precision_at, expected::precision_at},
    {"recall_at", kernels::recall_at, expected::recall_at},
    {"success_at", kernels::success_at, expected::success_at},
    {"relative_precision_at", kernels::relative_precision_at, expected::relative_precision_at},
    {"reciprocal_rank", kernels::reciprocal_rank, expected::reciprocal_rank},
    {"average_precision", kernels::average_precision, expected::average_precision},
    {"r_precision", kernels::r_precision, expected::r_precision},
    {"dcg", kernels::dcg, expected::dcg},
    {"ndcg", kernels::ndcg, expected::ndcg},
    {"rbp", kernels::rbp, expected::rbp},
    {"err", kernels::err, expected::err},
    {"judged_at", kernels::judged_at, expected::judged_at},
    {"unjudged_at", kernels::unjudged_at, expected::unjudged_at},
    {"yaap", kernels::yaap, nullptr},
    {"interpolated_at", kernels::interpolated_at, nullptr},
    {"interpolated_mean", kernels::interpolated_mean, nullptr},
    {"binary_g", kernels::binary_g, nullptr},
    {"bpref", kernels::bpref, nullptr},
    {"inferred_ap", kernels::inferred_ap, nullptr},
    {"extended_inferred_ap", kernels::extended_inferred_ap, nullptr},
    {"grade_at", kernels::grade_at, nullptr},
    {"ndcg_rel", kernels::ndcg_rel, nullptr},
    {"rndcg", kernels::rndcg, nullptr},
    {"normalized_g", kernels::normalized_g, nullptr},
    {"rbp_graded", kernels::rbp_graded, nullptr},
    {"rbp_residual", kernels::rbp_residual, nullptr},
};
}  // namespace

const KernelEntry* find_kernel(std::string_view name) {
    const auto it = std::find_if(std::begin(table), std::end(table),
                                 [&](const KernelEntry& e) { return e.name == name; });
    return it == std::end(table) ? nullptr : it;
}

std::vector<std::string_view> kernel_names() {
    std::vector<std::string_view> names;
    for (const KernelEntry& entry : table) names.push_back(entry.name);
    return names;
}

}  // namespace cranfield
