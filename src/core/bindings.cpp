// The Python module cranfield._core. Conversions only: no rule of evaluation lives here.
#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "evaluate.hpp"
#include "readers/run_file.hpp"
#include "readers/table.hpp"

namespace cranfield::binding {

Programme programme_of(const Calls& calls) {
    Programme programme;
    for (const auto& [name, params] : calls) {
        const KernelEntry* kernel = find_kernel(name);
        if (kernel == nullptr) throw std::invalid_argument("no kernel named " + name);
        programme.push_back({kernel, params});
    }
    return programme;
}

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

namespace {
std::vector<Id> ids_of(const nb::list& names) {
    std::vector<Id> ids;
    for (const nb::handle name : names) ids.push_back(utf8_of(name));
    return ids;
}

}  // namespace

Columns columns_of(const nb::list& topics, const In1<std::int64_t>& offsets,
                   const In1<std::uint8_t>& item_bytes, const In1<std::int64_t>& item_offsets,
                   const In1<double>& values) {
    Columns columns;
    columns.topics = ids_of(topics);
    columns.offsets = offsets.data();
    columns.item_bytes = reinterpret_cast<const char*>(item_bytes.data());
    columns.item_offsets = item_offsets.data();
    columns.values = values.data();
    if (offsets.size() != columns.topics.size() + 1 || item_offsets.size() != values.size() + 1 ||
        static_cast<std::size_t>(columns.offsets[columns.topics.size()]) != values.size())
        throw std::invalid_argument("columns of a table do not fit together");
    return columns;
}

nb::tuple table_to_python(Table&& table) {
    nb::list topics;
    for (const std::string& topic : table.topics) topics.append(to_str(topic));
    std::vector<std::uint8_t> bytes(table.item_bytes.begin(), table.item_bytes.end());
    table.item_bytes = {};
    return nb::make_tuple(topics, to_view(std::move(table.offsets)), to_view(std::move(bytes)),
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

// A path is mapped; otherwise `read(buffer)` fills a writable buffer and says how much.
std::unique_ptr<Source> open_source(const std::optional<std::string>& path,
                                    const nb::object& read) {
    if (path) {
        try {
            return std::make_unique<MappedFile>(*path, chunk_bytes);
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
        chunk_bytes);
}

nb::tuple py_read_table(const std::optional<std::string>& path, const nb::object& read,
                        const std::string& kind, unsigned jobs, bool extra_fields,
                        Progress& progress) {
    Problems problems;
    TableReading reading;
    const std::unique_ptr<Source> source = open_source(path, read);
    {
        const nb::gil_scoped_release release;
        reading = read_table(*source, kind == "run" ? Kind::run : Kind::judgements, jobs,
                             extra_fields, problems, progress);
    }
    nb::object first_repeat = nb::none();
    if (reading.first_repeat) first_repeat = problem_to_python(*reading.first_repeat);
    return nb::make_tuple(table_to_python(std::move(reading.table)), problems_to_python(problems),
                          problems.total(), reading.repeated, first_repeat, reading.read_failed);
}

nb::tuple py_evaluate_run(const JudgementIndex& index, const std::optional<std::string>& path,
                          const nb::object& read, const Calls& calls, const std::string& ties,
                          bool judged_only, std::int64_t max_items, unsigned jobs,
                          bool extra_fields, Progress& progress) {
    const Programme programme = programme_of(calls);
    const Options options = options_of(ties, judged_only, max_items, true);
    std::vector<double> values(index.size() * programme.size());
    std::vector<std::uint8_t> present(index.size());
    Problems problems;
    RunFileResult result;
    const std::unique_ptr<Source> source = open_source(path, read);
    {
        const nb::gil_scoped_release release;
        result = evaluate_source(index, *source, programme, options, jobs, extra_fields,
                                 values.data(), present.data(), problems, progress);
    }
    nb::list unjudged;
    for (const std::string& topic : result.unjudged_topics) unjudged.append(to_str(topic));
    return nb::make_tuple(to_view(std::move(values), {index.size(), programme.size()}),
                          to_view(std::move(present)), unjudged, problems_to_python(problems),
                          problems.total(), result.scattered, result.read_failed);
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
    return nb::make_tuple(to_numpy(std::move(values), {index.size(), programme.size()}),
                          to_numpy(std::move(present)), rows);
}

// A sequence of strings as one run of bytes and the offsets in it.
nb::tuple py_string_column(const nb::sequence& texts) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};
    for (const nb::handle text : texts) {
        const Id id = utf8_of(text);
        bytes.insert(bytes.end(), id.begin(), id.end());
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    return nb::make_tuple(to_numpy(std::move(bytes)), to_numpy(std::move(offsets)));
}

// Appends a code point as UTF-8; false when it is none.
bool append_utf8(std::uint32_t c, std::vector<std::uint8_t>& bytes) {
    const auto tail = [&](int shift) {
        bytes.push_back(static_cast<std::uint8_t>(0x80u | ((c >> shift) & 0x3Fu)));
    };
    if (c < 0x80u) {
        bytes.push_back(static_cast<std::uint8_t>(c));
    } else if (c < 0x800u) {
        bytes.push_back(static_cast<std::uint8_t>(0xC0u | (c >> 6)));
        tail(0);
    } else if (c < 0x10000u) {
        if (c >= 0xD800u && c < 0xE000u) return false;
        bytes.push_back(static_cast<std::uint8_t>(0xE0u | (c >> 12)));
        tail(6), tail(0);
    } else {
        if (c > 0x10FFFFu) return false;
        bytes.push_back(static_cast<std::uint8_t>(0xF0u | (c >> 18)));
        tail(12), tail(6), tail(0);
    }
    return true;
}

// Text in rows of `width` code points filled up with zeros, as numpy keeps it.
struct FixedWidth {
    const std::uint32_t* codes;
    std::size_t rows, width;
    std::vector<std::uint8_t>& bytes;
    std::vector<std::int64_t>& offsets;

    // False when a code point cannot be expressed. A width known to the compiler is much faster.
    template <std::size_t Known>
    bool convert() {
        const std::size_t n = Known > 0 ? Known : width;
        offsets.resize(rows + 1);
        bytes.resize(rows * n + n);  // enough as long as all text is ASCII
        std::size_t filled = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            const std::uint32_t* row = codes + r * n;
            std::uint32_t all = 0;
            for (std::size_t i = 0; i < n; ++i) all |= row[i];
            std::size_t length = n;
            while (length > 0 && row[length - 1] == 0) --length;
            if (all < 0x80u) {
                if (bytes.size() - filled < n) bytes.resize(2 * bytes.size() + n);
                std::uint8_t* out = bytes.data() + filled;
                for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::uint8_t>(row[i]);
                filled += length;
            } else {
                bytes.resize(filled);
                for (std::size_t i = 0; i < length; ++i)
                    if (!append_utf8(row[i], bytes)) return false;
                filled = bytes.size();
            }
            offsets[r + 1] = static_cast<std::int64_t>(filled);
        }
        bytes.resize(filled);
        return true;
    }

    template <std::size_t... Widths>
    bool dispatch(std::index_sequence<Widths...>) {
        bool valid = false;
        const bool known = ((width == Widths + 1 && (valid = convert<Widths + 1>(), true)) || ...);
        return known ? valid : convert<0>();
    }
};

// Rows of code points as bytes and offsets.
nb::tuple py_fixed_width_column(
    const nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& codes) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};
    FixedWidth text{codes.data(), codes.shape(0), codes.shape(1), bytes, offsets};
    bool valid = true;
    {
        const nb::gil_scoped_release release;
        valid = text.dispatch(std::make_index_sequence<16>());
    }
    if (!valid) throw nb::type_error("a text holds a code point that UTF-8 cannot express");
    return nb::make_tuple(to_numpy(std::move(bytes)), to_numpy(std::move(offsets)));
}

