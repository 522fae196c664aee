// Random networks whose hosts leave and return, whose streams are closed and whose links go down,
// against a naive simulator: messages in one list, lanes found by searching it, all rates solved
// anew at every change.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/messages/transfer.hpp"
#include "sim/network/network.hpp"
#include "tests/sim/network/progressive_filling.hpp"
#include "tests/sim/network/random_network.hpp"

namespace paceline::lives_against_reference_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr double infinity = std::numeric_limits<double>::infinity();

double ticks(Duration span) {
    return static_cast<double>(span.count());
}

struct Action {
    enum class Kind : std::uint8_t {
        send,
        receive,
        give_up,
        set_bandwidth,
        lose_flows,
        leave,
        come_back,
        close
    };
    Kind kind{};
    Duration at{};
    std::size_t number = 0;  // of the message or of the receive
    int from = 0;            // the host that leaves or returns
    int to = 0;
    Stream stream = 0;
    Bytes size{};  // no two messages have the same
    Protocol protocol{};
    LinkId link = 0;
    Bandwidth bandwidth{};
    std::vector<int> hosts{};

    [[nodiscard]] auto lane() const { return std::tuple(from, to, stream); }
};

struct Instance : RandomNetwork {
    std::vector<LinkId> back;  // links in pairs; empty: no link depends on its reverse link
    int hosts_per_node = 1;
    Transport transport;
    std::vector<Action> actions;
    std::size_t messages = 0;
    std::size_t receives = 0;
};

/// What happens to a message, in picoseconds; -1: it never does.
struct Life {
    double begun = -1;
    double drained = -1;
    double arrived = -1;
    double told = -1;       // when its sender was notified
    std::int64_t left = 0;  // bytes that have left its host
    bool lost = false;
};

struct Log {
    std::vector<Life> lives;
    std::vector<double> taken;  // [receive]
    double wasted = 0;
};

// ---- the reference ----

class Reference {
  public:
    explicit Reference(const Instance& instance)
        : instance_(instance),
          away_(static_cast<std::size_t>(instance.hosts)),
          busy_(static_cast<std::size_t>(instance.hosts)) {
        log_.lives.resize(instance.messages);
        log_.taken.assign(instance.receives, -1);
        for (const Link& link : instance.links) capacity_.push_back(link.capacity());
    }

    Log run() {
        std::size_t next_action = 0;
        while (true) {
            start_what_can();
            set_rates();
            double next = next_action < instance_.actions.size()
                              ? ticks(instance_.actions[next_action].at)
                              : infinity;
            for (const Message& m : messages_) next = std::min(next, due(m));
            if (next == infinity) return log_;
            pass(next);
            for (Message& m : messages_) go_on(m);
            std::erase_if(messages_, [](const Message& m) { return m.state == State::gone; });
            while (next_action < instance_.actions.size() &&
                   ticks(instance_.actions[next_action].at) <= now_)
                act(instance_.actions[next_action++]);
        }
    }

  private:
    enum class State : std::uint8_t { queued, overhead, slow, flows, crosses, gone };
    enum class Fate : std::uint8_t { kept, discarded, lost };
    struct Message {
        const Action* sent;
        State state = State::queued;
        Fate fate = Fate::kept;
        double left = 0;  // ticks of the overhead or the slow start, bytes, or ticks of the latency
        double rate = 0;  // of what is left
        double slow = 0;
        bool has_listener = true;
    };
    struct Receiver {
        const Action* asked;
    };

    bool crosses_network(const Action& a) const {
        return a.from / instance_.hosts_per_node != a.to / instance_.hosts_per_node;
    }
    Life& life(const Message& m) { return log_.lives[m.sent->number]; }
    static bool begun(const Message& m) { return m.state >= State::flows; }
    double due(const Message& m) const { return m.rate > 0 ? now_ + m.left / m.rate : infinity; }

    void pass(double next) {
        for (Message& m : messages_) m.left = std::max(0.0, m.left - m.rate * (next - now_));
        now_ = next;
    }

    // ---- what messages do by themselves ----

    void go_on(Message& m) {
        if (m.rate == 0 || m.left > m.rate * 1e-3) return;
        if (m.state == State::overhead) {
            auto& queue = busy_[static_cast<std::size_t>(m.sent->from)];
            queue.erase(queue.begin());
            wait(m, State::slow, m.slow);
        } else if (m.state == State::slow) {
            begin(m);
        } else if (m.state == State::flows) {
            drain(m, m.sent->size.count);
        } else if (m.state == State::crosses) {
            arrive(m);
        }
    }

