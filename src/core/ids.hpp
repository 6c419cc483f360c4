// Identifiers of topics and items: views of bytes, their hash and their check for UTF-8.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace cranfield {

using Id = std::string_view;

namespace detail {
inline std::uint64_t load64(const char* p) {
    std::uint64_t w;
    std::memcpy(&w, p, 8);
    return w;
}
inline std::uint64_t load32(const char* p) {
    std::uint32_t w;
    std::memcpy(&w, p, 4);
    return w;
}
inline std::uint64_t mix(std::uint64_t h, std::uint64_t w) {
    h = (h ^ w) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
}
}  // namespace detail

inline std::uint64_t hash_id(Id id) {
    using namespace detail;
    const char* p = id.data();
    std::size_t n = id.size();
    std::uint64_t h = n * 0xD6E8FEB86659FD93ull;
    for (; n > 16; p += 8, n -= 8) h = mix(h, load64(p));
    if (n >= 8) {
        h = mix(h, load64(p));
        h = mix(h, load64(p + n - 8));
    } else if (n >= 4) {
        h = mix(h, load32(p) | (load32(p + n - 4) << 32));
    } else if (n > 0) {
        const auto byte = [&](std::size_t i) {
            return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i]));
        };
        h = mix(h, byte(0) | (byte(n / 2) << 8) | (byte(n - 1) << 16));
    }
    h *= 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 32);
}

// Whether two ids are the same: a few loads for the short ones that most are.
inline bool same_id(Id a, Id b) {
    using namespace detail;
    const std::size_t n = a.size();
    if (n != b.size()) return false;
    const char *p = a.data(), *q = b.data();
    if (n > 16) return std::memcmp(p, q, n) == 0;
    if (n >= 8) return load64(p) == load64(q) && load64(p + n - 8) == load64(q + n - 8);
    if (n >= 4) return load32(p) == load32(q) && load32(p + n - 4) == load32(q + n - 4);
    for (std::size_t i = 0; i < n; ++i)
        if (p[i] != q[i]) return false;
    return true;
}

inline bool is_ascii(Id id) {
    constexpr std::uint64_t highs = 0x8080808080808080ull;
    const char* p = id.data();
    const std::size_t n = id.size();
    std::uint64_t found = 0;
    if (n >= 8) {
        found = detail::load64(p + n - 8);
        for (std::size_t i = 0; i + 8 < n; i += 8) found |= detail::load64(p + i);
    } else if (n >= 4) {
        found = detail::load32(p) | detail::load32(p + n - 4);
    } else {
        for (std::size_t i = 0; i < n; ++i) found |= static_cast<unsigned char>(p[i]);
    }
    return (found & highs) == 0;
}

bool is_utf8(Id id);

// A set of ids that also remembers where each was first seen; cleared per topic.
class IdSet {
  public:
    static constexpr std::uint32_t absent = 0xFFFFFFFFu;

    void reset(std::size_t expected) {
        std::size_t size = 16;
        while (size < expected * 2) size *= 2;
        if (slots_.size() < size) slots_.resize(size);
        mask_ = size - 1;
        std::memset(slots_.data(), 0xFF, size * sizeof(Slot));
    }

    // The position stored before for this id, or `absent` after storing `position` for it.
    template <class IdAt>
    std::uint32_t insert(Id id, std::uint64_t hash, std::uint32_t position, const IdAt& id_at) {
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            Slot& slot = slots_[i];
            if (slot.position == absent) {
                slot = {tag, position};
                return absent;
            }
            if (slot.tag == tag && same_id(id_at(slot.position), id)) return slot.position;
        }
    }

  private:
    struct Slot {
        std::uint32_t tag, position;
    };
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
};

}  // namespace cranfield
