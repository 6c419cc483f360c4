// The kernels of relatedness, as Python sees them.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "bindings.hpp"
#include "kernels/overlap.hpp"

namespace cranfield::binding {

namespace {

nb::object py_gloss_overlaps(const In1<std::int32_t>& words, const In1<std::int64_t>& starts,
                             std::size_t per_sense, const In1<std::int32_t>& left,
                             const In1<std::int32_t>& right, const In1<std::int32_t>& first,
                             const In1<std::int32_t>& second, unsigned jobs) {
    std::vector<double> scores(left.size());
    {
        const nb::gil_scoped_release unlocked;
        const overlap::Texts texts(words.data(), starts.data(), starts.size() - 1);
        const overlap::Request request{left.data(),   right.data(), left.size(), first.data(),
                                       second.data(), first.size(), per_sense};
        overlap::score_pairs(texts, request, jobs, scores.data());
    }
    return to_numpy(std::move(scores));
}

}  // namespace

void bind_relatedness(nb::module_& m) {
    using namespace nb::literals;
    m.def("gloss_overlaps", &py_gloss_overlaps, "words"_a, "starts"_a, "per_sense"_a, "left"_a,
          "right"_a, "first"_a, "second"_a, "jobs"_a);
}

}  // namespace cranfield::binding
