#include "app/scenario/workload/class_work.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/cluster/node_classes.hpp"
#include "app/scenario/workload/device_time.hpp"
#include "app/scenario/workload/devices.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_batch = 1'000'000'000;

bool says_a_time(const ObjectReader& one) {
    for (const char* key : {"device", "efficiency", "precision", "step_time", "gradient_time"})
        if (one.has(key)) return true;
    return false;
}

// The kinds of nodes: those in no class, then each class.
struct KindsOfNodes {
    std::vector<std::optional<Place>> places{std::nullopt};
    std::vector<std::int64_t> batches{};  // of a gradient; by speed: those that are not split
    std::vector<std::size_t> of_worker{};
};

class ReadingClasses {
  public:
    ReadingClasses(const Place& cluster_text, const Place& workload_text,
                   const GradientTime& time_of, const ClusterChoice& cluster, Workload& workload)
        : time_of_(time_of),
          workload_(workload),
          asked_(ObjectReader(workload_text, workload_keys()).optional("batch")) {
        const auto classes = ObjectReader(cluster_text, cluster_keys()).optional("classes");
        kinds_.batches.push_back(workload.batch.value_or(0));
        for (std::size_t i = 0; i < cluster.classes.size(); ++i) {
            kinds_.places.emplace_back(classes->element(i));
            kinds_.batches.push_back(
                batch_of(ObjectReader(classes->element(i), node_class_keys())));
        }
        std::vector<std::size_t> of_node(static_cast<std::size_t>(cluster.nodes));
        for (std::size_t i = 0; i < cluster.classes.size(); ++i)
            for (const int node : cluster.classes[i].nodes)
                of_node[static_cast<std::size_t>(node)] = i + 1;
        for (int rank = 0; rank < cluster.workers; ++rank)
            kinds_.of_worker.push_back(
                of_node[static_cast<std::size_t>(cluster.sizes.machine_of(rank))]);
    }

    [[nodiscard]] const KindsOfNodes& kinds() const { return kinds_; }

    /// Returns how long a gradient of a kind takes.
    [[nodiscard]] Duration time(std::size_t kind, std::int64_t batch) const {
        const std::optional<Place>& place = kinds_.places[kind];
        const bool own = place && says_a_time(ObjectReader(*place, node_class_keys()));
        if (!own && batch == workload_.batch.value_or(0)) return workload_.gradient;
        GradientAsked asked{own ? place : std::nullopt, std::nullopt, charged(batch)};
        // A time of the class's own is that of its own batch; others are asked for another one.
        if (workload_.by_speed || !own) asked.who = asking(place);
        return time_of_(asked);
    }

    /// Returns the samples that time is charged for.
    [[nodiscard]] std::optional<std::int64_t> charged(std::int64_t batch) const {
        if (batch == 0) return std::nullopt;
        if (!workload_.stand_in_batch) return batch;
        const double share = static_cast<double>(batch) / static_cast<double>(*workload_.batch);
        return std::max<std::int64_t>(
            1, std::llround(share * static_cast<double>(*workload_.stand_in_batch)));
    }

  private:
    std::int64_t batch_of(const ObjectReader& one) const {
        const auto p = one.optional("batch");
        if (!p) return workload_.batch.value_or(0);
        if (workload_.by_speed)
            p->refuse("is computed by \"by speed\"; leave it out, or give each class a batch");
        if (!workload_.batch) p->refuse("needs \"workload.batch\", that of the other nodes");
        if (workload_.global_batch)
            p->refuse("goes with \"workload.batch\"; \"global_batch\" is split in equal shares");
        return as_integer(*p, 1, most_batch);
    }
    // Returns who asks for another batch than that of the workload.
    Place asking(const std::optional<Place>& place) const {
        if (workload_.by_speed) return *asked_;
        return *ObjectReader(*place, node_class_keys()).optional("batch");
    }

    const GradientTime& time_of_;
    Workload& workload_;
    std::optional<Place> asked_;  // "batch" of the workload
    KindsOfNodes kinds_;
};

// Workers whose gradients take equally long, and how long they take.
struct Pace {
    std::size_t kind = 0;
    double speed = 1;
    std::int64_t workers = 0;
};

class BySpeed {
  public:
    BySpeed(const ReadingClasses& reading, std::vector<double> speeds, std::int64_t samples)
        : reading_(reading), samples_(samples) {
        const std::vector<std::size_t>& kinds = reading.kinds().of_worker;
        std::map<std::pair<std::size_t, double>, std::size_t> seen;
        for (std::size_t rank = 0; rank < kinds.size(); ++rank) {
            const auto [at, is_new] = seen.try_emplace({kinds[rank], speeds[rank]}, paces_.size());
            if (is_new) paces_.push_back({kinds[rank], speeds[rank]});
            ++paces_[at->second].workers;
            of_worker_.push_back(at->second);
        }
    }

