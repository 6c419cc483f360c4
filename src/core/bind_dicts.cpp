// Nested Python dicts, evaluated where they lie: no copy of an id is made.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings.hpp"

namespace cranfield::binding {

namespace {

double number_of(PyObject* value) {
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return number;
}

// Infinite scores have their place in a ranking.
double score_of(PyObject* score) {
    const double number = number_of(score);
    if (std::isnan(number)) throw nb::value_error("a score is not a number (nan)");
    return number;
}

void require_dict(nb::handle items) {
    if (!PyDict_Check(items.ptr())) throw nb::type_error("expected {topic: {item: number}}");
}

// The items of one topic. `number(score)` turns a Python number into a score, or throws.
template <class Number>
void fill_block(nb::handle items, Block& block, const Number& number) {
    block.clear();
    PyObject *item = nullptr, *score = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(items.ptr(), &position, &item, &score)) {
        block.items.push_back(utf8_of(item));
        block.scores.push_back(number(score));
    }
}

nb::tuple py_evaluate_dict(const JudgementIndex& index, const nb::dict& run, const Calls& calls,
                           const std::string& ties, bool judged_only, std::int64_t max_items) {
    const Programme programme = programme_of(calls);
    const Options options = options_of(ties, judged_only, max_items, false);
    std::vector<double> values(index.size() * programme.size());
    std::vector<std::uint8_t> present(index.size());
    std::vector<Duplicate> duplicates;
    nb::list unjudged;
    TopicEvaluator evaluator(programme, options);
    Block block;
    for (const auto [topic, items] : run) {
        require_dict(items);
        const std::size_t at = index.find(utf8_of(topic));
        if (at == JudgementIndex::absent) {
            unjudged.append(topic);
            continue;
        }
        fill_block(items, block, score_of);
        present[at] = 1;
        evaluator.evaluate(block, index[at], values.data() + at * programme.size(), duplicates);
    }
    fill_missing(index, programme, options, values.data(), present.data());
    return nb::make_tuple(to_numpy(std::move(values), {index.size(), programme.size()}),
                          to_numpy(std::move(present)), unjudged);
}

// {topic: {name: value}} for the judged topics of a run, in the run's order. Every inner dict
// starts as a copy of `constants`, which fixes the order of its names. `single_precision` rounds
// scores before they are compared, as programs do that keep them as 32-bit floats.
nb::dict py_score_dict(const JudgementIndex& index, const nb::dict& run, const nb::list& names,
                       const Calls& calls, const nb::dict& constants, const std::string& ties,
                       bool judged_only, bool single_precision) {
    const Programme programme = programme_of(calls);
    if (names.size() != programme.size()) throw std::invalid_argument("a name for every call");
    const auto rounded = [single_precision](PyObject* score) {
        const double number = score_of(score);
        return single_precision ? static_cast<double>(static_cast<float>(number)) : number;
    };
    std::vector<double> row(programme.size());
    std::vector<Duplicate> duplicates;
    TopicEvaluator evaluator(programme, options_of(ties, judged_only, 0, false));
    Block block;
    nb::dict result;
    for (const auto [topic, items] : run) {
        require_dict(items);
        const std::size_t at = index.find(utf8_of(topic));
        if (at == JudgementIndex::absent) continue;
        fill_block(items, block, rounded);
        evaluator.evaluate(block, index[at], row.data(), duplicates);
        nb::dict values = nb::steal<nb::dict>(PyDict_Copy(constants.ptr()));
        for (std::size_t i = 0; i < row.size(); ++i) values[names[i]] = row[i];
        result[topic] = values;
    }
    return result;
}

// The columns of {topic: {item: number}}.
nb::tuple py_dict_columns(const nb::dict& source) {
    Table table;
    table.offsets.push_back(0);
    table.item_offsets.push_back(0);
    for (const auto [topic, items] : source) {
        require_dict(items);
        table.topics.emplace_back(utf8_of(topic));
        PyObject *item = nullptr, *number = nullptr;
        Py_ssize_t position = 0;
        while (PyDict_Next(items.ptr(), &position, &item, &number)) {
            const Id id = utf8_of(item);
            table.item_bytes.insert(table.item_bytes.end(), id.begin(), id.end());
            table.item_offsets.push_back(static_cast<std::int64_t>(table.item_bytes.size()));
            table.values.push_back(number_of(number));
        }
        table.offsets.push_back(static_cast<std::int64_t>(table.values.size()));
    }
    return table_to_python(std::move(table));
}

nb::object number_to_python(double value, bool whole) {
    PyObject* object = whole && value == std::floor(value) && std::abs(value) < 9007199254740992.0
                           ? PyLong_FromDouble(value)
                           : PyFloat_FromDouble(value);
    if (object == nullptr) throw nb::python_error();
    return nb::steal(object);
}

// {topic: {item: number}} of columns; `whole` gives whole numbers as int.
nb::dict py_columns_dict(const nb::list& topics, const In1<std::int64_t>& offsets,
                         const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                         const In1<double>& values, bool whole) {
    const Columns columns = columns_of(topics, offsets, item_bytes, item_offsets, values);
    nb::dict result;
    for (std::size_t t = 0; t < columns.topics.size(); ++t) {
        nb::dict items;
        for (std::int64_t row = columns.offsets[t]; row < columns.offsets[t + 1]; ++row)
            items[to_str(columns.item(row))] = number_to_python(columns.values[row], whole);
        result[topics[t]] = items;
    }
    return result;
}

}  // namespace

void bind_dicts(nb::module_& m) {
    using namespace nb::literals;
    m.def("evaluate_dict", &py_evaluate_dict, "index"_a, "run"_a, "calls"_a, "ties"_a,
          "judged_only"_a, "max_items"_a);
    m.def("score_dict", &py_score_dict, "index"_a, "run"_a, "names"_a, "calls"_a, "constants"_a,
          "ties"_a, "judged_only"_a, "single_precision"_a);
    m.def("dict_columns", &py_dict_columns, "source"_a);
    m.def("columns_dict", &py_columns_dict, "topics"_a, "offsets"_a, "item_bytes"_a,
          "item_offsets"_a, "values"_a, "whole"_a);
}

}  // namespace cranfield::binding
