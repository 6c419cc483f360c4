// Resamples of pairs of runs: conversions only.
#include <stdexcept>

#include "bindings.hpp"
#include "resampling.hpp"

namespace cranfield::binding {

namespace {

template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Own1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Own2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Pairs = In2<std::int64_t>;

void require(bool fits) {
    if (!fits) throw std::invalid_argument("pairs, runs and draws do not fit together");
}

// Runs are rows; a second run may be none where that has a meaning.
void check_pairs(const Pairs& pairs, std::size_t runs, bool single = false) {
    require(pairs.shape(1) == 2);
    const auto inside = [runs](std::int64_t run) {
        return run >= 0 && static_cast<std::size_t>(run) < runs;
    };
    for (std::size_t i = 0; i < pairs.shape(0); ++i) {
        const std::int64_t* pair = pairs.data() + 2 * i;
        require(inside(pair[0]) && (inside(pair[1]) || (single && pair[1] < 0)));
    }
}

// The direction and the bars of each pair.
struct AllBars {
    In1<double> turn, low, high;
    std::size_t rank;

    void check(std::size_t pairs, std::size_t draws) const {
        require(turn.size() == pairs && low.size() == pairs && high.size() == pairs &&
                rank <= draws);
    }
    Bars of(std::size_t pair) const {
        return {turn.data()[pair], low.data()[pair], high.data()[pair]};
    }
};

// Counts and reaches, a value for each pair.
struct Columns4 {
    std::vector<std::int64_t> seen, against, two;
    std::vector<double> reached;

    explicit Columns4(std::size_t pairs)
        : seen(pairs), against(pairs), two(pairs), reached(pairs) {}
    void put(std::size_t pair, const Held& held) {
        seen[pair] = held.seen;
        against[pair] = held.against;
        two[pair] = held.two;
        reached[pair] = held.reached;
    }
    nb::tuple to_python() {
        return nb::make_tuple(to_numpy(std::move(seen)), to_numpy(std::move(against)),
                              to_numpy(std::move(two)), to_numpy(std::move(reached)));
    }
};

nb::tuple py_studentized_pairs(const In2<double>& squares, const In2<double>& means,
                               const Pairs& pairs, double topics, const In1<double>& noise,
                               const In1<double>& own, const In1<std::uint8_t>& flat,
                               const In1<double>& turn, const In1<double>& low,
                               const In1<double>& high, std::size_t rank) {
    const std::size_t count = squares.shape(0), draws = squares.shape(1);
    const AllBars bars{turn, low, high, rank};
    bars.check(count, draws);
    check_pairs(pairs, means.shape(0));
    require(means.shape(1) == draws && pairs.shape(0) == count && noise.size() == count &&
            own.size() == count && flat.size() == count);
    const BootstrapPairs some{count,  draws,        squares.data(), means.data(), pairs.data(),
                              topics, noise.data(), own.data(),     flat.data()};
    Columns4 found(count);
    {
        const nb::gil_scoped_release release;
        std::vector<double> ratios(draws);
        for (std::size_t pair = 0; pair < count; ++pair) {
            signed_squares(some, pair, ratios.data());
            found.put(pair, hold(ratios.data(), draws, bars.of(pair), rank));
        }
    }
    return found.to_python();
}

nb::tuple py_held_rows(const Own2<double>& values, const In1<double>& turn, const In1<double>& low,
                       const In1<double>& high, std::size_t rank) {
    const AllBars bars{turn, low, high, rank};
    bars.check(values.shape(0), values.shape(1));
    Columns4 found(values.shape(0));
    {
        const nb::gil_scoped_release release;
        for (std::size_t row = 0; row < values.shape(0); ++row) {
            double* first = values.data() + row * values.shape(1);
            found.put(row, hold(first, values.shape(1), bars.of(row), rank));
        }
    }
    return found.to_python();
}

nb::object py_step_down_hits(const In2<double>& sums, const Pairs& pairs, const In1<double>& scale,
                             const In1<double>& bar, bool two_tailed, const Own1<double>& largest) {
    const std::size_t count = pairs.shape(0);
    check_pairs(pairs, sums.shape(0), true);
    require(scale.size() == count && bar.size() == count && largest.size() == sums.shape(1));
    const StepDown family{count,        sums.shape(1), sums.data(), pairs.data(),
                          scale.data(), bar.data(),    two_tailed};
    std::vector<std::int64_t> hits(count);
    {
        const nb::gil_scoped_release release;
        step_down(family, hits.data(), largest.data());
    }
    return to_numpy(std::move(hits));
}

nb::object py_count_places(const In2<double>& means, double slack) {
    const std::size_t draws = means.shape(0), runs = means.shape(1);
    std::vector<std::int64_t> counts;
    {
        const nb::gil_scoped_release release;
        counts = count_places(means.data(), draws, runs, slack);
    }
    return to_numpy(std::move(counts), {runs, runs});
}

nb::object py_dominances(const In2<double>& rows, const Pairs& pairs) {
    check_pairs(pairs, rows.shape(0));
    const std::size_t width = rows.shape(1);
    std::vector<std::int64_t> found(pairs.shape(0));
    {
        const nb::gil_scoped_release release;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto row = [&](std::size_t side) {
                return rows.data() + static_cast<std::size_t>(pairs.data()[2 * i + side]) * width;
            };
            found[i] = dominance(row(0), row(1), width);
        }
    }
    return to_numpy(std::move(found));
}

}  // namespace

void bind_resampling(nb::module_& m) {
    m.def("studentized_pairs", &py_studentized_pairs, nb::arg("squares"), nb::arg("means"),
          nb::arg("pairs"), nb::arg("topics"), nb::arg("noise"), nb::arg("own"), nb::arg("flat"),
          nb::arg("turn"), nb::arg("low"), nb::arg("high"), nb::arg("rank"));
    m.def("held_rows", &py_held_rows, nb::arg("values"), nb::arg("turn"), nb::arg("low"),
          nb::arg("high"), nb::arg("rank"));
    m.def("step_down_hits", &py_step_down_hits, nb::arg("sums"), nb::arg("pairs"), nb::arg("scale"),
          nb::arg("bar"), nb::arg("two_tailed"), nb::arg("largest"));
    m.def("count_places", &py_count_places, nb::arg("means"), nb::arg("slack"));
    m.def("dominances", &py_dominances, nb::arg("rows"), nb::arg("pairs"));
}

}  // namespace cranfield::binding
