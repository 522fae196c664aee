// Changes to the access links of hosts during a run: traces, on/off processes, outages.
//
// An access is the link from a host into the fabric and the link back. Its bandwidths come from
//   - a trace: bandwidths of both directions, each row valid from a given time on, optionally
//     repeated with a period; or
//   - an on/off process: the access's own bandwidth while on, another while off. Lengths are fixed,
//     or exponential with the given means. Long-run share of time on: on / (on + off).
// Both begin either at their start (the first row; a full "on" length) or at a random point, so
// that hosts do not change in lockstep. A trace then begins anywhere in its period, and an on/off
// process in its long-run law.
//
// In addition, outages take an access down, on a schedule or at random. Random outages have
// exponential lengths, and exponential times from the end of one to the start of the next, with the
// given means. Long-run share of time down: length / (between + length). During an outage transfers
// either pause, or they lose what has flowed when the outage begins and start anew after it.
//
// Changes are daemon events, so flapping links do not keep a run alive. Each change announces the
// time of the next one (Network::set_bandwidth), so transfers that wait for a link do keep the run
// alive as long as the link will come back. A direction that a trace leaves at 0 for good announces
// nothing.
//
// Each access draws from its own streams, selected by its number. Memory: O(accesses that change);
// traces are shared.
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

/// Bandwidths of both directions of an access, as seen from its host.
struct AccessBandwidth {
    Bandwidth up;
    Bandwidth down;

    constexpr bool operator==(const AccessBandwidth&) const = default;
};

struct Access {
    std::uint64_t number = 0;  // selects its streams; unique per access
    LinkId up = 0;             // from the host
    LinkId down = 0;
    AccessBandwidth usual;  // without a trace, on/off process or outage
};

/// Where a trace or on/off process begins.
enum class LinkPhase : std::uint8_t { start, random };

struct LinkTrace {
    struct Row {
        Duration at;  // from the start of the run, or of a period
        AccessBandwidth bandwidth;
    };
    std::vector<Row> rows;               // the first at 0, then strictly increasing
    Duration period{};                   // later than the last row; 0: the last row holds forever
    LinkPhase phase = LinkPhase::start;  // random: anywhere in the period; requires a period
};

enum class LengthLaw : std::uint8_t { fixed, exponential };

struct OnOff {
    Duration on;
    Duration off;
    LengthLaw law = LengthLaw::exponential;
    Bandwidth bandwidth_off{};  // of both directions
    LinkPhase phase = LinkPhase::start;
};

enum class Transfers : std::uint8_t { pause, restart };

struct Outages {
    struct Outage {
        Duration at;
        Duration length;
    };
    std::vector<Outage> schedule{};  // in order and not overlapping;
                                     // empty: random outages
    Duration mean_between{};         // from the end of one to the start of the next
    Duration mean_length{};
    Transfers transfers = Transfers::pause;
};

class LinkProcesses {
  public:
    /// Requires that the network outlives this object.
    LinkProcesses(Network& network, const RandomStreams& streams)
        : network_(network), streams_(streams) {}
    LinkProcesses(const LinkProcesses&) = delete;
    LinkProcesses& operator=(const LinkProcesses&) = delete;
    ~LinkProcesses();

    // Each of these takes effect from now on. Lengths must be above 0. An access has at most one
    // trace or on/off process, and any number of outages.
    void add_trace(const Access& access, std::shared_ptr<const LinkTrace> trace);
    void add_on_off(const Access& access, const OnOff& process);
    void add_outages(const Access& access, std::shared_ptr<const Outages> process);

  private:
    using Index = std::uint32_t;

    struct State {
        Access access;
        AccessBandwidth bandwidth;  // outside outages
        Time up_changes = never;    // next change of it, if a transfer may have to wait for that
        Time down_changes = never;
        Time back = Time::min();  // the end of all outages that have begun
        std::uint64_t processes = 0;
        bool has_source = false;
    };
    struct Trace {
        std::shared_ptr<const LinkTrace> trace;
        Time begin;            // of the current period; may be before the run
        std::size_t next = 0;  // row
    };
    struct Alternation {
        OnOff process;
        RandomStream random;
        bool on = false;                  // also false before the process begins
        std::optional<Duration> first{};  // remaining part of the first length
    };
    struct Interruption {
        std::shared_ptr<const Outages> process;
        RandomStream random;
        Time begin;
        std::size_t next = 0;  // index in the schedule
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
    // Applies the next change of each kind. Returns the time of the following change, or `never`.
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
