#include "app/study/run_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "app/host/output.hpp"
#include "app/run/run_point.hpp"
#include "models/tensors/parallel.hpp"

namespace paceline {

namespace {

// Limits the oneTBB pool to the threads that active loops leave over, once a run trains: nothing
// else uses the pool, and setting a limit starts it.
class SharedThreads {
  public:
    explicit SharedThreads(const PoolSize& size) : loops_(size.loops), threads_(size.threads) {}
    void run_begins(const Scenario& scenario) {
        const std::scoped_lock lock(mutex_);
        if (scenario.training && !limit_) limit();
    }
    void loop_ends() {
        const std::scoped_lock lock(mutex_);
        --loops_;
        if (limit_) limit();
    }

  private:
    // oneTBB counts the requesting thread as part of the limit, and the lowest of several limits
    // applies.
    void limit() {
        const std::size_t beside = threads_ > loops_ ? threads_ - loops_ : 0;
        limit_.reset();
        limit_.emplace(1 + beside);
    }

    std::mutex mutex_;
    std::size_t loops_;
    std::size_t threads_;
    std::optional<ThreadLimit> limit_;
};

// State that the threads of a pool share.
struct Pool {
    const StudyRuns& runs;
    const RunExchange& exchange;
    StudyProgress& progress;
    std::stop_source stop;
    SharedThreads threads;
    std::mutex failure_mutex;
    std::exception_ptr failure;
};

PointResult failed_result(const Scenario& scenario, const char* why) {
    PointResult result;
    result.metrics.nodes = scenario.cluster.nodes;
    result.metrics.outcome = "error";
    result.metrics.outcome_details = why;
    return result;
}

PointResult run_one(Pool& pool, std::size_t run, const Scenario& scenario, Progress* progress) {
    pool.threads.run_begins(scenario);
    const auto begin = std::chrono::steady_clock::now();
    PointResult result;
    try {
        result.metrics = pool.exchange.run ? pool.exchange.run(run, scenario, progress)
                                           : run_point(scenario, progress);
    } catch (const OutputError&) {
        throw;
    } catch (const std::bad_alloc&) {
        result = failed_result(scenario, "there is not enough memory");
    } catch (const std::exception& error) {
        result = failed_result(scenario, error.what());
    }
    result.wall_clock_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

void run_until_none_left(Pool& pool, std::size_t thread) {
    while (!pool.stop.stop_requested()) {
        const std::optional<std::size_t> run = pool.exchange.next();
        if (!run) return;
        const Scenario scenario = pool.runs.scenario(*run);
        Progress* const progress = pool.progress.begins(thread, *run, scenario);
        PointResult result = run_one(pool, *run, scenario, progress);
        pool.progress.ends(thread);
        if (pool.stop.stop_requested()) return;  // the run may be incomplete
        pool.exchange.finished(*run, std::move(result));
    }
}

void take_part(Pool& pool, std::size_t thread) {
    try {
        run_until_none_left(pool, thread);
        pool.threads.loop_ends();  // may find no memory for another limit
    } catch (...) {
        const std::scoped_lock lock(pool.failure_mutex);
        if (!pool.failure) pool.failure = std::current_exception();
        pool.stop.request_stop();
    }
}

}  // namespace

void run_side_by_side(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
                      StudyProgress& progress, const std::stop_token& stop) {
    Pool pool{runs, exchange, progress, {}, SharedThreads(size), {}, {}};
    const std::stop_callback outer(stop, [&pool] { pool.stop.request_stop(); });
    const std::stop_callback inner(pool.stop.get_token(), [&progress] { progress.stop_all(); });
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < size.loops; ++i)
            others.emplace_back([&pool, i] { take_part(pool, i); });
        take_part(pool, 0);
    }
    if (pool.failure) std::rethrow_exception(pool.failure);
}

}  // namespace paceline
