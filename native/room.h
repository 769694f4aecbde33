// Memory that a thread keeps between calls: a fresh one would cost more page faults than a short
// call takes. It is freed with the thread, and what a large call has left behind at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace clearhead {

class Room {
  public:
    static constexpr size_t kKept = size_t{32} << 20;  // bytes that may stay after a call

    Room() = default;
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() { std::free(data_); }

    // Room for `count` elements, whose contents are lost with the next request; nullptr where there
    // is no memory.
    template <class T>
    T* get(size_t count) {
        const size_t bytes = count * sizeof(T) + 1;
        if (bytes > size_) {
            std::free(data_);
            size_ = 0;
            const size_t rounded = (bytes + 4095) / 4096 * 4096;
            data_ = std::aligned_alloc(64, rounded);
            if (!data_) return nullptr;
            size_ = rounded;
        }
        return static_cast<T*>(data_);
    }

    void trim() {
        if (size_ <= kKept) return;
        std::free(data_);
        data_ = nullptr;
        size_ = 0;
    }

  private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace clearhead
