// A resource with a limited number of units: a device, a copy engine, a server slot.
//
//   const Lease lease = co_await gpu.acquire();   // released when `lease` is destroyed
//
// Units are granted one at a time, in the order of requests. If a coroutine is cancelled after it
// was granted a unit but before it runs, the unit is released.
#pragma once

#include <coroutine>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/engine/coroutine.hpp"

namespace paceline {

class Resource {
    struct AskerTag;

  public:
    /// Requires units >= 1.
    explicit Resource(int units) : free_(units) {
        PACELINE_CHECK(units >= 1, "a resource has one unit or more");
    }
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;

    /// Holds one unit. Must not outlive its resource.
    class [[nodiscard]] Lease {
      public:
        explicit Lease(Resource& resource) : resource_(&resource) {}
        Lease(Lease&& other) noexcept : resource_(std::exchange(other.resource_, nullptr)) {}
        Lease& operator=(Lease&&) = delete;
        ~Lease() {
            if (resource_ != nullptr) resource_->give_back();
        }

      private:
        Resource* resource_;
    };

    class [[nodiscard]] Acquire : private ListHook<AskerTag> {
      public:
        explicit Acquire(Resource& resource) : resource_(resource) {}
        Acquire(const Acquire&) = delete;
        Acquire& operator=(const Acquire&) = delete;
        ~Acquire() {
            if (granted_) resource_.give_back();
        }

        bool await_ready() {
            if (resource_.free_ == 0) return false;
            --resource_.free_;
            return granted_ = true;
        }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) {
            waiter_ = &handle.promise();
            waiter_->waits_for({"a unit of a resource"});
            resource_.askers_.push_back(*this);
        }
        Lease await_resume() {
            granted_ = false;
            return Lease(resource_);
        }

      private:
        friend class Resource;
        friend class IntrusiveList<Acquire, AskerTag>;

        Resource& resource_;
        Coroutine* waiter_ = nullptr;
        bool granted_ = false;
    };

    /// co_await resource.acquire()
    [[nodiscard]] Acquire acquire() { return Acquire(*this); }

    [[nodiscard]] int free() const { return free_; }

  private:
    void give_back() {
        if (askers_.empty()) {
            ++free_;
            return;
        }
        Acquire& next = askers_.pop_front();
        next.granted_ = true;
        next.waiter_->wake();
    }

    int free_;
    IntrusiveList<Acquire, AskerTag> askers_;
};

}  // namespace paceline