    static void wait(Message& m, State state, double span) {
        m.state = state;
        m.left = span;
        m.rate = 1;
    }

    void set_out(Message& m) {
        const bool pays = crosses_network(*m.sent);
        m.slow = pays ? slow_start(*m.sent) : 0;
        if (!pays || instance_.transport.overhead == Duration{})
            return m.slow > 0 ? wait(m, State::slow, m.slow) : begin(m);
        wait(m, State::overhead, ticks(instance_.transport.overhead));
        busy_[static_cast<std::size_t>(m.sent->from)].push_back(m.sent->number);
    }

    double slow_start(const Action& a) {
        if (instance_.transport.first_window == 0_B || !open_.insert({a.from, a.to}).second)
            return 0;
        double rate = infinity;
        double round_trip = 0;
        for (const std::uint32_t link : instance_.route(a.from, a.to)) {
            rate = std::min(rate, static_cast<double>(capacity_[link].bits_per_second) / 8e12);
            round_trip += 2 * ticks(instance_.links[link].latency);
        }
        if (rate == 0) return 0;
        double lost = 0;
        double sent = 0;
        auto window = static_cast<double>(instance_.transport.first_window.count);
        for (; sent + window < static_cast<double>(a.size.count) && window / rate < round_trip;
             window *= 2) {
            lost += round_trip - window / rate;
            sent += window;
        }
        return lost;
    }

    void begin(Message& m) {
        life(m).begun = now_;
        m.state = State::flows;
        m.left = static_cast<double>(m.sent->size.count);
        m.rate = 0;
        if (m.left == 0) drain(m, 0);
    }

    void drain(Message& m, std::int64_t left) {
        life(m).drained = now_;
        life(m).left = left;
        if (m.has_listener) life(m).told = now_;
        m.has_listener = false;
        double latency = 0;
        for (const std::uint32_t link : instance_.route(m.sent->from, m.sent->to))
            latency += ticks(instance_.links[link].latency);
        wait(m, State::crosses, latency);
    }

    void arrive(Message& m) {
        m.state = State::gone;
        life(m).arrived = now_;
        life(m).lost = m.fate == Fate::lost;
        if (m.fate != Fate::kept) return;
        const auto receiver = first_receiver(*m.sent);
        if (receiver == receivers_.end())
            ++untaken_[m.sent->lane()];
        else
            take(receiver);
    }

    std::vector<Receiver>::iterator first_receiver(const Action& lane) {
        return std::ranges::find_if(receivers_, [&](const Receiver& receiver) {
            return receiver.asked->lane() == lane.lane();
        });
    }
    void take(std::vector<Receiver>::iterator receiver) {
        log_.taken[receiver->asked->number] = now_;
        receivers_.erase(receiver);
    }

    // ---- lanes ----

    // The first undrained message of each lane sets out if it may. A rendezvous message needs a
    // receiver beyond those that the messages before it count on.
    void start_what_can() {
        for (std::size_t i = 0; i < messages_.size();) {
            Message& m = messages_[i];
            if (m.state != State::queued || !is_first(i)) {
                ++i;
                continue;
            }
            if (m.sent->protocol == Protocol::rendezvous && m.fate != Fate::kept) {
                m.state = State::gone;
                messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
                i = 0;
                continue;
            }
            if (m.sent->protocol == Protocol::eager || has_receiver(m)) {
                set_out(m);
                i = 0;
                continue;
            }
            ++i;
        }
    }

    bool is_first(std::size_t i) const {
        for (std::size_t before = 0; before < i; ++before)
            if (messages_[before].sent->lane() == messages_[i].sent->lane() &&
                messages_[before].state < State::crosses)
                return false;
        return true;
    }

    bool has_receiver(const Message& m) const {
        const auto in_lane = [&](const auto& action) { return action.lane() == m.sent->lane(); };
        const auto wait = std::ranges::count_if(
            receivers_, [&](const Receiver& receiver) { return in_lane(*receiver.asked); });
        const auto promised = std::ranges::count_if(messages_, [&](const Message& other) {
            return in_lane(*other.sent) && other.fate == Fate::kept &&
                   other.state != State::queued && other.state != State::gone;
        });
        return wait > promised;
    }

    // ---- rates ----

