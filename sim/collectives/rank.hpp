// A member's view of one collective: who takes part, which place it has, and how to reach the
// others by place.
//
// A group names its members and its membership epoch: after a failure or a return there is a new
// group, and a message of the old one can never be taken for one of the new. Each collective runs
// on a stream of its own, so that several may be under way between the same nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/messages/transfer.hpp"

namespace paceline {

struct Group {
    std::vector<int> members;  // nodes, by place; each once
    std::uint32_t epoch = 0;
};

using GroupPtr = std::shared_ptr<const Group>;

/// The group of nodes 0 .. nodes-1.
inline GroupPtr whole_group(int nodes) {
    Group group;
    group.members.resize(static_cast<std::size_t>(nodes));
    std::iota(group.members.begin(), group.members.end(), 0);
    return std::make_shared<const Group>(std::move(group));
}

class Rank {
  public:
    /// The member at `place`. `network` must outlive the rank.
    Rank(NetworkPart network, GroupPtr group, int place, Stream stream)
        : network_(network),
          group_(std::move(group)),
          stream_(stream),
          place_(place),
          size_(static_cast<int>(group_->members.size())) {}

    /// The same member within a part of the group: places first, first + stride, ..., `size` of
    /// them, which are 0, 1, ... there. Requires that the member is one of them.
    [[nodiscard]] Rank part(int first, int stride, int size) const {
        Rank rank = *this;
        rank.first_ = first_ + static_cast<std::size_t>(first) * stride_;
        rank.stride_ = static_cast<std::size_t>(stride) * stride_;
        rank.place_ = (place_ - first) / stride;
        rank.size_ = size;
        return rank;
    }

    [[nodiscard]] int place() const { return place_; }
    [[nodiscard]] int size() const { return size_; }
    /// The stream of this collective, the same on every member.
    [[nodiscard]] Stream stream() const { return stream_; }
    /// For a collective in which two members may have messages for one another twice at a time.
    [[nodiscard]] Stream second_stream() const { return stream_ | (Stream{1} << 63U); }
    [[nodiscard]] NetworkPart network() const { return network_; }
    [[nodiscard]] int node(int place) const {
        return group_->members[first_ + static_cast<std::size_t>(place) * stride_];
    }

    /// These await as their namesakes of sim/messages/transfer.hpp do, by rendezvous; they take
    /// places, not nodes.
    [[nodiscard]] Send send(int to, Bytes size) const {
        return {network_, node(place_), node(to), stream_, size, Protocol::rendezvous};
    }
    [[nodiscard]] Receive receive(int from) const {
        return {network_, node(place_), node(from), stream_};
    }
    [[nodiscard]] Exchange exchange(int to, Bytes size, int from) const {
        return {network_, node(place_), node(to), size, node(from), stream_, Protocol::rendezvous};
    }

  private:
    NetworkPart network_;
    GroupPtr group_;
    Stream stream_;
    int place_;
    std::size_t first_ = 0;   // of the part, in the group
    std::size_t stride_ = 1;  // of the part, in the group
    int size_;
};

}  // namespace paceline
