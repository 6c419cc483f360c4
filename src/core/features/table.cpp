#include "features/table.hpp"

#include <algorithm>

namespace cranfield::features {

const std::vector<Entry>& entries() {
    static const std::vector<Entry> table = {
        {"cedd", 144, kernels::cedd},
        {"compact_cedd", 60, kernels::compact_cedd},
        {"fcth", 192, kernels::fcth},
        {"compact_fcth", 80, kernels::compact_fcth},
        {"jcd", 168, kernels::jcd},
        {"edge_histogram", 80, kernels::edge_histogram},
        {"edge_histogram_lire", 80, kernels::edge_histogram_lire},
        {"edge_histogram_xm", 80, kernels::edge_histogram_xm},
        {"colour_layout", 192, kernels::colour_layout},
        {"colour_layout_lire", 192, kernels::colour_layout_lire},
        {"scalable_colour", 256, kernels::scalable_colour},
        {"scalable_colour_lire", 256, kernels::scalable_colour_lire},
        {"rgb_histogram", 64, kernels::rgb_histogram},
        {"hsv_histogram", 256, kernels::hsv_histogram},
        {"opponent_histogram", 64, kernels::opponent_histogram},
        {"correlogram", 256, kernels::correlogram},
        {"correlogram_lire", 256, kernels::correlogram_lire},
        {"tamura", 18, kernels::tamura},
        {"tamura_lire", 18, kernels::tamura_lire},
        {"local_binary_patterns", 256, kernels::local_binary_patterns},
        {"gradient_pyramid", 630, kernels::gradient_pyramid},
        {"gradient_pyramid_lire", 630, kernels::gradient_pyramid_lire},
        {"spatial_colours", 48, kernels::spatial_colours},
        {"brightness_directions", 128, kernels::brightness_directions},
    };
    return table;
}

const Entry* find(std::string_view name) {
    const auto& table = entries();
    const auto it =
        std::find_if(table.begin(), table.end(), [&](const Entry& e) { return e.name == name; });
    return it == table.end() ? nullptr : &*it;
}

void describe(const Picture& picture, const std::vector<Kernel>& chosen,
              const std::vector<double*>& out) {
    std::vector<bool> done(chosen.size());
    const auto place = [&](Kernel kernel) {
        return static_cast<std::size_t>(std::find(chosen.begin(), chosen.end(), kernel) -
                                        chosen.begin());
    };
    const auto wanted = [&](Kernel kernel) { return place(kernel) < chosen.size(); };
    const auto target = [&](Kernel kernel) {
        done[place(kernel)] = true;
        return out[place(kernel)];
    };
    if (wanted(kernels::cedd) && wanted(kernels::compact_cedd))
        kernels::both_cedd(picture, target(kernels::cedd), target(kernels::compact_cedd));
    if (wanted(kernels::fcth) && wanted(kernels::compact_fcth))
        kernels::both_fcth(picture, target(kernels::fcth), target(kernels::compact_fcth));
    const bool joins = wanted(kernels::jcd) && wanted(kernels::cedd) && wanted(kernels::fcth);
    double* const joined = joins ? target(kernels::jcd) : nullptr;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (!done[i]) chosen[i](picture, out[i]);
    if (joins) kernels::join_cedd_fcth(target(kernels::cedd), target(kernels::fcth), joined);
}

}  // namespace cranfield::features
