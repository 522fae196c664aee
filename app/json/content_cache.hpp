// What the points of a study share: profiles, tables and data sets, each read or made once.
//
//     const std::shared_ptr<const Profile> profile =
//         cache.once<Profile>("profile resnet-50", [] { return read_profile(...); });
//
// A thing is found by a text that says all it was made from. The caller puts the kind of thing in
// front, since two kinds cannot share a text. Nothing is kept if making it throws, so the same
// error is reported again. Things live as long as the cache. Not thread-safe.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace paceline {

class ContentCache {
  public:
    /// Returns what `what` names, and makes it first if it is not there.
    template <class T, class Make>
    std::shared_ptr<const T> once(const std::string& what, Make make) {
        if (const auto found = things_.find(what); found != things_.end())
            return std::any_cast<std::shared_ptr<const T>>(found->second);
        auto made = std::make_shared<const T>(make());
        things_.emplace(what, made);
        return made;
    }

  private:
    std::map<std::string, std::any, std::less<>> things_;
};

}  // namespace paceline
