// The writers of judgements, runs and labels, as Python sees them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>

#include "bindings.hpp"
#include "writers/labels.hpp"
#include "writers/table.hpp"

namespace cranfield::binding {

namespace {

template <class Value>
using Matrix = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::bytes to_bytes(const Text& text) { return nb::bytes(text.view().data(), text.size()); }

TableForm form_of(const std::string& name) {
    if (name == "run") return TableForm::run;
    if (name == "judgements") return TableForm::judgements;
    if (name == "csv") return TableForm::csv;
    if (name == "tsv") return TableForm::tsv;
    if (name == "json") return TableForm::json;
    throw std::invalid_argument("no such form of a table");
}

// A writer, and what it reads from.
struct TableBlocks {
    nb::list topics;
    In1<std::int64_t> offsets;
    In1<std::uint8_t> item_bytes;
    In1<std::int64_t> item_offsets;
    In1<double> values;
    std::optional<In1<std::int64_t>> strata;
    TableWriter writer;
    Text text;

    TableBlocks(nb::list names, In1<std::int64_t> rows, In1<std::uint8_t> bytes,
                In1<std::int64_t> starts, In1<double> numbers, const std::string& form, bool grades,
                const std::string& tag, std::optional<In1<std::int64_t>> layers)
        : topics(std::move(names)),
          offsets(std::move(rows)),
          item_bytes(std::move(bytes)),
          item_offsets(std::move(starts)),
          values(std::move(numbers)),
          strata(std::move(layers)),
          writer(columns_of(topics, offsets, item_bytes, item_offsets, values),
                 {form_of(form), grades, tag, strata ? strata->data() : nullptr}) {
        if (strata && strata->size() != values.size())
            throw std::invalid_argument("a stratum for every row");
    }

    // The next bytes of the text, none at its end.
    nb::bytes next(std::size_t bytes) {
        text.clear();
        {
            const nb::gil_scoped_release release;
            writer.next(text, bytes);
        }
        return to_bytes(text);
    }
};

bool py_items_fit(const nb::list& topics, const In1<std::int64_t>& offsets,
                  const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                  const In1<double>& values, const nb::bytes& breaks, std::size_t longest) {
    return items_fit(columns_of(topics, offsets, item_bytes, item_offsets, values),
                     {breaks.c_str(), breaks.size()}, longest);
}

bool py_has_repeats(const nb::list& topics, const In1<std::int64_t>& offsets,
                    const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                    const In1<double>& values) {
    return has_repeats(columns_of(topics, offsets, item_bytes, item_offsets, values));
}

template <class Value>
nb::bytes py_label_rows(const nb::list& items, const Matrix<Value>& values, char separator,
                        bool quoted) {
    const std::vector<Id> names = ids_of(items);
    if (names.size() != values.shape(0)) throw std::invalid_argument("an item for every row");
    Text text;
    append_rows<Value>(text, {names, values.data(), values.shape(1)}, separator, quoted);
    return to_bytes(text);
}

template <class Value>
nb::bytes py_long_rows(const nb::list& items, const nb::list& concepts,
                       const Matrix<Value>& values) {
    const std::vector<Id> names = ids_of(items), columns = ids_of(concepts);
    if (names.size() != values.shape(0) || columns.size() != values.shape(1) || columns.empty())
        throw std::invalid_argument("an item for every row, a concept for every column");
    Text text;
    append_long_rows<Value>(text, {names, values.data(), values.shape(1)}, columns);
    return to_bytes(text);
}

template <class Value>
void bind_label_writers(nb::module_& m) {
    using namespace nb::literals;
    m.def("label_rows", &py_label_rows<Value>, "items"_a, "values"_a.noconvert(), "separator"_a,
          "quoted"_a);
    m.def("long_label_rows", &py_long_rows<Value>, "items"_a, "concepts"_a, "values"_a.noconvert());
}

}  // namespace

void bind_writers(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TableBlocks>(m, "TableBlocks")
        .def(nb::init<nb::list, In1<std::int64_t>, In1<std::uint8_t>, In1<std::int64_t>,
                      In1<double>, const std::string&, bool, const std::string&,
                      std::optional<In1<std::int64_t>>>(),
             "topics"_a, "offsets"_a, "item_bytes"_a, "item_offsets"_a, "values"_a, "form"_a,
             "grades"_a, "tag"_a, "strata"_a.none())
        .def("next", &TableBlocks::next, "bytes"_a);
    m.def("items_fit", &py_items_fit, "topics"_a, "offsets"_a, "item_bytes"_a, "item_offsets"_a,
          "values"_a, "breaks"_a, "longest"_a);
    m.def("has_repeats", &py_has_repeats, "topics"_a, "offsets"_a, "item_bytes"_a, "item_offsets"_a,
          "values"_a);
    bind_label_writers<double>(m);
    bind_label_writers<std::uint8_t>(m);
}

}  // namespace cranfield::binding
