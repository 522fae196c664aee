// State that is equal on all workers and exists once, by name, and the number of its updates.
//
// Every worker carries out update k, and the first one does the arithmetic. Updates are numbered
// 0, 1, ...
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "models/tensors/vector.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

class ReplicatedState {
  public:
    /// Returns the state of this name, which is first() at first.
    template <class First>
    [[nodiscard]] Vector& at(std::string_view name, const First& first) {
        const auto found = states_.find(name);
        if (found != states_.end()) return found->second;
        return states_.emplace(name, first()).first->second;
    }
    /// Returns the state of this name; null if nobody has asked for it yet.
    [[nodiscard]] const Vector* find(std::string_view name) const {
        const auto found = states_.find(name);
        return found == states_.end() ? nullptr : &found->second;
    }

    /// Begins update k and returns true, or returns false if a worker has begun it already.
    /// Requires that update k - 1 has begun, unless updates are lost with workers that die.
    [[nodiscard]] bool begin_update(std::int64_t k, bool some_are_lost) {
        if (k < updates_) return false;
        PACELINE_CHECK(k == updates_ || some_are_lost, "updates follow one another without gaps");
        updates_ = k + 1;
        return true;
    }
    [[nodiscard]] std::int64_t updates_done() const { return updates_; }

  private:
    std::map<std::string, Vector, std::less<>> states_;
    std::int64_t updates_ = 0;
};

}  // namespace paceline
