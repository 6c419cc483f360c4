#include "readers/run_file.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "threads.hpp"

namespace cranfield {

namespace {

// What all threads share while a run is read.
struct Shared {
    const JudgementIndex& index;
    Source& source;
    const Programme& programme;
    const Options& options;
    Format format;
    double* values;
    std::uint8_t* present;
    Problems& problems;
    Progress& progress;
    std::unique_ptr<std::atomic_flag[]> seen;
    std::atomic<bool> scattered{false};
    std::mutex guard;
    std::unordered_set<std::string> unjudged;
    std::string tag;
    std::size_t tagged = 0;  // one more than the chunk that the tag is from

    void take_tag(Id found, std::size_t chunk) {
        const std::lock_guard lock(guard);
        if (found.empty() || chunk < tagged) return;
        tag = found;
        tagged = chunk + 1;
    }
};

class Worker {
  public:
    explicit Worker(Shared& shared)
        : shared_(shared), evaluator_(shared.programme, shared.options) {}

    void work() {
        Chunk chunk;
        while (!shared_.scattered && !shared_.progress.cancelled && shared_.source.next(chunk)) {
            read(chunk);
            shared_.progress.done += chunk.size();
        }
    }

  private:
    void read(const Chunk& chunk) {
        LineReader reader(chunk, shared_.format, shared_.problems);
        Line lines[LineReader::batch];
        Id topic, tag;
        block_.clear();
        while (const std::size_t found = reader.next(lines)) {
            for (const Line *line = lines, *end = lines + found; line < end;) {
                if (!same_id(line->topic, topic)) {
                    finish(topic, chunk.number);
                    topic = line->topic;
                }
                const Line* first = line;
                do ++line;
                while (line < end && same_id(line->topic, topic));
                block_.append(first, line);
            }
            tag = lines[found - 1].tag;
        }
        shared_.take_tag(tag, chunk.number);
        finish(topic, chunk.number);
        shared_.problems.count_lines(chunk.number, reader.number());
    }

    void finish(Id topic, std::size_t chunk) {
        if (block_.size() == 0) return;
        const std::size_t at = shared_.index.find(topic);
        if (at == JudgementIndex::absent) {
            find_duplicates();
            const std::lock_guard lock(shared_.guard);
            shared_.unjudged.emplace(topic);
        } else if (shared_.seen[at].test_and_set()) {
            shared_.scattered = true;
        } else {
            shared_.present[at] = 1;
            double* row = shared_.values + at * shared_.programme.size();
            evaluator_.evaluate(block_, shared_.index[at], row, duplicates_);
        }
        for (const Duplicate& d : duplicates_)
            shared_.problems.add({Fault::duplicate, chunk, block_.lines[d.second],
                                  std::string(block_.items[d.second]), std::string(topic),
                                  block_.lines[d.first]});
        duplicates_.clear();
        block_.clear();
    }

    // For topics that are not ranked: a run is as wrong there as elsewhere.
    void find_duplicates() {
        seen_.reset(block_.size());
        for (std::uint32_t i = 0; i < block_.size(); ++i) {
            const Id item = block_.items[i];
            const std::uint32_t earlier = seen_.insert(
                item, hash_id(item), i, [&](std::uint32_t at) { return block_.items[at]; });
            if (earlier != IdSet::absent) duplicates_.push_back({earlier, i});
        }
    }

    Shared& shared_;
    TopicEvaluator evaluator_;
    Block block_;
    std::vector<Duplicate> duplicates_;
    IdSet seen_;
};

}  // namespace

RunFileResult evaluate_source(const JudgementIndex& index, Source& source,
                              const Programme& programme, const Options& options, unsigned jobs,
                              bool extra_fields, double* values, std::uint8_t* present,
                              Problems& problems, Progress& progress) {
    const Format format{Kind::run, extra_fields, source.limits().line_bytes};
    Shared shared{
        index,  source,  programme, options,  format,
        values, present, problems,  progress, std::make_unique<std::atomic_flag[]>(index.size()),
        {},     {},      {},        {},       0};
    progress.total += source.total_bytes();
    on_threads(source.useful_threads(jobs), [&] { Worker(shared).work(); });
    problems.settle();
    RunFileResult result;
    result.tag = std::move(shared.tag);
    result.scattered = shared.scattered;
    result.stop = source.stop();
    result.unjudged_topics.assign(shared.unjudged.begin(), shared.unjudged.end());
    std::sort(result.unjudged_topics.begin(), result.unjudged_topics.end());
    fill_missing(index, programme, options, values, present);
    return result;
}

}  // namespace cranfield
