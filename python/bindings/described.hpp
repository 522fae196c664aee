// Parts of one's own (methods, problems, codecs, mixings) as Python describes them: their options,
// and what it means that one fails.
//
// Each is an object of a class of paceline._own, with a name and options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/json/object_reader.hpp"
#include "python/bindings/gil.hpp"

namespace paceline::python {

/// A part has failed: what Python raised, as a paceline.MethodError. It is no std::exception, so a
/// study does not take it for the failure of one point, but ends.
struct MethodFailed {
    HeldObject exception;
};

/// Takes the exception that has been raised, with its traceback. Requires the GIL and that there is
/// one.
py::object taken_exception();

/// Returns the failure of a part that is not that of one worker. Requires the GIL.
MethodFailed failure_of_part(const std::string& what, std::int64_t step);

/// Calls `use` with the GIL. Throws what Python raises as MethodFailed.
template <class Use>
auto with_python(const Use& use) {
    const Gil gil;
    try {
        return use();
    } catch (py::error_already_set& raised) {
        raised.restore();
        throw MethodFailed{hold(taken_exception())};
    }
}

enum class OptionType : std::uint8_t { any, boolean, integer, number, text };

struct PartOption {
    std::string name;
    OptionType type;
    bool required;
};

/// Returns the options of a part. Requires the GIL.
std::vector<PartOption> options_of(const py::object& described);
std::vector<std::string> names_of_options(const std::vector<PartOption>& options);

/// Returns those that the object of a scenario gives. Throws ConfigError. Does not need the GIL.
nlohmann::json checked_options(const Place& place, const std::vector<PartOption>& options);

}  // namespace paceline::python
