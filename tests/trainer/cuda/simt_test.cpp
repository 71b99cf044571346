// SPDX-License-Identifier: Apache-2.0
// The emulation of a GPU: what it does, and that each of its checks finds a planted fault.
#include "trainer/cuda/simt/simt.hpp"

#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/trainer/cuda/cuda_support.hpp"

namespace assay::trainer::cuda {
namespace {
using test::all_orders;
using test::in_every_order;
using test::is_found;
using test::output;
using test::two_threads;

struct Args {
    const std::int32_t* in = nullptr;
    OutputArray<std::int32_t> out;
    unsigned count = 0;
};

struct Base {
    static constexpr bool kWaits = true;
    static constexpr unsigned kThreads = 64;
    using Args = cuda::Args;
    struct Shared {
        std::int32_t numbers[64];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
};

// Turns every block's 64 numbers round, through shared memory.
template <bool kHasBarrier>
struct Reverse : Base {
    static void run(const SimtBlock& block, const Args& args) {
        auto& shared = block.shared<Shared>();
        const unsigned at = block.x() * 64 + block.thread();
        shared.numbers[block.thread()] = args.in[at];
        if (kHasBarrier) block.sync();
        args.out.set(at, shared.numbers[63 - block.thread()]);
    }
};

// A number for every block, by a tree over the lanes of its first warp; the sum of what other warps bring
// goes through memory that nobody wrote.
template <bool kZeroes>
struct Sum : Base {
    static void run(const SimtBlock& block, const Args& args) {
        auto& shared = block.shared<Shared>();
        std::int32_t value = args.in[block.x() * 64 + block.thread()];
        for (unsigned lanes = 16; lanes > 0; lanes /= 2) value += block.shfl_down(value, lanes);
        if (kZeroes && block.thread() == 0) shared.numbers[2] = 0;
        if (block.lane() == 0) shared.numbers[block.warp()] = value;
        block.sync();
        if (block.thread() == 0)
            args.out.set(block.x(), shared.numbers[0] + shared.numbers[1] + shared.numbers[2]);
    }
};

struct TwoWrites : Base {
    static void run(const SimtBlock& block, const Args& args) { args.out.set(block.thread() / 2, 1); }
};
struct Outside : Base {
    static void run(const SimtBlock& block, const Args& args) { args.out.set(block.thread() + 1, 1); }
};
struct LeftBarrier : Base {
    static void run(const SimtBlock& block, const Args& args) {
        if (block.thread() < 40) block.sync();
        args.out.set(block.thread(), 1);
    }
};
struct LeftLanes : Base {
    static void run(const SimtBlock& block, const Args& args) {
        if (block.lane() < 31) args.out.set(block.thread(), block.shfl_xor(1, 1));
    }
};
struct MixedWarp : Base {
    static void run(const SimtBlock& block, const Args& args) {
        std::int32_t d[4] = {};
        if (block.lane() == 3) block.mma_s8(d, {1, 1, 1, 1}, {1, 1});
        if (block.lane() != 3) d[0] = block.shfl_xor(1, 1);
        args.out.set(block.thread(), d[0]);
    }
};
// A lane that waits for its warp, or asks it, while the others do something else.
template <bool kAsks>
struct MixedMeeting : Base {
    static void run(const SimtBlock& block, const Args& args) {
        std::int32_t found = 1;
        if (block.lane() != 3) {
            found = block.shfl_xor(1, 1);
        } else if (kAsks) {
            found = block.any(true) ? 1 : 0;
        } else {
            block.sync_warp();
        }
        args.out.set(block.thread(), found);
    }
};
struct Undeclared : Base {
    static constexpr bool kWaits = false;
    static void run(const SimtBlock& block, const Args& args) {
        block.sync();
        args.out.set(block.thread(), 1);
    }
};

// Copies a number to shared memory and on.
template <bool kWaitsForIt, bool kCommits = true>
struct Copied : Base {
    static void run(const SimtBlock& block, const Args& args) {
        auto& shared = block.shared<Shared>();
        block.copy4(&shared.numbers[block.thread()], args.in + block.thread(), block.thread() != 5);
        if (kCommits) block.commit_copies();
        if (kWaitsForIt) block.wait_copies<0>();
        const std::int32_t early = shared.numbers[block.thread()];
        if (!kWaitsForIt) block.wait_copies<0>();
        args.out.set(block.thread(), early);
    }
};
}  // namespace

using Integers = std::vector<std::int32_t>;

static Integers counted(std::size_t count) {
    Integers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
}

TEST_CASE("threads of a block share memory and wait for one another", "[trainer][cuda]") {
    const Integers in = counted(64 * 9);
    in_every_order([&](KernelStream& stream) {
        Integers out(in.size());
        launch<Reverse<true>>({9}, stream, {in.data(), output(out), 0});
        for (std::size_t i = 0; i < in.size(); ++i) REQUIRE(out[i] == in[i / 64 * 64 + 63 - i % 64]);
    });
}

TEST_CASE("lanes of a warp exchange numbers", "[trainer][cuda]") {
    const Integers in = counted(64 * 3);
    in_every_order([&](KernelStream& stream) {
        Integers out(3);
        launch<Sum<true>>({3}, stream, {in.data(), output(out), 0});
        REQUIRE(out == Integers{32 * 65, 32 * 193, 32 * 321});
    });
}

TEST_CASE("a missing barrier is found by the order of the threads", "[trainer][cuda]") {
    const Integers in = counted(64);
    REQUIRE(is_found([&](KernelStream& stream) {
        Integers out(64), law(in.rbegin(), in.rend());
        launch<Reverse<false>>({1}, stream, {in.data(), output(out), 0});
        return out == law;
    }));
}

TEST_CASE("shared memory that nobody wrote is not zero", "[trainer][cuda]") {
    const Integers in = counted(64);
    for (const StreamOptions& options : all_orders()) {
        KernelStream stream(two_threads(), options);
        Integers out(1);
        launch<Sum<false>>({1}, stream, {in.data(), output(out), 0});
        REQUIRE(out[0] != 32 * 65);
    }
}

namespace {
struct Misaligned : Base {
    static void run(const SimtBlock& block, const Args& args) {
        Shared& shared = block.shared<Shared>();
        block.copy16(&shared.numbers[1], args.in, true);
        block.commit_copies();
        block.wait_copies<0>();
    }
};
// Four numbers at an address of one: loaded, put into shared memory, or stored as outputs.
enum class FourAccess : std::uint8_t { kLoad, kStore, kOutput };
template <FourAccess kAccess>
struct MisalignedFour : Base {
    static void run(const SimtBlock& block, const Args& args) {
        if (block.thread() != 0) return;
        alignas(16) float four[5] = {};
        if constexpr (kAccess == FourAccess::kLoad) load4(four + 1, four);
        if constexpr (kAccess == FourAccess::kStore) store4(four + 1, four);
        if constexpr (kAccess == FourAccess::kOutput) {
            // A vector's memory begins at an address of four numbers.
            const std::int32_t ones[4] = {1, 1, 1, 1};
            args.out.set4(1, ones);
        }
    }
};
// Whether a lane of the warp has the first number, which its neighbour put into shared memory; and how many
// blocks there are.
struct Vote : Base {
    static void run(const SimtBlock& block, const Args& args) {
        auto& shared = block.shared<Shared>();
        shared.numbers[block.thread()] = args.in[block.thread()];
        block.sync_warp();
        const bool found = block.any(shared.numbers[block.thread() ^ 1U] == args.in[0]);
        args.out.set(block.x() * 64 + block.thread(),
                     (found ? 100 : 0) + static_cast<std::int32_t>(block.grid_x()));
    }
};
}  // namespace

TEST_CASE("lanes of a warp wait for one another, and vote", "[trainer][cuda]") {
    const Integers in = counted(64);
    in_every_order([&](KernelStream& stream) {
        Integers out(128);
        launch<Vote>({2}, stream, {in.data(), output(out), 0});
        for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == (i % 64 < 32 ? 102 : 2));
    });
}

TEST_CASE("every broken rule of the machine is counted under its name", "[trainer][cuda]") {
    const Integers in = counted(64);
    const auto count = [&](auto kernel, FaultKind kind) {
        KernelStream stream(two_threads());
        Integers out(64);
        launch<decltype(kernel)>({1}, stream, {in.data(), output(out), 0});
        INFO(stream.faults().to_text());
        return stream.faults().count(kind);
    };
    REQUIRE(count(TwoWrites{}, FaultKind::kTwoWrites) == 32);
    REQUIRE(count(Outside{}, FaultKind::kOutsideOutput) == 1);
    REQUIRE(count(LeftBarrier{}, FaultKind::kLeftBarrier) == 1);
    REQUIRE(count(LeftLanes{}, FaultKind::kLeftBarrier) == 1);
    REQUIRE(count(MixedWarp{}, FaultKind::kMixedWarp) == 2);
    REQUIRE(count(MixedMeeting<false>{}, FaultKind::kMixedWarp) == 2);
    REQUIRE(count(MixedMeeting<true>{}, FaultKind::kMixedWarp) == 2);
    REQUIRE(count(Undeclared{}, FaultKind::kWaitUndeclared) == 64);
    REQUIRE(count(Copied<true, false>{}, FaultKind::kLeftCopies) == 64);
    REQUIRE(count(Misaligned{}, FaultKind::kMisaligned) == 64);
    REQUIRE(count(MisalignedFour<FourAccess::kLoad>{}, FaultKind::kMisaligned) == 1);
    REQUIRE(count(MisalignedFour<FourAccess::kStore>{}, FaultKind::kMisaligned) == 1);
    REQUIRE(count(MisalignedFour<FourAccess::kOutput>{}, FaultKind::kMisaligned) == 1);
    REQUIRE(count(Reverse<true>{}, FaultKind::kTwoWrites) == 0);
    REQUIRE(count(Reverse<true>{}, FaultKind::kMisaligned) == 0);
}

TEST_CASE("what is copied to shared memory is there after the wait and not before", "[trainer][cuda]") {
    const Integers in = counted(64);
    KernelStream stream(two_threads());
    Integers out(64), early(64), law = in;
    law[5] = 0;  // not valid
    launch<Copied<true>>({1}, stream, {in.data(), output(out), 0});
    REQUIRE(out == law);
    launch<Copied<false>>({1}, stream, {in.data(), output(early), 0});
    REQUIRE(early == Integers(64, -1));
    REQUIRE_FALSE(stream.faults().any());
}

TEST_CASE("a grid that no card takes is a fault", "[trainer][cuda]") {
    const Integers in = counted(64);
    KernelStream stream(two_threads());
    Integers out(64);
    launch<Reverse<true>>({0, 65'536, 1}, stream, {in.data(), output(out), 0});
    REQUIRE(stream.faults().count(FaultKind::kTooManyBlocks) == 1);
}

namespace {
struct WarpgroupArgs {
    const std::uint32_t* a = nullptr;  // 64 lines of 16 words of digits
    const std::uint32_t* b = nullptr;  // 16 lines
    OutputArray<std::int32_t> d;       // [64,16]
};
// What it does with a tile that is still being multiplied.
enum class TileFate : std::uint8_t { kLeft, kChanged };

template <TileFate kTile>
struct Warpgroup : Base {
    static constexpr unsigned kThreads = 128;
    using Args = WarpgroupArgs;
    struct Shared {
        alignas(1024) std::uint32_t a[64 * 16];
        alignas(1024) std::uint32_t b[16 * 16];
    };
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.d);
    }
    static void run(const SimtBlock& block, const Args& args) {
        Shared& shared = block.shared<Shared>();
        for (unsigned i = block.thread(); i < 64 * 16; i += kThreads)
            shared.a[swizzled_word(i / 16, i % 16)] = args.a[i];
        for (unsigned i = block.thread(); i < 16 * 16; i += kThreads)
            shared.b[swizzled_word(i / 16, i % 16)] = args.b[i];
        block.share_with_wgmma();
        block.sync();
        std::int32_t d[8] = {};
        block.wgmma_begin();
        for (unsigned step = 0; step < 2; ++step)
            block.wgmma_s8(d, block.wgmma_tile(shared.a), block.wgmma_tile(shared.b), step);
        block.wgmma_commit();
        block.sync();
        if (kTile == TileFate::kChanged && block.thread() == 0) shared.a[0] ^= 0x01010101U;
        block.sync();
        block.wgmma_wait<0>();
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned row = block.warp() * 16 + block.lane() / 4 + i / 2 % 2 * 8;
            args.d.set(row * 16 + i / 4 * 8 + block.lane() % 4 * 2 + i % 2, d[i]);
        }
    }
};
}  // namespace

