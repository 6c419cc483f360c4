#include "kernels/table.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace cranfield {

namespace {

constexpr double most_levels = 10000;

constexpr Param level{"level", ParamKind::number}, cutoff{"cutoff", ParamKind::amount},
    rank{"rank", ParamKind::rank}, multiple{"multiple", ParamKind::number},
    recall{"recall", ParamKind::number}, version{"version", ParamKind::finite},
    beta_squared{"beta squared", ParamKind::amount}, w{"weight", ParamKind::number},
    size{"size", ParamKind::amount}, missing{"missing", ParamKind::of_three},
    gain{"gain", ParamKind::of_three}, discount{"discount", ParamKind::of_three},
    persistence{"persistence", ParamKind::number}, max_grade{"max grade", ParamKind::number},
    gmt{"gmt", ParamKind::amount}, levels{"levels", ParamKind::levels},
    alpha{"alpha", ParamKind::number}, beta{"beta", ParamKind::number},
    divisor{"divisor", ParamKind::of_three}, literal{"literal", ParamKind::number},
    scale{"scale", ParamKind::number};

// What the kernels of the contingency table take: the cells they look at, and sums of weights.
std::vector<Param> weighed(std::size_t sums) {
    std::vector<Param> params{level, cutoff, multiple};
    params.insert(params.end(), 7 * sums, w);
    return params;
}

// Kernels that no order within a tie can change are their own expected value.
KernelEntry fixed(std::string_view name, std::vector<Param> params, Kernel kernel,
                  Rest rest = Rest::nothing) {
    return {name, std::move(params), kernel, kernel, rest};
}

std::vector<KernelEntry> made_table() {
    return {
        fixed("num_ret", {}, kernels::num_ret),
        fixed("num_rel", {level}, kernels::num_rel),
        fixed("num_rel_ret", {level}, kernels::num_rel_ret),
        fixed("num_nonrel_judged_ret", {level}, kernels::num_nonrel_judged_ret),
        fixed("set_precision", {level}, kernels::set_precision),
        fixed("set_recall", {level}, kernels::set_recall),
        fixed("set_relative_precision", {level}, kernels::set_relative_precision),
        fixed("set_ap", {level}, kernels::set_ap),
        fixed("set_f", {level, beta_squared}, kernels::set_f),
        fixed("utility", {level, w, w, w, w, size}, kernels::utility),
        fixed("ideal_dcg", {cutoff, gain, discount}, kernels::ideal_dcg, Rest::pairs),
        // These take the mean rank of tied items, or counts that are linear in positions.
        fixed("average_rank", {level, gmt}, kernels::average_rank),
        fixed("modified_rank", {level, gmt}, kernels::modified_rank),
        fixed("nmrr", {level, gmt}, kernels::nmrr),
        fixed("rank_of", {level, size, missing, rank}, kernels::rank_of),
        fixed("nar", {level, size, missing}, kernels::nar),
        fixed("mnro", {level, size, missing, literal, gmt}, kernels::mnro),
        fixed("graded_nmrr", {level}, kernels::graded_nmrr, Rest::numbers),
        fixed("graded_mnro", {level, size, missing, levels}, kernels::graded_mnro),
        fixed("graded_norm_recall", {level, size, missing, levels}, kernels::graded_norm_recall),
        fixed("graded_norm_precision", {level, size, missing, levels},
              kernels::graded_norm_precision),
        fixed("recall_error", {level, size, missing}, kernels::recall_error),
        fixed("precision_error", {level, size, missing}, kernels::precision_error),
        fixed("norm_recall", {level, size, missing, scale}, kernels::norm_recall),
        fixed("norm_precision", {level, size, missing}, kernels::norm_precision),
        fixed("rank_recall", {level, size, missing}, kernels::rank_recall),
        fixed("log_precision", {level, size, missing}, kernels::log_precision),
        fixed("counts", weighed(1), kernels::counts),
        fixed("counts_ratio", weighed(2), kernels::counts_ratio),
        fixed("judged_count", {cutoff}, kernels::judged_count),
        {"tier", {level, multiple}, kernels::tier, expected::tier},
        {"shrec_ap", {level}, kernels::shrec_ap, expected::shrec_ap},
        {"adr", {levels}, kernels::adr, expected::adr},
        {"precision_at", {level, cutoff}, kernels::precision_at, expected::precision_at},
        {"recall_at", {level, cutoff}, kernels::recall_at, expected::recall_at},
        {"success_at", {level, cutoff}, kernels::success_at, expected::success_at},
        {"relative_precision_at",
         {level, cutoff},
         kernels::relative_precision_at,
         expected::relative_precision_at},
        {"reciprocal_rank", {level, cutoff}, kernels::reciprocal_rank, expected::reciprocal_rank},
        {"average_precision",
         {level, cutoff},
         kernels::average_precision,
         expected::average_precision},
        {"r_precision", {level, multiple}, kernels::r_precision, expected::r_precision},
        {"dcg", {cutoff, gain, discount}, kernels::dcg, expected::dcg, Rest::pairs},
        {"ndcg", {cutoff, gain, discount}, kernels::ndcg, expected::ndcg, Rest::pairs},
        {"rbp", {level, persistence, cutoff}, kernels::rbp, expected::rbp},
        {"err", {cutoff, max_grade}, kernels::err, expected::err},
        {"judged_at", {cutoff}, kernels::judged_at, expected::judged_at},
        {"unjudged_at", {cutoff}, kernels::unjudged_at, expected::unjudged_at},
        {"judged_mnro", {level}, kernels::judged_mnro, nullptr},
        {"yaap", {level}, kernels::yaap, nullptr},
        {"interpolated_at", {level, recall, version}, kernels::interpolated_at, nullptr},
        {"interpolated_mean", {level, version}, kernels::interpolated_mean, nullptr, Rest::numbers},
        {"binary_g", {level}, kernels::binary_g, nullptr},
        {"bpref", {level}, kernels::bpref, nullptr},
        {"inferred_ap", {level}, kernels::inferred_ap, nullptr},
        {"extended_inferred_ap", {level}, kernels::extended_inferred_ap, nullptr},
        {"grade_at", {rank}, kernels::grade_at, nullptr},
        {"ndcg_rel", {cutoff, gain, discount}, kernels::ndcg_rel, nullptr, Rest::pairs},
        {"rndcg", {level, cutoff, gain, discount}, kernels::rndcg, nullptr, Rest::pairs},
        {"normalized_g", {cutoff, gain, discount}, kernels::normalized_g, nullptr, Rest::pairs},
        {"rbp_graded", {persistence, cutoff}, kernels::rbp_graded, nullptr, Rest::pairs},
        {"rbp_residual", {persistence}, kernels::rbp_residual, nullptr},
        {"novelty", {rank, alpha, discount, beta, divisor}, kernels::novelty, nullptr},
        {"subtopic_recall", {rank}, kernels::subtopic_recall, nullptr},
        {"intent_precision", {rank}, kernels::intent_precision, nullptr},
        {"intent_ap", {}, kernels::intent_ap, nullptr},
    };
}

bool fits(double value, ParamKind kind) {
    switch (kind) {
        case ParamKind::number:
            return !std::isnan(value);
        case ParamKind::finite:
            return std::isfinite(value);
        case ParamKind::amount:
            return value >= 0;
        case ParamKind::rank:
            return value >= 1;
        case ParamKind::levels:
            return value >= 0 && value <= most_levels;
        case ParamKind::of_three:
            return value == 0 || value == 1 || value == 2;
    }
    return false;
}

std::string signature_of(const KernelEntry& kernel) {
    std::string text;
    for (const Param& param : kernel.params)
        text.append(text.empty() ? "" : ", ").append(param.name);
    if (kernel.rest == Rest::numbers) text += ", numbers...";
    if (kernel.rest == Rest::pairs) text += ", pairs of a grade and its gain...";
    return text.empty() ? "none" : text;
}

[[noreturn]] void refuse(const KernelEntry& kernel, const std::string& found) {
    throw KernelCallError("kernel " + std::string(kernel.name) + ": " + found +
                          " (parameters: " + signature_of(kernel) + ")");
}

void check_number(const KernelEntry& kernel, std::size_t given) {
    const std::size_t wanted = kernel.params.size();
    const bool enough = kernel.rest == Rest::nothing ? given == wanted
                        : kernel.rest == Rest::numbers
                            ? given > wanted
                            : given >= wanted && (given - wanted) % 2 == 0;
    if (!enough) refuse(kernel, std::to_string(given) + " parameters do not fit it");
}

}  // namespace

const std::vector<KernelEntry>& all_kernels() {
    static const std::vector<KernelEntry> table = made_table();
    return table;
}

const KernelEntry& checked_kernel(std::string_view name, const Params& params) {
    const auto& table = all_kernels();
    const auto it = std::find_if(table.begin(), table.end(),
                                 [&](const KernelEntry& e) { return e.name == name; });
    if (it == table.end()) throw KernelCallError("no kernel named " + std::string(name));
    check_number(*it, params.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
        const bool named = i < it->params.size();
        if (fits(params[i], named ? it->params[i].kind : ParamKind::number)) continue;
        const std::string what = named ? std::string(it->params[i].name) : "a further parameter";
        refuse(*it, what + " cannot be " + std::to_string(params[i]));
    }
    return *it;
}

}  // namespace cranfield
