// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/emulated_card.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "contracts/base/floating_point.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
constexpr std::size_t kAlignment = 256;
constexpr int kPoison = 0xff;

class EmulatedCard final : public Card {
public:
    EmulatedCard(int threads, const StreamOptions& options) : pool_(threads), stream_(pool_, options) {}

    [[nodiscard]] std::string_view name() const override { return "cuda-host"; }
    [[nodiscard]] LaunchStream stream() override { return stream_; }

    void* allocate(std::uint64_t bytes) override {
        const std::uint64_t whole = (bytes / kAlignment + 1) * kAlignment;
        void* const at = std::aligned_alloc(kAlignment, whole);
        if (at == nullptr) throw std::bad_alloc();
        std::memset(at, kPoison, whole);
        return at;
    }
    void release(void* at) override { std::free(at); }
    void zero(void* at, std::uint64_t bytes) override { std::memset(at, 0, bytes); }
    void to_card(void* to, const void* from, std::uint64_t bytes) override { std::memcpy(to, from, bytes); }
    void to_host(void* to, const void* from, std::uint64_t bytes) override { std::memcpy(to, from, bytes); }

    [[nodiscard]] base::Outcome<void> check() override {
        if (stream_.faults().any()) {
            return base::fail(base::ErrorKind::kPreflight,
                              "a kernel broke a rule of the machine: " + stream_.faults().to_text(),
                              "report this: the kernels of this build are not to be used");
        }
        return base::refuse_floating_point(base::floating_point_faults() | pool_.take_faults());
    }

private:
    ThreadPool pool_;
    KernelStream stream_;
};
}  // namespace

std::unique_ptr<Card> make_emulated_card(int threads, const StreamOptions& options) {
    return std::make_unique<EmulatedCard>(threads, options);
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