    std::vector<std::int64_t> split() {
        const auto workers = static_cast<std::int64_t>(of_worker_.size());
        std::vector<std::int64_t> equal(of_worker_.size(), samples_ / workers);
        for (std::int64_t i = 0; i < samples_ % workers; ++i) ++equal[static_cast<std::size_t>(i)];
        Duration high = longest(equal);
        Duration low{};  // too short
        while (low + Duration{1} < high) {
            const Duration middle = low + (high - low) / 2;
            (fit_in(middle) >= samples_ ? high : low) = middle;
        }
        std::vector<std::int64_t> batches = those_of(high);
        if (batches.empty() || longest(equal) <= longest(batches)) return equal;
        return batches;
    }

  private:
    [[nodiscard]] Duration time(const Pace& pace, std::int64_t batch) const {
        return from_seconds(to_seconds(reading_.time(pace.kind, batch)) / pace.speed);
    }
    [[nodiscard]] Duration longest(const std::vector<std::int64_t>& batches) const {
        std::map<std::pair<std::size_t, std::int64_t>, bool> seen;
        Duration longest{};
        for (std::size_t rank = 0; rank < batches.size(); ++rank)
            if (seen.try_emplace({of_worker_[rank], batches[rank]}, true).second)
                longest = std::max(longest, time(paces_[of_worker_[rank]], batches[rank]));
        return longest;
    }
    // Returns the most samples that a worker computes in so long, at least 1 and at most all.
    [[nodiscard]] std::int64_t most_in(const Pace& pace, Duration within) const {
        std::int64_t fits = 1;
        std::int64_t beyond = std::min(samples_, most_batch) + 1;
        while (fits + 1 < beyond) {
            const std::int64_t middle = fits + (beyond - fits) / 2;
            (time(pace, middle) <= within ? fits : beyond) = middle;
        }
        return fits;
    }
    [[nodiscard]] std::int64_t fit_in(Duration within) const {
        std::int64_t all = 0;
        for (const Pace& pace : paces_) {
            const std::int64_t each = most_in(pace, within);
            if (each > (samples_ - all) / pace.workers) return samples_;
            all += each * pace.workers;
        }
        return all;
    }
    // Returns the batches of workers that compute so long; empty if no such batches add up.
    [[nodiscard]] std::vector<std::int64_t> those_of(Duration within) const {
        std::vector<std::int64_t> of_pace;
        for (const Pace& pace : paces_) of_pace.push_back(most_in(pace, within));
        std::vector<std::int64_t> batches;
        std::int64_t beyond = -samples_;
        for (const std::size_t pace : of_worker_) {
            batches.push_back(of_pace[pace]);
            beyond += of_pace[pace];
        }
        for (const bool of_last : {true, false})
            for (std::size_t rank = batches.size(); rank-- > 0 && beyond > 0;) {
                const Pace& pace = paces_[of_worker_[rank]];
                const bool is_last = time(pace, of_pace[of_worker_[rank]]) == within;
                if (batches[rank] == 1 || (of_last && !is_last)) continue;
                const std::int64_t taken = of_last ? 1 : std::min(batches[rank] - 1, beyond);
                batches[rank] -= taken;
                beyond -= taken;
            }
        return beyond == 0 ? batches : std::vector<std::int64_t>{};
    }

    const ReadingClasses& reading_;
    std::int64_t samples_;
    std::vector<Pace> paces_;
    std::vector<std::size_t> of_worker_;
};

// Returns the permanent speed of each worker.
std::vector<double> speeds_of_workers(const ClusterChoice& cluster, std::uint64_t seed) {
    std::vector<double> of_node(static_cast<std::size_t>(cluster.nodes), 1.0);
    for (std::size_t i = 0; i < cluster.speeds.size(); ++i) {
        const std::vector<double> some = speeds_of_nodes(cluster.speeds, i, cluster.nodes, seed);
        for (std::size_t node = 0; node < of_node.size(); ++node) of_node[node] *= some[node];
    }
    std::vector<double> speeds;
    for (int rank = 0; rank < cluster.workers; ++rank)
        speeds.push_back(of_node[static_cast<std::size_t>(cluster.sizes.machine_of(rank))]);
    return speeds;
}

