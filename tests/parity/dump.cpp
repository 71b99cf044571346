// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/dump.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "contracts/program/batch_map.hpp"
#include "contracts/program/initial.hpp"

namespace assay::parity {

using base::ErrorKind;
using Json = nlohmann::ordered_json;

namespace {

// Host order: a dump is read on the machine that wrote it.
template <class Number>
base::Outcome<void> write(const std::filesystem::path& path, const std::vector<Number>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(Number)));
    if (!file.flush()) return base::fail(ErrorKind::kFailure, "cannot write " + path.string(), "check it");
    return {};
}

void append(std::vector<std::uint16_t>& out, const std::vector<std::uint32_t>& stream, std::uint64_t first,
            std::uint32_t context) {
    const auto start = stream.begin() + static_cast<std::ptrdiff_t>(first);
    std::transform(start, start + static_cast<std::ptrdiff_t>(context) + 1, std::back_inserter(out),
                   [](std::uint32_t token) { return static_cast<std::uint16_t>(token); });
}

Json description(const ParityJob& job) {
    const program::ModelConfig& model = job.spec.model;
    const program::TrainConfig& train = job.spec.train;
    Json body;
    body["family"] = model.family == program::Family::kGpt2 ? "gpt2" : "llama";
    body["layers"] = model.layers;
    body["width"] = model.width;
    body["heads"] = model.heads;
    body["kv_heads"] = model.key_value_heads();
    body["hidden"] = model.hidden_width();
    body["context"] = model.context;
    body["vocabulary"] = model.vocabulary;
    body["rope_theta"] = model.rope_theta.value();
    body["norm_epsilon"] = model.norm_epsilon.value();
    body["text"] = job.text.hex();
    body["steps"] = job.steps();
    body["every"] = job.every;
    body["batch"] = train.batch;
    body["held_out_sequences"] = job.held_out();
    body["seed"] = job.spec.seed;
    body["warmup"] = train.warmup_steps;
    body["rate"] = train.learning_rate.value();
    body["betas"] = {train.beta1.value(), train.beta2.value()};
    body["epsilon"] = train.epsilon.value();
    body["weight_decay"] = train.weight_decay.value();
    body["clip_norm"] = train.clip_norm.value();
    for (const program::TensorInfo& tensor : program::parameter_tensors(model)) {
        const Json shape =
            tensor.is_vector ? Json::array({tensor.size()}) : Json::array({tensor.rows, tensor.cols});
        body["tensors"].push_back({{"name", tensor.name}, {"shape", shape}, {"offset", tensor.offset}});
    }
    return body;
}

}  // namespace

base::Outcome<void> dump(const ParityJob& job) {
    std::error_code error;
    std::filesystem::create_directories(job.out, error);
    const std::uint32_t context = job.spec.model.context;
    const program::BatchMap batches(job.spec);
    std::vector<std::uint16_t> steps;
    for (std::uint32_t step = 0; step < job.steps(); ++step) {
        for (std::uint32_t i = 0; i < job.spec.train.batch; ++i) {
            append(steps, job.train_tokens, batches.first_token({0, step, 0, i}), context);
        }
    }
    std::vector<std::uint16_t> held_out;
    for (std::uint64_t i = 0; i < job.held_out(); ++i) {
        append(held_out, job.held_out_tokens, i * context, context);
    }
    ASSAY_TRY(write(job.out / "weights.bin", program::initial_parameters(job.spec.model, job.spec.seed)));
    ASSAY_TRY(write(job.out / "batches.bin", steps));
    ASSAY_TRY(write(job.out / "held_out.bin", held_out));
    const std::string text = description(job).dump(1) + "\n";
    return write(job.out / "job.json", std::vector<char>(text.begin(), text.end()));
}

}  // namespace assay::parity
