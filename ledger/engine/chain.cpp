// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/chain.hpp"

#include "ledger/store/header_time.hpp"

namespace assay::ledger {

using base::ErrorKind;
using base::fail;

Outcome<void> check_one_validator(const contracts::ValidatorSet& validators) {
    const std::size_t count = validators.validators.size();
    if (count == 1) return {};
    return fail(ErrorKind::kUsage,
                "the genesis names " + std::to_string(count) +
                    " validators, and the embedded engine makes blocks for one",
                "name one, or run an engine on which validators agree");
}

Outcome<std::unique_ptr<Chain>> Chain::open(Disk& disk, KeyValueProvider& provider,
                                            const StateMachine& machine, const std::string& home,
                                            const ChainOptions& options) {
    const Layout layout(home);
    std::unique_ptr<Chain> chain(new Chain());
    ASSAY_ASSIGN(chain->genesis_, read_genesis(disk, layout.genesis));
    ASSAY_TRY(check_one_validator(chain->genesis_.validators));
    // The application first: it alone knows what was acknowledged, which tells a torn tail from damage.
    ASSAY_ASSIGN(chain->application_, Application::open(provider, machine, chain->genesis_));
    const Application& application = chain->application();
    chain->notes_ = application.notes();
    std::optional<std::uint64_t> acknowledged;
    if (application.begun()) acknowledged = application.info().height;
    ASSAY_ASSIGN(chain->log_,
                 BlockLog::open(disk, layout.log, chain->genesis_.hash(), acknowledged, options.log));
    if (!chain->log_->note().empty()) chain->notes_.push_back(chain->log_->note());

    bool usable = application.begun();
    if (usable && application.info().height > 0) {
        const ApplicationInfo info = application.info();
        ASSAY_ASSIGN(const Block block, chain->log_->read(info.height));
        usable = block.header.hash() == info.block && block.header.state_root == info.app_hash;
        if (!usable) chain->notes_.emplace_back("the index does not agree with the block log");
    }
    if (!usable) {
        if (application.stored() != Stored::kNothing) ASSAY_TRY(chain->discard_index(machine));
        ASSAY_TRY(chain->begin());
    }
    ASSAY_TRY(chain->replay());
    return chain;
}

namespace {
/// Blocks that the sequencer signed, and that this program executes to something else.
base::Failed<base::Error> not_made_again(const base::Error& why) {
    if (why.kind == ErrorKind::kPreflight) return base::failed(why);  // the fault is this machine's
    return fail(
        ErrorKind::kVerification,
        "this chain began under an older schema, or its blocks were made under other rules: the index "
        "cannot be made again by executing them (" +
            why.what + ")",
        "put back a copy of the folder ledger/index, or start the version of the program that made "
        "these blocks");
}
}  // namespace

// Executes every block in memory, from the genesis on.
Outcome<void> Chain::rehearse(const StateMachine& machine) const {
    ASSAY_ASSIGN(VerifiedState now, genesis_state(machine, genesis_));
    while (now.height < log_->height()) {
        ASSAY_ASSIGN(const Block block, log_->read(now.height + 1));
        ASSAY_TRY(check_block(block, genesis_.chain_id, now.height + 1, now.tip, genesis_.validators));
        ASSAY_TRY(check_header_time(block.header, genesis_, now.time_ms));
        const auto made = replay_block(machine, now.state, now.tree, genesis_.chain_id, block);
        if (!made) return not_made_again(made.error());
        (void)now.state.take_history();
        now.height = block.header.height;
        now.tip = block.header.hash();
        now.time_ms = block.header.time_ms;
    }
    return {};
}

// What is stored may be the only copy of a state that no block makes again: it goes for nothing less than the
// whole log.
Outcome<void> Chain::discard_index(const StateMachine& machine) {
    ASSAY_TRY(rehearse(machine));
    notes_.emplace_back("the index is deleted: the log's blocks have given its state again");
    return application_->discard();
}

Outcome<void> Chain::begin() {
    if (log_->height() > 0)
        notes_.push_back("the index is rebuilt from " + std::to_string(log_->height()) + " blocks");
    return application_->begin();
}

// Executes the blocks that the application does not know yet.
Outcome<void> Chain::replay() {
    while (height() < log_->height()) {
        ASSAY_ASSIGN(const Block block, log_->read(height() + 1));
        ASSAY_TRY(check_next(block));
        if (const auto same = execute_next(block); !same) return not_made_again(same.error());
        ASSAY_TRY(application_->commit(block.header.hash(), block.header.time_ms));
    }
    return {};
}

Outcome<void> Chain::check_next(const Block& block) const {
    ASSAY_TRY(check_block(block, genesis_.chain_id, height() + 1, tip(), genesis_.validators));
    return check_header_time(block.header, genesis_, time_ms());
}

Outcome<void> Chain::execute_next(const Block& block) {
    ASSAY_ASSIGN(const Executed executed, application_->execute({block.header.height, block.transactions}));
    return check_roots(block.header, executed.results_root, executed.app_hash);
}

Outcome<Block> Chain::block(std::uint64_t height) const {
    if (height == 0 || height > this->height())
        return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height));
    return log_->read(height);
}

