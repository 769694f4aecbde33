// The check of the vocabulary, compiled once per instruction set beside the kernels: prints the
// first of every word that is wrong, and says how many were.
#pragma once

namespace cases::baseline {
int check_words();
}
namespace cases::avx2 {
int check_words();
}
namespace cases::avx512 {
int check_words();
}
namespace cases::avx512bf16 {
int check_words();
}
namespace cases::amx {
int check_words();
}
namespace cases::neon {
int check_words();
}
