// The readers of separated text and of JSON, as Python sees them.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "readers/json.hpp"
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

nb::object py_nested_json(const nb::bytes& text, bool finite) {
    Table table;
    bool good = false;
    {
        const std::string_view view(text.c_str(), text.size());
        const nb::gil_scoped_release release;
        good = read_nested_json(view, finite, table);
    }
    return good ? nb::object(table_to_python(std::move(table))) : nb::none();
}

// The newlines of a block, and the places of its first and last end of a line, -1 for none.
nb::tuple py_line_ends(const nb::bytes& block) {
    const std::string_view text(block.c_str(), block.size());
    std::int64_t first = -1, last = -1;
    for (const char end : {'\n', '\r'}) {
        const std::size_t found = text.find(end);
        // Looked for from behind only where there is one: that way is slow.
        if (found == std::string_view::npos) continue;
        const auto at = static_cast<std::int64_t>(found);
        first = first < 0 ? at : std::min(first, at);
        last = std::max(last, static_cast<std::int64_t>(text.rfind(end)));
    }
    return nb::make_tuple(std::count(text.begin(), text.end(), '\n'), first, last);
}

}  // namespace

void bind_separated(nb::module_& m) {
    using namespace nb::literals;
    m.def("line_ends", &py_line_ends, "block"_a);
    m.def("nested_json", &py_nested_json, "text"_a, "finite"_a);
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
