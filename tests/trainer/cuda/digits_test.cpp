// SPDX-License-Identifier: Apache-2.0
// Digits that a warp's matrix unit multiplies by the lane layout of the PTX manual, against the definition,
// and left for whoever multiplies them beside cuBLASLt on a card (tests/tools/cuda_int8.py).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/trainer/cuda/cuda_support.hpp"

namespace assay::trainer::cuda {
namespace {
using test::output;
using test::TestStream;

struct DigitArgs {
    unsigned n = 0, k = 0;
    const std::int8_t* a = nullptr;  // [m,k]
    const std::int8_t* b = nullptr;  // [k,n]
    OutputArray<std::int32_t> d;     // [m,n]
};

// A warp makes 16×8 numbers: fragments are filled number by number as the manual names them.
struct DigitProduct {
    static constexpr unsigned kThreads = 32;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = true;
    using Args = DigitArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.d);
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned group = block.lane() / 4, own = block.lane() % 4;
        const unsigned top = block.y() * 16, left = block.x() * 8;
        std::int32_t d[4] = {0, 0, 0, 0};
        for (unsigned first = 0; first < args.k; first += 32) {
            std::uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
            for (unsigned i = 0; i < 16; ++i) {
                const unsigned row = top + (i / 4 % 2 == 0 ? group : group + 8);
                const unsigned k = first + own * 4 + i % 4 + (i >= 8 ? 16 : 0);
                a[i / 4] |= byte(args.a[row * args.k + k]) << (8 * (i % 4));
            }
            for (unsigned i = 0; i < 8; ++i) {
                const unsigned k = first + own * 4 + i % 4 + (i >= 4 ? 16 : 0);
                b[i / 4] |= byte(args.b[k * args.n + left + group]) << (8 * (i % 4));
            }
            block.mma_s8(d, a, b);
        }
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned row = top + (i < 2 ? group : group + 8);
            args.d.set(row * args.n + left + own * 2 + i % 2, d[i]);
        }
    }

private:
    static ASSAY_SIMT std::uint32_t byte(std::int8_t digit) {
        return static_cast<std::uint32_t>(digit) & 0xffU;
    }
};

template <class T>
void leave(const std::filesystem::path& file, const test::CardVector<T>& numbers) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::streamsize>(numbers.size() * sizeof(T)));
}
}  // namespace

TEST_CASE("digits are multiplied by the lane layout of the manual, beside cuBLASLt too", "[trainer][cuda]") {
    constexpr unsigned kM = 32, kN = 24, kK = 160;
    std::mt19937 random(71);
    test::CardVector<std::int8_t> a(kM * kK), b(kK * kN);
    for (auto* matrix : {&a, &b}) {
        for (std::int8_t& digit : *matrix) digit = static_cast<std::int8_t>(random());
    }
    a[0] = b[0] = -128;
    test::CardVector<std::int32_t> law(kM * kN), d(kM * kN);
    for (unsigned i = 0; i < kM * kN; ++i) {
        for (unsigned k = 0; k < kK; ++k) law[i] += a[i / kN * kK + k] * b[k * kN + i % kN];
    }
    test::in_every_order([&](TestStream& stream) {
        DigitArgs args{kN, kK, a.data(), b.data(), output(d)};
        launch<DigitProduct>({kN / 8, kM / 16, 1}, stream, args);
        REQUIRE(test::same_integers(d, law));
    });
    const char* const folder = std::getenv("ASSAY_INT8_FOLDER");
    if (folder == nullptr) return;
    const std::filesystem::path at = folder;
    leave(at / "a", a);
    leave(at / "b", b);
    leave(at / "d", d);
    std::ofstream(at / "shape") << kM << ' ' << kN << ' ' << kK << '\n';
}

}  // namespace assay::trainer::cuda
