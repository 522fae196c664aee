#include "algorithms/runtime/worker_processes.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/network/network_observer.hpp"

namespace paceline {

namespace {

// Keeps the streams of returning nodes' model copies apart from all others.
constexpr Stream copy_streams = Stream{1} << 61U;

Task<> copy_model(NetworkPart network, int from, int to, Bytes size) {
    const Stream stream = copy_streams | static_cast<Stream>(to);
    co_await when_all(neighbor_exchange(network, from, {to}, {}, stream, size),
                      neighbor_exchange(network, to, {}, {from}, stream, size));
}

}  // namespace

WorkerProcesses::WorkerProcesses(NetworkPart network, Cluster& cluster, WorkerProgram program)
    : network_(network),
      cluster_(cluster),
      failures_(*cluster.lives().failures()),
      program_(std::move(program)) {
    nodes_.resize(static_cast<std::size_t>(cluster.workers()));
    cluster_.lives().on_join = [this](int rank, int first) {
        const bool fetches = failures_.return_from == ReturnFrom::joined_peer && rank != first;
        spawn(rank, fetches ? std::optional(first) : std::nullopt);
    };
    if (Membership* membership = cluster_.lives().membership())
        membership->on_stall = [this] { update_what_keeps_the_run_alive(); };
}

void WorkerProcesses::begin() {
    spawn_servers();
    for (int rank = 0; rank < cluster_.workers(); ++rank) plan_next_absence(rank);
    const bool whole = std::ranges::none_of(nodes_, is_missing);
    if (restarts_all() && !whole) return;
    for (int rank = 0; rank < cluster_.workers(); ++rank)
        if (!is_missing(nodes_[static_cast<std::size_t>(rank)])) spawn(rank);
}

bool WorkerProcesses::is_missing(const Node& node) {
    return node.stage == Stage::away || node.stage == Stage::spare ||
           node.stage == Stage::recovering;
}

bool WorkerProcesses::is_lost(const Node& node) {
    return node.stage == Stage::away && node.absence->returns == never;
}

bool WorkerProcesses::has_finished(const Node& node) {
    return node.process != nullptr && node.process->finished();
}

bool WorkerProcesses::finished() const {
    return std::ranges::any_of(nodes_, has_finished) &&
           std::ranges::all_of(nodes_, [](const Node& node) {
               return node.process == nullptr || has_finished(node);
           });
}

// Returns whether somebody waits for missing nodes, all of which return. Where nodes go on without
// the missing ones and none is left, one that returns goes on alone, even if others are lost.
bool WorkerProcesses::returns_are_awaited() const {
    if (failures_.on_death == OnDeath::go_on &&
        cluster_.lives().membership()->number_present() == 0)
        return true;
    if (std::ranges::any_of(nodes_, is_lost)) return false;
    if (restarts_all())
        return std::ranges::any_of(nodes_,
                                   [](const Node& node) { return node.stage != Stage::working; });
    const Membership& membership = *cluster_.lives().membership();
    return membership.number_present() == 0 || membership.somebody_stalls();
}

void WorkerProcesses::update_what_keeps_the_run_alive() {
    const bool awaited = returns_are_awaited();
    simulation().count_standby(awaited);
    if (awaited) call_spare_nodes();
}

// All nodes that took the last step may die before they have finished it. Those that had come back
// too late for it are then needed after all. They come from an event, because the caller may be in
// the middle of a change of the membership.
void WorkerProcesses::call_spare_nodes() {
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        if (nodes_[rank].stage != Stage::spare) continue;
        nodes_[rank].stage = Stage::away;
        simulation().after(
            Duration::zero(),
            action<&WorkerProcesses::come_back>(*this, static_cast<std::uint32_t>(rank)),
            EventKind::standby);
    }
}

std::string WorkerProcesses::missing_nodes_text() const {
    std::string text;
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        const Node& node = nodes_[rank];
        if (!is_missing(node)) continue;
        text += fmt::format("{}{} {} died at {:.6g} s{}", text.empty() ? "" : "; ", program_.name,
                            rank, to_seconds(node.left.time_since_epoch()),
                            is_lost(node) ? " and never returns" : "");
    }
    return text;
}

