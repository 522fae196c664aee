// An unbounded first-in first-out queue between coroutines.
//
// put() never waits; get() waits for a value. Values go to getters in the order in which they began
// to wait. A getter that was handed a value and is cancelled before it runs gives the value back to
// the front of the channel.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "sim/engine/coroutine.hpp"

namespace paceline {

template <class T>
class Channel {
    struct GetterTag;

  public:
    Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    void put(T value) {
        if (getters_.empty())
            values_.push_back(std::move(value));
        else
            getters_.pop_front().hand(std::move(value));
    }

    [[nodiscard]] std::size_t size() const { return values_.size(); }

    class [[nodiscard]] Get : private ListHook<GetterTag> {
      public:
        explicit Get(Channel& channel) : channel_(channel) {}
        Get(const Get&) = delete;
        Get& operator=(const Get&) = delete;
        ~Get() {
            if (value_) channel_.give_back(std::move(*value_));
        }

        bool await_ready() {
            if (channel_.values_.empty()) return false;
            value_ = std::move(channel_.values_.front());
            channel_.values_.pop_front();
            return true;
        }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) {
            waiter_ = &handle.promise();
            waiter_->waits_for({"a value in a channel"});
            channel_.getters_.push_back(*this);
        }
        T await_resume() {
            T value = std::move(*value_);
            value_.reset();
            return value;
        }

      private:
        friend class Channel;
        friend class IntrusiveList<Get, GetterTag>;

        void hand(T value) {
            value_ = std::move(value);
            waiter_->wake();
        }

        Channel& channel_;
        Coroutine* waiter_ = nullptr;
        std::optional<T> value_;
    };

    /// co_await channel.get()
    [[nodiscard]] Get get() { return Get(*this); }

  private:
    void give_back(T value) {
        if (getters_.empty())
            values_.push_front(std::move(value));
        else
            getters_.pop_front().hand(std::move(value));
    }

    std::deque<T> values_;  // empty while somebody waits
    IntrusiveList<Get, GetterTag> getters_;
};

}  // namespace paceline
