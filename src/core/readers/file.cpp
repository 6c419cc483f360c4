#include "readers/file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#ifdef _WIN32
#include <filesystem>
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace cranfield {

#ifdef _WIN32

namespace {

HANDLE as_handle(std::intptr_t handle) { return reinterpret_cast<HANDLE>(handle); }

// The number of errno for what Windows says of opening a file.
std::system_error opening_error(DWORD code) {
    int number = EIO;
    if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND) number = ENOENT;
    if (code == ERROR_ACCESS_DENIED || code == ERROR_SHARING_VIOLATION) number = EACCES;
    if (code == ERROR_INVALID_NAME) number = EINVAL;
    return std::system_error(number, std::generic_category());
}

}  // namespace

File::File(const std::string& path) {
    // os.fsencode writes UTF-8 on Windows.
    const std::filesystem::path name(std::u8string(path.begin(), path.end()));
    const HANDLE handle =
        ::CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                      OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, nullptr);
    if (handle == INVALID_HANDLE_VALUE) throw opening_error(::GetLastError());
    LARGE_INTEGER bytes{};
    if (!::GetFileSizeEx(handle, &bytes)) {
        const DWORD code = ::GetLastError();
        ::CloseHandle(handle);
        throw opening_error(code);
    }
    handle_ = reinterpret_cast<std::intptr_t>(handle);
    size_ = static_cast<std::uint64_t>(bytes.QuadPart);
}

File::~File() { ::CloseHandle(as_handle(handle_)); }

std::int64_t File::read(std::uint64_t at, char* data, std::size_t bytes) const {
    constexpr std::size_t largest = 1u << 30;
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(at & 0xFFFFFFFFu);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD count = 0;
    const auto wanted = static_cast<DWORD>(std::min(bytes, largest));
    if (!::ReadFile(as_handle(handle_), data, wanted, &count, &place))
        return ::GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
    return static_cast<std::int64_t>(count);
}

#else

File::File(const std::string& path) : handle_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat info{};
    const int file = static_cast<int>(handle_);
    if (file < 0) throw std::system_error(errno, std::generic_category());
    if (::fstat(file, &info) != 0) {
        const int error = errno;
        ::close(file);
        throw std::system_error(error, std::generic_category());
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
#ifdef POSIX_FADV_SEQUENTIAL  // macOS has none
    ::posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

File::~File() { ::close(static_cast<int>(handle_)); }

std::int64_t File::read(std::uint64_t at, char* data, std::size_t bytes) const {
    // macOS refuses to read more at once.
    constexpr std::size_t largest = 1u << 30;
    for (;;) {
        const auto count = ::pread(static_cast<int>(handle_), data, std::min(bytes, largest),
                                   static_cast<off_t>(at));
        if (count >= 0 || errno != EINTR) return count;
    }
}

#endif

}  // namespace cranfield
