// The Python module cranfield._core. Conversions only: no rule of evaluation lives here.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "evaluate.hpp"
#include "readers/run_file.hpp"
#include "readers/table.hpp"

namespace cranfield::binding {

namespace {
Ties ties_of(const std::string& name) {
    if (name == "id") return Ties::id;
    if (name == "id-ascending") return Ties::id_ascending;
    if (name == "file") return Ties::file;
    if (name == "best") return Ties::best;
    if (name == "worst") return Ties::worst;
    if (name == "average") return Ties::average;
    throw std::invalid_argument("no tie policy named " + name);
}

}  // namespace

Options options_of(const std::string& ties, bool judged_only, std::int64_t max_items, bool check) {
    Options options;
    options.ties = ties_of(ties);
    options.judged_only = judged_only;
    options.check_duplicates = check;
    if (max_items > 0 && max_items < options.max_items)
        options.max_items = static_cast<std::uint32_t>(max_items);
    return options;
}

std::vector<Id> ids_of(const nb::list& names) {
    std::vector<Id> ids;
    for (const nb::handle name : names) ids.push_back(utf8_of(name));
    return ids;
}

Columns columns_of(const nb::list& topics, const In1<std::int64_t>& offsets,
                   const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                   const In1<double>& values) {
    Columns columns;
    columns.topics = ids_of(topics);
    columns.offsets = offsets.data();
    columns.item_bytes = reinterpret_cast<const char*>(item_bytes.data());
    columns.item_offsets = item_offsets.data();
    columns.values = values.data();
    if (offsets.size() != columns.topics.size() + 1 || item_offsets.size() != values.size() + 1)
        throw std::invalid_argument("columns of a table do not fit together");
    columns.check(values.size(), item_bytes.size());
    return columns;
}

nb::tuple table_to_python(Table&& table) {
    nb::list topics;
    for (const std::string& topic : table.topics) topics.append(to_str(topic));
    return nb::make_tuple(topics, to_view(std::move(table.offsets)),
                          to_view(std::move(table.item_bytes)),
                          to_view(std::move(table.item_offsets)), to_view(std::move(table.values)),
                          to_str(table.tag));
}

namespace {

constexpr std::size_t chunk_bytes = 1u << 20;

nb::tuple problem_to_python(const Problem& p) {
    return nb::make_tuple(static_cast<int>(p.fault), p.line, to_str(p.text), to_str(p.topic),
                          p.other_line);
}

nb::list problems_to_python(const Problems& problems) {
    nb::list list;
    for (const Problem& p : problems.list()) list.append(problem_to_python(p));
    return list;
}

Limits limits_of(std::optional<std::uint64_t> lines, std::optional<std::uint64_t> line_bytes) {
    return {lines.value_or(Limits::none), line_bytes.value_or(Limits::none)};
}

// What stopped a reader, or nothing.
nb::object stop_to_python(Stop stop) {
    switch (stop) {
        case Stop::not_stopped:
            return nb::none();
        case Stop::read_error:
            return to_str("error");
        case Stop::cut_short:
            return to_str("short");
        case Stop::too_many_lines:
            return to_str("lines");
    }
    return nb::none();
}

// A path is read; otherwise `read(buffer)` fills a writable buffer and says how much.
std::unique_ptr<Source> open_source(const std::optional<nb::bytes>& path, const nb::object& read,
                                    const Limits& limits) {
    if (path) {
        try {
            return std::make_unique<FileSource>(path->c_str(), chunk_bytes, limits);
        } catch (const std::system_error& error) {
            errno = error.code().value();
            PyErr_SetFromErrno(PyExc_OSError);
            throw nb::python_error();
        }
    }
    return std::make_unique<Stream>(
        [read](char* data, std::size_t size) {
            const nb::gil_scoped_acquire gil;
            nb::object view = nb::steal(
                PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(size), PyBUF_WRITE));
            return nb::cast<std::int64_t>(read(view));
        },
        chunk_bytes, limits);
}

nb::tuple py_read_table(const std::optional<nb::bytes>& path, const nb::object& read,
                        const std::string& kind, unsigned jobs, bool extra_fields,
                        std::optional<std::uint64_t> max_lines,
                        std::optional<std::uint64_t> line_bytes, Progress& progress) {
    Problems problems;
    TableReading reading;
    const std::unique_ptr<Source> source =
        open_source(path, read, limits_of(max_lines, line_bytes));
    {
        const nb::gil_scoped_release release;
        reading = read_table(*source, kind == "run" ? Kind::run : Kind::judgements, jobs,
                             extra_fields, problems, progress);
    }
    nb::object first_repeat = nb::none();
    if (reading.first_repeat) first_repeat = problem_to_python(*reading.first_repeat);
    return nb::make_tuple(table_to_python(std::move(reading.table)), problems_to_python(problems),
                          problems.total(), reading.repeated, first_repeat,
                          problems.beyond_double.load(), stop_to_python(reading.stop));
}

nb::tuple py_evaluate_run(const JudgementIndex& index, const std::optional<nb::bytes>& path,
                          const nb::object& read, const Calls& calls, const std::string& ties,
                          bool judged_only, std::int64_t max_items, unsigned jobs,
                          bool extra_fields, std::optional<std::uint64_t> max_lines,
                          std::optional<std::uint64_t> line_bytes, Progress& progress) {
    const Programme programme = programme_of(calls);
    const Options options = options_of(ties, judged_only, max_items, true);
    std::vector<double> values(index.size() * programme.size());
    std::vector<std::uint8_t> present(index.size());
    Problems problems;
    RunFileResult result;
    const std::unique_ptr<Source> source =
        open_source(path, read, limits_of(max_lines, line_bytes));
    {
        const nb::gil_scoped_release release;
        result = evaluate_source(index, *source, programme, options, jobs, extra_fields,
                                 values.data(), present.data(), problems, progress);
    }
    nb::list unjudged;
    for (const std::string& topic : result.unjudged_topics) unjudged.append(to_str(topic));
    return nb::make_tuple(to_view(std::move(values), {index.size(), programme.size()}),
                          to_view(std::move(present)), unjudged, problems_to_python(problems),
                          problems.total(), result.scattered, to_str(result.tag),
                          problems.beyond_double.load(), stop_to_python(result.stop));
}

nb::tuple py_evaluate_table(const JudgementIndex& index, const nb::list& topics,
                            const In1<std::int64_t>& offsets, const In1<std::uint8_t>& item_bytes,
                            const In1<std::int64_t>& item_offsets, const In1<double>& scores,
                            const Calls& calls, const std::string& ties, bool judged_only,
                            std::int64_t max_items, unsigned jobs, bool check_duplicates) {
    const Programme programme = programme_of(calls);
    const Options options = options_of(ties, judged_only, max_items, check_duplicates);
    const Columns run = columns_of(topics, offsets, item_bytes, item_offsets, scores);
    std::vector<double> values(index.size() * programme.size());
    std::vector<std::uint8_t> present(index.size());
    std::vector<TableDuplicate> duplicates;
    {
        const nb::gil_scoped_release release;
        evaluate_table(index, run, programme, options, jobs, values.data(), present.data(),
                       duplicates);
    }
    nb::list rows;
    for (const TableDuplicate& d : duplicates) rows.append(nb::make_tuple(d.first, d.second));
    return nb::make_tuple(to_view(std::move(values), {index.size(), programme.size()}),
                          to_view(std::move(present)), rows);
}

}  // namespace