    bool moves(const Message& m) const {
        return m.state == State::flows &&
               std::ranges::none_of(
                   instance_.route(m.sent->from, m.sent->to),
                   [&](std::uint32_t link) { return capacity_[link].bits_per_second == 0; });
    }
    bool is_busy(std::uint32_t link) const {
        return std::ranges::any_of(messages_, [&](const Message& m) {
            const auto& route = instance_.route(m.sent->from, m.sent->to);
            return moves(m) && std::ranges::find(route, link) != route.end();
        });
    }
    double bytes_per_tick(std::uint32_t link) const {
        const Bandwidth whole = capacity_[link];
        const bool shares = !instance_.back.empty() && is_busy(instance_.back[link]);
        const Bandwidth now = shares ? instance_.links[link].duplex_share * whole : whole;
        return static_cast<double>(now.bits_per_second) / 8e12;
    }

    void set_rates() {
        std::vector<double> capacity;
        for (std::uint32_t link = 0; link < capacity_.size(); ++link)
            capacity.push_back(bytes_per_tick(link));
        std::vector<std::vector<std::uint32_t>> routes;
        for (const Message& m : messages_)
            if (m.state == State::flows)
                routes.push_back(instance_.route(m.sent->from, m.sent->to));
        const std::vector<double> rates = progressive_filling(capacity, routes);
        std::size_t flow = 0;
        for (Message& m : messages_) {
            if (m.state == State::flows) m.rate = rates[flow++];
            if (m.state == State::overhead)  // one at a time
                m.rate = busy_[static_cast<std::size_t>(m.sent->from)].front() == m.sent->number;
        }
    }

    // ---- what others do to them ----

    void act(const Action& action) {
        switch (action.kind) {
            case Action::Kind::send:
                messages_.push_back({.sent = &action});
                if (away_[static_cast<std::size_t>(action.to)])
                    messages_.back().fate = Fate::discarded;
                break;
            case Action::Kind::receive: {
                receivers_.push_back({&action});
                int& untaken = untaken_[action.lane()];
                if (untaken == 0) break;
                --untaken;
                take(receivers_.end() - 1);
                break;
            }
            case Action::Kind::give_up:
                std::erase_if(receivers_, [&](const Receiver& receiver) {
                    return receiver.asked->number == action.number;
                });
                break;
            case Action::Kind::set_bandwidth: {
                Link link = instance_.links[action.link];
                link.bandwidth = action.bandwidth;
                capacity_[action.link] = link.capacity();
                break;
            }
            case Action::Kind::lose_flows:
                lose_flows(action.link);
                break;
            case Action::Kind::leave:
                leave(action.from);
                break;
            case Action::Kind::come_back:
                away_[static_cast<std::size_t>(action.from)] = false;
                break;
            case Action::Kind::close:
                close(action);
                break;
        }
    }

    void lose_flows(LinkId link) {
        for (Message& m : messages_) {
            const auto& route = instance_.route(m.sent->from, m.sent->to);
            if (m.state != State::flows || std::ranges::find(route, link) == route.end()) continue;
            const auto size = static_cast<double>(m.sent->size.count);
            if (crosses_network(*m.sent)) log_.wasted += size - m.left;
            m.left = size;
        }
    }

    void take_back(Message& m) {
        if (m.state == State::overhead)
            std::erase(busy_[static_cast<std::size_t>(m.sent->from)], m.sent->number);
        m.state = State::gone;
    }

    void leave(int host) {
        away_[static_cast<std::size_t>(host)] = true;
        std::erase_if(receivers_, [&](const Receiver& r) { return r.asked->to == host; });
        for (auto& [lane, untaken] : untaken_)
            if (std::get<1>(lane) == host) untaken = 0;
        for (Message& m : messages_) {
            if (m.sent->to == host && m.fate == Fate::kept) m.fate = Fate::discarded;
            if (m.sent->from != host) continue;
            m.has_listener = false;
            m.fate = Fate::lost;
            if (!begun(m)) take_back(m);
            if (m.state == State::flows)
                drain(m, m.sent->size.count - static_cast<std::int64_t>(std::ceil(m.left)));
        }
        std::erase_if(messages_, [](const Message& m) { return m.state == State::gone; });
    }

