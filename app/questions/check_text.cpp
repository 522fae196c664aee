#include "app/questions/check_text.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/measures/metrics.hpp"
#include "app/json/printable.hpp"
#include "app/run/memory_parts.hpp"
#include "app/run/running_time.hpp"
#include "app/run/step_costs.hpp"
#include "app/scenario/algorithms/words.hpp"
#include "app/scenario/memory_estimate.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

constexpr std::size_t most_lines = 40;  // of points

std::string head_of(const Study& study) {
    std::string text = fmt::format("{}: well-formed\n", study.file);
    if (!study.title.empty()) text += fmt::format("title   {}\n", printable(study.title));
    text += fmt::format("points  {}\n", study.points.size());
    for (const Axis& axis : study.axes)
        text += fmt::format("axis    {}: {}\n", axis.path,
                            printable(fmt::format("{}", fmt::join(axis.names, ", "))));
    return text + "\nclosed form of a step on an idle network, and the messages of the run:\n";
}

std::string lines_of(const Scenario& scenario, std::size_t number) {
    const auto model =
        model_rated_step(scenario, scenario.steps().value_or(skipped_steps(scenario) + 1));
    const auto messages = messages_of_run(scenario);
    std::string text =
        fmt::format("  point {:>3}: {:<18} {:>6} workers  {:<12} {:<13} {}\n", number,
                    printable(scenario.algorithm.label), scenario.cluster.workers,
                    printable(scenario.workload.name),
                    model ? fmt::format("{:.6g} s", to_seconds(*model)) : "none known",
                    messages ? fmt::format("{:.3g}", *messages) : "not known");
    for (const Scenario& job : scenario.other_jobs)
        text += fmt::format("      alongside: {:<18} {:>6} workers  {:<12} {}\n",
                            printable(job.algorithm.label), job.cluster.workers,
                            printable(job.workload.name), printable(job.job));
    if (const std::size_t sources = scenario.cluster.background.size(); sources > 0)
        text += fmt::format("      alongside: {} of background traffic\n",
                            sources == 1 ? "a source" : fmt::format("{} sources", sources));
    for (const DrawnNodes& drawn : scenario.cluster.drawn)
        text += fmt::format("      drawn: {} of {} nodes by the seed, for {} (share {:.6g})\n",
                            drawn.nodes.size(), drawn.of, drawn.path, drawn.share);
    if (!scenario.workload.batches.empty())
        for (const KindOfDevice& kind : scenario.workload.kinds)
            text += fmt::format(
                "      batch: {}{} on {}, {} {}\n", kind.least_batch,
                kind.most_batch > kind.least_batch ? fmt::format(" to {}", kind.most_batch) : "",
                kind.name, kind.workers, kind.workers == 1 ? "worker" : "workers");
    return text;
}

// Returns how large a net is and what it computes; empty if its work is not known.
std::string net_of(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    const std::vector<double>& all = *workload.tensor_macs;
    const double macs = std::accumulate(all.begin(), all.end(), 0.0);
    if (macs == 0) return "";
    const double flops = estimated_step_flops(macs, 1);
    return fmt::format("net     {}: {} parameters, {:.4g} {} to train on a sample{}", workload.name,
                       workload.layout->entries(), flops * (flops < 1e12 ? 1e-9 : 1e-12),
                       flops < 1e12 ? "GFLOP" : "TFLOP",
                       workload.tokens ? fmt::format(" of {} {}", *workload.tokens,
                                                     *workload.tokens == 1 ? "token" : "tokens")
                                       : "");
}

// Returns what takes the memory of a device, if the scenario compares or counts it.
std::string memory_of(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    const auto memory = device_memory(scenario);
    if (!memory || !(workload.recompute || workload.device_memory || scenario.resources)) return "";
    const auto device = memory_of_device(scenario);
    return fmt::format(
        "memory  {}{}: {:.3g} GB{} ({})", scenario.algorithm.label,
        workload.recompute ? fmt::format(", recompute {}", name_of(*workload.recompute)) : "",
        gigabytes(*memory), device ? fmt::format(" of {:.4g}", gigabytes(*device)) : "",
        memory_parts_text(scenario));
}

}  // namespace