// Returns how fast workers are, by their gradient and its batch, in relation to the workload's own.
std::vector<double> speeds_of_classes(const ReadingClasses& reading,
                                      const std::vector<std::int64_t>& batches,
                                      const Workload& workload, const Place& classes) {
    std::map<std::pair<std::size_t, std::int64_t>, double> known;
    std::vector<double> speeds;
    bool alike = true;
    for (std::size_t rank = 0; rank < batches.size(); ++rank) {
        const std::size_t kind = reading.kinds().of_worker[rank];
        const auto [at, is_new] = known.try_emplace({kind, batches[rank]}, 1.0);
        if (is_new) {
            const Duration time = reading.time(kind, batches[rank]);
            const bool one_is_none =
                time == Duration::zero() || workload.gradient == Duration::zero();
            if (one_is_none && time != workload.gradient)
                classes.refuse(
                    "a gradient of the workload takes no time, and none of the class or the other "
                    "way round");
            if (!one_is_none) at->second = to_seconds(workload.gradient) / to_seconds(time);
            alike = alike && at->second == 1;
        }
        speeds.push_back(at->second);
    }
    if (alike) speeds.clear();
    return speeds;
}

// Reads what is known of the devices of a class that says how long its gradients take.
void read_facts(const ObjectReader& one, const Workload& workload, KindOfDevice& kind) {
    kind.device = nullptr;
    kind.peak_flops.reset();
    const auto device = one.optional("device");
    if (!device) return;
    if (device->json->is_object()) {
        kind.peak_flops = peak_of_own_device(*device);
        return;
    }
    kind.device = known_device(as_string(*device));
    if (kind.device == nullptr) return;
    const auto precision = one.optional("precision");
    kind.peak_flops = kind.device->peak(precision ? as_precision(*precision) : workload.precision);
    if (kind.device != workload.device) kind.memory = kind.device->memory;
}

// Notes what is known of the devices of each kind, of which some node is.
void note_devices(const KindsOfNodes& kinds, const ReadingClasses& reading,
                  const std::vector<std::int64_t>& batches, const ClusterChoice& cluster,
                  Workload& workload) {
    for (std::size_t kind = 0; kind < kinds.places.size(); ++kind) {
        KindOfDevice one;
        for (std::size_t rank = 0; rank < batches.size(); ++rank) {
            if (kinds.of_worker[rank] != kind) continue;
            one.least_batch =
                one.workers == 0 ? batches[rank] : std::min(one.least_batch, batches[rank]);
            one.most_batch = std::max(one.most_batch, batches[rank]);
            ++one.workers;
        }
        if (one.workers == 0) continue;
        one.name = kind == 0 ? "other nodes" : cluster.classes[kind - 1].path;
        one.charged_batch = reading.charged(one.most_batch);
        one.device = workload.device;
        one.peak_flops = workload.peak_flops;
        one.memory = workload.memory_of_device();
        if (kinds.places[kind]) {
            const ObjectReader read(*kinds.places[kind], node_class_keys());
            if (says_a_time(read)) read_facts(read, workload, one);
            if (const auto p = read.optional("device_memory")) one.memory = as_bytes(*p);
        }
        workload.kinds.push_back(std::move(one));
    }
}

}  // namespace

void read_class_work(const Place& cluster_text, const Place& workload_text,
                     const GradientTime& time_of, std::uint64_t seed, ClusterChoice& cluster,
                     Workload& workload) {
    if (cluster.classes.empty() && !workload.by_speed) return;
    const Place classes =
        ObjectReader(cluster_text, cluster_keys()).optional("classes").value_or(cluster_text);
    const ReadingClasses reading(cluster_text, workload_text, time_of, cluster, workload);
    std::vector<std::int64_t> batches;
    if (workload.by_speed)
        batches = BySpeed(reading, speeds_of_workers(cluster, seed),
                          *workload.global_batch / workload.accumulation)
                      .split();
    else
        for (const std::size_t kind : reading.kinds().of_worker)
            batches.push_back(reading.kinds().batches[kind]);
    std::vector<double> speeds = speeds_of_classes(reading, batches, workload, classes);
    if (!speeds.empty())
        for (const Place& one :
             cluster.speeds.empty()
                 ? std::vector<Place>{}
                 : one_or_several(*ObjectReader(cluster_text, cluster_keys()).optional("speeds")))
            if (one.json->value("kind", Json()) == "device")
                one.refuse("duplicates a class of nodes; name the \"device\" in \"classes\"");
    cluster.class_speeds = std::move(speeds);
    note_devices(reading.kinds(), reading, batches, cluster, workload);
    const auto differs = [&](std::int64_t batch) { return batch != *workload.batch; };
    if (workload.batch && std::ranges::any_of(batches, differs))
        workload.batches = std::move(batches);
}

}  // namespace paceline
