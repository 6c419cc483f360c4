// Draws of a truth with probabilities: conversions only.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "bindings.hpp"
#include "draws.hpp"

namespace cranfield::binding {

namespace {

template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Offsets, ranks, entries, retrieved, counted: the arrays of one run.
using RunArrays = std::tuple<In1<std::int64_t>, In1<std::uint32_t>, In1<std::uint32_t>,
                             In1<std::uint32_t>, In1<std::uint8_t>>;

RunArrays arrays_of(const nb::tuple& run) {
    return {nb::cast<In1<std::int64_t>>(run[0]), nb::cast<In1<std::uint32_t>>(run[1]),
            nb::cast<In1<std::uint32_t>>(run[2]), nb::cast<In1<std::uint32_t>>(run[3]),
            nb::cast<In1<std::uint8_t>>(run[4])};
}

SoftTruth truth_of(const In1<std::int64_t>& offsets, const In1<double>& levels,
                   const In2<double>& cumulative) {
    const SoftTruth truth{offsets.size() - 1, levels.size(), offsets.data(), levels.data(),
                          cumulative.data()};
    const bool fits = offsets.size() > 0 && levels.size() > 0 && levels.size() < 255 &&
                      cumulative.shape(1) == levels.size() && offsets.data()[0] == 0 &&
                      std::is_sorted(offsets.data(), offsets.data() + offsets.size()) &&
                      static_cast<std::size_t>(offsets.data()[truth.topics]) == cumulative.shape(0);
    if (!fits) throw std::invalid_argument("a truth and its levels do not fit together");
    return truth;
}

RunView view_of(const RunArrays& run, const SoftTruth& truth) {
    const auto& [offsets, ranks, entries, retrieved, counted] = run;
    const bool fits = offsets.size() == truth.topics + 1 && retrieved.size() == truth.topics &&
                      counted.size() == truth.topics && ranks.size() == entries.size() &&
                      offsets.data()[0] == 0 &&
                      std::is_sorted(offsets.data(), offsets.data() + offsets.size()) &&
                      static_cast<std::size_t>(offsets.data()[truth.topics]) == ranks.size();
    if (!fits) throw std::invalid_argument("a run and the truth do not fit together");
    for (std::size_t t = 0; t < truth.topics; ++t)
        for (std::int64_t hit = offsets.data()[t]; hit < offsets.data()[t + 1]; ++hit)
            if (entries.data()[hit] >= truth.offsets[t + 1] - truth.offsets[t])
                throw std::invalid_argument("a run knows items that the truth does not");
    return {offsets.data(), ranks.data(), entries.data(), retrieved.data(), counted.data()};
}

nb::tuple py_judged_ranks(const JudgementIndex& index, const nb::list& topics,
                          const In1<std::int64_t>& offsets, const In1<std::uint8_t>& item_bytes,
                          const In1<std::int64_t>& item_offsets, const In1<double>& scores,
                          const std::string& ties, bool judged_only, std::int64_t max_items,
                          unsigned jobs, bool check_duplicates) {
    const Options options = options_of(ties, judged_only, max_items, check_duplicates);
    const Columns run = columns_of(topics, offsets, item_bytes, item_offsets, scores);
    std::vector<TableDuplicate> duplicates;
    JudgedRanks found;
    {
        const nb::gil_scoped_release release;
        found = judged_ranks(index, run, options, jobs, duplicates);
    }
    return nb::make_tuple(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.ranks)),
                          to_numpy(std::move(found.entries)), to_numpy(std::move(found.retrieved)),
                          to_numpy(std::move(found.present)));
}

