// Consecutive hosts of a network, renumbered from 0: one job's view of a network it shares.
//
// A plain value that forwards every call with its hosts' numbers shifted. Messages of two parts
// interact only on the links: hosts of different parts have separate lanes.
#pragma once

#include <span>

#include "sim/network/network.hpp"

namespace paceline {

class NetworkPart {
  public:
    /// The hosts from `first` on (by default all) of a network that must outlive this object.
    NetworkPart(Network& network, int first = 0)  // NOLINT(google-explicit-constructor)
        : network_(&network), first_(first) {}

    // These forward to the members of Network with the same names.
    MessageId send(int from, int to, Stream stream, Bytes size, Protocol protocol, Join& drained,
                   const MessageCost& cost = {}) const {
        return network_->send(first_ + from, first_ + to, stream, size, protocol, drained, cost);
    }
    void group(MessageId message) const { network_->group(message); }
    void forget(MessageId message) const { network_->forget(message); }
    void receive(int to, int from, Stream stream, Join& delivered,
                 Protocol protocol = Protocol::eager) const {
        network_->receive(first_ + to, first_ + from, stream, delivered, protocol);
    }
    void withdraw(int to, int from, Stream stream, Join& delivered) const {
        network_->withdraw(first_ + to, first_ + from, stream, delivered);
    }
    void close(Stream stream, std::span<const int> hosts) const {
        network_->close(stream, hosts, first_);
    }
    void close_lane(int to, int from, Stream stream) const {
        network_->close_lane(first_ + to, first_ + from, stream);
    }
    void host_leaves(int host) const { network_->host_leaves(first_ + host); }
    void host_returns(int host) const { network_->host_returns(first_ + host); }
    [[nodiscard]] bool is_away(int host) const { return network_->is_away(first_ + host); }
    [[nodiscard]] bool has_arrived(int to, int from, Stream stream) const {
        return network_->has_arrived(first_ + to, first_ + from, stream);
    }
    [[nodiscard]] Simulation& simulation() const { return network_->simulation(); }
    [[nodiscard]] Network& whole() const { return *network_; }
    /// Returns the number of a host in the whole network.
    [[nodiscard]] int in_network(int host) const { return first_ + host; }
    /// Returns the number, in the whole network, of the machine that a host stands in.
    [[nodiscard]] int machine_of(int host) const {
        return network_->machines().machine_of(first_ + host);
    }
    [[nodiscard]] int hosts() const { return network_->hosts() - first_; }
    /// Returns the traffic of a host up to now; has the links that it reserves given back.
    [[nodiscard]] const Traffic& traffic(int host) const {
        network_->settle(first_ + host);
        return network_->traffic(first_ + host);
    }

  private:
    Network* network_;
    int first_;
};

}  // namespace paceline
