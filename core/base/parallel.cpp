#include "core/base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <memory>

// ThreadSanitizer does not see how TBB, which is not built with it, hands work over and reports races in TBB's own tasks.
// Threads that it does see show those of the loops' bodies.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EXEMPLAR_PLAIN_THREADS
#include <atomic>
#include <thread>
#include <vector>
#endif
#endif

namespace exemplar {

namespace {

#ifdef EXEMPLAR_PLAIN_THREADS
// Starting threads takes most of the time then: every seventh loop, which meets each of them sooner or later.
void share_out(std::size_t count, std::size_t grain,
               const std::function<void(std::size_t, std::size_t)>& body) {
  static std::atomic<unsigned> loops = 0;
  if (loops++ % 7 != 0) return body(0, count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t begin; (begin = next.fetch_add(grain)) < count;)
      body(begin, std::min(begin + grain, count));
  };
  std::vector<std::thread> helpers;
  for (int k = 1; k < std::min(thread_count(), 4); ++k) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}
#else
void share_out(std::size_t count, std::size_t grain,
               const std::function<void(std::size_t, std::size_t)>& body) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain),
                    [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); });
}
#endif

std::unique_ptr<tbb::global_control>& limit() {
  static std::unique_ptr<tbb::global_control> control;
  return control;
}
}  // namespace

void set_thread_count(int threads) {
  limit().reset();
  if (threads > 0) {
    limit() = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    static_cast<std::size_t>(threads));
  }
}

int thread_count() {
  return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

void parallel_ranges(std::size_t count, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body) {
  if (count <= grain || thread_count() == 1) {
    if (count > 0) body(0, count);
    return;
  }
  share_out(count, grain, body);
}

}  // namespace exemplar
