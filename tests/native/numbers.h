// Arrays of random numbers in any layout, also broadcast along any axis, with NaN in every gap.
#pragma once

#include <vector>

#include "random.h"

namespace cases {

using clearhead::Array;

// Axes along which an array repeats itself: strides of 0.
struct Broadcast {
    bool outer, inner, head, row, column;  // outer and inner: the batch axes, where there are two
    bool any() const { return outer || inner || head || row || column; }
};

// Memory of an array (batch, heads, rows, columns) and what the kernels are told of it.
struct Numbers {
    std::vector<char> memory;
    int64_t origin = 0, samples = 0, inner = 1;  // of the first number; sizes of the batch axes
    int64_t heads = 0, rows = 0, columns = 0;
    Broadcast broadcast{};
    Array array{};

    char* at(int64_t b, int64_t h, int64_t i, int64_t c) {
        const int64_t sample = b / inner * array.batch[0] + b % inner * array.batch[1];
        return memory.data() +
               (origin + sample + h * array.head + i * array.row + c * array.column) *
                   size_of(array.kind);
    }
    double operator()(int64_t b, int64_t h, int64_t i, int64_t c) {
        return read(at(b, h, i, c), array.kind);
    }

    // All of it, dense and in float64.
    std::vector<double> plain() {
        std::vector<double> all;
        all.reserve(static_cast<size_t>(samples * heads * rows * columns));
        each([&](char* place) { all.push_back(read(place, array.kind)); });
        return all;
    }

    // Calls body(where it lies) for every number, row-major.
    template <class Body>
    void each(Body body) {
        for (int64_t b = 0; b < samples; ++b)
            for (int64_t h = 0; h < heads; ++h)
                for (int64_t i = 0; i < rows; ++i)
                    for (int64_t c = 0; c < columns; ++c) body(at(b, h, i, c));
    }

    // An array of one of the layouts, all NaN. Samples are one axis, or two: the rest, and `of_two`
    // where that is not 0.
    void lay_out(Random& random, Kind kind, Broadcast over, int64_t of_samples, int64_t of_two,
                 int64_t of_heads, int64_t of_rows, int64_t of_columns) {
        samples = of_samples;
        inner = of_two ? of_two : 1;
        heads = of_heads;
        rows = of_rows;
        columns = of_columns;
        broadcast = over;
        const int64_t high = over.head ? 1 : heads;
        const int64_t down = over.row ? 1 : rows, across = over.column ? 1 : columns;
        const int64_t how = random.below(6);
        const int64_t gap = how == 2 ? 2 : 1;                                // columns apart
        const int64_t wide = across * gap + (how == 1 || how == 3 ? 5 : 0);  // room of a row
        const int64_t tall = down + (how == 1 ? 3 : 0);
        const int64_t sample = high * tall * wide;
        array.kind = kind;
        array.column = how == 4 ? down : gap;
        array.row = how == 4 ? 1 : how == 5 ? high * wide : wide;
        array.head = how == 5 ? wide : tall * wide;
        if (how == 3) {  // backwards along both axes
            origin = (down ? down - 1 : 0) * wide + (across ? across - 1 : 0);
            array.row = -array.row;
            array.column = -array.column;
        }
        array.batch_axes = of_two ? 2 : 1;
        array.batch[0] = over.outer ? 0 : inner * sample;
        array.batch[1] = over.inner ? 0 : sample;
        if (over.head) array.head = 0;
        if (over.row) array.row = 0;
        if (over.column) array.column = 0;
        const int64_t all = samples * sample + 64;
        memory.assign(static_cast<size_t>(all * size_of(kind)), 0);
        for (int64_t i = 0; i < all; ++i)
            write(memory.data() + i * size_of(kind), kind, kind == Kind::kBool ? 1 : NAN);
        array.data = memory.data() + origin * size_of(kind);
    }
};

}  // namespace cases
