// The worker processes of a job whose nodes fail: deaths, returns and restarts.
//
// When a node leaves, its process is destroyed at its current suspension point. The node returns as
// Failures says, and its algorithm starts anew at the step that the node joins in. Under
// OnDeath::restart one death destroys all processes; once no node is away, all start at the step of
// the last checkpoint.
//
// Pending deaths do not keep the simulation alive. A pending return does only if some process waits
// for that node, and no process waits for a node that never returns. So a run whose nodes wait for
// a lost node ends, even if other nodes would keep failing and returning, and `missing_nodes_text` lists
// the missing nodes. Servers do not fail.
//
// A node that has taken all its steps can no longer die.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/failures.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

struct WorkerProgram {
    std::function<Task<>(Worker&)> run;
    std::function<Task<>(Worker&)> serve{};  // runs on each server
    int servers = 0;
    std::string name = "node";  // prefix of process names
};

class WorkerProcesses {
  public:
    /// Requires that the cluster's job has failures, and that all arguments outlive this object.
    WorkerProcesses(NetworkPart network, Cluster& cluster, WorkerProgram program);
    WorkerProcesses(const WorkerProcesses&) = delete;
    WorkerProcesses& operator=(const WorkerProcesses&) = delete;

    /// Spawns the nodes that are present and schedules failures. Call once.
    void begin();

    /// Returns whether all nodes that are present have taken their steps.
    [[nodiscard]] bool finished() const;
    /// Lists the nodes that are away; empty if none is.
    [[nodiscard]] std::string missing_nodes_text() const;
    /// Records the time of absent nodes in the workers' TimeUse. Call once, at the end.
    void count_absences();
    [[nodiscard]] std::int64_t deaths() const { return deaths_; }
    [[nodiscard]] std::int64_t restarts() const { return restarts_; }

  private:
    struct Node {
        std::unique_ptr<Processes> process;  // null while it is away or waits to join
        std::optional<Absence> absence;      // the next one, or the one in progress
        bool away = false;                   // from its death until it has come back with a model
        Time left{};                         // when it last left, if it ever has
        Time idle_since{};                   // since when its time without a process is unbooked
        EventId comes_back{};
        bool back_is_planned = false;  // comes_back is a scheduled event
        bool is_waited_for = false;    // that event keeps the run alive
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
    WorkerProgram program_;
    std::vector<Node> nodes_;
    std::int64_t deaths_ = 0;
    std::int64_t restarts_ = 0;
    std::optional<Pending<>> restart_;
};

}  // namespace paceline
