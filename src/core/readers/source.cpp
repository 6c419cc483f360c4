#include "readers/source.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace cranfield {

namespace {

constexpr std::size_t window_bytes = 1u << 16;

bool blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

// The first field of a line; empty for blank lines and comments, which belong to any topic.
std::string_view topic_of(const char* p, const char* end) {
    while (p < end && blank(*p) && *p != '\n') ++p;
    const char* start = p;
    while (p < end && !blank(*p)) ++p;
    if (start == p || *start == '#') return {};
    return {start, static_cast<std::size_t>(p - start)};
}

// The start of the last topic among whole lines, so that everything before it is complete.
const char* last_topic_begin(const char* begin, const char* end) {
    std::string_view topic;
    const char* last = begin;
    const char* line = end;
    while (line > begin) {
        const char* previous = line - 1;
        while (previous > begin && previous[-1] != '\n') --previous;
        const std::string_view here = topic_of(previous, line);
        if (topic.empty()) topic = here;
        if (!here.empty() && here != topic) return line;
        line = last = previous;
    }
    return last;
}

// The start of the last line that belongs to a topic, or `begin` when none does.
const char* last_line_of_a_topic(const char* begin, const char* end) {
    for (const char* line = end; line > begin;) {
        const char* previous = line - 1;
        while (previous > begin && previous[-1] != '\n') --previous;
        if (!topic_of(previous, line).empty()) return previous;
        line = previous;
    }
    return begin;
}

}  // namespace

bool Source::count_lines(const char* begin, const char* end, bool last) {
    if (limits_.lines == Limits::none) return true;
    auto lines = static_cast<std::uint64_t>(std::count(begin, end, '\n'));
    if (last && end > begin && end[-1] != '\n') ++lines;
    if (lines_.fetch_add(lines) + lines <= limits_.lines) return true;
    stop_ = Stop::too_many_lines;
    return false;
}

FileSource::FileSource(const std::string& path, std::size_t chunk_bytes, const Limits& limits)
    : Source(limits), file_(path), size_(file_.size()), chunk_bytes_(chunk_bytes) {
    // A byte order mark is not part of the first topic.
    char mark[3];
    if (size_ >= 3 && read_at(0, mark, 3) && std::memcmp(mark, "\xEF\xBB\xBF", 3) == 0) cursor_ = 3;
}

bool FileSource::next(Chunk& chunk) {
    std::uint64_t begin = 0, end = 0;
    {
        const std::lock_guard lock(guard_);
        if (cursor_ >= size_ || stop_ != Stop::not_stopped) return false;
        begin = cursor_;
        end = chunk_end(begin);
        cursor_ = long_line_ ? size_ : end;
        chunk.number = chunks_++;
    }
    const auto bytes = static_cast<std::size_t>(end - begin);
    // Never made smaller: filling it with zeros again would cost as much as reading.
    if (chunk.memory.size() < bytes) chunk.memory.resize(bytes + bytes / 4);
    if (!read_at(begin, chunk.memory.data(), bytes)) return false;
    chunk.begin = chunk.memory.data();
    chunk.end = chunk.begin + bytes;
    return count_lines(chunk.begin, chunk.end, end == size_);
}

// Fills a buffer from a place in the file; false when the file has become shorter or cannot be
// read, which `stop` then says.
bool FileSource::read_at(std::uint64_t at, char* data, std::size_t size) {
    while (size > 0) {
        const std::int64_t got = file_.read(at, data, size);
        if (got <= 0) {
            stop_ = got < 0 ? Stop::read_error : Stop::cut_short;
            return false;
        }
        at += static_cast<std::uint64_t>(got);
        data += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

std::string_view FileSource::look(std::uint64_t begin, std::uint64_t end) const {
    return {window_.data() + (begin - window_at_), static_cast<std::size_t>(end - begin)};
}

bool FileSource::look_further() {
    const std::size_t have = window_.size();
    const std::uint64_t at = window_at_ + have;
    const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, size_ - at));
    window_.resize(have + more);
    return more > 0 && read_at(at, window_.data() + have, more);
}

