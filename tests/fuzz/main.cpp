// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "contracts/base/check.hpp"
#include "contracts/base/sign.hpp"
#include "tests/fuzz/target.hpp"

#ifdef ASSAY_FUZZ
// The target's own inputs become files of the folder ASSAY_FUZZ_SEEDS: a corpus to start from.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    ASSAY_CHECK(assay::base::start_crypto());
    const char* const folder = std::getenv("ASSAY_FUZZ_SEEDS");
    if (folder == nullptr) return 0;
    std::size_t number = 0;
    for (const assay::base::Bytes& seed : assay::fuzz::seeds()) {
        std::ofstream file(std::string(folder) + "/seed-" + std::to_string(number++), std::ios::binary);
        for (const std::uint8_t byte : seed) file.put(static_cast<char>(byte));
        ASSAY_CHECK(file.flush().good());
    }
    return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    assay::fuzz::run({data, size});
    return 0;
}
#else
namespace {

// One to four small changes: a bit, a byte, an interesting length, a cut, a piece copied elsewhere.
void mutate(assay::base::Bytes& bytes, std::mt19937_64& random) {
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
        const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        switch (bytes.empty() ? 4 : random() % 6) {
            case 0: *place ^= static_cast<std::uint8_t>(1U << (random() % 8)); break;
            case 1: *place = static_cast<std::uint8_t>(random()); break;
            case 2: *place = random() % 2 == 0 ? 0xff : 0x00; break;
            case 3: bytes.resize(at); break;
            case 4: bytes.insert(place, static_cast<std::uint8_t>(random())); break;
            default: {
                const std::size_t count = std::min<std::size_t>(bytes.size() - at, 1 + random() % 16);
                const assay::base::Bytes piece(place, place + static_cast<std::ptrdiff_t>(count));
                const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1));
                bytes.insert(to, piece.begin(), piece.end());
            }
        }
    }
}

}  // namespace

int main() {
    ASSAY_CHECK(assay::base::start_crypto());
    constexpr std::uint64_t kSeed = 20261121;
    // So many of each input, and fewer where a target has many of them.
    constexpr std::size_t kRunsEach = 3000;
    constexpr std::size_t kRunsInAll = 45'000;
    const std::vector<assay::base::Bytes> seeds = assay::fuzz::seeds();
    const std::size_t each = std::min(kRunsEach, kRunsInAll / std::max<std::size_t>(seeds.size(), 1));
    std::mt19937_64 random(kSeed);
    std::uint64_t runs = 0;
    for (const assay::base::Bytes& seed : seeds) {
        assay::fuzz::run(seed);
        for (std::size_t cut = 0; cut < seed.size(); cut += 1 + seed.size() / 500, ++runs)
            assay::fuzz::run(assay::base::ByteView(seed).first(cut));
        for (std::size_t i = 0; i < each; ++i, ++runs) {
            assay::base::Bytes input = seed;
            mutate(input, random);
            assay::fuzz::run(input);
        }
    }
    std::printf("%llu inputs, seed %llu\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(kSeed));
    return runs > 0 ? 0 : 1;
}
#endif
