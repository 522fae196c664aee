// Simulates messages on given links in SimGrid 3.32 (S4U) and prints when each is delivered.
//
//     simgrid_messages < DESCRIPTION
//
// A description is a text with one item per line, in this order of kinds. Everything is numbered
// from 0:
//     hosts COUNT
//     link BYTES_PER_SECOND LATENCY_SECONDS
//     route FROM TO LINK ...                           one way; only for pairs that send
//     message START_SECONDS FROM TO BYTES AFTER ...    starts at START, but not before the
//                                                      messages AFTER, of lower numbers, are
//                                                      delivered
// Prints one time in seconds per message, in the order of the messages.
//
// The model is CM02 without cross-traffic: fluid max-min sharing, with each link as a separate
// resource. TCP's window is out of reach. The precisions keep rounding far below 1e-4: a picosecond
// for times, and SimGrid's own 1e-5 bytes/s for rates.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

namespace {

namespace s4u = simgrid::s4u;

constexpr auto settings = std::to_array<const char*>({
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:1e30",
    "network/optim:Full",    // recomputes every rate at every change: the simplest way
    "surf/precision:1e-12",  // seconds
    "contexts/factory:raw",
    "contexts/stack-size:64",
    "contexts/guard-size:1",
});

struct Message {
    double start = 0;
    std::size_t from = 0;
    std::size_t to = 0;
    std::uint64_t bytes = 0;
    std::vector<std::size_t> after;
};

class Play {
  public:
    explicit Play(std::istream& description) {
        std::string line;
        while (std::getline(description, line)) {
            std::istringstream words(line);
            add(words);
            if (!words.eof()) throw std::runtime_error("cannot read: " + line);
        }
        zone_->seal();
    }

    void run(s4u::Engine& engine) {
        delivered_.resize(messages_.size(), -1);
        for (std::size_t number = 0; number < messages_.size(); ++number)
            actors_.push_back(s4u::Actor::create("message_" + std::to_string(number),
                                                 hosts_.at(messages_[number].from),
                                                 [this, number] { play(number); }));
        engine.run();
    }

    [[nodiscard]] const std::vector<double>& delivered() const { return delivered_; }

  private:
    void add(std::istringstream& words) {
        std::string kind;
        words >> kind;
        if (kind == "hosts") return add_hosts(words);
        if (kind == "link") return add_link(words);
        if (kind == "route") return add_route(words);
        if (kind == "message") return add_message(words);
        throw std::runtime_error("not a kind of line: " + kind);
    }

    // Reads the numbers up to the end of the line.
    static std::vector<std::size_t> read_numbers(std::istringstream& words) {
        std::vector<std::size_t> numbers;
        for (std::size_t number = 0; words >> number;) numbers.push_back(number);
        return numbers;
    }

    void add_hosts(std::istringstream& words) {
        std::size_t count = 0;
        words >> count;
        for (std::size_t host = 0; host < count; ++host) {
            hosts_.push_back(zone_->create_host("host_" + std::to_string(host), 1e9));
            hosts_.back()->seal();
        }
    }

    void add_link(std::istringstream& words) {
        double bytes_per_second = 0;
        double latency = 0;
        words >> bytes_per_second >> latency;
        links_.push_back(
            zone_->create_link("link_" + std::to_string(links_.size()), bytes_per_second));
        links_.back()->set_latency(latency)->seal();
    }

    void add_route(std::istringstream& words) {
        std::size_t from = 0;
        std::size_t to = 0;
        words >> from >> to;
        std::vector<s4u::LinkInRoute> way;
        for (const std::size_t link : read_numbers(words)) way.emplace_back(links_.at(link));
        zone_->add_route(hosts_.at(from)->get_netpoint(), hosts_.at(to)->get_netpoint(), nullptr,
                         nullptr, way, false);
    }

    void add_message(std::istringstream& words) {
        Message message;
        words >> message.start >> message.from >> message.to >> message.bytes;
        message.after = read_numbers(words);
        messages_.push_back(message);
    }

    void play(std::size_t number) {
        const Message& message = messages_[number];
        s4u::this_actor::sleep_until(message.start);
        for (const std::size_t before : message.after) actors_.at(before)->join();
        s4u::Comm::sendto(hosts_.at(message.from), hosts_.at(message.to), message.bytes);
        delivered_[number] = s4u::Engine::get_clock();
    }

    s4u::NetZone* zone_ = s4u::create_full_zone("wires");
    std::vector<s4u::Host*> hosts_;
    std::vector<s4u::Link*> links_;
    std::vector<Message> messages_;
    std::vector<s4u::ActorPtr> actors_;  // one per message
    std::vector<double> delivered_;
};

}  // namespace

int main(int argc, char** argv) {
    xbt_log_control_set("xbt_cfg.thres:warning");  // no log line for each setting below
    s4u::Engine engine(&argc, argv);
    for (const char* const setting : settings) s4u::Engine::set_config(setting);
    try {
        Play play(std::cin);
        play.run(engine);
        for (const double time : play.delivered()) std::printf("%.17g\n", time);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "simgrid_messages: %s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
