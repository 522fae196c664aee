#include "algorithms/exchange/synchronous_steps.hpp"

#include <memory>
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

    [[nodiscard]] bool goes_into_forward() const { return into_forward_; }
    // Not inlined: few runs go into forward, and all would hold the frames.
    [[gnu::noinline]] Task<> step_into_forward() {
        const double next = self_.learning_rate();
        co_await exchange_.step_into_forward(self_.replicated_model(), behind());
        gamma_ = next;
    }
    /// Waits for what is under way behind the last step into forward.
    [[gnu::noinline]] Task<> arrive() { return exchange_.arrive(behind()); }

    // Of any other step, which its caller takes without a frame of its own:
    Task<Vector> aggregate() { return exchange_.mean_gradient(self_.replicated_model()); }
    void update(const Vector& aggregate) {
        const std::int64_t k = self_.step();
        self_.once(k, [&] { update_(k, self_.learning_rate(), aggregate); });
    }

  private:
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

// The steps of a worker whose mean gradient is formed at once.
class AtOnce final : public StepsByMeans {
  public:
    AtOnce(Worker& self, SharedValue<ExchangeOptions> options, ReplicatedUpdate update)
        : self_(self), options_(std::move(options)), update_(std::move(update)) {}

    const Vector* begin() override {
        return self_.begins_step() ? &self_.replicated_model() : nullptr;
    }
    Task<> end(Vector mean) override {
        const std::int64_t k = self_.step();
        self_.once(k, [&] { update_(k, self_.learning_rate(), mean); });
        return self_.update();
    }

  private:
    Worker& self_;
    SharedValue<ExchangeOptions> options_;  // which all-reduce is part of
    ReplicatedUpdate update_;
};

// What a stage is made of; it is made when its worker begins.
using StagePtr = std::unique_ptr<SynchronousStage>;

std::unique_ptr<StageOfSteps> begun(Worker& self, StagePtr stage) {
    return stage == nullptr ? nullptr : std::make_unique<StageOfSteps>(self, std::move(*stage));
}

// Every worker is in here all the time, so the frame holds little.
Task<> steps_of(Worker& self, std::int64_t steps, StagePtr warm_up, StagePtr main) {
    const std::unique_ptr<StageOfSteps> first = begun(self, std::move(warm_up));
    const std::unique_ptr<StageOfSteps> then = begun(self, std::move(main));
    while (self.begins_step()) {
        StageOfSteps& stage = first != nullptr && self.step() < steps ? *first : *then;
        if (stage.goes_into_forward()) {
            co_await stage.step_into_forward();
            continue;
        }
        const Vector aggregate = co_await stage.aggregate();
        stage.update(aggregate);
        co_await self.update();
    }
    if (then->goes_into_forward()) co_await then->arrive();
}

}  // namespace

Task<> synchronous_steps(Worker& self, SharedValue<ExchangeOptions> options,
                         ReplicatedUpdate update, Preparation prepare) {
    if (!prepare.make && averages_at_once(*options)) {
        const AllReducePlan& how = options->aggregation.all_reduce;
        return self.mean_gradients(
            how, std::make_unique<AtOnce>(self, std::move(options), std::move(update)));
    }
    return steps_of(self, 0, nullptr,
                    std::make_unique<SynchronousStage>(std::move(options), std::move(update),
                                                       std::move(prepare)));
}

Task<> synchronous_stages(Worker& self, std::int64_t steps, SynchronousStage warm_up,
                          SynchronousStage main) {
    PACELINE_CHECK(warm_up.exchange->schedule.begin != Begin::into_forward,
                   "the steps of a warm-up end with their exchange");
    return steps_of(self, steps, std::make_unique<SynchronousStage>(std::move(warm_up)),
                    std::make_unique<SynchronousStage>(std::move(main)));
}

}  // namespace paceline