namespace {

// Errors of the core as Python knows them.
void translate(const std::exception_ptr& error, void*) {
    try {
        std::rethrow_exception(error);
    } catch (const KernelCallError& call) {
        const nb::object kind = nb::module_::import_("cranfield.errors").attr("MeasureError");
        PyErr_SetString(kind.ptr(), call.what());
    } catch (const std::length_error&) {
        // A vector that is longer than any memory.
        PyErr_NoMemory();
    }
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of Cranfield: private, and stubbed in _core.pyi.";
    nb::register_exception_translator(translate);

    nb::class_<Progress>(m, "Progress")
        .def(nb::init<>())
        .def("cancel", [](Progress& p) { p.cancelled = true; })
        .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
        .def_prop_ro("total", [](const Progress& p) { return p.total.load(); });

    nb::class_<JudgementIndex>(m, "JudgementIndex")
        .def("__init__",
             [](JudgementIndex* self, const nb::list& topics, const In1<std::int64_t>& offsets,
                const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                const In1<double>& grades) {
                 new (self)
                     JudgementIndex(columns_of(topics, offsets, item_bytes, item_offsets, grades));
             })
        .def("__len__", &JudgementIndex::size)
        .def_prop_ro("repeats", &JudgementIndex::repeats);

    using namespace nb::literals;
    m.def("kernels", [] {
        nb::dict kernels;
        for (const KernelEntry& kernel : all_kernels()) {
            nb::list names;
            for (const Param& param : kernel.params) names.append(to_str(param.name));
            kernels[to_str(kernel.name)] =
                nb::make_tuple(nb::tuple(names), kernel.rest != Rest::nothing);
        }
        return kernels;
    });
    m.def("check_call",
          [](const std::string& name, const Params& params) { checked_kernel(name, params); });
    m.def("read_table", &py_read_table, "path"_a.none(), "read"_a.none(), "kind"_a, "jobs"_a,
          "extra_fields"_a, "max_lines"_a.none(), "line_bytes"_a.none(), "progress"_a);
    m.def("evaluate_run", &py_evaluate_run, "index"_a, "path"_a.none(), "read"_a.none(), "calls"_a,
          "ties"_a, "judged_only"_a, "max_items"_a, "jobs"_a, "extra_fields"_a,
          "max_lines"_a.none(), "line_bytes"_a.none(), "progress"_a);
    m.def("evaluate_table", &py_evaluate_table, "index"_a, "topics"_a, "offsets"_a, "item_bytes"_a,
          "item_offsets"_a, "scores"_a, "calls"_a, "ties"_a, "judged_only"_a, "max_items"_a,
          "jobs"_a, "check_duplicates"_a);
    bind_dicts(m);
    bind_draws(m);
    bind_resampling(m);
    bind_columns(m);
    bind_separated(m);
    bind_labels(m);
    bind_relatedness(m);
    bind_features(m);
    bind_regions(m);
    bind_writers(m);
}

}  // namespace cranfield::binding
