#include "readers/source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace cranfield {

namespace {

const char* line_end(const char* p, const char* end) {
    const void* at = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    return at == nullptr ? end : static_cast<const char*>(at) + 1;
}

bool blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

// The first field of a line; empty for blank lines and comments, which belong to any topic.
std::string_view topic_of(const char* p, const char* end) {
    while (p < end && blank(*p) && *p != '\n') ++p;
    const char* start = p;
    while (p < end && !blank(*p)) ++p;
    if (start == p || *start == '#') return {};
    return {start, static_cast<std::size_t>(p - start)};
}

// From the start of a line, the start of the first line of another topic.
const char* topic_end(const char* p, const char* end) {
    std::string_view topic;
    while (p < end) {
        const std::string_view here = topic_of(p, end);
        if (topic.empty())
            topic = here;
        else if (!here.empty() && here != topic)
            return p;
        p = line_end(p, end);
    }
    return end;
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

MappedFile::MappedFile(const std::string& path, std::size_t chunk_bytes)
    : chunk_bytes_(chunk_bytes) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw std::system_error(errno, std::generic_category());
    struct stat info{};
    if (::fstat(file, &info) != 0) {
        const int error = errno;
        ::close(file);
        throw std::system_error(error, std::generic_category());
    }
    size_ = static_cast<std::size_t>(info.st_size);
    if (size_ > 0) {
        void* at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        const int error = errno;
        ::close(file);
        if (at == MAP_FAILED) throw std::system_error(error, std::generic_category());
        ::madvise(at, size_, MADV_SEQUENTIAL);
        data_ = static_cast<const char*>(at);
        // A byte order mark is not part of the first topic.
        if (size_ >= 3 && std::memcmp(data_, "\xEF\xBB\xBF", 3) == 0) cursor_ = 3;
    } else {
        ::close(file);
    }
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

bool MappedFile::next(Chunk& chunk) {
    const std::lock_guard lock(guard_);
    if (cursor_ >= size_) return false;
    const char* end = data_ + size_;
    chunk.begin = data_ + cursor_;
    chunk.end = end;
    if (size_ - cursor_ > chunk_bytes_)
        chunk.end = topic_end(line_end(chunk.begin + chunk_bytes_, end), end);
    chunk.number = chunks_++;
    cursor_ = static_cast<std::size_t>(chunk.end - data_);
    return true;
}

void MappedFile::release(const Chunk& chunk) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(chunk.begin) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(chunk.end) / page * page;
    if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

bool Stream::fill(std::vector<char>& buffer) {
    const std::size_t before = buffer.size();
    buffer.resize(before + chunk_bytes_);
    std::size_t have = before;
    while (have < buffer.size()) {
        const std::int64_t got = read_(buffer.data() + have, buffer.size() - have);
        if (got <= 0) {
            finished_ = true;
            failed_ = got < 0;
            break;
        }
        have += static_cast<std::size_t>(got);
    }
    buffer.resize(have);
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
    std::size_t scanned = 0, known = 0;
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
        if (newline == fresh_end) continue;
        const char* lines_end = bytes.data() + (bytes.rend() - newline);
        cut = last_topic_begin(bytes.data() + known, lines_end);
        if (cut > bytes.data() + known) break;
        cut = nullptr;
        known = static_cast<std::size_t>(last_line_of_a_topic(bytes.data() + known, lines_end) -
                                         bytes.data());
    }
    if (failed_ || chunk.memory.empty()) return false;
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
