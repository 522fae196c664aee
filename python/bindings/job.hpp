// Work on a thread of its own, for a Python caller that waits with the GIL released.
//
// Python waits in short steps (wait() below), in a loop of its own, so its interpreter handles
// signals between two steps: Ctrl-C raises KeyboardInterrupt in that loop, which then calls stop().
// A job can be dropped with or without the GIL. Its work may take it (gil.hpp).
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace paceline::python {

class Job {
  public:
    using Work = std::function<void(const std::stop_token& stop)>;

    /// Begins the work.
    explicit Job(Work work);
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    /// Stops the work and waits until it has ended, without the GIL.
    ~Job();

    /// Waits until the work has ended, at most this many seconds. Returns whether it has. Requires
    /// that the caller does not hold the GIL.
    bool wait(double seconds);
    /// Asks the work to end soon.
    void stop() { thread_.request_stop(); }

  protected:
    /// Throws what the work has thrown. Requires that it has ended.
    void check() const;

  private:
    void do_work(const Work& work, const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable ended_;
    bool has_ended_ = false;
    std::exception_ptr failure_;
    std::mutex joining_;   // of `thread_`
    std::jthread thread_;  // declared last: it uses the others
};

/// A job that makes a value.
template <class T>
class JobFor : public Job {
  public:
    using Make = std::function<T(const std::stop_token& stop)>;

    explicit JobFor(Make make) : JobFor(std::move(make), std::make_shared<std::optional<T>>()) {}

    /// Returns what the work has made, or throws what it has thrown. Requires that it has ended,
    /// and that nobody has taken the value before.
    T take() {
        check();
        return *std::move(*made_);
    }

  private:
    JobFor(Make make, std::shared_ptr<std::optional<T>> made)
        : Job([make = std::move(make), made](const std::stop_token& stop) { *made = make(stop); }),
          made_(std::move(made)) {}

    std::shared_ptr<std::optional<T>> made_;
};

}  // namespace paceline::python
