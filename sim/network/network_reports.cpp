// Reports to an observer of sums about collectives that run ahead (NetworkObserver::carries).
#include "sim/network/ahead_run.hpp"
#include "sim/network/network.hpp"

namespace paceline {

bool Ahead::is_observed() const {
    return network_.observer_ != nullptr && network_.observer_->carries;
}

void Ahead::report(const AheadRun& run, int from, int to, Bytes bytes, Duration busy) {
    if (bytes == Bytes{0}) return;
    network_.find_route_(run.host(from), run.host(to), route_);
    network_.remove_unlimited_links(route_);
    if (!route_.empty()) network_.observer_->carries(route_, bytes, busy);
}

void Ahead::report_message(const AheadRun& run, int from, int to, const RoundMessage& message) {
    const Duration overhead = wire(run, from, to).overhead;
    report(run, from, to, message.size, message.drain - message.set_out - overhead);
}

void Ahead::report_ring(const AheadRun& run, int rounds) {
    const int n = run.rounds.members;
    for (int place = 0; place < n; ++place)
        report(run, place, place + 1 < n ? place + 1 : 0, run.ring.sent(place, rounds),
               run.ring.on_wire(place, rounds, run.ring_wires[AheadRun::at(place)]));
}

void Ahead::report_all(AheadRun& run) {
    if (run.rounds.passes_chunks()) return report_ring(run, run.rounds.count);
    run.times.begin(run.rounds, [this, &run](int from, int to) { return wire(run, from, to); });
    run.times.report_to([this, &run](int from, int to, const RoundMessage& message) {
        report_message(run, from, to, message);
    });
    for (int place = 0; place < run.rounds.members; ++place)
        run.times.enter(place, run.entries[AheadRun::at(place)]);
}

}  // namespace paceline
