// Where the bytes of an input come from, cut into chunks that end where a topic ends.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace cranfield {

struct Chunk {
    const char* begin = nullptr;
    const char* end = nullptr;
    std::size_t number = 0;    // chunks count from 0 in the order of the input
    std::vector<char> memory;  // the bytes, where they do not belong to a mapped file

    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// Hands out chunks to any number of threads. A topic whose lines stand together is never split.
class Source {
  public:
    virtual ~Source() = default;
    virtual bool next(Chunk& chunk) = 0;
    // The caller is done with the chunk's bytes.
    virtual void release(const Chunk&) {}
    virtual std::uint64_t total_bytes() const { return 0; }
    virtual bool failed() const { return false; }
};

// A file mapped into memory. Pages are given back as soon as their chunk is done, so that the
// memory in use does not grow with the file.
class MappedFile : public Source {
  public:
    // Throws std::system_error when the file cannot be opened or mapped.
    MappedFile(const std::string& path, std::size_t chunk_bytes);
    ~MappedFile() override;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    bool next(Chunk& chunk) override;
    void release(const Chunk& chunk) override;
    std::uint64_t total_bytes() const override { return size_; }

  private:
    std::mutex guard_;
    const char* data_ = nullptr;
    std::size_t size_ = 0, cursor_ = 0, chunks_ = 0, chunk_bytes_;
};

// Bytes that arrive in order from a function: a pipe, or a file that is being decompressed.
class Stream : public Source {
  public:
    // Fills a buffer and answers with the number of bytes, 0 at the end, below 0 on failure.
    using Read = std::function<std::int64_t(char*, std::size_t)>;
    Stream(Read read, std::size_t chunk_bytes)
        : read_(std::move(read)), chunk_bytes_(chunk_bytes) {}

    bool next(Chunk& chunk) override;
    bool failed() const override { return failed_; }

  private:
    bool fill(std::vector<char>& buffer);

    std::mutex guard_;
    Read read_;
    std::vector<char> carried_;
    std::size_t chunks_ = 0, chunk_bytes_;
    bool finished_ = false, failed_ = false;
};

}  // namespace cranfield