// Whole numbers as their decimal text.
nb::tuple py_integer_column(const In1<std::int64_t>& numbers) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(numbers.size() + 1);
    char text[24];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto end = std::to_chars(text, text + sizeof text, numbers.data()[i]).ptr;
        bytes.insert(bytes.end(), text, end);
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    return nb::make_tuple(to_numpy(std::move(bytes)), to_numpy(std::move(offsets)));
}

// Topics of rows in order of first appearance, the offsets of their rows, and the order in which
// rows must be taken to stand together (None when they do).
nb::tuple py_group_rows(const In1<std::uint8_t>& bytes, const In1<std::int64_t>& offsets) {
    const auto* data = reinterpret_cast<const char*>(bytes.data());
    const std::size_t rows = offsets.size() - 1;
    const auto topic_of = [&](std::size_t row) {
        const std::int64_t start = offsets.data()[row];
        return Id(data + start, static_cast<std::size_t>(offsets.data()[row + 1] - start));
    };
    std::vector<Id> names;
    std::vector<std::int64_t> topic_offsets, order;
    {
        const nb::gil_scoped_release release;
        std::unordered_map<Id, std::uint32_t> code_of;
        std::vector<std::uint32_t> stretches;  // the topic of each stretch of equal ones
        std::vector<std::int64_t> starts;
        for (std::size_t i = 0; i < rows; ++i) {
            if (i > 0 && topic_of(i) == topic_of(i - 1)) continue;
            const auto fresh = static_cast<std::uint32_t>(names.size());
            const std::uint32_t code = code_of.emplace(topic_of(i), fresh).first->second;
            if (code == fresh) names.push_back(topic_of(i));
            stretches.push_back(code);
            starts.push_back(static_cast<std::int64_t>(i));
        }
        starts.push_back(static_cast<std::int64_t>(rows));
        if (stretches.size() == names.size()) {
            topic_offsets = std::move(starts);
        } else {
            std::vector<std::uint32_t> codes(rows);
            for (std::size_t s = 0; s < stretches.size(); ++s)
                std::fill(codes.begin() + starts[s], codes.begin() + starts[s + 1], stretches[s]);
            order = group_rows(codes, names.size(), topic_offsets);
        }
    }
    nb::list topics;
    for (const Id name : names) topics.append(to_str(name));
    nb::object taken = order.empty() ? nb::none() : to_numpy(std::move(order));
    return nb::make_tuple(topics, to_numpy(std::move(topic_offsets)), taken);
}

