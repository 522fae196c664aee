// An unbounded first-in first-out queue between coroutines.
//
// put() never waits; get() waits for a value. Values go to getters in the order in which they
// started to wait. If a getter is cancelled after it was handed a value but before it runs, the
// value returns to the front of the channel.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <boost/circular_buffer.hpp>

#include "sim/engine/coroutine.hpp"

namespace paceline {

template <class T>
class Channel {
    struct GetterTag;
    struct Item {
        std::uint64_t number;  // of the put, counting from 0
        T value;
    };

  public:
    Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    void put(T value) { give(Item{next_number_++, std::move(value)}); }

    [[nodiscard]] std::size_t size() const { return items_.size(); }

    class [[nodiscard]] Get : private ListHook<GetterTag> {
      public:
        explicit Get(Channel& channel) : channel_(channel) {}
        Get(const Get&) = delete;
        Get& operator=(const Get&) = delete;
        // Only a lack of memory makes give() throw, and that ends the program.
        ~Get() {  // NOLINT(bugprone-exception-escape)
            if (item_) channel_.give(std::move(*item_));
        }

        bool await_ready() {
            if (channel_.items_.empty()) return false;
            item_ = std::move(channel_.items_.front());
            channel_.items_.pop_front();
            return true;
        }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) {
            waiter_ = &handle.promise();
            waiter_->waits_for({"a value in a channel"});
            channel_.getters_.push_back(*this);
        }
        T await_resume() {
            T value = std::move(item_->value);
            item_.reset();
            return value;
        }

      private:
        friend class Channel;
        friend class IntrusiveList<Get, GetterTag>;

        void deliver(Item item) {
            item_ = std::move(item);
            waiter_->wake();
        }

        Channel& channel_;
        Coroutine* waiter_ = nullptr;
        std::optional<Item> item_;
    };

    /// co_await channel.get()
    [[nodiscard]] Get get() { return Get(*this); }

  private:
    // Hands the item to the getter that has waited longest, or inserts it in order of its number.
    void give(Item item) {
        if (!getters_.empty()) return getters_.pop_front().deliver(std::move(item));
        if (items_.full()) items_.set_capacity(std::max<std::size_t>(4, 2 * items_.capacity()));
        auto place = items_.end();
        while (place != items_.begin() && std::prev(place)->number > item.number) --place;
        items_.insert(place, std::move(item));
    }

    boost::circular_buffer<Item> items_;  // ordered by number; empty while a getter waits
    std::uint64_t next_number_ = 0;
    IntrusiveList<Get, GetterTag> getters_;
};

}  // namespace paceline
