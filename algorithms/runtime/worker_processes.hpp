// The worker processes of a job whose nodes fail: deaths, returns and restarts.
//
// A node is a domain (failure_domains.hpp): one worker, or all those of a machine or an island. When
// it leaves, the processes of its workers are destroyed at their current suspension points. The node
// returns as Failures says, and its algorithm starts anew at the step that the node joins in. Under
// OnDeath::restart one death destroys all processes; once no node is missing, all start at the step
// of the last checkpoint.
//
//            dies             returns                 has a model           joins
//   working ------->  away  ----------->  recovering -------------> ready --------> working
//                      ^                                              |
//                      +----------------------- dies -----------------+
//
// Under OnDeath::restart a death makes the nodes that work ready, a node that returns is ready at
// once (all read the checkpoint together later), and all join when all are ready.
//
// Pending deaths do not keep the simulation alive. Returns, recoveries and restarts are standby
// events: they do so only while somebody waits for a missing node and every missing node returns.
// So a run ends when those present have taken their steps, however long a return would still take;
// and so does a run whose nodes wait for a lost node, even if other nodes would keep failing and
// returning (`missing_nodes_text` lists the missing). Servers do not fail.
//
// A node that has taken all its steps can no longer die.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/lives/failures.hpp"
#include "algorithms/runtime/cluster.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/signal.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

struct WorkerProgram {
    std::function<Task<>(Worker&)> run;
    std::function<Task<>(Worker&)> serve{};  // runs on each server
    int servers = 0;
    std::string name = "node";  // of a domain
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
    /// Returns why the run was ended before its end: nodes died over and over and none came further
    /// (see failures.hpp). Empty if it was not.
    [[nodiscard]] const std::string& no_progress() const { return no_progress_; }

  private:
    /// Where a node is in its life. Its process runs only while it works.
    enum class Stage : std::uint8_t {
        working,     // or done: it has taken all its steps
        away,        // dead, or not there yet
        spare,       // back, but no step was left to join and nobody waited for it
        recovering,  // back, and getting a model
        ready,       // waits: to join in a step, or under OnDeath::restart for all others
    };
    struct Node {
        Stage stage = Stage::working;
        std::unique_ptr<Processes> process;  // those of its workers, while it works
        std::optional<Pending<>> recovery;   // the last one, in progress while recovering
        std::optional<Absence> absence;      // the next one, or the one in progress
        Time left{};                         // when it last left, if it ever has
        Time idle_since{};                   // since when its time without a process is unbooked
    };

    [[nodiscard]] Simulation& simulation() const { return network_.simulation(); }
    [[nodiscard]] bool restarts_all() const { return failures_.on_death == OnDeath::restart; }
    [[nodiscard]] static bool is_missing(const Node& node);
    [[nodiscard]] static bool is_lost(const Node& node);
    [[nodiscard]] static bool has_finished(const Node& node);
    [[nodiscard]] bool returns_are_awaited() const;
    void update_what_keeps_the_run_alive();
    void call_spare_nodes();
    [[nodiscard]] const std::vector<int>& workers_of(int number) const {
        return cluster_.lives().domains().members(number);
    }
    [[nodiscard]] std::string name_of_process(int number, int rank) const;
    [[nodiscard]] int source_of(int rank, int node) const;
    [[nodiscard]] int model_holder(int number, int rank) const;
    void spawn(int number, std::optional<int> fetches_from = {});
    Task<> work_of(int number, int rank, std::optional<int> fetches_from,
                   std::shared_ptr<Signal> fetched);
    Task<> fetch_and_run(int number, int from, std::shared_ptr<Signal> fetched);
    Task<> run_once_fetched(int rank, std::shared_ptr<Signal> fetched);
    Task<bool> fetch_model(int number, int from);
    Task<> copy_models(int number, int from);
    void spawn_servers();
    void plan_next_absence(int number);
    void die(std::uint32_t number);
    void end_if_in_vain();
    void leave(int number);
    void end_process(int number);
    void count_absence(int number);
    void come_back(std::uint32_t number);
    Task<> recover(int number);
    Task<> copy_from_a_peer(int number);
    void be_ready(int number);
    Task<> begin_again();

    NetworkPart network_;
    Cluster& cluster_;
    Failures failures_;
    WorkerProgram program_;
    std::vector<Node> nodes_;  // by domain
    std::int64_t deaths_ = 0;
    std::int64_t restarts_ = 0;
    std::int64_t furthest_ = 0;        // step that was reached for good
    std::int64_t deaths_in_vain_ = 0;  // since then
    std::string no_progress_;
    std::optional<Pending<>> restart_;
};

}  // namespace paceline
