#include "algorithms/exchange/push_and_read.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> push_and_read(Worker& self, double momentum) {
    const int server = self.workers();
    Vector read = self.replicated_model();
    auto version = static_cast<double>(self.updates_done());
    Vector m = Vector::zero_like(read);
    Vector push = m;

    while (self.begins_step()) {
        const double step = self.learning_rate() / self.workers();
        co_await self.gradient(read, [&](const Vector& g) {
            m = momentum * m + g;
            push = step * m;
        });
        co_await self.mail().post(server, push_inbox, {.vector = push, .number = version},
                                  self.weigh(push));
        Letter answer = co_await self.mail().next_letter(push_inbox);
        read = *std::move(answer.vector);
        version = answer.number;
        co_await self.update();
    }
}

}  // namespace paceline
