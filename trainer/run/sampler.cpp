// SPDX-License-Identifier: Apache-2.0
// JobRunner::sample: the model continues a text.
#include <algorithm>
#include <new>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/philox.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "trainer/run/job_runner.hpp"
#include "trainer/run/job_runner_impl.hpp"

namespace assay::trainer {

using base::ErrorKind;

std::uint32_t choose_token(std::span<const float> logits, float temperature, double uniform) {
    const std::size_t best = arithmetic::max_index(logits);
    if (temperature == 0.0F) return static_cast<std::uint32_t>(best);
    const auto weight = [&](float logit) {
        return static_cast<double>(arithmetic::exp32((logit - logits[best]) / temperature));
    };
    double total = 0;
    for (const float logit : logits) total += weight(logit);
    const double limit = uniform * total;
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        sum += weight(logits[i]);
        if (limit < sum) return static_cast<std::uint32_t>(i);
    }
    return static_cast<std::uint32_t>(best);
}

base::Outcome<std::vector<std::uint32_t>> JobRunner::sample(std::span<const float> parameters,
                                                            const SampleRequest& request) {
    const std::uint32_t context = impl_->spec.model.context;
    const std::uint32_t vocabulary = impl_->spec.model.vocabulary;
    const bool tokens_fit = std::all_of(request.prompt.begin(), request.prompt.end(),
                                        [&](std::uint32_t token) { return token < vocabulary; });
    if (request.prompt.empty() || !tokens_fit || !(request.temperature >= 0.0F) ||
        !(request.temperature <= 100.0F) || parameters.size() != impl_->parameters) {
        return base::fail(ErrorKind::kUsage,
                          "sample: the prompt is empty or has tokens beyond the vocabulary, the temperature "
                          "is not within 0 … 100, or the parameters are another model's",
                          "give at least one token of this model's vocabulary");
    }
    ASSAY_TRY(impl_->device->check());
    // A random purpose of its own under the request's seed. Samples are never hashed or paid for.
    const arithmetic::PhiloxKey key = {static_cast<std::uint32_t>(request.seed),
                                       static_cast<std::uint32_t>(request.seed >> 32)};
    std::vector<std::uint32_t> text = request.prompt;
    std::vector<std::uint32_t> window(context);
    try {
        const AdoptedReadOnly adopted(*impl_->device, parameters);
        if (!impl_->device->is_finite(adopted.array())) {
            return base::fail(ErrorKind::kFailure, "sample: a parameter is not finite",
                              "this model has diverged; use an earlier one");
        }
        for (std::uint32_t i = 0; i < request.count; ++i) {
            const std::size_t used = std::min<std::size_t>(text.size(), context);
            std::fill(window.begin(), window.end(), 0U);  // after the text: causal, so it changes nothing
            std::copy(text.end() - static_cast<std::ptrdiff_t>(used), text.end(), window.begin());
            const auto logits = impl_->evaluator().logits(adopted.at(), window, used - 1);
            ASSAY_TRY(impl_->device->check());
            if (!logits) {
                return base::fail(ErrorKind::kFailure, "sample: the model's logits are not finite",
                                  "this model has diverged; use an earlier one");
            }
            const double uniform = arithmetic::philox({i, 0, 0, 0}, key)[0] * 0x1p-32;
            text.push_back(choose_token(*logits, request.temperature, uniform));
        }
    } catch (const std::bad_alloc&) {
        return base::fail(ErrorKind::kFailure, "there is not enough memory to run the model",
                          "use a machine with more memory");
    }
    return std::vector<std::uint32_t>(text.begin() + static_cast<std::ptrdiff_t>(request.prompt.size()),
                                      text.end());
}

}  // namespace assay::trainer
