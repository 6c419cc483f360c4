// The least that a program does that evaluates a run in TREC's format: it takes every line apart,
// reads its score, sees that scores fall and that no item stands twice, looks its item up, and
// prints the mean average precision. No errors are told, no other order, no other measure.
//     c++ -O3 -std=c++20 -pthread sketch.cpp -o sketch; ./sketch qrels run threads
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

using Text = std::string_view;
using Grades = std::unordered_map<Text, int>;

static Text mapped(const char* path) {
    const int file = open(path, O_RDONLY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) != 0) std::exit(2);
    const auto size = static_cast<std::size_t>(facts.st_size);
    return {static_cast<const char*>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0)), size};
}

static Text field(const char*& p, const char* end) {
    while (p < end && *p == ' ') ++p;
    const char* begin = p;
    while (p < end && *p != ' ') ++p;
    return {begin, static_cast<std::size_t>(p - begin)};
}

struct Sum {
    double total = 0;
    std::size_t topics = 0;
};

static void score(int file, std::size_t from, std::size_t to,
                  const std::unordered_map<Text, Grades>& judged, Sum& sum) {
    std::string topic;
    const Grades* grades = nullptr;
    std::vector<std::uint64_t> seen(4096);
    std::uint64_t round = 0;
    double precision = 0, last = 0;
    std::size_t rank = 0, found = 0, relevant = 0;
    const auto close = [&] {
        if (grades && relevant)
            sum.total += precision / static_cast<double>(relevant), ++sum.topics;
    };
    std::vector<char> block(1 << 18);
    std::size_t kept = 0;
    const char *p = block.data(), *stop = p;
    while (true) {
        const auto* end =
            static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(stop - p)));
        if (!end) {
            kept = static_cast<std::size_t>(stop - p);
            std::memmove(block.data(), p, kept);
            const auto got =
                pread(file, block.data() + kept, std::min(block.size() - kept, to - from),
                      static_cast<off_t>(from));
            if (got <= 0) break;
            from += static_cast<std::size_t>(got);
            p = block.data(), stop = p + kept + got;
            continue;
        }
        const Text name = field(p, end);
        field(p, end);
        const Text item = field(p, end);
        field(p, end);
        const Text number = field(p, end);
        double value = 0;
        std::from_chars(number.data(), number.data() + number.size(), value);
        p = end + 1;
        if (name != topic) {
            close();
            topic = name;
            const auto at = judged.find(name);
            grades = at == judged.end() ? nullptr : &at->second;
            relevant = 0;
            if (grades)
                for (const auto& [_, grade] : *grades) relevant += grade > 0;
            precision = 0, rank = found = 0, ++round;
        } else if (value > last) {
            std::exit(3);
        }
        last = value;
        const std::uint64_t hash = std::hash<Text>()(item),
                            mark = (hash & ~0xFFFFull) | (round & 0xFFFF);
        std::size_t slot = hash % seen.size();
        while ((seen[slot] & 0xFFFF) == (round & 0xFFFF) && seen[slot] != mark)
            slot = (slot + 1) % seen.size();
        if (seen[slot] == mark) std::exit(4);
        seen[slot] = mark;
        ++rank;
        if (!grades) continue;
        const auto at = grades->find(item);
        if (at != grades->end() && at->second > 0)
            precision += static_cast<double>(++found) / static_cast<double>(rank);
    }
    close();
}

int main(int, char** given) {
    std::unordered_map<Text, Grades> judged;
    const Text qrels = mapped(given[1]), run = mapped(given[2]);
    for (const char *p = qrels.data(), *stop = p + qrels.size(); p < stop;) {
        const auto* end =
            static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(stop - p)));
        const Text topic = field(p, end);
        field(p, end);
        const Text item = field(p, end), grade = field(p, end);
        judged[topic][item] = std::atoi(grade.data());
        p = end + 1;
    }
    const int file = open(given[2], O_RDONLY);
    const auto threads = static_cast<std::size_t>(std::atoi(given[3]));
    // Parts begin where a topic does.
    std::vector<std::size_t> starts{0};
    for (std::size_t t = 1; t < threads; ++t) {
        std::size_t at = run.find('\n', run.size() * t / threads) + 1;
        const Text topic = run.substr(at, run.find(' ', at) - at + 1);
        while (run.substr(at, topic.size()) == topic) at = run.find('\n', at) + 1;
        starts.push_back(at);
    }
    starts.push_back(run.size());
    std::vector<Sum> sums(threads);
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
        workers.emplace_back([&, t] { score(file, starts[t], starts[t + 1], judged, sums[t]); });
    for (auto& worker : workers) worker.join();
    Sum all;
    for (const Sum& sum : sums) all.total += sum.total, all.topics += sum.topics;
    std::printf("%.4f\n", all.total / static_cast<double>(judged.size()));
}
