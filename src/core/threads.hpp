// Work on several threads.
#pragma once

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cranfield {

// More threads than this only stand in each other's way.
constexpr unsigned most_threads = 256;

// Runs work() on up to `jobs` threads, this one among them, and passes on the first exception.
// Where no more threads can be had, those that are there do the work.
template <class Work>
void on_threads(unsigned jobs, const Work& work) {
    std::exception_ptr failure;
    std::mutex guard;
    const auto safely = [&] {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    others.reserve(std::min(jobs, most_threads));
    try {
        for (unsigned i = 1; i < std::min(jobs, most_threads); ++i) others.emplace_back(safely);
    } catch (const std::exception&) {
        // No more threads, or no memory for them.
    }
    safely();
    for (std::thread& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace cranfield