nb::tuple py_draw_scores(const In1<std::int64_t>& offsets, const In1<double>& levels,
                         const In2<double>& cumulative, const nb::list& runs, const Calls& calls,
                         const std::vector<std::pair<std::size_t, std::size_t>>& guards,
                         const std::vector<std::size_t>& watched,
                         const std::vector<std::size_t>& order, std::uint64_t seed,
                         std::size_t first, std::size_t draws, double smallest,
                         const std::vector<std::tuple<std::size_t, std::size_t, double>>& largest,
                         unsigned jobs, Progress& progress) {
    const SoftTruth truth = truth_of(offsets, levels, cumulative);
    const Programme programme = programme_of(calls);
    std::vector<RunArrays> held;
    std::vector<RunView> views;
    for (const nb::handle run : runs) {
        held.push_back(arrays_of(nb::cast<nb::tuple>(run)));
        views.push_back(view_of(held.back(), truth));
    }
    Drawing how{seed, first, draws, jobs, order, {}, watched, smallest, {}};
    for (const auto& [column, guard] : guards) {
        if (column >= programme.size() || guard >= programme.size())
            throw std::invalid_argument("a guard is no column");
        how.guards.push_back({column, guard});
    }
    for (const auto& [column, place, level] : largest) {
        if (column >= programme.size() || place >= programme[column].params.size())
            throw std::invalid_argument("a parameter of the truth is none");
        how.largest.push_back({column, place, level});
    }
    for (const std::size_t column : watched)
        if (column >= programme.size()) throw std::invalid_argument("a watched column is none");
    for (const std::size_t topic : order)
        if (topic >= truth.topics) throw std::invalid_argument("the order has topics too many");
    Drawn found;
    {
        const nb::gil_scoped_release release;
        found = draw_scores(truth, views, programme, how, progress);
    }
    const std::vector<std::size_t> by_draw{views.size(), draws, programme.size()};
    const std::vector<std::size_t> by_topic{views.size(), truth.topics, programme.size()};
    const std::size_t rows = watched.empty() ? 0 : cumulative.shape(0);
    return nb::make_tuple(
        to_numpy(std::move(found.sums), by_draw), to_numpy(std::move(found.logarithms), by_draw),
        to_numpy(std::move(found.defined), by_draw), to_numpy(std::move(found.first), by_topic),
        to_numpy(std::move(found.topic_sums), by_topic),
        to_numpy(std::move(found.topic_squares), by_topic),
        to_numpy(std::move(found.topic_defined), by_topic),
        to_numpy(std::move(found.effect_counts), {rows, levels.size()}),
        to_numpy(std::move(found.effect_sums), {rows, levels.size(), watched.size()}));
}

nb::tuple py_expected_sums(const In1<std::int64_t>& offsets, const In1<double>& levels,
                           const In2<double>& cumulative, const nb::tuple& run,
                           const Calls& calls) {
    const SoftTruth truth = truth_of(offsets, levels, cumulative);
    const Programme programme = programme_of(calls);
    const RunArrays held = arrays_of(run);
    const RunView view = view_of(held, truth);
    Expected found;
    {
        const nb::gil_scoped_release release;
        found = expected_sums(truth, view, programme);
    }
    const std::vector<std::size_t> shape{truth.topics, programme.size()};
    return nb::make_tuple(to_numpy(std::move(found.values), shape),
                          to_numpy(std::move(found.variances), shape));
}

nb::object py_draw_labels(const In2<double>& chances, bool exclusive, std::uint64_t seed,
                          std::size_t draw, unsigned jobs) {
    const SoftConcepts truth{chances.shape(0), chances.shape(1), chances.data(), exclusive};
    std::vector<std::uint8_t> labels;
    {
        const nb::gil_scoped_release release;
        labels = draw_labels(truth, seed, draw, jobs);
    }
    return to_numpy(std::move(labels), {truth.items, truth.concepts});
}

}  // namespace

void bind_draws(nb::module_& m) {
    m.def("judged_ranks", &py_judged_ranks, nb::arg("index"), nb::arg("topics"), nb::arg("offsets"),
          nb::arg("item_bytes"), nb::arg("item_offsets"), nb::arg("scores"), nb::arg("ties"),
          nb::arg("judged_only"), nb::arg("max_items"), nb::arg("jobs"),
          nb::arg("check_duplicates"));
    m.def("draw_scores", &py_draw_scores, nb::arg("offsets"), nb::arg("levels"),
          nb::arg("cumulative"), nb::arg("runs"), nb::arg("calls"), nb::arg("guards"),
          nb::arg("watched"), nb::arg("order"), nb::arg("seed"), nb::arg("first"), nb::arg("draws"),
          nb::arg("smallest"), nb::arg("largest"), nb::arg("jobs"), nb::arg("progress"));
    m.def("draw_labels", &py_draw_labels, nb::arg("chances"), nb::arg("exclusive"), nb::arg("seed"),
          nb::arg("draw"), nb::arg("jobs"));
    m.def("expected_sums", &py_expected_sums, nb::arg("offsets"), nb::arg("levels"),
          nb::arg("cumulative"), nb::arg("run"), nb::arg("calls"));
}

}  // namespace cranfield::binding
