// What the caller of a reader brings besides the tables of names: a training method, a problem, a
// codec or a mixing.
//
// The "kind" of such a part has a colon: "mine.py:dsgd". Readers ask the scenario's Sources for it,
// as they do for files, so nothing global knows such parts, and two studies with parts of their own
// run side by side. Sources of the program and of the page know none. Then the error says how to
// run it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "app/json/object_reader.hpp"

namespace paceline {

/// Returns the place of the object's "kind" if it is one of one's own.
std::optional<Place> own_kind_of(const Place& object);

/// Refuses a part that nobody brings. `what` says what it is: "a method".
[[noreturn]] void refuse_own_part(const Place& kind, std::string_view what);

/// Returns the part that the object's "kind" names; null if it is one of the table, or none. Throws
/// ConfigError if the caller would have to bring it.
template <class Own>
std::shared_ptr<const Own> own_part_of(const Place& object, FindOwn<Own> OwnParts::* find,
                                       std::string_view what) {
    const std::optional<Place> kind = own_kind_of(object);
    if (!kind) return nullptr;
    if (object.sources != nullptr && object.sources->own.*find)
        if (auto part = (object.sources->own.*find)(*kind)) return part;
    refuse_own_part(*kind, what);
}

}  // namespace paceline
