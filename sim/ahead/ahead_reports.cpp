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

void Ahead::report_ring(const AheadRun& run, int place, int rounds) {
    report(run, place, run.next(place), run.chunks().sent(place, rounds),
           run.chunks().on_wire(place, rounds, run.ring_wires[AheadRun::at(place)]));
}

void Ahead::report_all(AheadRun& run) {
    if (run.rounds.passes_chunks()) {
        for (int place = 0; place < run.rounds.members; ++place)
            report_ring(run, place, run.rounds.count);
        return;
    }
    run.times.begin(run.rounds, [this, &run](int from, int to) { return wire(run, from, to); });
    run.times.report_to([this, &run](int from, int to, const RoundMessage& message) {
        report_message(run, from, to, message);
    });
    for (int place = 0; place < run.rounds.members; ++place)
        run.times.enter(place, run.entries[AheadRun::at(place)]);
}

}  // namespace paceline
