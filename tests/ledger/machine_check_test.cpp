// SPDX-License-Identifier: Apache-2.0
// A process whose floating-point mode is not the law's opens no ledger, and what it executed in such a mode
// is neither voted for nor stored nor held against anybody.
#include "ledger/application/application.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "tests/ledger/support.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/floating_point_mode.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

/// The counter, with the rules' own questions about the thread; a transaction may leave a mode behind as a
/// library would.
class MovedMachine final : public ToyMachine {
public:
    std::optional<test::WrongMode> leaves;

    [[nodiscard]] Outcome<void> check_machine() const override { return rules_machine().check_machine(); }
    [[nodiscard]] Outcome<void> check_thread() const override { return rules_machine().check_thread(); }
    TransactionResult apply(contracts::State& state, const Position& position,
                            ByteView bytes) const override {
        if (leaves) test::ScopedMode::set(*leaves);
        return ToyMachine::apply(state, position, bytes);
    }
};

void check_refused(const base::Error& error) {
    CHECK(error.kind == base::ErrorKind::kPreflight);
    CHECK(error.what.find("floating-point mode") != std::string::npos);
    CHECK_FALSE(error.fix.empty());
}

}  // namespace

TEST_CASE("no ledger is opened and none audited by a thread in another floating-point mode") {
    const Genesis genesis = test::small_genesis();
    const TemporaryHome home;
    make_toy_ledger(home.path(), 1);
    const MovedMachine machine;
    for (const test::WrongMode mode : test::kWrongModes) {
        CAPTURE(static_cast<int>(mode));
        Faults faults;
        MemoryProvider store(faults);
        std::optional<base::Error> opened;
        std::optional<base::Error> begun;
        std::optional<base::Error> audited;
        {
            const test::ScopedMode wrong(mode);
            if (auto out = Application::open(store, rules_machine(), genesis); !out) opened = out.error();
            if (auto out = genesis_state(rules_machine(), genesis); !out) begun = out.error();
            if (auto out = audit_ledger(machine, home.path(), {}); !out) audited = out.error();
        }
        REQUIRE((opened && begun && audited));
        check_refused(*opened);
        check_refused(*begun);
        check_refused(*audited);
        CHECK(Application::open(store, rules_machine(), genesis));
    }
    CHECK(audit_ledger(machine, home.path(), {})->failures.empty());
}

TEST_CASE("a mode that a transaction leaves behind keeps its block from being proposed, judged or executed") {
    for (const test::WrongMode mode : test::kWrongModes) {
        CAPTURE(static_cast<int>(mode));
        MovedMachine machine;
        Faults faults;
        MemoryProvider store(faults);
        const auto application = Application::open(store, machine, toy_genesis()).value();
        REQUIRE(application->begin());
        const Hash256 root = application->info().app_hash;
        // The second one is refused: a proposer is not to be accused either.
        for (const std::uint64_t nonce : {0U, 7U}) {
            const std::vector<Bytes> block = {toy_transaction(1, nonce, 5)};
            machine.leaves = mode;
            const auto prepared = application->prepare(block);
            test::ScopedMode::reset();
            const auto judged = application->process({1, block});
            test::ScopedMode::reset();
            const auto executed = application->execute({1, block});
            test::ScopedMode::reset();
            REQUIRE_FALSE(prepared);
            check_refused(prepared.error());
            REQUIRE_FALSE(judged);
            check_refused(judged.error());
            REQUIRE_FALSE(executed);
            check_refused(executed.error());
            CHECK(application->info().app_hash == root);
            CHECK_FALSE(application->commit(Hash256(), 0));
        }
        machine.leaves.reset();
        CHECK(application->execute({1, {toy_transaction(1, 0, 5)}}));
    }
}

TEST_CASE("an audit of a ledger names this machine, not a block, when the mode changes on the way") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 2);
    MovedMachine machine;
    machine.leaves = test::WrongMode::kFlushesSubnormals;
    const auto audited = audit_ledger(machine, home.path(), {});
    test::ScopedMode::reset();
    REQUIRE_FALSE(audited);
    check_refused(audited.error());
}
