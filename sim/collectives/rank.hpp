// A member's view of one collective: the members, its own place, and how to reach the others by
// place.
//
// A group has members and a membership epoch. Each failure or return creates a new group, so a
// message of an old group cannot be mistaken for one of the new group. Each collective has its own
// stream, so several can be in flight between the same nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sim/ahead/ahead.hpp"
#include "sim/collectives/library.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

struct NestedGroups;

struct Group {
    std::vector<int> members;  // node of each place; no node appears twice
    std::uint32_t epoch = 0;
    /// The same members in the orders of the rings through the machines' cards (card_rings.hpp),
    /// once they have been asked for.
    mutable std::vector<std::shared_ptr<const Group>> rings{};
    /// The same members in the order of nested groups (hierarchical.hpp), once that was asked for.
    mutable std::vector<
        std::pair<std::shared_ptr<const NestedGroups>, std::shared_ptr<const Group>>>
        nested{};
    /// Where members of a collective wait for each other, by its stream and its first member, while
    /// one of them waits (in_switches.hpp).
    mutable std::map<std::pair<Stream, int>, std::weak_ptr<Barrier>> meetings{};
};

using GroupPtr = std::shared_ptr<const Group>;

/// Returns the group of nodes 0 .. nodes-1.
inline GroupPtr whole_group(int nodes) {
    Group group;
    group.members.resize(static_cast<std::size_t>(nodes));
    std::iota(group.members.begin(), group.members.end(), 0);
    return std::make_shared<const Group>(std::move(group));
}

/// Returns the second stream of a collective that has this one, for collectives in which two
/// members may have two messages for each other at a time.
[[nodiscard]] constexpr Stream second_stream(Stream stream) {
    return stream | (Stream{1} << 63U);
}

/// Returns the stream of one of several rings of the collective that has this stream; ring 0 has
/// the stream itself. The number stands in bits by which events of one instant are ordered
/// (EventKey). Rounds of a group that are 2^28 apart would share streams, and are never under way
/// together.
[[nodiscard]] constexpr Stream ring_stream(Stream stream, int ring) {
    constexpr unsigned round_bits = 28;
    return stream ^ (static_cast<Stream>(ring) << round_bits);
}

class Rank {
  public:
    /// Creates the member at `place`. `network` and `library` must outlive the rank.
    Rank(NetworkPart network, GroupPtr group, int place, Stream stream,
         const Library& library = plain_library)
        : network_(network),
          group_(std::move(group)),
          stream_(stream),
          library_(&library),
          place_(place),
          size_(static_cast<int>(group_->members.size())) {}
    Rank(NetworkPart network, GroupPtr group, int place, Stream stream, Library&& library) = delete;

    /// Returns the same member within a part of the group: the `size` places first, first + stride,
    /// ..., renumbered 0, 1, ... in the part. Requires that the member is one of them.
    [[nodiscard]] Rank part(int first, int stride, int size) const {
        Rank rank = *this;
        rank.first_ = first_ + first * stride_;
        rank.stride_ = stride * stride_;
        rank.place_ = (place_ - first) / stride;
        rank.size_ = size;
        return rank;
    }

    [[nodiscard]] int place() const { return place_; }
    [[nodiscard]] int size() const { return size_; }
    /// Returns the stream of this collective, which is the same on every member.
    [[nodiscard]] Stream stream() const { return stream_; }
    [[nodiscard]] Stream second_stream() const { return paceline::second_stream(stream_); }
    /// Returns the same member on the second stream.
    [[nodiscard]] Rank on_second_stream() const {
        Rank rank = *this;
        rank.stream_ = second_stream();
        return rank;
    }
    /// Returns the same member on the stream of one of several rings, or stages.
    [[nodiscard]] Rank on_ring_stream(int ring) const {
        Rank rank = *this;
        rank.stream_ = ring_stream(stream_, ring);
        return rank;
    }
    /// Returns the same member among the same members in another order, on another stream. What it
    /// takes part in shares links with what it takes part in otherwise, so it goes by events.
    [[nodiscard]] Rank in_order(GroupPtr order, int place, Stream stream) const {
        Rank rank(network_, std::move(order), place, stream, *library_);
        rank.by_events_ = true;
        rank.cost_ = cost_;
        return rank;
    }
    /// Returns the same member, each of whose messages costs so much.
    [[nodiscard]] Rank with_cost(const MessageCost& cost) const {
        Rank rank = *this;
        rank.cost_ = cost;
        return rank;
    }
    [[nodiscard]] const MessageCost& cost() const { return cost_; }
    [[nodiscard]] const Library& library() const { return *library_; }
    [[nodiscard]] bool goes_by_events() const {
        return by_events_ || library_->protocol != Protocol::rendezvous;
    }
    [[nodiscard]] NetworkPart network() const { return network_; }
    [[nodiscard]] const Group& group() const { return *group_; }
    /// Returns the rate of copies to the host's memory, if the library stages.
    [[nodiscard]] const std::optional<Bandwidth>& staging() const { return library_->staging; }
    [[nodiscard]] int node(int place) const {
        return group_->members[static_cast<std::size_t>(first_ + place * stride_)];
    }

    [[nodiscard]] Protocol protocol() const { return library_->protocol; }
    [[nodiscard]] PlacesOfHosts hosts() const {
        return {group_->members, static_cast<std::size_t>(first_),
                static_cast<std::size_t>(stride_)};
    }

    /// Like the awaiters of the same names in sim/messages/transfer.hpp, by the protocol of the
    /// collective, but with places instead of nodes.
    [[nodiscard]] Send send(int to, Bytes size) const {
        return {network_, node(place_), node(to), stream_, size, library_->protocol, cost_};
    }
    [[nodiscard]] Receive receive(int from) const {
        return {network_, node(place_), node(from), stream_, library_->protocol};
    }
    [[nodiscard]] Exchange exchange(int to, Bytes size, int from, bool grouped = false) const {
        return {network_, node(place_),       node(to), size, node(from),
                stream_,  library_->protocol, grouped,  cost_};
    }

  private:
    NetworkPart network_;
    GroupPtr group_;
    Stream stream_;
    const Library* library_;
    int place_;
    int first_ = 0;   // of the part, in the group
    int stride_ = 1;  // of the part, in the group
    int size_;
    bool by_events_ = false;
    MessageCost cost_{};
};

}  // namespace paceline
