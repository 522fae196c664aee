// Reports to an observer of sums about collectives that run ahead (NetworkObserver::carries).
#include "sim/ahead/ahead_run.hpp"

namespace paceline {

void Ahead::report(const AheadRun& run, int from, int to, Bytes bytes, Duration busy) {
    if (bytes == Bytes{0}) return;
    network_.find_route()(run.host(from), run.host(to), route_);
    network_.report_sum(route_, bytes, busy);
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
