// Work on several threads.
#pragma once

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cranfield {

// Runs work() on `jobs` threads, this one among them, and passes on the first exception.
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
    for (unsigned i = 1; i < jobs; ++i) others.emplace_back(safely);
    safely();
    for (std::thread& thread : others) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace cranfield
