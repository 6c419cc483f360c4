// The kernels over items x concepts, as Python sees them.
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "kernels/labels.hpp"

namespace cranfield::binding {

namespace {

template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
labels::Matrix<T> matrix_of(const In2<T>& array) {
    return {array.data(), array.shape(0), array.shape(1), array.stride(0), array.stride(1)};
}

template <class A, class B>
void same_shape(const A& a, const B& b) {
    if (a.shape(0) != b.shape(0) || a.shape(1) != b.shape(1))
        throw std::invalid_argument("matrices of different shapes");
}

template <class A, class C>
void square_costs(const A& a, const C& costs) {
    if (costs.shape(0) != a.shape(1) || costs.shape(1) != a.shape(1))
        throw std::invalid_argument("costs do not fit the concepts");
}

template <class Work>
nb::object released(const Work& work, std::vector<std::size_t> shape) {
    std::vector<double> values;
    {
        const nb::gil_scoped_release free;
        values = work();
    }
    return to_numpy(std::move(values), std::move(shape));
}

nb::object py_concept_ranked(const In2<bool>& truth, const In2<double>& scores,
                             const In1<std::int64_t>& order,
                             const std::vector<std::int64_t>& cutoffs, unsigned jobs,
                             const labels::ConceptOrder* sorted) {
    same_shape(truth, scores);
    if (order.shape(0) != truth.shape(0)) throw std::invalid_argument("order does not fit");
    if (sorted && (sorted->rows() != truth.shape(0) || sorted->cols() != truth.shape(1)))
        throw std::invalid_argument("what was sorted does not fit");
    return released(
        [&] {
            return labels::concept_ranked(matrix_of(truth), matrix_of(scores), order.data(),
                                          cutoffs, jobs, sorted);
        },
        {truth.shape(1), labels::concept_columns + cutoffs.size()});
}

nb::object py_concept_influence(const In2<bool>& truth, const In2<double>& scores,
                                const In1<std::int64_t>& order,
                                const std::vector<std::int64_t>& cutoffs,
                                const In2<double>& weights, unsigned jobs) {
    same_shape(truth, scores);
    const std::size_t width = labels::concept_columns + cutoffs.size();
    if (order.shape(0) != truth.shape(0)) throw std::invalid_argument("order does not fit");
    if (weights.shape(0) != truth.shape(1) || weights.shape(1) != width)
        throw std::invalid_argument("weights do not fit");
    return released(
        [&] {
            return labels::concept_influence(matrix_of(truth), matrix_of(scores), order.data(),
                                             cutoffs, matrix_of(weights), jobs);
        },
        {width, truth.shape(0)});
}

nb::object py_item_ranked(const In2<bool>& truth, const In2<double>& scores, unsigned jobs) {
    same_shape(truth, scores);
    return released([&] { return labels::item_ranked(matrix_of(truth), matrix_of(scores), jobs); },
                    {truth.shape(0), labels::item_columns});
}

nb::object py_item_precision(const In2<bool>& truth, const In2<double>& scores, std::size_t depth,
                             unsigned jobs) {
    same_shape(truth, scores);
    return released(
        [&] { return labels::item_precision(matrix_of(truth), matrix_of(scores), depth, jobs); },
        {truth.shape(0)});
}

void check_matching(const In2<bool>& truth, const In2<bool>& predicted, const In2<bool>& broken,
                    const In2<double>& costs, const In1<double>& agreement) {
    same_shape(truth, predicted);
    same_shape(truth, broken);
    square_costs(truth, costs);
    if (agreement.shape(0) != truth.shape(1)) throw std::invalid_argument("agreement does not fit");
}

template <class A>
void check_item(const A& matrix, std::size_t item) {
    if (item >= matrix.shape(0)) throw std::invalid_argument("no such item");
}

nb::object py_match_costs(const In2<bool>& truth, const In2<bool>& predicted,
                          const In2<bool>& broken, const In2<double>& costs,
                          const In1<double>& agreement, unsigned jobs) {
    check_matching(truth, predicted, broken, costs, agreement);
    return released(
        [&] {
            return labels::match_costs(matrix_of(truth), matrix_of(predicted), matrix_of(broken),
                                       matrix_of(costs), agreement.data(), jobs);
        },
        {truth.shape(0)});
}

const char* role_name(labels::MatchRole role) {
    switch (role) {
        case labels::MatchRole::broken:
            return "broken";
        case labels::MatchRole::wrong:
            return "wrong";
        default:
            return "missed";
    }
}

nb::list py_match_parts(const In2<bool>& truth, const In2<bool>& predicted, const In2<bool>& broken,
                        const In2<double>& costs, const In1<double>& agreement, std::size_t item) {
    check_matching(truth, predicted, broken, costs, agreement);
    check_item(truth, item);
    nb::list parts;
    for (const labels::MatchPart& part :
         labels::match_parts(matrix_of(truth), matrix_of(predicted), matrix_of(broken),
                             matrix_of(costs), agreement.data(), item))
        parts.append(nb::make_tuple(part.label, role_name(part.role), part.cost, part.agreement,
                                    part.partners));
    return parts;
}

nb::list py_assigned_pairs(const In2<bool>& truth, const In2<double>& scores,
                           const In2<double>& costs, std::size_t item) {
    same_shape(truth, scores);
    square_costs(truth, costs);
    check_item(truth, item);
    nb::list pairs;
    for (const labels::AssignedPair& pair :
         labels::assigned_pairs(matrix_of(truth), matrix_of(scores), matrix_of(costs), item))
        pairs.append(nb::make_tuple(pair.ranked, pair.wanted, pair.cost));
    return pairs;
}

nb::object py_ranked_assignment(const In2<bool>& truth, const In2<double>& scores,
                                const In2<double>& costs, unsigned jobs) {
    same_shape(truth, scores);
    square_costs(truth, costs);
    return released(
        [&] {
            return labels::ranked_assignment(matrix_of(truth), matrix_of(scores), matrix_of(costs),
                                             jobs);
        },
        {truth.shape(0)});
}

nb::object py_set_assignment(const In2<bool>& truth, const In2<bool>& predicted,
                             const In2<double>& costs, double dummy, unsigned jobs) {
    same_shape(truth, predicted);
    square_costs(truth, costs);
    return released(
        [&] {
            return labels::set_assignment(matrix_of(truth), matrix_of(predicted), matrix_of(costs),
                                          dummy, jobs);
        },
        {truth.shape(0)});
}

}  // namespace

void bind_labels(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<labels::ConceptOrder>(m, "ConceptOrder")
        .def(
            "__init__",
            [](labels::ConceptOrder* self, const In2<double>& scores, unsigned jobs) {
                const nb::gil_scoped_release free;
                new (self) labels::ConceptOrder(matrix_of(scores), jobs);
            },
            "scores"_a, "jobs"_a);
    m.def("concept_ranked", &py_concept_ranked, "truth"_a, "scores"_a, "order"_a, "cutoffs"_a,
          "jobs"_a, "sorted"_a = nb::none());
    m.def("concept_influence", &py_concept_influence, "truth"_a, "scores"_a, "order"_a, "cutoffs"_a,
          "weights"_a, "jobs"_a);
    m.def("item_ranked", &py_item_ranked, "truth"_a, "scores"_a, "jobs"_a);
    m.def("item_precision", &py_item_precision, "truth"_a, "scores"_a, "depth"_a, "jobs"_a);
    m.def("match_costs", &py_match_costs, "truth"_a, "labels"_a, "broken"_a, "costs"_a,
          "agreement"_a, "jobs"_a);
    m.def("match_parts", &py_match_parts, "truth"_a, "labels"_a, "broken"_a, "costs"_a,
          "agreement"_a, "item"_a);
    m.def("assigned_pairs", &py_assigned_pairs, "truth"_a, "scores"_a, "costs"_a, "item"_a);
    m.def("ranked_assignment", &py_ranked_assignment, "truth"_a, "scores"_a, "costs"_a, "jobs"_a);
    m.def("set_assignment", &py_set_assignment, "truth"_a, "labels"_a, "costs"_a, "dummy"_a,
          "jobs"_a);
}

}  // namespace cranfield::binding
