// All-reduces whose sums are made in switches: those of machines, those between machines, or both.
// Timing plane only.
//
// A machine of g devices has h heads, devices beside a network card each; head i is device
// ceil(i g / h), and is responsible for shard i of the vector. A shard goes through three stages in
// slices, so that one slice may be between machines while the next is summed up inside:
//
//   inside    the shard of all devices comes together at its head
//   between   the heads of equal number on p machines sum up
//   inside    the head gives the sum to all devices
//
//   inside in_switch     the switch sums up what all devices send, and copies what heads send: each
//                        lane carries (h+1)/h of the vector each way, of which each of the two
//                        stages takes half
//          direct        each device sends each shard to its head, and each head its sum to each
//                        device
//          chain         shard i goes down the devices that follow its head, one after the other,
//                        and back
//   between double_tree  two trees of heads, each for half of the shard (double_tree.hpp)
//           in_switch    the network's switches sum up: each head sends its shard once and receives
//                        the sum once
//
// What goes to a switch is a message to the next member; it sets out when all members have what
// they add, since a switch has a sum no earlier. With S bytes, lanes of B bytes per second and
// slices that are short beside S, an idle network takes
//
//   max( S (h+2) / (h B),  S / (h C) )   C: rate of a card; double trees among more than two
//                                        machines take up to 2 S / (h C)
//
// where S / h of a lane's time is for what its head exchanges with other machines,
// or S / (h R) if R = `of_head` is less than both allow.
//
// Limits: switches have room for every slice; messages between switches cross a fabric's upper
// links as often as there are members, where a real one sends each sum once.
//
// Sources: NVIDIA/nccl at 5067397, src/device/all_reduce.h (NVLS, NVLS_TREE, COLLNET_DIRECT,
// COLLNET_CHAIN), src/graph/connect.cc (connectNvls, connectCollNet).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

struct InSwitches {
    enum class Inside : std::uint8_t { in_switch, direct, chain };
    enum class Between : std::uint8_t { double_tree, in_switch };

    Inside inside = Inside::in_switch;
    Between between = Between::double_tree;
    int heads = 1;
    std::optional<Bandwidth> of_head{};  // bytes of its shard that a head passes on, at most
};

/// Returns into how many slices each shard, or each half of one, is cut.
int slices_in_switches(Bytes size, const Slices& cut, const InSwitches& how);

/// Returns what a device passes to its machine's switch for a slice of this size of all shards
/// together, in one of the two stages.
constexpr Bytes passed_to_switch(Bytes slice, int heads) {
    return {(slice.count * (heads + 1) + 2 * std::int64_t{heads} - 1) / (2 * std::int64_t{heads})};
}

/// Sums up a vector in the switch that joins all members, such as those on one machine: each passes
/// `size` bytes on once, when all have come.
Task<> all_reduce_in_one_switch(Rank self, Bytes size);

/// Requires two full machines of `devices` or more, whose members are consecutive, and at most as
/// many heads as devices; slices of a shard, or of a half of one for trees.
Task<> all_reduce_in_switches(Rank self, Bytes size, Slices cut, int devices, InSwitches how);

}  // namespace paceline
