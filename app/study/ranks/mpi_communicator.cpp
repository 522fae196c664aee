// The communicator over MPI: a plugin, which join_job.cpp loads.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <list>
#include <stdexcept>
#include <utility>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include "app/study/ranks/communicator.hpp"

namespace paceline {

namespace {

// A message consists of its number and its text; its kind is MPI's tag.
std::vector<char> packed(std::uint64_t number, const std::string& text) {
    std::vector<char> bytes(sizeof number + text.size());
    std::memcpy(bytes.data(), &number, sizeof number);
    std::memcpy(bytes.data() + sizeof number, text.data(), text.size());
    return bytes;
}

std::string host_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
}

// Ranks on a machine share the cores that any of them may use, but none uses more than it is bound
// to.
RankInfo find_info() {
    RankInfo info;
    MPI_Comm_rank(MPI_COMM_WORLD, &info.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &info.ranks);
    info.host = host_name();
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &info.ranks_here);
    cpu_set_t mine;
    cpu_set_t all;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, here);
    MPI_Comm_free(&here);
    info.bound_to = std::max(1, CPU_COUNT(&mine));
    info.cores = std::clamp(CPU_COUNT(&all) / info.ranks_here, 1, info.bound_to);
    return info;
}

class MpiCommunicator : public Communicator {
  public:
    MpiCommunicator() {
        int provided = MPI_THREAD_SINGLE;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        if (provided < MPI_THREAD_FUNNELED)
            throw std::runtime_error("this MPI does not allow threads");
        info_ = find_info();
    }
    ~MpiCommunicator() override {
        for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
        MPI_Finalize();
    }

    [[nodiscard]] const RankInfo& info() const override { return info_; }

    void send(int rank, MessageKind kind, std::uint64_t number, std::string text) override {
        forget_arrived();
        Sent& sent = sent_.emplace_back();
        sent.bytes = packed(number, text);
        MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, rank,
                  static_cast<int>(kind), MPI_COMM_WORLD, &sent.request);
    }

    std::optional<RankMessage> receive() override {
        forget_arrived();
        int there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
        if (there == 0) return std::nullopt;
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        std::vector<char> bytes(static_cast<std::size_t>(size));
        MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        RankMessage received{status.MPI_SOURCE, static_cast<MessageKind>(status.MPI_TAG)};
        std::memcpy(&received.number, bytes.data(), sizeof received.number);
        received.text.assign(bytes.begin() + sizeof received.number, bytes.end());
        return received;
    }

    [[noreturn]] void abort(int exit_code) override {
        MPI_Abort(MPI_COMM_WORLD, exit_code);
        std::abort();  // MPI_Abort does not return
    }

  private:
    struct Sent {
        std::vector<char> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void forget_arrived() {
        std::erase_if(sent_, [](Sent& sent) {
            int arrived = 0;
            MPI_Test(&sent.request, &arrived, MPI_STATUS_IGNORE);
            return arrived != 0;
        });
    }

    RankInfo info_;
    std::list<Sent> sent_;  // MPI may still read these
};

}  // namespace

}  // namespace paceline

extern "C" paceline::Communicator* paceline_mpi_communicator() {
    return new paceline::MpiCommunicator;  // join_job owns it
}
