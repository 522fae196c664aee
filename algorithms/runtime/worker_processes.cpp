#include "algorithms/runtime/worker_processes.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/network/network_observer.hpp"

namespace paceline {

namespace {

// Keeps the streams of returning nodes' model copies apart from all others.
constexpr Stream copy_streams = Stream{1} << 61U;

Task<> all_copies(std::vector<Task<>> tasks) {
    co_await when_all(std::move(tasks));
}

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
    const FailureDomains& domains = cluster.lives().domains();
    nodes_.resize(static_cast<std::size_t>(domains.count()));
    cluster_.lives().on_join = [this, &domains](int node, int first) {
        const int from = domains.of(first);
        const bool fetches = failures_.return_from == ReturnFrom::joined_peer && node != from;
        spawn(node, fetches ? std::optional(from) : std::nullopt);
    };
    if (Membership* membership = cluster_.lives().membership())
        membership->on_stall = [this] { update_what_keeps_the_run_alive(); };
}

void WorkerProcesses::begin() {
    spawn_servers();
    const auto count = static_cast<int>(nodes_.size());
    for (int node = 0; node < count; ++node) plan_next_absence(node);
    const bool whole = std::ranges::none_of(nodes_, is_missing);
    if (restarts_all() && !whole) return;
    for (int node = 0; node < count; ++node)
        if (!is_missing(nodes_[static_cast<std::size_t>(node)])) spawn(node);
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
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (nodes_[node].stage != Stage::spare) continue;
        nodes_[node].stage = Stage::away;
        simulation().after(
            Duration::zero(),
            action<&WorkerProcesses::come_back>(*this, static_cast<std::uint32_t>(node)),
            EventKind::standby);
    }
}

std::string WorkerProcesses::missing_nodes_text() const {
    std::string text;
    for (std::size_t number = 0; number < nodes_.size(); ++number) {
        const Node& node = nodes_[number];
        if (!is_missing(node)) continue;
        text += fmt::format("{}{} {} died at {:.6g} s{}", text.empty() ? "" : "; ", program_.name,
                            number, to_seconds(node.left.time_since_epoch()),
                            is_lost(node) ? " and never returns" : "");
    }
    return text;
}

// Absent nodes are charged for their time until the end, or until they begin again.
void WorkerProcesses::count_absences() {
    for (int node = 0; std::cmp_less(node, nodes_.size()); ++node) count_absence(node);
}

// A node that is ready but has not joined still counts as away. Under OnDeath::restart it waits for
// the other dead nodes instead.
void WorkerProcesses::count_absence(int number) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.process != nullptr) return;
    const WaitFor what =
        is_missing(node) || !restarts_all() ? WaitFor::own_return : WaitFor::the_dead;
    for (const int rank : workers_of(number))
        notify(cluster_.observer().waited, network_.in_network(rank), what, node.idle_since,
               simulation().now());
    node.idle_since = simulation().now();
}

void WorkerProcesses::end_process(int number) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.process == nullptr) return;
    node.process.reset();
    node.idle_since = simulation().now();
    for (const int rank : workers_of(number))
        notify(cluster_.observer().dies, network_.in_network(rank));
}

void WorkerProcesses::spawn(int number, std::optional<int> fetches_from) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    count_absence(number);
    node.stage = Stage::working;
    node.process = std::make_unique<Processes>(simulation());
    const auto fetched = std::make_shared<Signal>();
    for (const int rank : workers_of(number))
        node.process->spawn(name_of_process(number, rank),
                            work_of(number, rank, fetches_from, fetched));
}

// The first worker of a node fetches the model for all of them.
Task<> WorkerProcesses::work_of(int number, int rank, std::optional<int> fetches_from,
                                std::shared_ptr<Signal> fetched) {
    if (!fetches_from) return program_.run(cluster_.worker(rank));
    if (rank == workers_of(number).front())
        return fetch_and_run(number, *fetches_from, std::move(fetched));
    return run_once_fetched(rank, std::move(fetched));
}

std::string WorkerProcesses::name_of_process(int number, int rank) const {
    return workers_of(number).size() == 1 ? fmt::format("{} {}", program_.name, number)
                                          : fmt::format("device {}", rank);
}

// The workers have the model of `from` already; this is the time that it takes to arrive.
Task<> WorkerProcesses::fetch_and_run(int number, int from, std::shared_ptr<Signal> fetched) {
    const Time begin = simulation().now();
    if (!co_await fetch_model(number, from)) co_await copy_from_a_peer(number);
    fetched->fire();
    const int first = workers_of(number).front();
    notify(cluster_.observer().waited, network_.in_network(first), WaitFor::own_return, begin,
           simulation().now());
    co_await program_.run(cluster_.worker(first));
}

Task<> WorkerProcesses::run_once_fetched(int rank, std::shared_ptr<Signal> fetched) {
    const Time begin = simulation().now();
    co_await wait_for(std::move(fetched), {"the model of its node"});
    notify(cluster_.observer().waited, network_.in_network(rank), WaitFor::own_return, begin,
           simulation().now());
    co_await program_.run(cluster_.worker(rank));
}

// Returns false if the node that sends its model dies before the last byte has arrived.
Task<bool> WorkerProcesses::fetch_model(int number, int from) {
    const auto first =
        co_await first_of(copy_models(number, from),
                          wait_for(cluster_.lives().membership()->death(workers_of(from).front()),
                                   {"the death of a node"}));
    co_return first.index() == 0;
}