    void close(const Action& action) {
        const auto closes = [&](const Action& a) {
            return a.stream == action.stream && std::ranges::count(action.hosts, a.from) > 0 &&
                   std::ranges::count(action.hosts, a.to) > 0;
        };
        std::erase_if(receivers_, [&](const Receiver& r) { return closes(*r.asked); });
        for (Message& m : messages_) {
            if (!closes(*m.sent)) continue;
            untaken_[m.sent->lane()] = 0;
            m.has_listener = false;
            if (!begun(m)) take_back(m);
            if (m.fate == Fate::kept) m.fate = Fate::discarded;
        }
        for (auto& [lane, untaken] : untaken_)
            if (std::get<2>(lane) == action.stream &&
                std::ranges::count(action.hosts, std::get<0>(lane)) > 0 &&
                std::ranges::count(action.hosts, std::get<1>(lane)) > 0)
                untaken = 0;
        std::erase_if(messages_, [](const Message& m) { return m.state == State::gone; });
    }

    const Instance& instance_;
    Log log_;
    std::vector<Bandwidth> capacity_;
    std::vector<Message> messages_;    // first sent first
    std::vector<Receiver> receivers_;  // first asked first
    std::map<std::tuple<int, int, Stream>, int> untaken_;
    std::vector<bool> away_;
    std::vector<std::vector<std::size_t>> busy_;  // [host]: messages that have its overhead in turn
    std::set<std::pair<int, int>> open_;
    double now_ = 0;
};

// ---- the network on the same instance ----

Fabric fabric_of(const Instance& instance) {
    Fabric fabric = instance.fabric();
    fabric.back = instance.back;
    fabric.machines = MachineSizes(instance.hosts_per_node);
    return fabric;
}

struct Run {
    const Instance& instance;
    Simulation simulation;
    Network network;
    NetworkObserver observer;
    Log log;
    std::map<std::int64_t, std::size_t> number_of_size;
    std::map<std::uint32_t, std::size_t> number_of_id;
    std::int64_t lost_bytes = 0;
    ProcessPtr process = make_process("the test");
    std::map<std::size_t, Pending<>> senders;
    std::map<std::size_t, Pending<>> receivers;
    Processes processes{simulation};

    explicit Run(const Instance& of)
        : instance(of), network(simulation, fabric_of(of), of.transport) {
        log.lives.resize(of.messages);
        log.taken.assign(of.receives, -1);
        for (const Action& action : of.actions)
            if (action.kind == Action::Kind::send)
                number_of_size[action.size.count] = action.number;
        observe();
    }

    [[nodiscard]] double now() const { return ticks(simulation.now().time_since_epoch()); }
    [[nodiscard]] const Action& sent(std::size_t number) const {
        return find(Action::Kind::send, number);
    }
    [[nodiscard]] const Action& asked(std::size_t number) const {
        return find(Action::Kind::receive, number);
    }
    [[nodiscard]] const Action& find(Action::Kind kind, std::size_t number) const {
        return *std::ranges::find_if(instance.actions, [&](const Action& action) {
            return action.kind == kind && action.number == number;
        });
    }
    void observe() {
        observer.begins = [this](std::uint32_t id, const NetworkObserver::Message& message) {
            number_of_id[id] = number_of_size.at(message.size.count);
            log.lives[number_of_id[id]].begun = now();
        };
        observer.drains = [this](std::uint32_t id, Bytes left) {
            Life& life = log.lives[number_of_id.at(id)];
            life.drained = now();
            life.left = left.count;
        };
        observer.arrives = [this](std::uint32_t id, bool lost) {
            const std::size_t number = number_of_id.at(id);
            Life& life = log.lives[number];
            life.arrived = now();
            life.lost = lost;
            const Action& message = sent(number);
            const int machine = instance.hosts_per_node;
            if (lost && message.from / machine != message.to / machine) lost_bytes += life.left;
            number_of_id.erase(id);
        };
        network.observe(&observer);
    }

    void act(const Action& action);
    void count_wasted() {
        for (int host = 0; host < instance.hosts; ++host)
            log.wasted += static_cast<double>(network.traffic(host).wasted.count);
    }
    /// Drops senders and receivers, so that nobody waits on these lanes.
    template <class Of>
    void drop(Of of_sender, Of of_receiver) {
        std::erase_if(senders, [&](const auto& one) { return of_sender(sent(one.first)); });
        std::erase_if(receivers, [&](const auto& one) { return of_receiver(asked(one.first)); });
    }
};

Task<> send_one(Run& run, const Action& message) {
    co_await Send(run.network, message.from, message.to, message.stream, message.size,
                  message.protocol);
    run.log.lives[message.number].told = run.now();
}

