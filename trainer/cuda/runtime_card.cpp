// SPDX-License-Identifier: Apache-2.0
// A GPU by CUDA's runtime. Compiled by nvcc.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "trainer/cuda/card_budget.hpp"
#include "trainer/cuda/card_pool.hpp"
#include "trainer/cuda/cuda_device.hpp"
#include "trainer/cuda/runtime_card.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::trainer::cuda {

namespace {
// Tickets of a lane use so many events in turn. The event of a ticket older than that belongs to a later
// ticket of the same lane, whose work is done later: a wait for the old ticket may be too long, never too
// short.
constexpr std::uint64_t kEvents = 64;

class RuntimeCard final : public Card {
public:
    RuntimeCard(int number, std::uint64_t memory)
        : number_(number), name_("cuda:" + std::to_string(number)), memory_(memory) {
        note(cudaSetDevice(number_));
        pool_ = make_card_pool(number_);
        if (pool_ == nullptr || pool_->stream() == nullptr) {
            note(cudaGetLastError());
            throw first_ != cudaSuccess ? failure() : lost_device(name_, "it gives no stream");
        }
        note(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking));
        for (auto& events : events_) {
            for (cudaEvent_t& event : events) note(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        }
    }
    ~RuntimeCard() override {
        note(cudaSetDevice(number_));
        for (auto& events : events_) {
            for (cudaEvent_t event : events) {
                if (event != nullptr) note(cudaEventDestroy(event));
            }
        }
        for (const auto* events : {&marks_, &spare_marks_}) {
            for (cudaEvent_t event : *events) note(cudaEventDestroy(event));
        }
        if (copies_ != nullptr) note(cudaStreamDestroy(copies_));
    }

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::optional<std::uint64_t> capacity() const override { return memory_; }
    [[nodiscard]] LaunchStream stream() override { return lane(CardLane::kWork); }

    void* allocate(std::uint64_t bytes) override {
        if (first_ != cudaSuccess) throw failure();
        cudaError_t error = cudaSuccess;
        note(cudaSetDevice(number_));
        void* const at = pool_->allocate(bytes, error);
        note(error);
        if (at == nullptr && first_ != cudaSuccess) throw failure();
        if (at == nullptr) throw out_of_device_memory(name_, bytes, used(), memory_);
        return at;
    }
    void release(void* at) override {
        note(cudaSetDevice(number_));
        note(pool_->release(at));
    }
    void* allocate_pinned(std::uint64_t bytes) override {
        void* at = nullptr;
        note(cudaSetDevice(number_));
        const cudaError_t error = cudaMallocHost(&at, bytes == 0 ? 1 : bytes);
        if (error == cudaErrorMemoryAllocation) {
            static_cast<void>(cudaGetLastError());
            throw std::bad_alloc();  // the host's
        }
        note(error);
        if (at == nullptr) throw failure();
        return at;
    }
    void release_pinned(void* at) override { note(cudaFreeHost(at)); }

    void zero(void* at, std::uint64_t bytes) override {
        note(cudaMemsetAsync(at, 0, bytes, lane(CardLane::kWork)));
    }
    void copy(CardLane on, Direction direction, void* to, const void* from, std::uint64_t bytes) override {
        const cudaMemcpyKind kind = direction == Direction::kToCard   ? cudaMemcpyHostToDevice
                                    : direction == Direction::kToHost ? cudaMemcpyDeviceToHost
                                                                      : cudaMemcpyDeviceToDevice;
        note(cudaMemcpyAsync(to, from, bytes, kind, lane(on)));
    }

    [[nodiscard]] Ticket record(CardLane on) override {
        const Ticket ticket{on, ++tickets_[static_cast<std::size_t>(on)]};
        note(cudaEventRecord(event(ticket), lane(on)));
        return ticket;
    }
    void hold(CardLane on, Ticket until) override { note(cudaStreamWaitEvent(lane(on), event(until), 0)); }
    void wait(Ticket until) override { note(cudaEventSynchronize(event(until))); }

    // Events of the last marks are used again: creating an event takes longer than recording one, and the
    // timed work would wait for it.
    void mark() override {
        const cudaStream_t stream = lane(CardLane::kWork);
        if (spare_marks_.empty()) {
            cudaEvent_t event = nullptr;
            note(cudaEventCreate(&event));
            if (event == nullptr) return;
            spare_marks_.push_back(event);
        }
        marks_.push_back(spare_marks_.back());
        spare_marks_.pop_back();
        note(cudaEventRecord(marks_.back(), stream));
    }
    [[nodiscard]] std::vector<double> take_marks() override {
        constexpr double kMillisecond = 1e-3;
        std::vector<double> seconds;
        note(cudaSetDevice(number_));
        if (!marks_.empty()) note(cudaEventSynchronize(marks_.back()));
        for (cudaEvent_t event : marks_) {
            float passed = 0;
            note(cudaEventElapsedTime(&passed, marks_.front(), event));
            seconds.push_back(kMillisecond * static_cast<double>(passed));
        }
        spare_marks_.insert(spare_marks_.end(), marks_.begin(), marks_.end());
        marks_.clear();
        if (has_failed()) seconds.clear();
        return seconds;
    }

