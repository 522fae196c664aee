// The processes of a job whose nodes fail: who dies, who comes back, and with what.
//
// When a node leaves, its process is dropped where it stands. It comes back as Failures says, and
// its algorithm begins anew at the step that it joins in. Under OnDeath::restart the death of one
// drops all; when none is away, all begin at the step of the last checkpoint.
//
// A death is no reason to go on: it keeps no run from its end. A return is one only if somebody
// waits for it, and nobody for a node that never returns; so a run whose nodes wait for one that is
// gone ends, whatever else would go on failing and returning, and `who_is_gone` names it. Servers
// do not fail.
//
// A node that has taken all its steps cannot die any more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/cluster.hpp"
#include "algorithms/failures.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

struct CrewWork {
    std::function<Task<>(Worker&)> run;
    std::function<Task<>(Worker&)> serve{};  // of each server
    int servers = 0;
    std::string name = "node";  // of a process
};

class Crew {
  public:
    /// Requires that the cluster's job has failures, and that all outlive the crew.
    Crew(NetworkPart network, Cluster& cluster, CrewWork work);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Spawns who is there, and sets the clocks. Once.
    void begin();

    /// Whether all who are there have taken their steps.
    [[nodiscard]] bool finished() const;
    /// Names the nodes that are away; empty if none is.
    [[nodiscard]] std::string who_is_gone() const;
    /// Books the time of those who are not there, in the workers' TimeUse. Once, at the end.
    void settle();
    [[nodiscard]] std::int64_t deaths() const { return deaths_; }
    [[nodiscard]] std::int64_t restarts() const { return restarts_; }

  private:
    struct Node {
        std::unique_ptr<Processes> process;  // null while it is away or waits to join
        std::optional<Absence> absence;      // the next one, or the one under way
        bool away = false;                   // from its death until it has come back with a model
        Time left{};                         // the last time, if it has
        Time idle_since{};                   // without a process, what is booked already left out
        EventId comes_back{};
        bool back_is_planned = false;  // comes_back is an event to come
        bool is_waited_for = false;    // that event keeps the run going
        std::optional<Pending<>> coming_back;
    };

    [[nodiscard]] Simulation& simulation() const { return network_.simulation(); }
    [[nodiscard]] bool restarts_all() const { return failures_.on_death == OnDeath::restart; }
    [[nodiscard]] bool has_finished(const Node& node) const;
    void spawn(int rank);
    void spawn_servers();
    void plan_next_absence(int rank);
    void die(std::uint32_t rank);
    void leave(int rank);
    void count_absence(int rank);
    void end_process(Node& node);
    void plan_return(int rank, bool is_waited_for);
    void wait_for_all();
    void come_back(std::uint32_t rank);
    Task<> recover(int rank);
    Task<> copy_from_a_peer(int rank);
    Task<> begin_again();
    void is_back(int rank);

    NetworkPart network_;
    Cluster& cluster_;
    Failures failures_;
    CrewWork work_;
    std::vector<Node> nodes_;
    std::int64_t deaths_ = 0;
    std::int64_t restarts_ = 0;
    std::optional<Pending<>> restart_;
};

}  // namespace paceline
