// One way to run loops on several threads (TBB). Results must not depend on the number of threads: write each
// index's result into its own slot and reduce in index order afterwards.
#pragma once

#include <cstddef>
#include <functional>

namespace exemplar {

// Limits every later parallel_for of this process; 0 means all processors.
void set_thread_count(int threads);
int thread_count();

// Calls body(begin, end) on disjoint ranges that cover [0, count); ranges hold at least `grain` indices.
void parallel_ranges(std::size_t count, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body);

// Calls body(i) for every i in [0, count).
template <class Body>
void parallel_for(std::size_t count, const Body& body, std::size_t grain = 256) {
  parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace exemplar
