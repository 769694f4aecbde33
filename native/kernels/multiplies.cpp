// Whether the tiles of this machine multiply: one small product beside plain arithmetic.
#include "kernels/tile_words.h"

namespace clearhead::CLEARHEAD_ISA {

bool multiplies();  // table.h

bool multiplies() {
    uint16_t a[kTileRows][32], b[kTileRows][32];
    float found[kTileRows][16];
    for (int i = 0; i < kTileRows; ++i)
        for (int e = 0; e < 32; ++e) {  // whole numbers up to 7: exact, in any order
            a[i][e] = narrow_bfloat(static_cast<float>((i * 5 + e * 3) % 15 - 7));
            b[i][e] = narrow_bfloat(static_cast<float>((i * 3 + e * 7) % 13 - 6));
            found[i][e / 2] = static_cast<float>(e);
        }
    {
        const TileSession session;
        tile_load<0>(found, kTileBytes);
        tile_load<1>(a, kTileBytes);
        tile_load<2>(b, kTileBytes);
        tile_dot<0, 1, 2>();
        tile_store<0>(found, kTileBytes);
    }
    for (int i = 0; i < kTileRows; ++i)
        for (int lane = 0; lane < 16; ++lane) {
            float right = static_cast<float>(2 * lane + 1);
            for (int e = 0; e < 32; ++e)
                right += widen_bfloat(a[i][e]) * widen_bfloat(b[e / 2][2 * lane + e % 2]);
            if (found[i][lane] != right) return false;
        }
    return true;
}

}  // namespace clearhead::CLEARHEAD_ISA
