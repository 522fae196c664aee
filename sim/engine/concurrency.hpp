// Runs tasks concurrently: when_all waits for all of them, first_of for the first to finish, and
// cancels the other.
//
// Both start the tasks in the order given. If a task throws, the wait ends at once and the other
// tasks are destroyed.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "sim/engine/task.hpp"

namespace paceline {

/// Awaiter of when_all.
template <class T>
class [[nodiscard]] WhenAll {
  public:
    explicit WhenAll(std::vector<Task<T>> tasks)
        : join_(static_cast<std::uint32_t>(tasks.size())), tasks_(std::move(tasks)) {}
    WhenAll(const WhenAll&) = delete;
    WhenAll& operator=(const WhenAll&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return tasks_.empty(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& parent = handle.promise();
        for (Task<T>& task : tasks_) {
            task.promise().begin(parent.simulation(), parent.process(), &join_);
            if (join_.complete()) return false;  // all have ended, or one has failed
        }
        join_.wake(parent);
        return true;
    }
    auto await_resume() {
        for (Task<T>& task : tasks_) task.promise().rethrow_failure();
        if constexpr (!std::is_void_v<T>) {
            std::vector<T> results;
            results.reserve(tasks_.size());
            for (Task<T>& task : tasks_) results.push_back(task.promise().take());
            return results;
        }
    }

  private:
    Join join_;
    std::vector<Task<T>> tasks_;  // declared after join_, which the tasks refer to when they end
};

/// co_await when_all(std::move(tasks)) returns the results in the order of the tasks.
template <class T>
WhenAll<T> when_all(std::vector<Task<T>> tasks) {
    return WhenAll<T>(std::move(tasks));
}

/// co_await when_all(f(), g()).
template <class... Rest>
WhenAll<void> when_all(Task<> first, Rest... rest) {
    std::vector<Task<>> tasks;
    tasks.reserve(1 + sizeof...(rest));
    tasks.push_back(std::move(first));
    (tasks.push_back(std::move(rest)), ...);
    return WhenAll<void>(std::move(tasks));
}

/// Awaiter of first_of.
template <class A, class B>
class [[nodiscard]] FirstOf {
    template <class T>
    using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  public:
    using Result = std::variant<Value<A>, Value<B>>;

    FirstOf(Task<A> a, Task<B> b) : a_(std::move(a)), b_(std::move(b)) {}
    FirstOf(const FirstOf&) = delete;
    FirstOf& operator=(const FirstOf&) = delete;

    static bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& parent = handle.promise();
        a_.promise().begin(parent.simulation(), parent.process(), &join_);
        if (a_.promise().finished()) return false;
        b_.promise().begin(parent.simulation(), parent.process(), &join_);
        if (b_.promise().finished()) return false;
        join_.wake(parent);
        return true;
    }
    /// Index 0 means the first task won, or both ended in the same instant before this resumed.
    /// Index 1 means the second task won.
    Result await_resume() {
        if (a_.promise().finished()) {
            b_ = {};
            return take<0>(a_);
        }
        a_ = {};
        return take<1>(b_);
    }

  private:
    template <std::size_t Index, class T>
    static Result take(Task<T>& task) {
        if constexpr (std::is_void_v<T>) {
            task.promise().take();
            return Result(std::in_place_index<Index>);
        } else {
            return Result(std::in_place_index<Index>, task.promise().take());
        }
    }

    Join join_{1};
    Task<A> a_;
    Task<B> b_;
};

/// co_await first_of(f(), g()) returns a variant with the winner's result and cancels the loser.
template <class A, class B>
FirstOf<A, B> first_of(Task<A> a, Task<B> b) {
    return FirstOf<A, B>(std::move(a), std::move(b));
}

}  // namespace paceline
