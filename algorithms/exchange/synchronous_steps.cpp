#include "algorithms/exchange/synchronous_steps.hpp"

#include <optional>
#include <utility>

#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// The steps of one stage, one by one. Into forward, a step ends while its pieces are under way.
class StageOfSteps {
  public:
    StageOfSteps(Worker& self, SynchronousStage stage)
        : self_(self),
          into_forward_(stage.exchange->schedule.begin == Begin::into_forward),
          update_(std::move(stage.update)),
          exchange_(self, std::move(stage.exchange), std::move(stage.prepare)) {}

    Task<> step() { return into_forward_ ? step_into_forward() : step_with_update(); }
    // Not inlined, as the next one: few runs go into forward, and all would hold the frames.
    /// Waits for what is under way behind the last step.
    [[gnu::noinline]] Task<> arrive() {
        if (into_forward_) co_await exchange_.arrive(behind());
    }

  private:
    Task<> step_with_update() {
        const Vector aggregate = co_await exchange_.mean_gradient(self_.replicated_model());
        const std::int64_t k = self_.step();
        self_.once(k, [&] { update_(k, self_.learning_rate(), aggregate); });
        co_await self_.update();
    }
    [[gnu::noinline]] Task<> step_into_forward() {
        const double next = self_.learning_rate();
        co_await exchange_.step_into_forward(self_.replicated_model(), behind());
        gamma_ = next;
    }
    VectorExchange::Update behind() {
        return [this](std::int64_t k, const Vector& aggregate) {
            self_.once(k, [&] { update_(k, gamma_, aggregate); });
        };
    }

    Worker& self_;
    bool into_forward_;
    ReplicatedUpdate update_;
    VectorExchange exchange_;
    double gamma_ = 0;  // into forward: of the step whose pieces are under way
};

}  // namespace

Task<> synchronous_steps(Worker& self, SharedValue<ExchangeOptions> options,
                         ReplicatedUpdate update, Preparation prepare) {
    StageOfSteps steps(self, {std::move(options), std::move(update), std::move(prepare)});
    while (self.begins_step()) co_await steps.step();
    co_await steps.arrive();
}

Task<> synchronous_stages(Worker& self, std::int64_t steps, SynchronousStage warm_up,
                          SynchronousStage main) {
    PACELINE_CHECK(warm_up.exchange->schedule.begin != Begin::into_forward,
                   "the steps of a warm-up end with their exchange");
    StageOfSteps first(self, std::move(warm_up));
    StageOfSteps then(self, std::move(main));
    while (self.begins_step()) {
        if (self.step() < steps)
            co_await first.step();
        else
            co_await then.step();
    }
    co_await then.arrive();
}

}  // namespace paceline
