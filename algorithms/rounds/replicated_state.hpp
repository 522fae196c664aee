// State that is equal on all workers and exists once, by name, and the number of its updates.
//
// Every worker carries out update k, and the first one does the arithmetic. Updates are numbered
// 0, 1, ...
#pragma once

#include <cstddef>
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

    /// Erases the states whose names say that they are of this owner, as "errors of owners, of
    /// island 3" and "errors of owners, of island 3, piece 1" do.
    void forget_those_of(std::string_view owner) {
        const std::string words = ", of " + std::string(owner);
        std::erase_if(states_, [&](const auto& entry) {
            const std::size_t found = entry.first.find(words);
            if (found == std::string::npos) return false;
            const std::string_view rest =
                std::string_view(entry.first).substr(found + words.size());
            return rest.empty() || rest.front() == ',';
        });
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
