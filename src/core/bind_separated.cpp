// The reader of separated text, as Python sees it.
#include <nanobind/stl/string.h>

#include <stdexcept>

#include "bindings.hpp"
#include "readers/separated.hpp"

namespace cranfield::binding {

namespace {

Cell cell_of(char letter) {
    switch (letter) {
        case '-':
            return Cell::skipped;
        case 'c':
            return Cell::coded;
        case 't':
            return Cell::text;
        case 'n':
            return Cell::number;
        default:
            throw std::invalid_argument("no such kind of cell");
    }
}

Separation separation_of(const std::string& separator, const std::string& cells, bool comments,
                         std::uint64_t bytes) {
    if (separator.size() != 1) throw std::invalid_argument("a separator is one character");
    Separation form{separator[0], {}, comments, bytes};
    for (const char letter : cells) form.cells.push_back(cell_of(letter));
    return form;
}

nb::list to_list(const TextColumn& texts) {
    nb::list list;
    for (std::size_t row = 0; row < texts.rows(); ++row) list.append(to_str(texts[row]));
    return list;
}

nb::object py_table(SeparatedReader& reader, std::size_t topic, std::size_t item,
                    const std::string& third, bool finite) {
    if (finite && reader.has_infinities()) return nb::none();
    SeparatedTable found;
    {
        const nb::gil_scoped_release release;
        const Third role = third == "either" ? Third::either
                           : third == "rank" ? Third::rank
                                             : Third::value;
        found = to_table(reader, topic, item, role);
    }
    if (found.refused) return nb::none();
    return nb::make_tuple(table_to_python(std::move(found.table)), found.ranks);
}

}  // namespace

void bind_separated(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<SeparatedReader>(m, "SeparatedReader")
        .def(
            "__init__",
            [](SeparatedReader* self, const std::string& separator, const std::string& cells,
               bool comments, std::uint64_t bytes) {
                new (self) SeparatedReader(separation_of(separator, cells, comments, bytes));
            },
            "separator"_a, "cells"_a, "comments"_a, "bytes"_a)
        .def("feed",
             [](SeparatedReader& reader, const nb::bytes& bytes) {
                 const std::string_view view(bytes.c_str(), bytes.size());
                 const nb::gil_scoped_release release;
                 return reader.feed(view);
             })
        .def("finish", &SeparatedReader::finish)
        .def_prop_ro("rows", &SeparatedReader::rows)
        .def("names", [](SeparatedReader& reader,
                         std::size_t column) { return to_list(reader.vocabulary(column).texts()); })
        .def("codes", [](SeparatedReader& reader,
                         std::size_t column) { return to_view(std::move(reader.codes(column))); })
        .def("texts", [](SeparatedReader& reader,
                         std::size_t column) { return to_list(reader.texts(column)); })
        .def("numbers",
             [](SeparatedReader& reader) { return to_view(std::move(reader.numbers())); })
        .def("blank_lines",
             [](SeparatedReader& reader) { return to_view(std::move(reader.blank_lines())); })
        .def("table", &py_table, "topic"_a, "item"_a, "third"_a, "finite"_a);
}

}  // namespace cranfield::binding
