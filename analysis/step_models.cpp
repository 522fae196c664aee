#include "analysis/step_models.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Duration sparse_exchange_time(const DgcOptions& options, double density, const Layout& layout,
                              const StepModelInput& in) {
    Duration time{};
    const Bytes one = union_bytes(options, layout, density, 1);
    switch (options.exchange) {
        case SparseExchange::recursive_doubling:
            time = sparse_all_reduce_time(
                in.nodes, [&](int c) { return union_bytes(options, layout, density, c); }, in.star);
            break;
        case SparseExchange::all_gather_ring:
            time = ring_all_gather_time(in.nodes, one, in.star);
            break;
        case SparseExchange::all_gather_bruck:
            time = bruck_all_gather_time(in.nodes, one, in.star);
            break;
    }
    const std::int64_t rest = layout.incompressible_entries();
    if (options.uncompressed == Uncompressed::gathered || rest == 0) return time;
    return sum(time, all_reduce_time(options.all_reduce, in.nodes, in.wire.weigh(rest), in.star));
}

}  // namespace

Duration all_reduce_time(AllReduce how, int n, Bytes size, const IdleStar& star) {
    switch (how) {
        case AllReduce::ring:
            return ring_all_reduce_time(n, size, star);
        case AllReduce::recursive_doubling:
            return recursive_doubling_all_reduce_time(n, size, star);
        case AllReduce::halving_doubling:
            return halving_doubling_all_reduce_time(n, size, star);
    }
    PACELINE_CHECK(false, "every all-reduce has its closed form");
}

Duration dense_sgd_step_time(const DenseSgdOptions& options, const StepModelInput& in) {
    const Bytes size = in.wire.weigh(in.layout->entries());
    return sum(in.compute, all_reduce_time(options.all_reduce, in.nodes, size, in.star));
}

Duration dgc_step_time(const DgcOptions& options, double density, const StepModelInput& in) {
    return sum(sum(in.compute, selection_time(options.selection, *in.layout, density)),
               sparse_exchange_time(options, density, *in.layout, in));
}

Duration gradient_dropping_step_time(const GradientDroppingOptions& options, std::int64_t step,
                                     const StepModelInput& in) {
    if (step < options.dense_steps) return dense_sgd_step_time({options.all_reduce}, in);
    const LayoutPtr everything = as_one_tensor(*in.layout);
    return sum(sum(in.compute, dropping_time(options.selection, in.layout->entries())),
               sparse_exchange_time(exchange_of(options), options.density, *everything, in));
}

}  // namespace paceline
