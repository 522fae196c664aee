// Runs the local arithmetic of workers in parallel (models/tensors/parallel.hpp).
//
// A worker's computation takes simulated time and has a value. Its arithmetic is submitted when the
// simulated computation begins and joined when it ends. The first worker whose computation ends
// runs everything submitted so far, in parallel; the others then find their results ready. The
// event loop never runs on a thread of the pool.
//
// Results do not depend on the number of threads: a piece reads snapshots and changes only its own
// worker's state. An exception in a piece is rethrown where that piece is joined. A piece that is
// destroyed before it was needed never runs.
#pragma once

#include <exception>
#include <functional>
#include <vector>

namespace paceline {

class LocalWork {
  public:
    class Piece;

    LocalWork() = default;
    LocalWork(const LocalWork&) = delete;
    LocalWork& operator=(const LocalWork&) = delete;

  private:
    void do_all();

    std::vector<Piece*> waiting_;  // in the order of submission
};

class LocalWork::Piece {
  public:
    /// Submits the work. Requires that `all` outlives the piece.
    Piece(LocalWork& all, std::function<void()> work);
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece();

    /// Makes sure that the work has run. Rethrows what it threw.
    void join();

  private:
    friend class LocalWork;

    LocalWork& all_;
    std::function<void()> work_;
    std::exception_ptr failure_;
    bool done_ = false;
};

}  // namespace paceline