// Absent nodes are charged for their time until the end, or until they begin again.
void WorkerProcesses::count_absences() {
    for (int rank = 0; std::cmp_less(rank, nodes_.size()); ++rank) count_absence(rank);
}

// A node that is ready but has not joined still counts as away. Under OnDeath::restart it waits for
// the other dead nodes instead.
void WorkerProcesses::count_absence(int rank) {
    Node& node = nodes_[static_cast<std::size_t>(rank)];
    if (node.process != nullptr) return;
    const WaitFor what =
        is_missing(node) || !restarts_all() ? WaitFor::own_return : WaitFor::the_dead;
    notify(cluster_.observer().waited, network_.in_network(rank), what, node.idle_since,
           simulation().now());
    node.idle_since = simulation().now();
}

void WorkerProcesses::end_process(Node& node) {
    if (node.process == nullptr) return;
    node.process.reset();
    node.idle_since = simulation().now();
    notify(cluster_.observer().dies, network_.in_network(static_cast<int>(&node - nodes_.data())));
}

void WorkerProcesses::spawn(int rank, std::optional<int> fetches_from) {
    Node& node = nodes_[static_cast<std::size_t>(rank)];
    count_absence(rank);
    node.stage = Stage::working;
    node.process = std::make_unique<Processes>(simulation());
    node.process->spawn(fmt::format("{} {}", program_.name, rank),
                        fetches_from ? run_with_a_fetched_model(rank, *fetches_from)
                                     : program_.run(cluster_.worker(rank)));
}

// The worker has the model of `from` already; this is the time that it takes to arrive.
Task<> WorkerProcesses::run_with_a_fetched_model(int rank, int from) {
    const Time begin = simulation().now();
    if (!co_await fetch_model(rank, from)) co_await copy_from_a_peer(rank);
    notify(cluster_.observer().waited, network_.in_network(rank), WaitFor::own_return, begin,
           simulation().now());
    co_await program_.run(cluster_.worker(rank));
}

// Returns false if the node that sends its model dies before the last byte has arrived.
Task<bool> WorkerProcesses::fetch_model(int rank, int from) {
    const auto first = co_await first_of(
        copy_model(network_, from, rank, cluster_.weight_of_a_model()),
        wait_for(cluster_.lives().membership()->death(from), {"the death of a node"}));
    co_return first.index() == 0;
}

void WorkerProcesses::spawn_servers() {
    if (!program_.serve) return;
    for (int i = 0; i < program_.servers; ++i)
        cluster_.serve(cluster_.workers() + i, fmt::format("server {}", i),
                       program_.serve(cluster_.server(i)));
}

void WorkerProcesses::plan_next_absence(int rank) {
    Node& node = nodes_[static_cast<std::size_t>(rank)];
    node.absence = failures_.next_absence(rank, simulation().now());
    if (!node.absence) return;
    const Time leaves = std::max(node.absence->leaves, simulation().now());
    if (leaves == never) return;
    if (leaves == Time{}) return leave(rank);  // a late joiner
    simulation().at(leaves, action<&WorkerProcesses::die>(*this, static_cast<std::uint32_t>(rank)),
                    EventKind::daemon);
}

void WorkerProcesses::die(std::uint32_t rank) {
    if (has_finished(nodes_[rank])) return;
    ++deaths_;
    leave(static_cast<int>(rank));
    end_if_in_vain();
}

void WorkerProcesses::end_if_in_vain() {
    constexpr std::int64_t of_each_node = 100;
    const std::int64_t reached =
        restarts_all() ? cluster_.lives().checkpoint().step : cluster_.steps().begun();
    if (reached > furthest_) {
        furthest_ = reached;
        deaths_in_vain_ = 0;
    }
    const std::int64_t most =
        restarts_all() ? most_deaths_in_vain
                       : std::max(most_deaths_in_vain, of_each_node * std::ssize(nodes_));
    if (++deaths_in_vain_ < most) return;
    no_progress_ =
        fmt::format("{}s died {} times {} step {}, and none came further", program_.name,
                    deaths_in_vain_, restarts_all() ? "since the checkpoint of" : "in", furthest_);
    simulation().stop();
}

