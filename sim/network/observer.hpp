// Who is told of messages on links: one observer of a network, or none.
//
// It looks and changes nothing, so that an observed run is the same run.
#pragma once

#include "sim/engine/units.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

class NetworkObserver {
  public:
    NetworkObserver() = default;
    NetworkObserver(const NetworkObserver&) = delete;
    NetworkObserver& operator=(const NetworkObserver&) = delete;
    virtual ~NetworkObserver() = default;

    /// A message begins to flow on these links.
    virtual void flow_begins(const Route& route, Time now) = 0;
    /// It leaves them, having moved so much over each.
    virtual void flow_ends(const Route& route, Bytes moved, Time now) = 0;
};

}  // namespace paceline
