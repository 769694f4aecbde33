// Memory of one call beside its scratch, kept by the thread that called and used by its workers.
#pragma once

#include "room.h"

namespace clearhead {

struct Rooms {
    Room segments, runs, allowed, classes, stretches, sums, counts, normalisers;

    void trim() {
        for (Room* room :
             {&segments, &runs, &allowed, &classes, &stretches, &sums, &counts, &normalisers})
            room->trim();
    }
};

// The rooms of this thread. A handler of signals that calls while a call of its own thread waits
// gets others.
class Lease {
  public:
    Lease() : rooms_(busy() ? others_ : kept()), first_(!busy()) { busy() = true; }
    ~Lease() {
        if (!first_) return;
        rooms_.trim();
        busy() = false;
    }
    Rooms& rooms() { return rooms_; }

  private:
    static bool& busy() {
        thread_local bool is = false;
        return is;
    }
    static Rooms& kept() {
        thread_local Rooms mine;
        return mine;
    }

    Rooms others_;
    Rooms& rooms_;
    bool first_;
};

}  // namespace clearhead
