// The data plane of collectives: stores the contributions to each round, and the value that is
// formed from them once.
//
// A round of a collective has one contribution per member, captured when the member enters. A value
// is formed only from contributions that have all entered. It is formed in the order of members,
// once, when the first member asks for it. So every member sees the same bits and the arithmetic is
// done once. The timing plane ensures that everything a rank depends on has entered before the rank
// asks, because messages have arrived from there. A round is erased when every member has left it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"

namespace paceline {

template <class Value>
class Round {
  public:
    explicit Round(std::size_t members) : entered_(members) {}

    void enter(std::size_t member, Value value) {
        PACELINE_CHECK(!entered_[member], "a member enters a round once");
        entered_[member] = std::move(value);
    }

    /// Returns what a member entered. Requires that the member has entered.
    [[nodiscard]] const Value& of(std::size_t member) const {
        PACELINE_CHECK(entered_[member].has_value(), "a value is asked for after it has entered");
        return *entered_[member];
    }

    /// Returns form(*this), which is evaluated on the first call only.
    template <class Form>
    const Value& once(const Form& form) {
        if (!formed_) formed_ = form(std::as_const(*this));
        return *formed_;
    }

    [[nodiscard]] std::size_t members() const { return entered_.size(); }

  private:
    template <class>
    friend class Rounds;

    std::vector<std::optional<Value>> entered_;
    std::optional<Value> formed_;
    std::size_t left_ = 0;
};

/// Returns the mean of what all members have entered, added up in the order of members.
template <class Value>
[[nodiscard]] Value mean_of(const Round<Value>& round) {
    Value sum = round.of(0);
    for (std::size_t i = 1; i < round.members(); ++i) sum += round.of(i);
    return std::move(sum) / static_cast<double>(round.members());
}

/// Returns what the first member has entered.
template <class Value>
[[nodiscard]] Value of_first(const Round<Value>& round) {
    return round.of(0);
}

/// The rounds in progress, by key (a stream, which identifies one collective of a group).
template <class Value>
class Rounds {
  public:
    Round<Value>& at(std::uint64_t key, std::size_t members) {
        return rounds_.try_emplace(key, members).first->second;
    }
    void leave(std::uint64_t key) {
        const auto round = rounds_.find(key);
        if (++round->second.left_ == round->second.members()) rounds_.erase(round);
    }
    /// Erases the rounds whose keys are in [from, until).
    void forget(std::uint64_t from, std::uint64_t until) {
        rounds_.erase(rounds_.lower_bound(from), rounds_.lower_bound(until));
    }
    [[nodiscard]] std::size_t size() const { return rounds_.size(); }

  private:
    std::map<std::uint64_t, Round<Value>> rounds_;
};

}  // namespace paceline
