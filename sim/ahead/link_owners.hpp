// Which links the messages of a collective use, and whether two of them can ever meet on one.
//
// In rounds (sim/ahead/message_rounds.hpp) a member has one message on the wires at a time, and one
// comes to it at a time. So two messages of a collective never meet on a link if the link has an
// *owner*: a host that sends all messages that cross it, or that receives all of them. Where
// neither exists, as on an oversubscribed uplink or on a card that several devices share, the
// collective goes by events.
//
// Of links that could belong to either, those of the first half of a route go to the sender, the
// others to the receiver, so that later collectives agree on a star and in machines with one device
// at work.
//
// A link has one owner at most, whichever collective claimed it first. Unlimited links need none.
//
// Rings may run side by side, each through a device of every machine, and share the machines' cards
// (sim/ahead/card_times.hpp). A link on which only messages of one pair of machines meet is owned
// by a card, which is none of the hosts, so that what these do inside a machine does not touch it.
//
// Cost: the routes of a collective's messages, once for each group and kind of partners; afterwards
// a comparison of members for each collective. Memory: O(links + members of the groups that are
// remembered).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "sim/ahead/message_rounds.hpp"
#include "sim/network/fabric.hpp"
#include "sim/network/reservations.hpp"

namespace paceline {

class LinkOwners {
  public:
    using FindRoute = std::function<void(int from, int to, Route& route)>;
    using IsUnlimited = std::function<bool(LinkId)>;
    static constexpr int nobody = Reservations::nobody;

    /// Notes owners in `owners` (by link). Allocates nothing before the first claim.
    LinkOwners(int hosts, std::size_t links, std::vector<int>& owners)
        : hosts_(hosts), links_(links), owners_(owners) {}

    /// What is known of a collective's routes.
    struct Routes {
        bool have_owners = false;
        bool have_halves = false;  // each route is up(sender) followed by down(receiver)
    };
    /// Claims the limited links of a collective among `members`, or none if some of them can have
    /// no owner.
    Routes claim(const MessageRounds& rounds, const std::vector<int>& members,
                 const FindRoute& route, const IsUnlimited& is_unlimited);

    using Links = boost::container::small_vector<LinkId, 2>;
    /// Rings that share links, and which: [place], on the way to the next one.
    struct Cards {
        std::vector<int> rings{};
        std::vector<Links> shared{};
    };
    /// Of rings side by side, whose hosts follow one another at each place (`abreast` of them),
    /// returns those that share links with one of them, and claims the links of all of these. None
    /// if it shares no links, or some of its links can have no owner.
    Cards claim_cards(const std::vector<int>& hosts, int abreast, int ring, const FindRoute& route,
                      const IsUnlimited& is_unlimited);

    /// The owner of what rings share at a place: its number, by the host of the first of them.
    [[nodiscard]] int card_at(int first_host) const { return hosts_ + first_host; }

    // Of these, what has been claimed; so there must have been a claim.
    [[nodiscard]] std::span<const LinkId> links_of(int host) const {
        return span_of(at(host).owned);
    }
    /// The links that routes of a host begin and end with, if they have halves. None if no claimed
    /// message begins or ends there.
    [[nodiscard]] std::span<const LinkId> up(int host) const { return half(at(host).up); }
    [[nodiscard]] std::span<const LinkId> down(int host) const { return half(at(host).down); }

  private:
    /// Consecutive ones of half_links_. A known half may have none.
    struct Half {
        static constexpr int not_known = -1;
        std::uint32_t first = 0;
        int count = not_known;
    };
    struct OfHost {
        Links owned;
        Half up, down;
    };
    /// Whom all messages on a link come from and go to, as far as one host does.
    struct Claim {
        int sender = nobody;
        int receiver = nobody;
        bool is_of_first_half = true;
    };

    struct Known {
        Partners partners;
        std::vector<int> members;
        Routes routes;
    };

    /// Who uses a link, of rings side by side.
    struct Use {
        int place = nobody;  // of the senders
        std::uint64_t rings = 0;
        bool is_of_first_half = true;
    };
    struct KnownCards {
        std::vector<int> hosts;
        int abreast;
        int ring;
        Cards cards;
    };

    Cards claim_all_cards(const std::vector<int>& hosts, int abreast, int ring,
                          const FindRoute& route, const IsUnlimited& is_unlimited);
    void own(LinkId link, const Claim& claim);
    Routes claim_all(const MessageRounds& rounds, const std::vector<int>& members,
                     const FindRoute& route, const IsUnlimited& is_unlimited);
    bool note_half(Half& known, std::span<const LinkId> links);
    bool note_halves(int from, int to, const Route& route);
    [[nodiscard]] int owner_for(LinkId link, const Claim& claim) const;
    static std::size_t hosts_of(int hosts) { return static_cast<std::size_t>(hosts); }
    static std::span<const LinkId> span_of(const Links& links) {
        return {links.data(), links.size()};
    }
    [[nodiscard]] std::span<const LinkId> half(const Half& known) const {
        return std::span(half_links_)
            .subspan(known.first, static_cast<std::size_t>(std::max(known.count, 0)));
    }
    [[nodiscard]] const OfHost& at(int host) const { return of_host_[hosts_of(host)]; }

    int hosts_;
    std::size_t links_;
    std::vector<int>& owners_;
    std::vector<OfHost> of_host_;
    std::vector<LinkId> half_links_;
    std::vector<Known> known_;
    std::vector<KnownCards> known_cards_;
};

}  // namespace paceline
