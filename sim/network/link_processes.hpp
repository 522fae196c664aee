// What changes the access links of hosts while a run goes on: traces, on/off processes, outages.
//
// An access is the link from a host into the fabric and the one back. Its bandwidths come from
//   - a trace: bandwidths of both ways that hold from a time on, repeated with a period or not; or
//   - an on/off process: its own bandwidth while on, another while off. Lengths are fixed, or
//     exponential with the given means. Long-run share of time on: on / (on + off).
// Both begin at their start (the first row; a whole length on), or at random: a trace anywhere in its
// period, an on/off process in its long-run law, so that hosts do not change in step. On top of that
// outages, by schedule or at random, take an access down: lengths exponential, as are the times from
// the end of one to the start of the next, with the given means. Long-run share of time down:
// length / (between + length). Transfers pause meanwhile, or what has flowed of them is lost when an
// outage begins, and they start anew after it.
//
// Changes are daemon events: links that flap do not keep a run alive. Each change announces the time
// of the next one (Network::set_bandwidth), so that transfers which wait for a link do, as long as it
// comes back. A way that a trace leaves at 0 for good announces nothing.
//
// Each access draws from streams of its own, by its number. Memory: O(accesses that change); traces
// are shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/engine/random.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network.hpp"

namespace paceline {

/// Bandwidths of both ways of an access, as seen from its host.
struct AccessBandwidth {
    Bandwidth up;
    Bandwidth down;

    constexpr bool operator==(const AccessBandwidth&) const = default;
};

struct Access {
    std::uint64_t number = 0;  // of its streams; each access has another
    LinkId up = 0;             // from the host
    LinkId down = 0;
    AccessBandwidth usual;  // its own
};

/// Where a process begins.
enum class LinkPhase : std::uint8_t { start, random };

struct LinkTrace {
    struct Row {
        Duration at;  // from the start of the run, or of a period
        AccessBandwidth bandwidth;
    };
    std::vector<Row> rows;               // the first at 0, then later and later
    Duration period{};                   // later than the last row; 0: the last row holds for ever
    LinkPhase phase = LinkPhase::start;  // at random in its period, if it has one
};

enum class LengthLaw : std::uint8_t { fixed, exponential };

struct OnOff {
    Duration on;
    Duration off;
    LengthLaw law = LengthLaw::exponential;
    Bandwidth bandwidth_off{};  // of both ways
    LinkPhase phase = LinkPhase::start;
};

enum class Transfers : std::uint8_t { pause, restart };

struct Outages {
    struct Outage {
        Duration at;
        Duration length;
    };
    std::vector<Outage> schedule{};  // in order, none before the end of the one before it;
                                     // empty: at random
    Duration mean_between{};         // from the end of one to the start of the next
    Duration mean_length{};
    Transfers transfers = Transfers::pause;
};

class LinkProcesses {
  public:
    /// Requires that the network outlives it.
    LinkProcesses(Network& network, const RandomStreams& streams)
        : network_(network), streams_(streams) {}
    LinkProcesses(const LinkProcesses&) = delete;
    LinkProcesses& operator=(const LinkProcesses&) = delete;
    ~LinkProcesses();

    // Each acts from now on. Lengths are above 0. An access has one trace or on/off process at
    // most, and any number of outages.
    void follow(const Access& access, std::shared_ptr<const LinkTrace> trace);
    void alternate(const Access& access, const OnOff& process);
    void interrupt(const Access& access, std::shared_ptr<const Outages> process);

  private:
    using Index = std::uint32_t;

    struct State {
        Access access;
        AccessBandwidth bandwidth;  // while there is no outage
        Time up_changes = never;  // when that changes next, as far as it may have to be waited for
        Time down_changes = never;
        Time back = Time::min();  // the end of all outages that have begun
        std::uint64_t processes = 0;
        bool has_source = false;
    };
    struct Trace {
        std::shared_ptr<const LinkTrace> trace;
        Time begin;            // of this period, maybe before the run
        std::size_t next = 0;  // row
    };
    struct Alternation {
        OnOff process;
        RandomStream random;
        bool on = false;                  // and false before it begins
        std::optional<Duration> first{};  // what is left of the first length
    };
    struct Interruption {
        std::shared_ptr<const Outages> process;
        RandomStream random;
        Time begin;
        std::size_t next = 0;  // of the schedule
        bool down = false;
    };
    struct Process {
        Index state = 0;
        EventId event{};  // of its next change
        std::variant<Trace, Alternation, Interruption> kind;
    };

    Index state_of(const Access& access);
    Index source_of(const Access& access);
    RandomStream stream(std::string_view name, Index state);
    void add(Process process, Time first);
    void fire(Index index);
    // The next change of each kind; returns when the one after it is, or `never`.
    Time change(Trace& trace, State& state);
    Time change(Alternation& alternation, State& state);
    Time change(Interruption& interruption, State& state);
    void set_bandwidths(const State& state);
    [[nodiscard]] Time now() const { return network_.simulation().now(); }

    Network& network_;
    RandomStreams streams_;
    std::vector<State> states_;
    std::map<std::uint64_t, Index> state_of_;  // by number of the access
    std::vector<Process> processes_;
};

}  // namespace paceline