// Strings of a column in another order.
nb::tuple py_take_strings(const In1<std::uint8_t>& bytes, const In1<std::int64_t>& offsets,
                          const In1<std::int64_t>& order) {
    std::vector<std::uint8_t> taken;
    std::vector<std::int64_t> taken_offsets{0};
    taken.reserve(bytes.size());
    taken_offsets.reserve(order.size() + 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::int64_t row = order.data()[i];
        taken.insert(taken.end(), bytes.data() + offsets.data()[row],
                     bytes.data() + offsets.data()[row + 1]);
        taken_offsets.push_back(static_cast<std::int64_t>(taken.size()));
    }
    return nb::make_tuple(to_numpy(std::move(taken)), to_numpy(std::move(taken_offsets)));
}

}  // namespace

// Of each column, over the counted rows: the sum, the number of values that exist, and the sum of
// the logarithms of values raised to `smallest`. Values are added one after the other in `order`.
nb::list py_column_sums(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& values,
                        const nb::bytes& counted, const std::vector<std::size_t>& order,
                        double smallest) {
    if (counted.size() != values.shape(0) || order.size() != values.shape(0))
        throw std::invalid_argument("rows do not fit");
    nb::list result;
    for (std::size_t j = 0; j < values.shape(1); ++j) {
        double sum = 0, logarithms = 0;
        std::int64_t defined = 0;
        for (const std::size_t i : order) {
            const double value = values.data()[i * values.shape(1) + j];
            if (counted.c_str()[i] == 0 || std::isnan(value)) continue;
            ++defined;
            sum += value;
            logarithms += std::log(std::max(value, smallest));
        }
        result.append(nb::make_tuple(sum, defined, logarithms));
    }
    return result;
}

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of Cranfield: private, and stubbed in _core.pyi.";

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
    m.def("kernel_names", [] {
        nb::list names;
        for (const std::string_view name : kernel_names()) names.append(to_str(name));
        return names;
    });
    m.def("read_table", &py_read_table, "path"_a.none(), "read"_a.none(), "kind"_a, "jobs"_a,
          "extra_fields"_a, "progress"_a);
    m.def("evaluate_run", &py_evaluate_run, "index"_a, "path"_a.none(), "read"_a.none(), "calls"_a,
          "ties"_a, "judged_only"_a, "max_items"_a, "jobs"_a, "extra_fields"_a, "progress"_a);
    m.def("evaluate_table", &py_evaluate_table, "index"_a, "topics"_a, "offsets"_a, "item_bytes"_a,
          "item_offsets"_a, "scores"_a, "calls"_a, "ties"_a, "judged_only"_a, "max_items"_a,
          "jobs"_a, "check_duplicates"_a);
    bind_dicts(m);
    m.def("column_sums", &py_column_sums, "values"_a, "counted"_a, "order"_a, "smallest"_a);
    m.def("string_column", &py_string_column, "texts"_a);
    m.def("fixed_width_column", &py_fixed_width_column, "codes"_a);
    m.def("integer_column", &py_integer_column, "numbers"_a);
    m.def("group_rows", &py_group_rows, "bytes"_a, "offsets"_a);
    m.def("take_strings", &py_take_strings, "bytes"_a, "offsets"_a, "order"_a);
    bind_labels(m);
    bind_relatedness(m);
}

}  // namespace cranfield::binding
