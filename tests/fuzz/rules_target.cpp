// SPDX-License-Identifier: Apache-2.0
// The rules moved at random (rules_world.hpp). libFuzzer's bytes are the choices. Without libFuzzer:
//   fuzz_rules [SEED [STEPS]]   so many moves from that seed, over many worlds; fails when a type of
//                               transaction, or something of Reached::counts(), was never reached
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/fuzz/rules_world.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() { return {base::Bytes(2'000, 7), base::Bytes(2'000, 3)}; }

void run(base::ByteView input) {
    Reached reached;
    std::size_t at = 0;
    const Choose choose = [&](std::uint64_t count) {
        std::uint64_t value = 0;
        for (std::uint64_t reach = 1; reach < count && at < input.size(); reach <<= 8)
            value = value << 8 | input[at++];
        return count == 0 ? 0 : value % count;
    };
    RulesWorld world(choose, reached);
    while (at < input.size()) world.move();
}

}  // namespace assay::fuzz

#ifdef ASSAY_FUZZ
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    ASSAY_CHECK(assay::base::start_crypto());
    return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    assay::fuzz::run({data, size});
    return 0;
}
#else
int main(int count, char** arguments) {
    using namespace assay;
    ASSAY_CHECK(base::start_crypto());
    const std::uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 20261122;
    const std::uint64_t steps = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 45'000;
    constexpr std::uint64_t kMovesOfAWorld = 500;
    fuzz::Reached reached;
    std::uint64_t worlds = 0;
    while (reached.moves < steps) {
        std::mt19937_64 random(seed + worlds++);
        fuzz::RulesWorld world([&](std::uint64_t below) { return random() % below; }, reached);
        for (std::uint64_t move = 0; move < kMovesOfAWorld; ++move) world.move();
    }
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf("seed %llu: %llu moves in %llu worlds, %zu refusals, %zu verdicts, %zu ends\n", number(seed),
                number(reached.moves), number(worlds), reached.refusals.size(), reached.verdicts.size(),
                reached.ends.size());
    bool all = reached.verdicts.size() >= 6 && reached.ends.size() >= 4;
    for (const fuzz::Reached::Count& one : reached.counts()) {
        std::printf("  %-32.*s %llu\n", static_cast<int>(one.name.size()), one.name.data(),
                    number(one.value));
        all = all && (one.value > 0 || !one.needed);
    }
    for (auto type = static_cast<int>(contracts::TxType::kTransfer);
         type <= static_cast<int>(base::EnumRange<contracts::TxType>::last); ++type) {
        if (!base::is_enumerator<contracts::TxType>(static_cast<std::uint16_t>(type))) continue;
        const std::string_view name = contracts::to_text(static_cast<contracts::TxType>(type));
        const std::uint64_t applied = reached.applied[static_cast<std::size_t>(type)];
        std::printf("  %-32.*s %llu\n", static_cast<int>(name.size()), name.data(), number(applied));
        all = all && applied > 0;
    }
    if (!all) std::printf("something was never reached\n");
    return all ? 0 : 1;
}
#endif
