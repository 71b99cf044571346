// SPDX-License-Identifier: Apache-2.0
// Two judges of one job: `assay plan` on its file, and the ledger on its submission.
#pragma once

#include <optional>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/tables.hpp"
#include "node/config/job_file.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "trainer/data/manifest.hpp"
#include "trainer/data/token_file.hpp"

namespace assay::test {

/// A small GPT-2 job that both judges accept.
inline program::JobSpec sound_spec() {
    program::JobSpec spec;
    spec.name = "small";
    spec.slots = 2;
    spec.rounds = 3;
    spec.model = {.layers = 1, .width = 16, .heads = 2, .context = 8, .vocabulary = 300};
    spec.train.inner_steps = 4;
    spec.train.batch = 2;
    spec.train.learning_rate = 1e-3F;
    spec.data.train_tokens = 100'000;
    spec.data.held_out_tokens = 10'000;
    spec.market.max_price = base::units(1'000);
    spec.market.budget = base::units(1'000'000'000'000'000);
    spec.market.deadline_blocks = 1'000;
    spec.security.segment_steps = 2;
    return spec;
}

/// The same with a Llama.
inline program::JobSpec sound_llama() {
    program::JobSpec spec = sound_spec();
    spec.model.family = program::Family::kLlama;
    spec.model.kv_heads = 1;
    spec.model.hidden = 24;
    spec.model.rope_theta = 10'000.0F;
    return spec;
}

/// The ledger's rules over a state in which one buyer has nearly all the money that there can be.
class LedgerJudge {
public:
    LedgerJudge() {
        contracts::GenesisConfig config;
        config.chain_id = block_.chain_id;
        config.balances = {{owner_.public_key(), base::Amount::of(base::kAmountMax).value()}};
        config.validators = {{seeded("sequencer").public_key(), seeded("sequencer's node").public_key()}};
        REQUIRE(contracts::genesis(state_, config).ok());
        const auto proof = contracts::prove_node_key(node_, owner_.public_key(), block_.chain_id);
        const auto registered = contracts::apply_transaction(
            state_, block_, sign(contracts::NodeRegister{node_.public_key(), proof}));
        REQUIRE(registered.applied);
    }
    /// kNone: the ledger takes the job.
    [[nodiscard]] contracts::Reason operator()(const program::JobSpec& spec) const {
        const auto bytes = sign(contracts::JobSubmit{spec, node_.public_key(), "127.0.0.1:4001", {}});
        const auto decoded = contracts::check_static(block_.chain_id, bytes);
        if (!decoded.ok()) return decoded.error();
        const auto checked = contracts::check_against(state_, block_, *decoded);
        return checked.ok() ? contracts::Reason::kNone : checked.error();
    }

private:
    static base::SecretKey seeded(const std::string& name) {
        return base::SecretKey::from_seed(base::hash("test/bytes", base::as_bytes(name)).view());
    }
    [[nodiscard]] base::Bytes sign(const contracts::Payload& payload) const {
        const std::uint64_t nonce = contracts::next_nonce(state_, owner_.public_key());
        return contracts::sign_transaction({owner_.public_key(), nonce, block_.height + 50, payload}, owner_,
                                           block_.chain_id);
    }
    contracts::MemoryState state_;
    contracts::BlockContext block_{"limits", 1};
    base::SecretKey owner_ = seeded("buyer");
    base::SecretKey node_ = seeded("buyer's node");
};

/// `assay plan`, run on the file that says the job.
class PlanJudge {
public:
    struct Verdict {
        CliRun run;
        std::optional<program::JobSpec> spec;  ///< as the file was read; none: refused
    };
    [[nodiscard]] Verdict operator()(const program::JobSpec& spec) const {
        node::JobFile job;
        job.spec = spec;
        job.manifest = "manifest.json";
        const auto path = cli_.write(kFile, node::job_file_text(job));
        trainer::Manifest manifest;
        manifest.source = manifest.licence = manifest.split = "none";
        manifest.text_bytes = manifest.documents = 1;
        manifest.vocabulary = spec.model.vocabulary;
        manifest.tokenizer = {"tokenizer.json", 1, 0, {}};
        manifest.train = stream("train.bin", spec.data.train_tokens, manifest.vocabulary);
        manifest.held_out = stream("held_out.bin", spec.data.held_out_tokens, manifest.vocabulary);
        static_cast<void>(cli_.write("manifest.json", trainer::manifest_to_json(manifest)));
        Verdict verdict{cli_({"plan", path.string(), "-o", "json"}), std::nullopt};
        if (verdict.run.code != 0) return verdict;
        const auto read = node::read_job_file(path);
        REQUIRE(read.ok());
        verdict.spec = read->spec;
        verdict.spec->data = spec.data;  // hashes of files that the spec does not have
        return verdict;
    }

    /// The file of the last job asked about.
    [[nodiscard]] std::string file() const { return (cli_.home() / kFile).string(); }
    [[nodiscard]] const Cli& cli() const { return cli_; }

private:
    static constexpr const char* kFile = "job.toml";
    static trainer::DataFile stream(std::string name, std::uint64_t tokens, std::uint32_t vocabulary) {
        return {std::move(name), trainer::token_file_size(tokens, vocabulary), tokens, {}};
    }
    Cli cli_;
};

}  // namespace assay::test