// The end of the line that begins in the window; `long_line_` is set when it is too far away.
std::uint64_t FileSource::line_end(std::uint64_t begin) {
    for (std::uint64_t from = begin;;) {
        const std::string_view fresh = look(from, window_at_ + window_.size());
        const std::size_t newline = fresh.find('\n');
        if (newline != std::string_view::npos) return from + newline + 1;
        from += fresh.size();
        long_line_ = from - begin > limits_.line_bytes;
        if (long_line_ || !look_further()) return from;
    }
}

// Where a chunk may end: before the first line of another topic than that of the first line after
// so many bytes.
std::uint64_t FileSource::chunk_end(std::uint64_t begin) {
    if (size_ - begin <= chunk_bytes_) return size_;
    window_.clear();
    window_at_ = begin + chunk_bytes_;
    std::string topic;
    std::uint64_t line = line_end(window_at_), first = line;
    while (line < size_ && !long_line_ && stop_ == Stop::not_stopped) {
        if (line - window_at_ > window_bytes) {
            window_.erase(window_.begin(),
                          window_.begin() + static_cast<std::ptrdiff_t>(line - window_at_));
            window_at_ = line;
        }
        const std::uint64_t after = line_end(line);
        if (long_line_) return after;
        const std::string_view text = look(line, after);
        const std::string_view here = topic_of(text.data(), text.data() + text.size());
        if (topic.empty())
            topic = here;
        else if (!here.empty() && here != topic)
            return line;
        line = after;
        // Blank lines and comments without end belong to no topic.
        if (topic.empty() && line - first > chunk_bytes_) return line;
    }
    return line;
}

bool Stream::fill(std::vector<char>& buffer) {
    const std::size_t before = buffer.size();
    buffer.resize(before + chunk_bytes_);
    std::size_t have = before;
    while (have < buffer.size()) {
        const std::int64_t got = read_(buffer.data() + have, buffer.size() - have);
        if (got <= 0) {
            finished_ = true;
            if (got < 0) stop_ = Stop::read_error;
            break;
        }
        have += static_cast<std::size_t>(got);
    }
    buffer.resize(have);
    if (!count_lines(buffer.data() + before, buffer.data() + have, finished_)) finished_ = true;
    return have > before;
}

bool Stream::next(Chunk& chunk) {
    const std::lock_guard lock(guard_);
    chunk.memory = std::move(carried_);
    carried_.clear();
    const char* cut = nullptr;
    // A topic may fill many buffers: what has been looked at is not looked at again. No line ends
    // in the bytes before `scanned` are new, and the lines before `known`, which is the start of a
    // line, are of the same topic as that line.
    std::size_t scanned = 0, known = 0, line = 0;
    while (!finished_) {
        const bool first = chunks_ == 0 && chunk.memory.empty();
        if (!fill(chunk.memory)) break;
        auto& bytes = chunk.memory;
        if (first && bytes.size() >= 3 && std::memcmp(bytes.data(), "\xEF\xBB\xBF", 3) == 0)
            bytes.erase(bytes.begin(), bytes.begin() + 3);
        if (finished_) break;
        // Cut at the start of the last topic that is seen; if it is the only one, read on.
        const auto fresh_end = bytes.rend() - static_cast<std::ptrdiff_t>(scanned);
        const auto newline = std::find(bytes.rbegin(), fresh_end, '\n');
        scanned = bytes.size();
        if (newline != fresh_end) line = static_cast<std::size_t>(bytes.rend() - newline);
        // What is read of a line that is too long is enough to say so.
        finished_ = bytes.size() - line > limits_.line_bytes;
        if (finished_ || newline == fresh_end) continue;
        const char* lines_end = bytes.data() + line;
        cut = last_topic_begin(bytes.data() + known, lines_end);
        if (cut > bytes.data() + known) break;
        const char* last = last_line_of_a_topic(bytes.data() + known, lines_end);
        cut = nullptr;
        // Blank lines and comments without end belong to no topic.
        if (known == 0 && topic_of(last, lines_end).empty()) {
            cut = lines_end;
            break;
        }
        known = static_cast<std::size_t>(last - bytes.data());
    }
    if (stop_ != Stop::not_stopped || chunk.memory.empty()) return false;
    const char* begin = chunk.memory.data();
    const char* end = begin + chunk.memory.size();
    if (!finished_ && cut != nullptr) {
        carried_.assign(cut, end);
        end = cut;
    }
    chunk.begin = begin;
    chunk.end = end;
    chunk.number = chunks_++;
    return true;
}

}  // namespace cranfield
