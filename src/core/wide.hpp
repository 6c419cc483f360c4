// Loops over many numbers, compiled a second time for wide registers, where the machine has them.
#pragma once

// Which of the two is taken is found out before ThreadSanitizer is ready: it has the plain ones.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define CRANFIELD_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define CRANFIELD_WIDE
#endif
// What such a loop calls is compiled along with it.
#define CRANFIELD_ALONG inline __attribute__((always_inline))
