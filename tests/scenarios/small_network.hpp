// SPDX-License-Identifier: Apache-2.0
// A local network of real processes with a job that takes seconds: the stage of every scenario.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/tables.hpp"
#include "contracts/rules/transactions.hpp"
#include "node/audit/replay.hpp"
#include "node/config/job_file.hpp"
#include "node/config/record_file.hpp"
#include "node/devnet/job_run.hpp"
#include "node/rpc/client.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::tests {

/// Milliseconds between blocks; the windows of a plan are counted in blocks.
inline constexpr std::uint64_t kBlockMs = 50;

/// Factor on every window: under a sanitizer everything takes longer, honest work too.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t kPatience = 6;
#else
inline constexpr std::uint64_t kPatience = 1;
#endif

/// With every window as many times as long as kPatience says.
contracts::Params with_patience(contracts::Params params);

struct ScenarioPlan {
    std::vector<node::MinerPlan> miners;  ///< one slot each
    std::uint32_t slots = 0;              ///< of the job; 0: one each
    std::uint32_t verifiers = 2;
    std::map<std::size_t, node::Misconduct> verifier_misconducts = {};    ///< by place; the others are honest
    std::map<std::size_t, std::vector<std::string>> verifier_flags = {};  ///< more of them, by place
    std::vector<node::Misconduct> buyer_conducts = {};
    bool miners_have_data = false;  ///< before the network starts: nobody has to serve it to them
    std::optional<std::size_t> drops_moves_of = std::nullopt;  ///< DevnetPlan::drops_moves_of
    contracts::Params params;
    contracts::MarketParams market = {};
    std::uint32_t more_buyers = 0;  ///< DevnetPlan::more_buyers
    program::JobSpec job;           ///< slots and data are filled in
    /// Model folder that the job starts from, of `job.model`'s shape; empty: it starts from its seed.
    std::filesystem::path from;
};

/// Three honest miners, two verifiers, a job whose slot trains in milliseconds (two segments a round).
ScenarioPlan small_plan();
/// The same with slots that train for about half a second in eight segments: time to be killed in.
ScenarioPlan slow_plan();
/// The same in which nobody waits long for who is gone, and one absence is enough to be dropped.
ScenarioPlan impatient_plan();

bool is_phase(const contracts::Event& event, std::uint32_t round, contracts::RoundPhase phase);

node::MinerPlan honest_miner(std::uint64_t ask);

/// One network and one job on it, from genesis to the books. Everything REQUIREs: a scenario that cannot be
/// staged has failed. The story goes to standard output, logs too when a process fails.
class SmallNetwork {
public:
    explicit SmallNetwork(ScenarioPlan plan);

    [[nodiscard]] const node::Devnet& net() const { return net_; }
    [[nodiscard]] node::Network& network() { return *network_; }
    [[nodiscard]] const node::JobFile& job_file() const { return job_file_; }

    /// `hook` runs at every event of the ledger, on this thread.
    void on_event(node::EventHook hook) { hook_ = std::move(hook); }
    void allow_death_of(const std::string& name) { mortals_.insert(name); }

    /// A client of the ledger node, at the address where it is now.
    [[nodiscard]] std::unique_ptr<node::LedgerService> ledger() const;
    /// Signs with the participant's owner key and submits. It is in a block on disk when this returns.
    node::SubmitReply submit_as_owner(const node::Participant& who, const contracts::StateView& state,
                                      contracts::Payload payload) const;
    /// The participant that holds this node key.
    [[nodiscard]] const node::Participant& participant(const base::PublicKey& node) const;

    /// Starts `assay job submit FILE` of this buyer. It may end when its job has.
    void submit_job(const node::Participant& buyer, const std::filesystem::path& file,
                    const std::vector<std::string>& flags = {});
    /// Follows the ledger until `done`, which is asked after every block, or fails after `patience`; a
    /// process that ends meanwhile, other than one of allow_death_of(), fails it too. The hook of on_event()
    /// runs.
    void follow_until(const std::string& what, std::chrono::seconds patience,
                      const std::function<bool(const contracts::StateView& state)>& done);
    /// Stops every process and executes the ledger's file, for state().
    void stop();

    /// Submits the job, follows it to its end, stops every process and executes the ledger's file.
    void run();

    // After run().
    [[nodiscard]] const contracts::StateView& state() const { return *state_; }
    [[nodiscard]] contracts::Job job() const;
    [[nodiscard]] std::vector<contracts::SettlementLine> lines(contracts::LineKind kind) const;
    /// All that one participant was paid, got as its share, or lost, over the whole job.
    /// By the settlements, without the pay of claims that lost a game.
    [[nodiscard]] std::uint64_t paid_to(const node::Participant& who) const;
    /// By the settlements and in games.
    [[nodiscard]] std::uint64_t lost_by(const node::Participant& who) const;
    [[nodiscard]] std::vector<contracts::Game> games() const;
    /// Its slots' reasons in one round.
    [[nodiscard]] std::vector<contracts::Reason> verdicts(std::uint32_t round,
                                                          const node::Participant& who) const;

    /// What holds however a job went: ledger and payouts check from the files alone, no money was made or
    /// lost, and the escrow is spent or refunded to the last unit.
    void check_books() const;
    /// Recomputes every slot that anybody revealed and compares with the ledger's verdict.
    [[nodiscard]] std::vector<node::SlotReplay> replay_everything() const;
    /// Root of the model that one worker trains alone. With a record: what the ledger accepted; without:
    /// every slot accepted, the undisturbed run. `targets` as ASSAY_TARGETS.
    [[nodiscard]] base::Hash256 train_alone(const std::optional<node::RunRecord>& record,
                                            const std::string& targets = {}, unsigned threads = 1) const;

private:
    void print_logs() const;

    test::TemporaryFolder folder_;
    node::Devnet net_;
    node::JobFile job_file_;
    std::optional<node::Network> network_;
    node::EventHook hook_;
    std::set<std::string> mortals_;
    base::Hash256 job_;
    std::uint64_t followed_ = 0;  ///< height up to which follow_until() has come
    std::optional<contracts::MemoryState> state_;
};

/// The value, or a failed test with the error's sentence.
template <class T>
T must(base::Outcome<T> outcome);
void must(const base::Outcome<void>& outcome);

/// Reports a failed step as a failed test.
[[noreturn]] void fail_scenario(const base::Error& error);

template <class T>
T must(base::Outcome<T> outcome) {
    if (!outcome.ok()) fail_scenario(outcome.error());
    return std::move(outcome).value();
}

/// The value of a call to a node, made again for a minute while the node is not reached or has no room: all
/// roles of a network on one machine are one caller to it. Then as must().
template <class Call>
auto insist(Call&& call) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1) * kPatience;
    auto outcome = call();
    while (!outcome.ok() && outcome.error().kind == base::ErrorKind::kUnreachable &&
           std::chrono::steady_clock::now() < give_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        outcome = call();
    }
    return must(std::move(outcome));
}

/// Asks `happened` every 5 ms; a failed test when it says no for longer than `patience`.
void wait_until(const std::string& what, std::chrono::seconds patience,
                const std::function<bool()>& happened);

/// $ASSAY_BIN_DIR/NAME.
std::filesystem::path built_program(const std::string& name);

}  // namespace assay::tests