Task<> WorkerProcesses::copy_models(int number, int from) {
    const std::vector<int>& workers = workers_of(number);
    const Bytes model = cluster_.weight_of_a_model();
    if (workers.size() == 1)
        return copy_model(network_, source_of(workers.front(), from), workers.front(), model);
    std::vector<Task<>> copies;
    for (std::size_t place = 0; place < workers.size(); ++place) {
        const Bytes own = failures_.keep_shards ? chunk(model, static_cast<int>(workers.size()),
                                                        static_cast<int>(place))
                                                : model;
        copies.push_back(
            copy_model(network_, source_of(workers[place], from), workers[place], own));
    }
    return all_copies(std::move(copies));
}

// Returns the worker of a node that sends its model to `rank`.
int WorkerProcesses::source_of(int rank, int node) const {
    return cluster_.lives().domains().counterpart(rank, node);
}

void WorkerProcesses::spawn_servers() {
    if (!program_.serve) return;
    for (int i = 0; i < program_.servers; ++i)
        cluster_.serve(cluster_.workers() + i, fmt::format("server {}", i),
                       program_.serve(cluster_.server(i)));
}

void WorkerProcesses::plan_next_absence(int number) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    node.absence = failures_.next_absence(number, simulation().now());
    if (!node.absence) return;
    const Time leaves = std::max(node.absence->leaves, simulation().now());
    if (leaves == never) return;
    if (leaves == Time{}) return leave(number);  // a late joiner
    simulation().at(leaves,
                    action<&WorkerProcesses::die>(*this, static_cast<std::uint32_t>(number)),
                    EventKind::daemon);
}

void WorkerProcesses::die(std::uint32_t number) {
    if (has_finished(nodes_[number])) return;
    ++deaths_;
    leave(static_cast<int>(number));
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

void WorkerProcesses::leave(int number) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    count_absence(number);  // no effect while it has a process
    node.stage = Stage::away;
    node.left = simulation().now();
    if (node.absence->returns != never)
        simulation().at(
            std::max(node.absence->returns, simulation().now()),
            action<&WorkerProcesses::come_back>(*this, static_cast<std::uint32_t>(number)),
            EventKind::standby);
    if (restarts_all()) {
        restart_.reset();
        for (int other = 0; std::cmp_less(other, nodes_.size()); ++other) {
            end_process(other);
            Stage& stage = nodes_[static_cast<std::size_t>(other)].stage;
            if (!is_missing(nodes_[static_cast<std::size_t>(other)])) stage = Stage::ready;
        }
    } else {
        end_process(number);
        cluster_.mark_away(number);
    }
    update_what_keeps_the_run_alive();
}

void WorkerProcesses::come_back(std::uint32_t number) {
    Node& node = nodes_[number];
    if (restarts_all()) return be_ready(static_cast<int>(number));
    if (cluster_.steps().over() && !returns_are_awaited()) {
        node.stage = Stage::spare;
        return;
    }
    for (const int rank : workers_of(static_cast<int>(number)))
        network_.host_returns(rank);  // before a copy of a model is sent to it
    node.stage = Stage::recovering;
    node.recovery.emplace(simulation().start(
        make_process(fmt::format("return of {} {}", program_.name, number), EventKind::standby),
        recover(static_cast<int>(number))));
}

Task<> WorkerProcesses::recover(int number) {
    if (failures_.return_from == ReturnFrom::checkpoint) {
        co_await simulation().sleep(failures_.checkpoints->read);
        const std::vector<Vector>& models = cluster_.lives().checkpoint().models;
        for (const int rank : workers_of(number))
            cluster_.worker(rank).model() =
                models[static_cast<std::size_t>(model_holder(number, rank))];
    }
    if (failures_.return_from == ReturnFrom::peer) co_await copy_from_a_peer(number);
    be_ready(number);
}

// The devices of an island have one model, that of the first.
int WorkerProcesses::model_holder(int number, int rank) const {
    return failures_.are_islands ? workers_of(number).front() : rank;
}

// Copies the models of the next node that is present. If that node dies during the copy, takes
// another. Copies nothing if no other node is present.
Task<> WorkerProcesses::copy_from_a_peer(int number) {
    const Membership& membership = *cluster_.lives().membership();
    const auto nodes = static_cast<int>(nodes_.size());
    const auto is_peer = [&](int other) {
        return other != number && membership.present(workers_of(other).front());
    };
    while (std::ranges::any_of(std::views::iota(0, nodes), is_peer)) {
        int peer = (number + 1) % nodes;
        while (!is_peer(peer)) peer = (peer + 1) % nodes;
        if (!co_await fetch_model(number, peer)) continue;
        for (const int rank : workers_of(number))
            cluster_.worker(rank).model() =
                cluster_.worker(model_holder(peer, source_of(rank, peer))).model();
        co_return;
    }
}

void WorkerProcesses::be_ready(int number) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    count_absence(number);
    node.stage = Stage::ready;
    plan_next_absence(number);
    if (!restarts_all()) {
        cluster_.lives().come_back(number);
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
    for (int node = 0; std::cmp_less(node, nodes_.size()); ++node) spawn(node);
    update_what_keeps_the_run_alive();
}

}  // namespace paceline
