// A file that many threads read at once, each where it wants: pread, or ReadFile on Windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cranfield {

class File {
  public:
    // `path` is as os.fsencode writes it. Throws std::system_error when it cannot be opened.
    explicit File(const std::string& path);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    std::uint64_t size() const { return size_; }
    // The number of bytes that were read at a place: 0 at the end, below 0 on failure.
    std::int64_t read(std::uint64_t at, char* data, std::size_t bytes) const;

  private:
    std::intptr_t handle_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace cranfield