TEST_CASE("a warpgroup multiplies tiles of digits, and sees one that changes meanwhile", "[trainer][cuda]") {
    std::mt19937 random(9);
    std::vector<std::int8_t> a(64 * 64), b(16 * 64);
    for (auto* all : {&a, &b}) {
        for (std::int8_t& digit : *all) digit = static_cast<std::int8_t>(random());
    }
    Integers law(64 * 16), out(64 * 16);
    for (unsigned i = 0; i < 64; ++i) {
        for (unsigned j = 0; j < 16; ++j) {
            for (unsigned k = 0; k < 64; ++k) law[i * 16 + j] += a[i * 64 + k] * b[j * 64 + k];
        }
    }
    std::vector<std::uint32_t> a_words(64 * 16), b_words(16 * 16);
    std::memcpy(a_words.data(), a.data(), a.size());
    std::memcpy(b_words.data(), b.data(), b.size());
    for (const StreamOptions& options : all_orders()) {
        KernelStream stream(two_threads(), options);
        launch<Warpgroup<TileFate::kLeft>>({1}, stream, {a_words.data(), b_words.data(), output(out)});
        REQUIRE(out == law);
        REQUIRE_FALSE(stream.faults().any());
        launch<Warpgroup<TileFate::kChanged>>({1}, stream, {a_words.data(), b_words.data(), output(out)});
        REQUIRE(stream.faults().count(FaultKind::kMovedOperand) > 0);
    }
}

