#include "python/bindings/exchange_parts.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11_json/pybind11_json.hpp>

#include "python/bindings/arrays.hpp"
#include "python/bindings/described.hpp"
#include "python/bindings/draws.hpp"

namespace paceline::python {

namespace {

// --- codecs ---

// The message of a tensor by its entries, which Python is asked once.
struct OfMessage {
    std::int64_t bits;
    std::int64_t held;
};
struct KnownMessages {
    HeldObject object;
    std::mutex mutex{};
    std::map<std::int64_t, OfMessage> messages{};
};

OfMessage message_of(KnownMessages& all, std::int64_t entries) {
    {
        const std::scoped_lock lock(all.mutex);
        const auto known = all.messages.find(entries);
        if (known != all.messages.end()) return known->second;
    }
    const OfMessage message = with_python([&] {
        const py::object object = object_of(all.object);
        return OfMessage{object.attr("bits")(entries).cast<std::int64_t>(),
                         object.attr("held")(entries).cast<std::int64_t>()};
    });
    const std::scoped_lock lock(all.mutex);
    return all.messages.emplace(entries, message).first->second;
}

void apply_codec(const HeldObject& object, std::span<double> x, RandomStream& random) {
    with_python([&] {
        const py::array_t<double> values(static_cast<py::ssize_t>(x.size()), x.data());
        py::object draws = py::cast(Draws(random));
        const Numbers decoded = numbers_of(object_of(object).attr("apply")(values, draws));
        std::copy(decoded.data(), decoded.data() + x.size(), x.begin());
        random = draws.cast<Draws&>().stream();
    });
}

Compressor compressor_of(const py::object& object, std::string name) {
    const HeldObject held = hold(object);
    const auto known = std::make_shared<KnownMessages>();
    known->object = held;
    Compressor made;
    made.name = std::move(name);
    made.brought = true;
    made.encode = object.attr("encode_passes").cast<std::int64_t>();
    made.decode = object.attr("decode_passes").cast<std::int64_t>();
    made.bits = [known](const Tensor& tensor) { return message_of(*known, tensor.entries()).bits; };
    made.held = [known](const Tensor& tensor) { return message_of(*known, tensor.entries()).held; };
    made.apply = [held](std::span<double> x, const Tensor& /*tensor*/, RandomStream& random) {
        if (!x.empty()) apply_codec(held, x, random);
    };
    return made;
}

Compressor read_codec_of_python(const HeldObject& described, const std::vector<PartOption>& options,
                                const Place& codec) {
    const nlohmann::json given = checked_options(codec, options);
    std::string fault;
    Compressor made = with_python([&] {
        const py::object part = object_of(described);
        const py::object object = part.attr("make")(pyjson::from_json(given));
        if (!py::isinstance<py::str>(object))
            return compressor_of(object, part.attr("name").cast<std::string>());
        fault = object.cast<std::string>();
        return Compressor();
    });
    if (!fault.empty()) codec.refuse(fault);
    return made;
}

// --- mixings ---

using RowsOfPython = std::vector<std::vector<std::pair<int, double>>>;

std::vector<std::vector<MixingWeight>> rows_of(const HeldObject& described,
                                               const nlohmann::json& options, int workers,
                                               std::int64_t step) {
    const auto given = with_python([&] {
        return object_of(described)
            .attr("rows")(step, workers, pyjson::from_json(options))
            .cast<RowsOfPython>();
    });
    std::vector<std::vector<MixingWeight>> rows;
    for (const auto& row : given) {
        rows.emplace_back();
        for (const auto& [node, weight] : row) rows.back().push_back({node, weight});
    }
    return rows;
}

OwnMixing::Made made_mixing(const HeldObject& described, const nlohmann::json& options,
                            int workers) {
    OwnMixing::Made made;
    with_python([&] {
        made.name = object_of(described).attr("name").cast<std::string>();
        made.period = object_of(described).attr("period").cast<std::int64_t>();
    });
    made.rows = [described, options, workers](std::int64_t step) {
        return rows_of(described, options, workers, step);
    };
    made.fail = [name = made.name](std::int64_t step, const std::string& problem) {
        const Gil gil;
        throw failure_of_part(
            fmt::format("{}: W of step {} is not a mixing: {}", name, step, problem), step);
    };
    return made;
}

}  // namespace

std::shared_ptr<const OwnCodec> own_codec(const py::object& described) {
    const std::vector<PartOption> options = options_of(described);
    OwnCodec made;
    made.options = names_of_options(options);
    made.make = [held = hold(described), options](const Place& codec) {
        return read_codec_of_python(held, options, codec);
    };
    return std::make_shared<const OwnCodec>(std::move(made));
}

std::shared_ptr<const OwnMixing> own_mixing(const py::object& described) {
    const std::vector<PartOption> options = options_of(described);
    OwnMixing made;
    made.options = names_of_options(options);
    made.make = [held = hold(described), options](const Place& mixing, int workers) {
        return made_mixing(held, checked_options(mixing, options), workers);
    };
    return std::make_shared<const OwnMixing>(std::move(made));
}

}  // namespace paceline::python