Outcome<BlockResults> Chain::results(std::uint64_t height) const {
    if (height == 0 || height > this->height())
        return fail(ErrorKind::kNotFound, "there is no block " + std::to_string(height));
    ASSAY_ASSIGN(auto found, application_->results(height));
    if (!found) {
        return fail(
            ErrorKind::kVerification,
            "index: the results of block " + std::to_string(height) + " are missing",
            "move the folder ledger/index away and start the node again, which makes it anew from the "
            "blocks; put back a copy of it if the chain began under an older schema");
    }
    return *std::move(found);
}

Outcome<std::optional<TransactionPlace>> Chain::find(const Hash256& transaction) const {
    return application_->find(transaction);
}

base::Failed<base::Error> Chain::stop(const base::Error& cause) {
    stopped_ = true;
    return base::failed(cause);
}

Block Chain::sign(std::vector<Bytes> transactions, const Executed& executed, std::uint64_t time_ms,
                  const base::SecretKey& key) const {
    Block block;
    block.header = Header{kBlockVersion,
                          chain_hash(genesis_.chain_id),
                          executed.results.height,
                          tip(),
                          transactions_root(transactions),
                          executed.results_root,
                          executed.app_hash,
                          time_ms,
                          key.public_key()};
    block.signature = sign_header(block.header, genesis_.chain_id, key);
    block.transactions = std::move(transactions);
    return block;
}

namespace {
base::Failed<base::Error> stopped_before() {
    return fail(ErrorKind::kFailure, "the ledger stopped after an earlier failure",
                "start the node again: it keeps every acknowledged block");
}
}  // namespace

Outcome<void> Chain::adopt(const Block& block) {
    if (stopped_) return stopped_before();
    ASSAY_TRY(check_next(block));
    ASSAY_TRY(execute_next(block));
    if (auto logged = log_->append(block); !logged) {
        if (log_->stopped()) return stop(logged.error());
        return base::failed(logged.error());
    }
    auto done = application_->commit(block.header.hash(), block.header.time_ms);
    if (!done) return stop(done.error());
    return {};
}

Outcome<Appended> Chain::append(const std::vector<Bytes>& candidates, EmptyBlock empty, std::uint64_t time_ms,
                                const base::SecretKey& key, const ProposalLimits& limits) {
    if (stopped_) return stopped_before();
    ASSAY_CHECK(key.public_key() == sequencer());
    Header wanted;
    wanted.height = height() + 1;
    wanted.time_ms = time_ms;
    ASSAY_TRY(check_header_time(wanted, genesis_, this->time_ms()));
    auto prepared = application_->prepare(candidates, limits);
    if (!prepared) return stop(prepared.error());
    Appended out{{}, std::move(prepared->refused), prepared->decided};
    if (prepared->transactions.empty() && empty == EmptyBlock::kSkip) return out;

    ProposedBlock proposal{height() + 1, std::move(prepared->transactions)};
    auto executed = application_->execute(proposal);
    if (!executed) return stop(executed.error());
    const Block block = sign(std::move(proposal.transactions), *executed, time_ms, key);
    if (auto logged = log_->append(block); !logged) {
        if (log_->stopped()) return stop(logged.error());
        return base::failed(logged.error());
    }
    // The block is durable: the state follows.
    const Hash256 hash = block.header.hash();
    if (auto done = application_->commit(hash, time_ms); !done) return stop(done.error());
    out.block = Committed{block.header, hash, std::move(executed->results)};
    return out;
}

}  // namespace assay::ledger
