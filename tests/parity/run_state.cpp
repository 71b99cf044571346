// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/run_state.hpp"

#include <limits>
#include <string_view>
#include <utility>

#include "contracts/base/codec.hpp"
#include "trainer/data/files.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::parity {

using base::ErrorKind;

namespace {

constexpr std::string_view kMagic = "APARS001";
constexpr std::string_view kHashTag = "assay/parity-state";
constexpr std::size_t kHashBytes = sizeof(base::Hash256::bytes);

struct RunStateHead {
    base::Hash256 job;
    std::uint64_t step = 0;
    std::uint64_t cursor = 0;
    std::uint64_t parameters = 0;
    std::uint64_t microseconds = 0;
    std::string curve;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.step, self.cursor, self.parameters, self.microseconds, self.curve);
    }
};

base::Failed<base::Error> damaged(const std::filesystem::path& path, const std::string& why) {
    return base::fail(ErrorKind::kVerification, "the state file " + path.string() + " cannot be used: " + why,
                      "remove it to begin the run anew, or put back a copy");
}

/// The head, and what follows it in `rest`. The hash at the end has been checked by then, so that bytes which
/// do not fit are of a program that wrote something else.
base::Outcome<RunStateHead> decode_head(const std::filesystem::path& path, base::ByteView& rest) {
    base::Decoder decoder(rest);
    RunStateHead head;
    decoder(head);
    if (decoder.error()) {
        return damaged(path, "its head does not decode: " + std::string(base::to_text(*decoder.error())));
    }
    rest = decoder.rest();
    return head;
}

}  // namespace

base::Outcome<void> save_run_state(const ParityJob& job, const RunState& state) {
    const trainer::SlotState& slot = state.slot;
    const base::Bytes head = base::encode(RunStateHead{.job = job.id,
                                                       .step = slot.step,
                                                       .cursor = slot.cursor,
                                                       .parameters = slot.parameters.size(),
                                                       .microseconds = state.microseconds,
                                                       .curve = state.curve});
    base::Bytes file;
    file.reserve(kMagic.size() + head.size() + 3 * slot.parameters.size() * sizeof(float) + kHashBytes);
    for (const base::ByteView part :
         {base::as_bytes(kMagic), base::ByteView(head), trainer::array_file(slot.parameters),
          trainer::array_file(slot.first_moment), trainer::array_file(slot.second_moment)}) {
        file.insert(file.end(), part.begin(), part.end());
    }
    const base::Hash256 hash = base::hash(kHashTag, file);
    file.insert(file.end(), hash.bytes.begin(), hash.bytes.end());
    return trainer::write_file(job.state, file);
}

base::Outcome<std::optional<RunState>> load_run_state(const ParityJob& job) {
    const std::filesystem::path& path = job.state;
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) return std::optional<RunState>();
    ASSAY_ASSIGN(const base::Bytes file, trainer::read_file(path, std::numeric_limits<std::uint64_t>::max()));
    if (file.size() < kMagic.size() + kHashBytes) return damaged(path, "it ends too early");
    base::ByteView rest = file;
    if (base::as_text(rest.first(kMagic.size())) != kMagic) {
        return damaged(path, "it does not begin with " + std::string(kMagic));
    }
    const base::ByteView covered = rest.first(rest.size() - kHashBytes);
    if (base::hash(kHashTag, covered) != base::hash_from(rest.last(kHashBytes))) {
        return damaged(path, "its hash is another than that of its bytes, so some of them have changed");
    }
    rest = covered.subspan(kMagic.size());
    ASSAY_ASSIGN(RunStateHead head, decode_head(path, rest));
    if (head.job != job.id) {
        return base::fail(ErrorKind::kUsage,
                          "the state file " + path.string() + " is of another job: of " + head.job.brief() +
                              ", where the words and the text of this one are " + job.id.brief(),
                          "give the words and the data with which it was begun, or another state=FILE");
    }
    const std::uint64_t parameters = program::parameter_count(job.spec.model);
    const std::uint64_t array = parameters * sizeof(float);
    if (head.parameters != parameters || rest.size() != 3 * array) {
        return damaged(path, "it has arrays of another size than the model's " + std::to_string(parameters));
    }
    if (head.step == 0 || head.step >= job.steps() || head.cursor != head.step) {
        return damaged(path, "no run of " + std::to_string(job.steps()) + " steps stops at step " +
                                 std::to_string(head.step));
    }
    RunState state{.curve = std::move(head.curve), .microseconds = head.microseconds, .slot = {}};
    state.slot.step = head.step;
    state.slot.cursor = head.cursor;
    for (std::vector<float>* values :
         {&state.slot.parameters, &state.slot.first_moment, &state.slot.second_moment}) {
        ASSAY_ASSIGN(*values, trainer::decode_array(rest.first(array), parameters));
        rest = rest.subspan(array);
    }
    return std::optional<RunState>(std::move(state));
}

}  // namespace assay::parity
