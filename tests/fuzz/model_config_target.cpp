// SPDX-License-Identifier: Apache-2.0
// config.json: a config that is read is one that a job may have, and what is written for it reads back as the
// same.
#include "contracts/base/check.hpp"
#include "contracts/program/spec_check.hpp"
#include "tests/fuzz/target.hpp"
#include "trainer/model/folder_config.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() {
    const program::ModelConfig gpt2 = {.layers = 2, .width = 8, .heads = 2, .context = 4, .vocabulary = 300};
    program::ModelConfig llama = gpt2;
    llama.family = program::Family::kLlama;
    llama.kv_heads = 1;
    llama.hidden = 12;
    llama.rope_theta = 10000.0F;
    llama.norm_epsilon = 1e-6F;
    llama.head = program::Head::kUntied;
    const std::vector<trainer::SpecialIds> specials = {
        {}, {.begin = 1, .end = {2}, .pad = 3}, {.begin = 1, .end = {2, 4}, .pad = std::nullopt}};
    std::vector<base::Bytes> out;
    for (const auto& config : {gpt2, llama})
        for (const auto& ids : specials)
            out.push_back(base::to_bytes(base::as_bytes(trainer::config_json(config, ids))));
    return out;
}

void run(base::ByteView input) {
    const auto read = trainer::config_from_json(base::as_text(input));
    if (!read.ok()) return;
    program::JobSpec spec;
    spec.model = read->config;
    ASSAY_CHECK(program::check_spec(spec, program::Part::kModel).ok());
    const auto again = trainer::config_from_json(trainer::config_json(read->config, read->ids));
    ASSAY_CHECK(again.ok() && again->config == read->config && again->ids == read->ids);
}

}  // namespace assay::fuzz
