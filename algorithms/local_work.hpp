// Local arithmetic of workers, done beside one another on oneTBB threads.
//
// A worker's computation takes simulated time and has a value. Its arithmetic is handed in when the
// simulated computation begins and is joined when it ends: the first worker whose computation ends
// has everything done that has been handed in by then, in parallel, and the others find theirs
// done. The event loop never runs on a thread of the pool.
//
// Results do not depend on the number of threads: a piece reads snapshots and changes only what
// belongs to its own worker. What a piece throws is thrown where that piece is joined. A piece that
// is dropped before it was needed is never done.
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

    std::vector<Piece*> waiting_;  // in the order in which they were handed in
};

class LocalWork::Piece {
  public:
    /// Hands in. Requires that `all` outlives the piece.
    Piece(LocalWork& all, std::function<void()> work);
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece();

    /// Joins: afterwards the work has been done, or this throws what it threw.
    void join();

  private:
    friend class LocalWork;

    LocalWork& all_;
    std::function<void()> work_;
    std::exception_ptr failure_;
    bool done_ = false;
};

}  // namespace paceline