void StudyCheck::see(const Point& point) {
    see_words(point);
    if (points_ < most_lines) lines_ += lines_of(point.scenario, points_);
    see_net(point.scenario);
    ++points_;
    mixings_.see(point.scenario);
    warnings_.see(point);
    const ClusterChoice& cluster = point.scenario.cluster;
    all_is_payload_ =
        all_is_payload_ || (cluster.nodes > 1 && !cluster.tcp && cluster.fabric.as_idle_star &&
                            !cluster.fabric.states_efficiency);
    const auto of_point = expected_seconds(point.scenario);
    cost_is_known_ = cost_is_known_ && of_point;
    has_own_method_ = has_own_method_ || !point.scenario.algorithm.messages;
    may_end_earlier_ = may_end_earlier_ || may_end_earlier(point.scenario);
    messages_ += expected_messages(point.scenario).value_or(0);
    seconds_ += of_point.value_or(0);
    memory_.see(point);
}

void StudyCheck::see_net(const Scenario& scenario) {
    for (const std::string& line : {net_of(scenario), memory_of(scenario)})
        if (!line.empty() && nets_.size() < most_lines &&
            std::ranges::find(nets_, line) == nets_.end())
            nets_.push_back(line);
}

void StudyCheck::see_words(const Point& point) {
    const Json algorithm = Json::parse(point.resolved).at("algorithm");
    if (new_words_.size() == most_lines) return;
    static const std::string nowhere;  // it has been read, so nothing is refused
    const Json words = *in_todays_words({&algorithm, &nowhere, "algorithm"}).algorithm;
    if (words == algorithm) return;
    const std::string line = words.dump();
    if (std::ranges::find(new_words_, line) == new_words_.end()) new_words_.push_back(line);
}

CheckReport StudyCheck::report(const Study& study) const {
    CheckReport report{head_of(study) + lines_, warnings_.lines(study.axes)};
    if (points_ > most_lines)
        report.text += fmt::format("  ... and {} more points\n", points_ - most_lines);
    if (!nets_.empty()) report.text += "\n";
    for (const std::string& net : nets_) report.text += printable(net) + "\n";
    report.text += mixings_.text();
    if (!new_words_.empty()) report.text += "\nwith current names:\n";
    for (const std::string& words : new_words_)
        report.text += fmt::format("  \"algorithm\": {}\n", printable(words));
    if (!report.warnings.empty()) report.text += "\n";
    for (const std::string& warning : report.warnings)
        report.text += fmt::format("warning: {}\n", warning);
    if (all_is_payload_)
        report.text +=
            "\nbandwidth: all of it carries payload, because links state no \"efficiency\" and the "
            "transport is ideal; with TCP in frames of 1500 bytes, at most 94.1 % would\n";
    constexpr double start_s = 0.02;  // of the program
    const double gb = static_cast<double>(memory_.need(study.sources.memory()).count) * 1e-9;
    if (cost_is_known_)
        report.text += fmt::format(
            "\nrunning it: {:.3g} messages, {} {:.2g} s on one core, {:.2g} GB of memory; several "
            "times as long if messages share links\n",
            messages_, may_end_earlier_ ? "at most" : "about",
            start_s + seconds_ + seconds_to_generate(memory_.generated()), gb);
    else if (has_own_method_)
        report.text += fmt::format(
            "\nrunning it: the time of a custom method is not known, {:.2g} GB of memory\n", gb);
    else
        report.text += fmt::format(
            "\nrunning it: until its points reach their time limits, {:.2g} GB of memory\n", gb);
    return report;
}

std::string check_text(const Study& study) {
    StudyCheck check;
    for (const Point& point : study.points) check.see(point);
    return check.report(study).text;
}

}  // namespace paceline
