// Task<T>: a piece of simulated work that can wait. Pending<T>: a started task that is awaited
// later.
//
//   Task<int> f(Simulation& s) { co_await s.sleep(1us); co_return 7; }
//   const int seven = co_await f(s);                    // runs now, as part of the caller
//   Pending<int> later = s.start(process, f(s));        // runs concurrently with the caller
//   const int value = co_await std::move(later);        // at most once
//
// A Task is lazy and owns its frame. It is awaited once, as a temporary, so the arguments it takes
// by reference are still alive. Dropping a Pending cancels the work: its frame is destroyed, and
// with it every wait inside. There is no symmetric transfer: a child that finishes later puts its
// parent on the ready list.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/engine/coroutine.hpp"

namespace paceline {

template <class T>
class TaskResult : public Coroutine {
  public:
    template <class U>
    void return_value(U&& value) {
        value_.emplace(std::forward<U>(value));
    }
    T take() {
        rethrow_failure();
        return std::move(*value_);
    }

  private:
    std::optional<T> value_;
};

template <>
class TaskResult<void> : public Coroutine {
  public:
    void return_void() {}
    void take() const { rethrow_failure(); }
};

template <class T = void>
class [[nodiscard]] Task {
  public:
    struct promise_type : TaskResult<T> {
        promise_type() {
            static_assert(alignof(promise_type) == alignof(Coroutine));  // Coroutine::handle
        }
        Task get_return_object() { return Task(*this); }
    };

    Task() = default;
    Task(Task&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        if (this != &other) destroy();
        promise_ = std::exchange(other.promise_, nullptr);
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() { destroy(); }

    class Awaiter {
      public:
        explicit Awaiter(promise_type& child) : child_(child) {}
        Awaiter(const Awaiter&) = delete;
        Awaiter& operator=(const Awaiter&) = delete;

        static bool await_ready() noexcept { return false; }
        template <class Parent>
        bool await_suspend(std::coroutine_handle<Parent> handle) {
            return !child_.begin_for(handle.promise());  // if it did not wait: continue in place
        }
        T await_resume() { return child_.take(); }

      private:
        promise_type& child_;
    };

    /// Only a temporary can be awaited: co_await f(x).
    Awaiter operator co_await() && { return Awaiter(promise()); }

    [[nodiscard]] promise_type& promise() const {
        PACELINE_CHECK(promise_ != nullptr, "a task that was moved from cannot be used");
        return *promise_;
    }

  private:
    explicit Task(promise_type& promise) : promise_(&promise) {}

    void destroy() noexcept {
        if (promise_ == nullptr) return;
        std::coroutine_handle<promise_type>::from_promise(*std::exchange(promise_, nullptr))
            .destroy();
    }

    promise_type* promise_ = nullptr;
};

/// A started task, made by Simulation::start. Awaited once, as an rvalue. Dropping it cancels it.
template <class T = void>
class [[nodiscard]] Pending {
  public:
    Pending(ProcessPtr process, Task<T> task)
        : process_(std::move(process)), task_(std::move(task)) {}
    Pending(Pending&&) noexcept = default;
    Pending& operator=(Pending&& other) noexcept {
        task_ = std::move(other.task_);  // first: the former work refers to its process
        process_ = std::move(other.process_);
        return *this;
    }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    ~Pending() = default;

    [[nodiscard]] bool finished() const { return task_.promise().finished(); }

    class Awaiter {
      public:
        Awaiter(ProcessPtr process, Task<T> task)
            : process_(std::move(process)), task_(std::move(task)) {}
        Awaiter(const Awaiter&) = delete;
        Awaiter& operator=(const Awaiter&) = delete;

        [[nodiscard]] bool await_ready() const { return task_.promise().finished(); }
        template <class Parent>
        void await_suspend(std::coroutine_handle<Parent> handle) {
            task_.promise().wakes(handle.promise());
        }
        T await_resume() { return task_.promise().take(); }

      private:
        ProcessPtr process_;
        Task<T> task_;  // declared last: it refers to its process
    };

    Awaiter operator co_await() && { return Awaiter(std::move(process_), std::move(task_)); }

  private:
    ProcessPtr process_;
    Task<T> task_;  // declared last: it refers to its process
};

}  // namespace paceline
