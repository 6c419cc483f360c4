// Columns of text and numbers, as Python sees them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "bindings.hpp"
#include "code_rows.hpp"
#include "text_columns.hpp"

namespace cranfield::binding {

namespace {

nb::tuple to_python(TextColumn&& column) {
    return nb::make_tuple(to_numpy(std::move(column.bytes)), to_numpy(std::move(column.offsets)));
}

TextView view_of(const In1<std::uint8_t>& bytes, const In1<std::int64_t>& offsets) {
    if (offsets.size() == 0) throw std::invalid_argument("a column of text needs offsets");
    const TextView view{reinterpret_cast<const char*>(bytes.data()), offsets.data(),
                        offsets.size() - 1};
    view.check(bytes.size());
    return view;
}

nb::tuple py_string_column(const nb::sequence& texts) {
    TextColumn column;
    for (const nb::handle text : texts) column.append(utf8_of(text));
    return to_python(std::move(column));
}

nb::tuple py_fixed_width_column(
    const nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& codes) {
    TextColumn column;
    {
        const nb::gil_scoped_release release;
        column = column_of_codes(codes.data(), codes.shape(0), codes.shape(1));
    }
    return to_python(std::move(column));
}

nb::tuple py_integer_column(const In1<std::int64_t>& numbers) {
    return to_python(column_of_integers(numbers.data(), numbers.size()));
}

nb::tuple py_group_rows(const In1<std::uint8_t>& bytes, const In1<std::int64_t>& offsets) {
    const TextView texts = view_of(bytes, offsets);
    Grouping groups;
    {
        const nb::gil_scoped_release release;
        groups = grouped(texts);
    }
    nb::list topics;
    for (const Id topic : groups.topics) topics.append(to_str(topic));
    nb::object order = groups.order.empty() ? nb::none() : to_numpy(std::move(groups.order));
    return nb::make_tuple(topics, to_numpy(std::move(groups.offsets)), order);
}

nb::tuple py_take_strings(const In1<std::uint8_t>& bytes, const In1<std::int64_t>& offsets,
                          const In1<std::int64_t>& order) {
    return to_python(taken(view_of(bytes, offsets), order.data(), order.size()));
}

nb::list py_column_sums(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& values,
                        const nb::bytes& counted, const std::vector<std::size_t>& order,
                        double smallest) {
    const std::size_t rows = values.shape(0);
    const bool known = std::all_of(order.begin(), order.end(), [&](auto i) { return i < rows; });
    if (counted.size() != rows || order.size() != rows || !known)
        throw std::invalid_argument("rows do not fit");
    nb::list result;
    for (const ColumnSum& s :
         column_sums(values.data(), values.shape(1), counted.c_str(), order, smallest))
        result.append(nb::make_tuple(s.sum, s.defined, s.logarithms));
    return result;
}

bool py_rows_differ(const In1<std::int32_t>& first, const In1<std::int32_t>& second,
                    const In1<std::int32_t>& third) {
    if (first.size() != second.size() || first.size() != third.size())
        throw std::invalid_argument("columns differ in length");
    const nb::gil_scoped_release release;
    return rows_differ({first.data(), second.data(), third.data(), first.size()});
}

}  // namespace

void bind_columns(nb::module_& m) {
    using namespace nb::literals;
    m.def("column_sums", &py_column_sums, "values"_a, "counted"_a, "order"_a, "smallest"_a);
    m.def("string_column", &py_string_column, "texts"_a);
    m.def("fixed_width_column", &py_fixed_width_column, "codes"_a);
    m.def("integer_column", &py_integer_column, "numbers"_a);
    m.def("group_rows", &py_group_rows, "bytes"_a, "offsets"_a);
    m.def("rows_differ", &py_rows_differ, "first"_a, "second"_a, "third"_a);
    m.def("take_strings", &py_take_strings, "bytes"_a, "offsets"_a, "order"_a);
}

}  // namespace cranfield::binding