namespace {
struct MultiplyArgs {
    const std::int8_t* a = nullptr;  // [16,32]
    const std::int8_t* b = nullptr;  // [32,8]
    OutputArray<std::int32_t> d;     // [16,8]
};
// Fills fragments number by number as the PTX manual names them.
struct Multiply : Base {
    static constexpr unsigned kThreads = 32;
    using Args = MultiplyArgs;
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.d);
    }
    static void run(const SimtBlock& block, const Args& args) {
        const unsigned group = block.lane() >> 2, own = block.lane() % 4;
        std::uint32_t a[4] = {}, b[2] = {};
        for (unsigned i = 0; i < 16; ++i) {
            const unsigned row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
            const unsigned k = own * 4 + (i & 3) + (i >= 8 ? 16 : 0);
            a[i / 4] |= std::uint32_t{static_cast<std::uint8_t>(args.a[row * 32 + k])} << (8 * (i % 4));
        }
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned k = own * 4 + (i & 3) + (i >= 4 ? 16 : 0);
            b[i / 4] |= std::uint32_t{static_cast<std::uint8_t>(args.b[k * 8 + group])} << (8 * (i % 4));
        }
        std::int32_t d[4] = {5, 5, 5, 5};
        block.mma_s8(d, a, b);
        for (unsigned i = 0; i < 4; ++i) {
            args.d.set((i < 2 ? group : group + 8) * 8 + own * 2 + (i & 1), d[i]);
        }
    }
};
}  // namespace

