#include "app/scenario/algorithms/blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/local_step_models.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/codecs.hpp"

namespace paceline {

namespace {

MuonRule read_muon(const ObjectReader& read, MuonRule rule) {
    constexpr auto forms =
        std::to_array<Spelling<MuonForm>>({{"muon", MuonForm::muon}, {"dion", MuonForm::dion}});
    if (const auto p = read.optional("form")) rule.form = as_choice(*p, "a form of Muon", forms);
    rule.nesterov = rule.form == MuonForm::muon;
    if (const auto p = read.optional("momentum")) rule.momentum = as_share(*p);
    if (const auto p = read.optional("nesterov")) rule.nesterov = as_bool(*p);
    if (const auto p = read.optional("adam_rate")) rule.adam_rate = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("leave_out")) rule.leave_out = read_choices(*p);
    return rule;
}

MomentumRule read_inner_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    for (const char* key : {"beta1", "beta2", "epsilon"})
        if (const auto p = read.optional(key))
            p->refuse("belongs to Adam; the momentum of \"sgd\" is the optimizer's");
    return rule_of(in.optimizer);
}

}  // namespace

double kept_by_inner(const InnerRule& rule, const AlgorithmInput& in) {
    return std::holds_alternative<MomentumRule>(rule) ? kept_by_momentum(in) : vectors_of_adam;
}

InnerRule read_inner_rule(const ObjectReader& read, const AlgorithmInput& in,
                          std::string_view usual) {
    const auto place = read.optional("inner");
    constexpr std::span names(inner_optimizers);
    const bool is_object = place && !place->json->is_string();
    const std::size_t which =
        !place ? static_cast<std::size_t>(std::ranges::find(names, usual) - names.begin())
               : as_name(is_object ? kind_of(*place, "an inner optimizer", names) : *place,
                         "an inner optimizer", names);
    if (is_object && names[which] != "muon")
        place->refuse(fmt::format("\"{}\" has no options here; write its name", names[which]));
    if (names[which] == "sgd") return read_inner_sgd(read, in);
    if (usual == "sgd" && (in.optimizer.nesterov || in.optimizer.clip > 0))
        place->refuse(
            "the optimizer's \"nesterov\" and \"clip\" belong to the inner optimizer \"sgd\"; "
            "leave them out");
    LambRule lamb;
    if (names[which] == "lamb") {
        lamb.adam = read_adam_rule(read, in, lamb.adam);
        return lamb;
    }
    const AdamRule adam = read_adam_rule(read, in, {});
    if (names[which] == "adamw") return adam;
    MuonRule muon;
    muon.adam = adam;
    if (!is_object) return muon;
    return read_muon(ObjectReader(*place, definition_keys("inner-muon")), std::move(muon));
}

void read_outer_rate(const ObjectReader& read, double* rate, double* momentum) {
    if (const auto p = read.optional("outer_learning_rate")) {
        if (rate == nullptr) p->refuse("belongs to an outer optimizer, and \"outer\" is \"none\"");
        *rate = as_number_above(*p, 0, 1e9);
    }
    if (const auto p = read.optional("outer_momentum")) {
        if (momentum == nullptr) p->refuse("is for the outer optimizers \"nesterov\" and \"sgd\"");
        *momentum = as_share(*p);
    }
}

namespace {

OuterAdam read_outer_adam(const ObjectReader& read, const std::optional<Place>& place) {
    OuterAdam adam;
    (void)read.required("outer_learning_rate", "the rate of Adam, such as 0.1");
    if (!place->json->is_object()) return adam;
    const ObjectReader own(*place, definition_keys("outer-adam"));
    if (const auto p = own.optional("beta1")) adam.rule.beta1 = as_share(*p);
    if (const auto p = own.optional("beta2")) adam.rule.beta2 = as_share(*p);
    if (const auto p = own.optional("epsilon")) adam.rule.epsilon = as_number_above(*p, 0, 1);
    return adam;
}

// Reads the outer optimizer: a name, or an object of Adam's options.
OuterRule read_outer_rule(const ObjectReader& read, OuterRule rule) {
    const auto place = read.optional("outer");
    constexpr std::span names(outer_optimizers);
    if (place) {
        const bool is_object = !place->json->is_string();
        const std::string_view name =
            names[as_name(is_object ? kind_of(*place, "an outer optimizer", names) : *place,
                          "an outer optimizer", names)];
        if (is_object && name != "adam")
            place->refuse(fmt::format("\"{}\" has no options here; write its name", name));
        if (name == "none") rule = OuterAverage{};
        if (name == "sgd") rule = OuterSgd{};
        if (name == "nesterov") rule = OuterNesterov{};
        if (name == "adam") rule = read_outer_adam(read, place);
    }
    if (auto* const sgd = std::get_if<OuterSgd>(&rule))
        read_outer_rate(read, &sgd->rate, &sgd->momentum);
    else if (auto* const nesterov = std::get_if<OuterNesterov>(&rule))
        read_outer_rate(read, &nesterov->rate, &nesterov->momentum);
    else if (auto* const adam = std::get_if<OuterAdam>(&rule))
        read_outer_rate(read, &adam->rate, nullptr);
    else
        read_outer_rate(read, nullptr, nullptr);
    return rule;
}

}  // namespace

ExchangeOptions read_average(const ObjectReader& read, const AlgorithmInput& in,
                             AlgorithmChoice& choice, ExchangeOptions preset) {
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    return read_exchange(read, in, std::move(preset), choice);
}

void at_ends_of_blocks(AlgorithmChoice& choice, std::int64_t period, std::int64_t first) {
    choice.contribution = [each = choice.contribution, period, first](
                              const Layout& layout, std::int64_t k, double epoch) {
        return share_of_steps(each(layout, k, epoch), k < first ? 1 : period);
    };
    choice.model_step = [each = choice.model_step, period, first](const StepModelInput& at,
                                                                  std::int64_t k, double epoch) {
        return ends_block(k, period, first) ? each(at, k, epoch) : lone_step_time(at);
    };
    choice.messages = [each = choice.messages, period, first](const StepModelInput& at,
                                                              std::int64_t k) {
        return ends_block(k, period, first) ? each(at, k) : 0;
    };
    choice.stage = [=](std::int64_t k, double) { return k < first ? 0.0 : 1.0; };
    choice.period_at = [=](std::int64_t k) { return k < first ? 1 : period; };
}

void cost_blocks(AlgorithmChoice& choice, const AlgorithmInput& in, const ExchangeOptions& exchange,
                 std::int64_t period, int vectors, std::int64_t first) {
    choice.contribution = [=, wire = choice.wire, workers = in.workers](const Layout& layout,
                                                                        std::int64_t, double) {
        return vectors * form_of_contribution(exchange, layout, wire, workers);
    };
    choice.model_step = [=](const StepModelInput& at, std::int64_t, double) {
        return averaged_step_time(exchange, at, vectors);
    };
    choice.messages = [=](const StepModelInput& at, std::int64_t) {
        return vectors * exchange_messages(exchange, at);
    };
    at_ends_of_blocks(choice, period, first);
}

AlgorithmChoice read_outer_steps(const ObjectReader& read, const AlgorithmInput& in,
                                 DilocoOptions& options) {
    options.inner = read_inner_rule(read, in);
    options.outer = read_outer_rule(read, options.outer);
    AlgorithmChoice choice;
    read_blocks(read, in, choice, options, options.exchange);
    choice.kept = kept_by_inner(options.inner, in) + 1 +  // the outer model
                  vectors_of(options.outer) + kept_by_codec(options.exchange.codec, in.workers);
    return choice;
}

}  // namespace paceline