Task<> take_one(Run& run, const Action& receive) {
    co_await Receive(run.network, receive.to, receive.from, receive.stream);
    run.log.taken[receive.number] = run.now();
}

void Run::act(const Action& action) {
    using Condition = std::function<bool(const Action&)>;
    switch (action.kind) {
        case Action::Kind::send:
            senders.emplace(action.number, simulation.start(process, send_one(*this, action)));
            break;
        case Action::Kind::receive:
            receivers.emplace(action.number, simulation.start(process, take_one(*this, action)));
            break;
        case Action::Kind::give_up:
            receivers.erase(action.number);
            break;
        case Action::Kind::set_bandwidth:
            network.set_bandwidth(action.link, action.bandwidth);
            break;
        case Action::Kind::lose_flows:
            network.lose_flows(action.link);
            break;
        case Action::Kind::leave:
            drop(Condition([&](const Action& a) { return a.from == action.from; }),
                 Condition([&](const Action& a) { return a.to == action.from; }));
            network.host_leaves(action.from);
            break;
        case Action::Kind::come_back:
            network.host_returns(action.from);
            break;
        case Action::Kind::close: {
            const Condition closes = [&](const Action& a) {
                return a.stream == action.stream &&
                       std::ranges::binary_search(action.hosts, a.from) &&
                       std::ranges::binary_search(action.hosts, a.to);
            };
            drop(closes, closes);
            network.close(action.stream, action.hosts);
            break;
        }
    }
}

Task<> play(Run& run) {
    for (const Action& action : run.instance.actions) {
        co_await run.simulation.sleep(Time{action.at} - run.simulation.now());
        run.act(action);
    }
}

// ---- random instances ----

/// Draws actions, and knows which hosts are there.
class Play {
  public:
    Play(Instance& instance, Dice& dice) : instance_(instance), dice_(dice) {
        there_.assign(static_cast<std::size_t>(instance.hosts), true);
    }