namespace {
// Lane l names row l % 8 of matrix l / 8, matrices after one another and `kOff` words beside their place.
template <unsigned kOff>
struct LoadMatrices : Base {
    static constexpr unsigned kThreads = 32;
    struct Shared {
        alignas(16) std::uint32_t words[4 * 8 * 4 + 4];
    };
    static void run(const SimtBlock& block, const Args& args) {
        auto& shared = block.shared<Shared>();
        for (unsigned i = block.thread(); i < 4 * 8 * 4 + 4; i += 32) shared.words[i] = i;
        block.sync();
        std::uint32_t words[4];
        block.load_matrices(words, shared.words + block.lane() * 4 + kOff);
        for (unsigned i = 0; i < 4; ++i)
            args.out.set(i * 32 + block.thread(), static_cast<std::int32_t>(words[i]));
    }
};
}  // namespace

// PTX ISA, ldmatrix: with b16 a row is eight numbers, of which a lane gets two, four lanes a row.
TEST_CASE("a warp loads matrices by the lane layout of the manual", "[trainer][cuda]") {
    in_every_order([&](KernelStream& stream) {
        Integers out(4 * 32);
        launch<LoadMatrices<0>>({1}, stream, {nullptr, output(out), 0});
        // Number 8r + 2(l % 4) of matrix i and the next, r = l / 4, are word 4r + l % 4 of its 32.
        for (unsigned at = 0; at < 4 * 32; ++at) {
            const unsigned matrix = at / 32, lane = at % 32;
            REQUIRE(static_cast<unsigned>(out[at]) == 32 * matrix + lane / 4 * 4 + lane % 4);
        }
    });
    KernelStream stream(two_threads());
    Integers out(4 * 32);
    launch<LoadMatrices<1>>({1}, stream, {nullptr, output(out), 0});
    CHECK(stream.faults().count(FaultKind::kMisaligned) == 32);
}

TEST_CASE("a warp multiplies digits by the lane layout of the manual", "[trainer][cuda]") {
    std::mt19937 random(3);
    std::vector<std::int8_t> a(16 * 32), b(32 * 8);
    for (auto* matrix : {&a, &b}) {
        for (std::int8_t& digit : *matrix) digit = static_cast<std::int8_t>(random());
    }
    a[0] = b[0] = -128;
    Integers law(16 * 8, 5);
    for (std::size_t i = 0; i < 16 * 8 * 32; ++i) {
        const std::size_t row = i / 256, column = i / 32 % 8, k = i % 32;
        law[row * 8 + column] += a[row * 32 + k] * b[k * 8 + column];
    }
    in_every_order([&](KernelStream& stream) {
        Integers d(16 * 8);
        launch<Multiply>({1}, stream, {a.data(), b.data(), output(d)});
        REQUIRE(d == law);
    });
}

}  // namespace assay::trainer::cuda