    [[nodiscard]] bool has_failed() override {
        note(cudaPeekAtLastError());  // of launches
        return first_ != cudaSuccess;
    }
    [[nodiscard]] base::Outcome<void> check() override {
        note(cudaGetLastError());
        if (first_ == cudaSuccess) return {};
        const base::Error told = failure().error();
        // The driver takes memory when it first loads a kernel. A launch without it leaves the card as it
        // was: once nobody uses the work since then, the card can be asked again.
        if (first_ == cudaErrorMemoryAllocation) first_ = cudaSuccess;
        return base::Failed<base::Error>{told};
    }

private:
    // Keeps the first error: results after it must not be used.
    void note(cudaError_t error) {
        if (first_ == cudaSuccess) first_ = error;
    }
    // What the first error says of this card.
    [[nodiscard]] DeviceFailure failure() {
        if (first_ == cudaErrorMemoryAllocation) return out_of_device_memory(name_, 0, used(), memory_);
        return lost_device(name_, words());
    }
    [[nodiscard]] std::string words() const {
        return std::string(cudaGetErrorName(first_)) + ": " + cudaGetErrorString(first_);
    }
    [[nodiscard]] cudaStream_t lane(CardLane on) {
        note(cudaSetDevice(number_));  // of the calling thread
        return on == CardLane::kWork ? pool_->stream() : copies_;
    }
    [[nodiscard]] cudaEvent_t event(Ticket ticket) const {
        return events_[static_cast<std::size_t>(ticket.lane)][ticket.number % kEvents];
    }
    // Bytes of the card that are in use by any process.
    [[nodiscard]] std::uint64_t used() {
        std::size_t free = 0, total = 0;
        note(cudaMemGetInfo(&free, &total));
        return total - free;
    }

    int number_;
    std::string name_;
    std::uint64_t memory_;
    std::unique_ptr<CardPool> pool_;
    cudaStream_t copies_ = nullptr;
    std::array<std::array<cudaEvent_t, kEvents>, 2> events_{};
    std::array<std::uint64_t, 2> tickets_{};
    std::vector<cudaEvent_t> marks_, spare_marks_;
    cudaError_t first_ = cudaSuccess;
};

base::Failed<base::Error> refuse(const std::string& what, const std::string& fix) {
    return base::fail(base::ErrorKind::kPreflight, what, fix);
}

base::Outcome<std::uint64_t> memory_of(int number, const std::string& name, std::uint64_t given) {
    give_back_unused(number);
    std::size_t free = 0, total = 0;
    const cudaError_t error = cudaMemGetInfo(&free, &total);
    if (error == cudaSuccess) return card_budget(name, given, free, total);
    return refuse(name + ": " + cudaGetErrorString(error), "look at the card and its driver with nvidia-smi");
}
}  // namespace

base::Outcome<std::unique_ptr<Device>> open_card(int number, std::uint64_t memory, const CardWays& ways) {
    const std::string name = "cuda:" + std::to_string(number);
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        return refuse(std::string("CUDA: ") + cudaGetErrorString(error),
                      "install NVIDIA's driver, or use another device");
    }
    if (number < 0 || number >= count) {
        return refuse(name + " is not there: this machine has " + std::to_string(count) + " cards",
                      "use a number below that");
    }
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, number) != cudaSuccess ||
        properties.major * 10 + properties.minor < 75) {
        return refuse(name + " is older than compute capability 7.5",
                      "use a card of the Turing generation or later, or another device");
    }
    if (cudaSetDevice(number) != cudaSuccess) return refuse(name + " cannot be used", "use another device");
    ASSAY_ASSIGN(const std::uint64_t budget, memory_of(number, name, memory));
    std::unique_ptr<RuntimeCard> card;
    try {
        card = std::make_unique<RuntimeCard>(number, budget);
    } catch (const DeviceFailure& failure) {
        return base::Failed<base::Error>{failure.error()};
    }
    ASSAY_TRY(card->check());
    return std::unique_ptr<Device>(std::make_unique<CudaDevice>(std::move(card), CudaOptions{.ways = ways}));
}

int runtime_version() { return CUDART_VERSION; }

}  // namespace assay::trainer::cuda
