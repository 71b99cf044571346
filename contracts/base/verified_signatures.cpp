// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/verified_signatures.hpp"

#include <cstddef>
#include <utility>

namespace assay::base {

namespace {
/// Some blocks' worth: a signature is asked for again soon, or never.
constexpr std::size_t kMost = 4'096;
thread_local VerifiedSignatures* remembered = nullptr;
}  // namespace

VerifiedSignatures::VerifiedSignatures() : before_(std::exchange(remembered, this)) {}

VerifiedSignatures::~VerifiedSignatures() { remembered = before_; }

VerifiedSignatures* VerifiedSignatures::of_this_thread() { return remembered; }

void VerifiedSignatures::remember(const Entry& entry) {
    if (entries_.size() == kMost) entries_.clear();
    entries_.insert(entry);
}

}  // namespace assay::base
