#include "tests/app/scenario/algorithms/plain_algorithm.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "app/json/schema.hpp"

namespace paceline {

namespace {

Json required_options(const Json& definition);

// Returns a value that a schema accepts: the first choice, the first kind of an object, a small
// number.
Json example_of(const Json& node) {
    if (node.contains("const")) return node.at("const");
    if (node.contains("enum")) return node.at("enum").front();
    if (node.contains("$ref")) {
        const std::string pointer = node.at("$ref").get<std::string>().substr(1);
        return example_of(scenario_schema().at(Json::json_pointer(pointer)));
    }
    for (const char* choice : {"oneOf", "anyOf", "allOf"})
        if (node.contains(choice)) return example_of(node.at(choice).front());
    const std::string type = node.value("type", "");
    if (type == "object") return required_options(node);
    if (type == "boolean") return true;
    if (type == "integer") return std::max(node.value("minimum", 0), 4);
    if (type == "number") return node.value("maximum", 1.0);
    return "1ms";
}

Json required_options(const Json& definition) {
    Json object = Json::object();
    Json keys = definition.at("required");
    if (definition.contains("anyOf"))  // the first of several sets of keys
        for (const Json& key : definition.at("anyOf").front().at("required")) keys.push_back(key);
    for (const std::string key : keys)
        object[key] = example_of(definition.at("properties").at(key));
    return object;
}

}  // namespace

Json plain_algorithm(std::string_view name) {
    return required_options(scenario_schema().at("definitions").at(std::string(name)));
}

}  // namespace paceline