    void draw() {
        std::vector<Duration> times;
        for (std::int64_t i = 10 + dice_.below(dice_.one_in(5) ? 150 : 50); i > 0; --i)
            times.push_back(Duration{dice_.below(15'000'000'000)});
        std::ranges::sort(times);
        for (const Duration at : times) {
            action_ = {.at = at};
            if (choose()) instance_.actions.push_back(action_);
        }
    }

  private:
    bool choose() {
        const std::int64_t kind = dice_.below(100);
        draw_lane();
        if (kind < 45) return send();
        if (kind < 75) return receive();
        if (kind < 80) return give_up();
        if (kind < 87) return change_link();
        if (kind < 90) return lose_flows();
        if (kind < 96) return leave_or_return();
        return close();
    }
    void draw_lane() {
        action_.from = static_cast<int>(dice_.below(instance_.hosts));
        const auto hop = static_cast<int>(1 + dice_.below(instance_.hosts - 1));
        action_.to = (action_.from + hop) % instance_.hosts;
        action_.stream = static_cast<Stream>(dice_.below(2));
    }
    bool is_there(int host) const { return there_[static_cast<std::size_t>(host)]; }

    bool send() {
        if (!is_there(action_.from)) return false;
        action_.kind = Action::Kind::send;
        action_.number = instance_.messages++;
        action_.protocol = dice_.one_in(2) ? Protocol::eager : Protocol::rendezvous;
        const std::int64_t thousands = dice_.one_in(8) ? 0 : dice_.below(400);
        action_.size = {1000 * thousands + static_cast<std::int64_t>(action_.number)};
        return true;
    }
    bool receive() {
        if (!is_there(action_.to)) return false;
        action_.kind = Action::Kind::receive;
        action_.number = instance_.receives++;
        return true;
    }
    bool give_up() {
        if (instance_.receives == 0) return false;
        action_.kind = Action::Kind::give_up;
        action_.number =
            static_cast<std::size_t>(dice_.below(static_cast<std::int64_t>(instance_.receives)));
        return true;
    }
    bool change_link() {
        action_.kind = Action::Kind::set_bandwidth;
        draw_link();
        action_.bandwidth = dice_.one_in(2) ? Bandwidth{0} : dice_.bandwidth();
        return true;
    }
    bool lose_flows() {
        action_.kind = Action::Kind::lose_flows;
        draw_link();
        return true;
    }
    void draw_link() {
        action_.link = static_cast<LinkId>(dice_.below(std::ssize(instance_.links)));
    }
    bool leave_or_return() {
        const auto host = static_cast<std::size_t>(action_.from);
        action_.kind = there_[host] ? Action::Kind::leave : Action::Kind::come_back;
        there_[host] = !there_[host];
        return true;
    }
    bool close() {
        action_.kind = Action::Kind::close;
        for (int host = 0; host < instance_.hosts; ++host)
            if (!dice_.one_in(4)) action_.hosts.push_back(host);
        return true;
    }

    Instance& instance_;
    Dice& dice_;
    Action action_;
    std::vector<bool> there_;
};

Instance random_instance(std::uint64_t seed) {
    Dice dice(seed);
    Instance instance;
    instance.draw(dice);
    if (dice.one_in(3)) {
        if (instance.links.size() % 2 == 1) instance.links.push_back(instance.links.front());
        for (LinkId link = 0; link < instance.links.size(); ++link) {
            instance.links[link].duplex_share = 0.7;
            instance.back.push_back(link ^ 1U);
        }
    }
    instance.hosts_per_node = dice.one_in(4) ? 2 : 1;
    if (dice.one_in(3)) instance.transport.overhead = Duration{1 + dice.below(300'000'000)};
    if (dice.one_in(3)) instance.transport.first_window = {14'480};
    Play(instance, dice).draw();
    return instance;
}

void require_same(const Log& log, const Log& expected) {
    for (std::size_t i = 0; i < log.lives.size(); ++i) {
        CAPTURE(i);
        const Life& one = log.lives[i];
        const Life& other = expected.lives[i];
        REQUIRE(distance_in_roundings(one.begun, other.begun) <= 1);
        REQUIRE(distance_in_roundings(one.drained, other.drained) <= 1);
        REQUIRE(distance_in_roundings(one.arrived, other.arrived) <= 1);
        REQUIRE(distance_in_roundings(one.told, other.told) <= 1);
        REQUIRE(std::abs(one.left - other.left) <= 1);
        REQUIRE(one.lost == other.lost);
    }
    for (std::size_t i = 0; i < log.taken.size(); ++i) {
        CAPTURE(i);
        REQUIRE(distance_in_roundings(log.taken[i], expected.taken[i]) <= 1);
    }
    REQUIRE(std::abs(log.wasted - expected.wasted) <= static_cast<double>(log.lives.size()));
}

/// Every byte that has been sent was received, or its sender has died.
void require_conserved_bytes(const Run& run) {
    Bytes sent;
    Bytes received;
    for (int host = 0; host < run.instance.hosts; ++host) {
        sent += run.network.traffic(host).sent;
        received += run.network.traffic(host).received;
    }
    REQUIRE(sent == received + Bytes{run.lost_bytes});
}

void require_nothing_left(Run& run) {
    run.senders.clear();
    run.receivers.clear();
    std::vector<int> all;
    for (int host = 0; host < run.instance.hosts; ++host) all.push_back(host);
    run.network.close(0, all);
    run.network.close(1, all);
    for (LinkId link = 0; link < run.network.links(); ++link)
        run.network.set_bandwidth(link, 1_Gbps);
    REQUIRE(run.simulation.run() == RunEnd::idle);
    REQUIRE(run.network.messages() == 0);
    REQUIRE(run.network.lanes() == 0);
    REQUIRE(run.network.flows_in_flight() == 0);
    require_conserved_bytes(run);
}

TEST_CASE("network, property: lives of messages are as the reference says, and nothing is left") {
    std::size_t begun = 0;
    std::size_t never = 0;
    std::size_t lost = 0;
    std::size_t arrived = 0;
    std::size_t taken = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        const Instance instance = random_instance(seed);
        Run run(instance);
        run.processes.spawn("play", play(run));

        REQUIRE(run.simulation.run() == RunEnd::idle);

        run.count_wasted();
        require_same(run.log, Reference(instance).run());
        for (const Life& life : run.log.lives) {
            (life.begun >= 0 ? begun : never) += 1;
            lost += life.lost ? 1 : 0;
            arrived += life.arrived >= 0 && !life.lost ? 1 : 0;
        }
        for (const double at : run.log.taken) taken += at >= 0 ? 1 : 0;
        require_nothing_left(run);
    }
    CHECK(begun > 20'000);  // the instances cover what they should
    CHECK(never > 20'000);
    CHECK(lost > 4000);
    CHECK(arrived > 10'000);
    CHECK(taken > 3000);
}

}  // namespace
}  // namespace paceline::lives_against_reference_test
