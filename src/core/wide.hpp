// Loops over many numbers, compiled a second time for wide registers, where the machine has them.
#pragma once

#include <cstddef>  // says whether the C library is glibc

// Compilers have different words for "compile it into its caller, always".
#if defined(_MSC_VER)
#define CRANFIELD_INLINE __forceinline
#else
#define CRANFIELD_INLINE inline __attribute__((always_inline))
#endif

// Which of the two is taken is found out when glibc loads the core (other systems cannot), before
// ThreadSanitizer is ready: it has the plain ones.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define CRANFIELD_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define CRANFIELD_WIDE
#endif
// What such a loop calls is compiled along with it.
#define CRANFIELD_ALONG CRANFIELD_INLINE
