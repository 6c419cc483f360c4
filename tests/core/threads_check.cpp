// Tries everything in the core that runs on several threads, for ThreadSanitizer. It is built
// without Python, so that every report is about the core itself.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "draws.hpp"
#include "evaluate.hpp"
#include "kernels/labels.hpp"
#include "readers/run_file.hpp"
#include "readers/table.hpp"

using namespace cranfield;

namespace {

constexpr unsigned jobs = 8;
constexpr std::size_t small_chunks = 1u << 12;  // many chunks: threads meet often

void expect(bool held, const char* what) {
    if (held) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::exit(1);
}

std::string run_of(int topics, int items, bool broken) {
    std::ostringstream text;
    for (int t = 0; t < topics; ++t)
        for (int i = 0; i < items; ++i) {
            text << "topic" << t << " Q0 item" << i << ' ' << i << ' ' << (items - i / 2)
                 << " tag\n";
            if (broken && i % 7 == 0) text << "topic" << t << " nonsense\n";
        }
    return text.str();
}

Table judgements_of(int topics, int items) {
    std::string text;
    for (int t = 0; t < topics; ++t)
        for (int i = 0; i < items; i += 3)
            text += "topic" + std::to_string(t) + " 0 item" + std::to_string(i) + " " +
                    std::to_string(i % 4) + "\n";
    std::size_t at = 0;
    Stream stream(
        [&](char* data, std::size_t size) {
            const std::size_t got = std::min(size, text.size() - at);
            text.copy(data, got, at);
            at += got;
            return static_cast<std::int64_t>(got);
        },
        small_chunks, Limits{});
    Problems problems;
    Progress progress;
    return read_table(stream, Kind::judgements, jobs, false, problems, progress).table;
}

Columns columns_of(const Table& table) {
    Columns columns;
    columns.topics.assign(table.topics.begin(), table.topics.end());
    columns.offsets = table.offsets.data();
    columns.item_bytes = table.item_bytes.data();
    columns.item_offsets = table.item_offsets.data();
    columns.values = table.values.data();
    return columns;
}

void check_runs(const std::string& path, const JudgementIndex& index, bool broken, Ties ties) {
    const Programme programme = programme_of(
        {{"average_precision", {1.0, 1e9}}, {"ndcg", {10.0, 0.0, 0.0}}, {"bpref", {1.0}}});
    Options options;
    options.ties = ties;
    std::vector<double> values(index.size() * programme.size());
    std::vector<std::uint8_t> present(index.size());
    Problems problems;
    Progress progress;
    FileSource source(path, small_chunks, Limits{});
    evaluate_source(index, source, programme, options, jobs, false, values.data(), present.data(),
                    problems, progress);
    expect((problems.total() > 0) == broken, "problems of a run are found");

    FileSource again(path, small_chunks, Limits{1000, 1u << 20});
    Problems more;
    Progress cancelled;
    const TableReading cut = read_table(again, Kind::run, jobs, false, more, cancelled);
    expect(cut.stop == Stop::too_many_lines, "lines are counted by all threads together");

    FileSource whole(path, small_chunks, Limits{});
    Problems none;
    const TableReading reading = read_table(whole, Kind::run, jobs, false, none, progress);
    std::vector<TableDuplicate> duplicates;
    evaluate_table(index, columns_of(reading.table), programme, options, jobs, values.data(),
                   present.data(), duplicates);
}

void check_draws() {
    // Three topics of forty judged items, half of them unsure, and a run that has every other one.
    constexpr std::size_t topics = 3, items = 40;
    std::vector<std::int64_t> offsets, hits{0};
    const std::vector<double> levels{0, 1};
    std::vector<double> upto;
    std::vector<std::uint32_t> ranks, entries, retrieved(topics, items);
    const std::vector<std::uint8_t> counted(topics, 1);
    for (std::size_t t = 0; t <= topics; ++t)
        offsets.push_back(static_cast<std::int64_t>(t * items));
    for (std::size_t t = 0; t < topics; ++t) {
        for (std::uint32_t i = 0; i < items; ++i) {
            upto.insert(upto.end(), {i % 2 == 0 ? 0.5 : 1.0, 1.0});
            if (i % 2 != 0) continue;
            ranks.push_back(i + 1);
            entries.push_back(i);
        }
        hits.push_back(static_cast<std::int64_t>(ranks.size()));
    }
    const SoftTruth truth{topics, levels.size(), offsets.data(), levels.data(), upto.data()};
    const RunView run{hits.data(), ranks.data(), entries.data(), retrieved.data(), counted.data()};
    const Programme programme = programme_of({{"average_precision", {1.0, 1e9}}});
    Drawing how{7, 0, 1000, 1, {0, 1, 2}, {}, {0}, 1e-5, {}};
    Progress one, many;
    const Drawn alone = draw_scores(truth, {run, run}, programme, how, one);
    how.jobs = jobs;
    const Drawn together = draw_scores(truth, {run, run}, programme, how, many);
    expect(alone.sums == together.sums && alone.topic_squares == together.topic_squares &&
               alone.effect_sums == together.effect_sums,
           "draws do not depend on threads");
}

void check_labels() {
    constexpr std::size_t items = 300, concepts = 17;
    std::vector<std::uint8_t> flags(items * concepts);
    std::vector<double> scores(items * concepts), costs(concepts * concepts, 0.5),
        agreement(concepts, 0.9);
    std::vector<std::int64_t> order(items);
    for (std::size_t i = 0; i < flags.size(); ++i) {
        flags[i] = i % 3 == 0;
        scores[i] = static_cast<double>(i * 7919 % 101) / 101;
    }
    for (std::size_t i = 0; i < items; ++i) order[i] = static_cast<std::int64_t>(i);
    const auto* truth = reinterpret_cast<const bool*>(flags.data());
    const labels::Matrix<bool> t{truth, items, concepts, concepts, 1};
    const labels::Matrix<double> s{scores.data(), items, concepts, concepts, 1};
    const labels::Matrix<double> c{costs.data(), concepts, concepts, concepts, 1};
    labels::concept_ranked(t, s, order.data(), {5, 10}, jobs);
    const labels::ConceptOrder sorted(s, jobs);
    labels::concept_ranked(t, s, order.data(), {5, 10}, jobs, &sorted);
    labels::item_ranked(t, s, jobs);
    labels::ranked_assignment(t, s, c, jobs);
    labels::set_assignment(t, t, c, 1.0, jobs);
    labels::match_costs(t, t, t, c, agreement.data(), jobs);
}

}  // namespace

int main(int, char** argv) {
    const Table table = judgements_of(60, 90);
    const JudgementIndex index(columns_of(table));
    const std::string path = std::string(argv[0]) + ".run";
    for (const bool broken : {false, true}) {
        std::ofstream(path) << run_of(70, 90, broken);
        for (const Ties ties : {Ties::id, Ties::file, Ties::average})
            check_runs(path, index, broken, ties);
    }
    check_labels();
    check_draws();
    std::remove(path.c_str());
    std::puts("readers, evaluator and label kernels on 8 threads: done");
}
