#include "python/bindings/described.hpp"

#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

namespace paceline::python {

// Takes the exception that has been raised, with its traceback.
py::object taken_exception() {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != nullptr) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return py::reinterpret_steal<py::object>(value);
}

MethodFailed failure_of_part(const std::string& what, std::int64_t step) {
    const py::object error = py::module_::import("paceline._own").attr("MethodError");
    return {hold(error(what, -1, step, 0.0))};
}

namespace {

OptionType type_of(const std::string& name) {
    static const std::map<std::string, OptionType> types{{"boolean", OptionType::boolean},
                                                         {"integer", OptionType::integer},
                                                         {"number", OptionType::number},
                                                         {"text", OptionType::text}};
    const auto found = types.find(name);
    return found == types.end() ? OptionType::any : found->second;
}

void check_option(const Place& place, OptionType type) {
    const Json& given = *place.json;
    switch (type) {
        case OptionType::boolean:
            (void)as_bool(place);
            return;
        case OptionType::integer:
            if (!whole_number(given))
                place.refuse(fmt::format("{} is not a whole number", given.dump()));
            return;
        case OptionType::number:
            if (!given.is_number()) place.refuse(fmt::format("{} is not a number", given.dump()));
            return;
        case OptionType::text:
            (void)as_string(place);
            return;
        case OptionType::any:
            return;
    }
}

}  // namespace

std::vector<PartOption> options_of(const py::object& described) {
    std::vector<PartOption> options;
    for (const py::handle& option : described.attr("options")) {
        auto [name, type, required] = option.cast<std::tuple<std::string, std::string, bool>>();
        options.push_back({std::move(name), type_of(type), required});
    }
    return options;
}

std::vector<std::string> names_of_options(const std::vector<PartOption>& options) {
    std::vector<std::string> names;
    for (const PartOption& option : options) names.push_back(option.name);
    return names;
}

nlohmann::json checked_options(const Place& place, const std::vector<PartOption>& options) {
    nlohmann::json given = nlohmann::json::object();
    for (const PartOption& option : options) {
        const auto found = place.json->find(option.name);
        if (found == place.json->end()) {
            if (option.required)
                place.refuse(
                    {.problem = fmt::format("\"{}\" is missing and has no default", option.name),
                     .missing = option.name});
            continue;
        }
        check_option(place.child(option.name, *found), option.type);
        const auto whole = whole_number(*found);
        const bool is_whole = option.type == OptionType::integer && whole;
        given[option.name] = is_whole ? nlohmann::json(*whole) : nlohmann::json(*found);
    }
    return given;
}

}  // namespace paceline::python
