#include "analysis/measures/device_use.hpp"

#include "algorithms/runtime/time_use.hpp"

namespace paceline {

DeviceUse device_use(const Cluster& cluster, NetworkPart network, Time now) {
    DeviceUse all;
    double sent = 0;
    double received = 0;
    for (int rank = 0; rank < cluster.workers(); ++rank) {
        const TimeUse& use = cluster.time_use(rank);
        all.communicating_s += to_seconds(use.waited_for_network(now));
        all.waiting_s +=
            to_seconds(use.waited_for_stragglers(now) + use.waited_for_dead() + use.writing());
        all.away_s += to_seconds(use.away());
        sent += static_cast<double>(network.traffic(rank).sent.count);
        received += static_cast<double>(network.traffic(rank).received.count);
    }
    all.time_s = to_seconds(now.time_since_epoch());
    all.computing_s =
        cluster.workers() * all.time_s - all.communicating_s - all.waiting_s - all.away_s;
    all.sent_gb = sent * 1e-9;
    all.received_gb = received * 1e-9;
    return all;
}

}  // namespace paceline