void WorkerProcesses::leave(int rank) {
    Node& node = nodes_[static_cast<std::size_t>(rank)];
    count_absence(rank);  // no effect while it has a process
    node.stage = Stage::away;
    node.left = simulation().now();
    if (node.absence->returns != never)
        simulation().at(
            std::max(node.absence->returns, simulation().now()),
            action<&WorkerProcesses::come_back>(*this, static_cast<std::uint32_t>(rank)),
            EventKind::standby);
    if (restarts_all()) {
        restart_.reset();
        for (Node& other : nodes_) {
            end_process(other);
            if (!is_missing(other)) other.stage = Stage::ready;
        }
    } else {
        end_process(node);
        cluster_.mark_away(rank);
    }
    update_what_keeps_the_run_alive();
}

void WorkerProcesses::come_back(std::uint32_t rank) {
    Node& node = nodes_[rank];
    if (restarts_all()) return be_ready(static_cast<int>(rank));
    if (cluster_.steps().over() && !returns_are_awaited()) {
        node.stage = Stage::spare;
        return;
    }
    network_.host_returns(static_cast<int>(rank));  // before a copy of a model is sent to it
    node.stage = Stage::recovering;
    node.recovery.emplace(simulation().start(
        make_process(fmt::format("return of {} {}", program_.name, rank), EventKind::standby),
        recover(static_cast<int>(rank))));
}

Task<> WorkerProcesses::recover(int rank) {
    Worker& worker = cluster_.worker(rank);
    if (failures_.return_from == ReturnFrom::checkpoint) {
        co_await simulation().sleep(failures_.checkpoints->read);
        worker.model() = cluster_.lives().checkpoint().models[static_cast<std::size_t>(rank)];
    }
    if (failures_.return_from == ReturnFrom::peer) co_await copy_from_a_peer(rank);
    be_ready(rank);
}

// Copies the model of the next node that is present. If that node dies during the copy, takes
// another. Copies nothing if no other node is present.
Task<> WorkerProcesses::copy_from_a_peer(int rank) {
    Membership& membership = *cluster_.lives().membership();
    const auto is_peer = [&](int other) { return other != rank && membership.present(other); };
    const auto others = std::views::iota(0, cluster_.workers());
    while (std::ranges::any_of(others, is_peer)) {
        int peer = (rank + 1) % cluster_.workers();
        while (!is_peer(peer)) peer = (peer + 1) % cluster_.workers();
        if (!co_await fetch_model(rank, peer)) continue;
        cluster_.worker(rank).model() = cluster_.worker(peer).model();
        co_return;
    }
}

void WorkerProcesses::be_ready(int rank) {
    Node& node = nodes_[static_cast<std::size_t>(rank)];
    count_absence(rank);
    node.stage = Stage::ready;
    plan_next_absence(rank);
    if (!restarts_all()) {
        cluster_.lives().come_back(rank);
    } else if (std::ranges::none_of(nodes_, is_missing)) {
        restart_.emplace(
            simulation().start(make_process("restart", EventKind::standby), begin_again()));
    }
    update_what_keeps_the_run_alive();
}

Task<> WorkerProcesses::begin_again() {
    Time last{};
    for (const Node& node : nodes_) last = std::max(last, node.left);
    const Time known = later(last, failures_.detection);
    if (known > simulation().now()) co_await simulation().sleep(known - simulation().now());
    if (failures_.checkpoints) co_await simulation().sleep(failures_.checkpoints->read);
    ++restarts_;
    cluster_.roll_back();
    spawn_servers();
    for (int rank = 0; rank < cluster_.workers(); ++rank) spawn(rank);
    update_what_keeps_the_run_alive();
}

}  // namespace paceline
