#include "algorithms/islands/led_islands.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/mail/letter.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/signal.hpp"

namespace paceline {

namespace {

constexpr int box_of_orders = 1 << 16;  // beyond those of methods

// Orders, as the numbers of letters: the step of a gradient, whose letter has x, or one of these.
constexpr double order_to_update = -1;
constexpr double order_to_end = -2;
constexpr double orders_to_hear_news = -3;  // of so many vectors less this

// The first device of an island, as the island and as the inner method that the others follow.
class LeadingDevice final : public InnerMethod {
  public:
    LeadingDevice(Worker& device, SharedValue<IslandOptions> options)
        : device_(device),
          options_(std::move(options)),
          island_(island_of(device.rank(), *options_)),
          inside_(device.among(device.group(island_.members()))),
          inner_(inner_method(inside_, *options_, island_.number)),
          self_(device.as(island_)) {
        island_.inner = this;
        island_.acts_for = static_cast<int>(island_.members().size());
    }

    [[nodiscard]] Worker& self() { return self_; }

    Task<Vector> mean_gradient(const Vector& x) override {
        if (const int vectors = std::exchange(island_.news, 0); vectors > 0) {
            co_await order({.number = orders_to_hear_news - vectors});
            co_await inside_.exchange(messages_inside(island_, vectors * device_.weigh(x)),
                                      name_inside(island_));
        }
        co_await order({.vector = x, .number = static_cast<double>(device_.step())});
        co_return co_await inner_->mean_gradient(x);
    }
    Task<> update() override {
        co_await order({.number = order_to_update});
        co_await inner_->update();
    }
    [[nodiscard]] bool keeps_shards() const override { return inner_->keeps_shards(); }

    Task<> end() { return order({.number = order_to_end}); }

  private:
    Task<> order(Letter letter) {
        for (const int follower : island_.members())
            if (follower != island_.members().front())
                co_await device_.mail().post(follower, box_of_orders, letter, Bytes{0});
    }

    Worker& device_;
    SharedValue<IslandOptions> options_;
    Island island_;
    Worker inside_;
    std::unique_ptr<InnerMethod> inner_;
    Worker self_;
};

// Services of the method refer to what this keeps, and go on after its end, or its death.
Task<> keep(std::shared_ptr<LeadingDevice> /*kept*/) {
    Signal never_comes;
    co_await never_comes.happened({"the end of the run"});
}

Task<> lead(Worker& device, SharedValue<IslandOptions> options,
            std::function<Task<>(Worker&)> outer) {
    const auto leading = std::make_shared<LeadingDevice>(device, std::move(options));
    device.serve(keep(leading));
    co_await outer(leading->self());
    co_await leading->end();
}

// Takes the steps up to this one, which begin when the first device's do.
void catch_up(Worker& device, std::int64_t step) {
    while (device.step() < step && device.begins_step()) {
    }
}

Task<> follow(Worker& device, SharedValue<IslandOptions> options) {
    const Island island = island_of(device.rank(), *options);
    Worker inside = device.among(device.group(island.members()));
    const std::unique_ptr<InnerMethod> inner = inner_method(inside, *options, island.number);
    device.follow(island.members().front());
    while (true) {
        const Letter order = co_await device.mail().next_letter(box_of_orders);
        if (order.number == order_to_end) break;
        if (order.number == order_to_update) {
            co_await inner->update();
        } else if (order.number < orders_to_hear_news) {
            const int vectors = static_cast<int>(orders_to_hear_news - order.number);
            const Bytes size = device.weigh(device.current_model());
            co_await inside.exchange(messages_inside(island, vectors * size), name_inside(island));
        } else {
            catch_up(device, static_cast<std::int64_t>(order.number));
            co_await inner->mean_gradient(*order.vector);
        }
    }
    while (device.begins_step()) {
    }
}

}  // namespace

Task<> on_led_islands(Worker& device, SharedValue<IslandOptions> options,
                      std::function<Task<>(Worker&)> outer) {
    if (island_of(device.rank(), *options).place == 0)
        return lead(device, std::move(options), std::move(outer));
    return follow(device, std::move(options));
}

Task<> serve_islands(Worker& server, SharedValue<IslandOptions> options,
                     std::function<Task<>(Worker&)> serve) {
    const auto islands = static_cast<int>(options->members.size());
    const Island beside{.of_all = &options->members, .number = islands};
    Worker self = server.as(beside);
    co_await serve(self);
}

}  // namespace paceline
