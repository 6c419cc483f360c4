// Where the bytes of an input come from, cut into chunks that end where a topic ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "readers/file.hpp"

namespace cranfield {

struct Chunk {
    const char* begin = nullptr;
    const char* end = nullptr;
    std::size_t number = 0;    // chunks count from 0 in the order of the input
    std::vector<char> memory;  // holds the bytes, and perhaps more of them

    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// What a reader takes at most. A line that is longer ends the input, and is a problem of its own.
struct Limits {
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t lines = none;
    std::uint64_t line_bytes = 1u << 20;
};

// Why an input ended before its end.
enum class Stop { not_stopped, read_error, cut_short, too_many_lines };

// Hands out chunks to any number of threads. A topic whose lines stand together is never split.
class Source {
  public:
    explicit Source(const Limits& limits) : limits_(limits) {}
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    virtual bool next(Chunk& chunk) = 0;
    virtual std::uint64_t total_bytes() const { return 0; }
    // Threads beyond the number of chunks would find nothing to do.
    virtual unsigned useful_threads(unsigned wanted) const { return std::max(1u, wanted); }
    const Limits& limits() const { return limits_; }
    Stop stop() const { return stop_; }

  protected:
    // False when these lines are too many; `stop` then says so. After the last of them the input
    // may end without a newline.
    bool count_lines(const char* begin, const char* end, bool last);

    Limits limits_;
    std::atomic<Stop> stop_{Stop::not_stopped};

  private:
    std::atomic<std::uint64_t> lines_{0};
};

// A file that is read where it lies, each chunk by the thread that asks for it. It is not mapped:
// a mapped file that another program cuts short would end the process.
class FileSource : public Source {
  public:
    // Throws std::system_error when the file cannot be opened.
    FileSource(const std::string& path, std::size_t chunk_bytes, const Limits& limits);

    bool next(Chunk& chunk) override;
    std::uint64_t total_bytes() const override { return size_; }
    unsigned useful_threads(unsigned wanted) const override {
        const std::uint64_t chunks = size_ / chunk_bytes_ + 1;
        return chunks < wanted ? static_cast<unsigned>(chunks) : std::max(1u, wanted);
    }

  private:
    std::uint64_t chunk_end(std::uint64_t begin);
    std::uint64_t line_end(std::uint64_t begin);
    std::string_view look(std::uint64_t begin, std::uint64_t end) const;
    bool look_further();
    bool read_at(std::uint64_t at, char* data, std::size_t size);

    std::mutex guard_;
    File file_;
    std::uint64_t size_ = 0, cursor_ = 0;
    std::size_t chunks_ = 0, chunk_bytes_;
    // The bytes that are looked at to find where a chunk may end.
    std::vector<char> window_;
    std::uint64_t window_at_ = 0;
    bool long_line_ = false;
};

// Bytes that arrive in order from a function: a pipe, or a file that is being decompressed.
class Stream : public Source {
  public:
    // Fills a buffer and answers with the number of bytes, 0 at the end, below 0 on failure.
    using Read = std::function<std::int64_t(char*, std::size_t)>;
    Stream(Read read, std::size_t chunk_bytes, const Limits& limits)
        : Source(limits), read_(std::move(read)), chunk_bytes_(chunk_bytes) {}

    bool next(Chunk& chunk) override;

  private:
    bool fill(std::vector<char>& buffer);

    std::mutex guard_;
    Read read_;
    std::vector<char> carried_;
    std::size_t chunks_ = 0, chunk_bytes_;
    bool finished_ = false;
};

}  // namespace cranfield
