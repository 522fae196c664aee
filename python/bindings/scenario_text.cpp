#include "python/bindings/scenario_text.hpp"

#include <memory>
#include <utility>

#include "app/host/files.hpp"
#include "models/data/files/data_error.hpp"

namespace paceline::python {

namespace {

// Returns the content of the object that a name means; null if it means a file. The name may have
// the scenario's folder in front.
const std::string* find(const Objects& objects, std::string_view name) {
    const std::size_t slash = name.rfind('/');
    if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
    if (!name.starts_with(prefix_of_objects)) return nullptr;
    const auto found = objects.find(name);
    return found == objects.end() ? nullptr : &found->second;
}

}  // namespace

ScenarioText scenario_text(std::string file, std::string text, Objects objects, OwnParts own) {
    Sources sources = files_of_this_machine();
    sources.own = std::move(own);
    if (!objects.empty()) {
        const auto held = std::make_shared<const Objects>(std::move(objects));
        sources.text = [held, of_file = sources.text](const std::string& name) {
            const std::string* const found = find(*held, name);
            return found != nullptr ? *found : of_file(name);
        };
        sources.data = [held, of_file = sources.data](const std::string& name) {
            const std::string* const found = find(*held, name);
            if (found == nullptr) return of_file(name);
            check_length(name, found->size());
            return std::vector<unsigned char>(found->begin(), found->end());
        };
    }
    return {std::move(file), std::move(text), std::move(sources)};
}

std::string text_of_file(const std::string& file) {
    return read_text(file);
}

}  // namespace paceline::python
