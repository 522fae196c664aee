#include "algorithms/coders/one_bit_all_reduce.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/all_to_all.hpp"

namespace paceline {

namespace {

constexpr Bytes scale_bytes{4};

Task<> exchange_buffer(Worker& self, OneBitBuffer buffer, OneBitPlanPtr plan, GroupPtr group) {
    const CodingCost& coding = plan->coding;
    const AllToAll how = plan->all_to_all;
    const std::int64_t chunk = buffer.padded / self.workers();
    const Bytes signs{chunk / 8};
    co_await self.compute(coding_time(coding, 2, buffer.padded));
    co_await self.exchange([how, signs](const Rank& rank) { return all_to_all(how, rank, signs); },
                           "all-to-all", group);
    co_await self.all_gather(scale_bytes, AllGather::ring, group);
    co_await self.compute(coding_time(coding, 1, buffer.padded + 2 * chunk));
    co_await self.all_gather(signs, AllGather::ring, group);
    co_await self.all_gather(scale_bytes, AllGather::ring, group);
    co_await self.compute(coding_time(coding, 1, buffer.padded));
}

Task<> exchange_all(Worker& self, OneBitPlanPtr plan, GroupPtr group) {
    for (const OneBitBuffer& buffer : plan->charged.buffers)
        co_await exchange_buffer(self, buffer, plan, group);
    const Bytes size = plan->plain_charged;
    if (size == Bytes{}) co_return;
    const AllReducePlan how = plan->plain;
    co_await self.exchange([how, size](const Rank& rank) { return all_reduce(how, rank, size); },
                           name_of(how, size), group);
}

Vector zero_errors(const OneBitPlan& plan) {
    const LayoutPtr& padded = plan.values.padded;
    return {padded, Eigen::VectorXd::Zero(padded->entries())};
}

LayoutPtr with_plain(const OneBitPlan& plan, std::int64_t encoded) {
    return std::make_shared<const Layout>(
        std::vector<Tensor>{{"encoded", {encoded}}, {"plain", {plan.plain_values}}});
}

// Forms the compressed mean. Called once per exchange, when all workers have entered.
Vector reduce(const OneBitPlan& plan, const Round<Vector>& round, Vector& owner_errors) {
    const Vector mean = mean_of(round);
    if (plan.plain_values == 0)
        return {plan.values.layout,
                one_bit_reduce(plan.values, mean.values(), owner_errors.writable())};
    Eigen::VectorXd result = one_bit_reduce(
        plan.values, mean.values().head(plan.values.padded->entries()), owner_errors.writable());
    result.conservativeResize(result.size() + plan.plain_values);
    result.tail(plan.plain_values) = mean.values().tail(plan.plain_values);
    return {with_plain(plan, plan.values.layout->entries()), std::move(result)};
}

}  // namespace

OneBitEncoder::OneBitEncoder(OneBitPlanPtr plan, bool has_values) : plan_(std::move(plan)) {
    if (has_values) error_ = Eigen::VectorXd::Zero(plan_->values.padded->entries());
}

Vector OneBitEncoder::encode(const Vector& v) {
    const LayoutPtr& padded = plan_->values.padded;
    if (!v.has_values()) return Vector(padded);
    if (plan_->plain_values == 0)
        return {padded, one_bit_encode(plan_->values, v.values(), error_)};
    Eigen::VectorXd sent(padded->entries() + plan_->plain_values);
    sent.head(padded->entries()) =
        one_bit_encode(plan_->values, v.values().head(plan_->values.layout->entries()), error_);
    sent.tail(plan_->plain_values) = v.values().tail(plan_->plain_values);
    return {with_plain(*plan_, padded->entries()), std::move(sent)};
}

Task<Vector> one_bit_all_reduce(Worker& self, OneBitPlanPtr plan, Vector encoded, GroupPtr group) {
    if (!encoded.has_values()) {
        co_await exchange_all(self, plan, group);
        co_return Vector(plan->values.layout);
    }
    Vector& owner_errors = self.replicated(plan->name, zero_errors(*plan));
    const Form form = [&](const Round<Vector>& round) {
        return reduce(*plan, round, owner_errors);
    };
    co_return co_await self.combine_around(
        std::move(encoded), [&](const Rank&) { return exchange_all(self, plan, group); }, form,
        group);
}

}  // namespace paceline
