// SPDX-License-Identifier: Apache-2.0
// Gives CudaDevice a Card: memory and a stream of a GPU (runtime_card.cpp), or of an emulated one
// (emulated_card.hpp). Everything that is ordered on it is done in the order of the calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class Card {
public:
    Card() = default;
    Card(const Card&) = delete;
    Card& operator=(const Card&) = delete;
    virtual ~Card() = default;

    /// The word that opens a device on it.
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual LaunchStream stream() = 0;
    /// `bytes` of any value, aligned to 256. Throws std::bad_alloc.
    virtual void* allocate(std::uint64_t bytes) = 0;
    /// Takes back what allocate() gave, after all work ordered so far.
    virtual void release(void* at) = 0;
    virtual void zero(void* at, std::uint64_t bytes) = 0;
    /// Copies from the host, whose bytes may change as soon as it returns.
    virtual void to_card(void* to, const void* from, std::uint64_t bytes) = 0;
    /// Waits for all work ordered so far and copies to the host.
    virtual void to_host(void* to, const void* from, std::uint64_t bytes) = 0;
    /// kPreflight where work since the last call may be wrong (Device::check).
    [[nodiscard]] virtual base::Outcome<void> check() = 0;
};

/// Memory of a card that grows with what is asked of it.
template <class T>
class CardRoom {
public:
    explicit CardRoom(Card& card) : card_(card) {}
    CardRoom(const CardRoom&) = delete;
    CardRoom& operator=(const CardRoom&) = delete;
    ~CardRoom() {
        if (at_ != nullptr) card_.release(at_);
    }

    /// Room for `count` numbers; what was there is lost where it grows.
    [[nodiscard]] OutputArray<T> of(std::uint64_t count) {
        if (count > count_) {
            if (at_ != nullptr) card_.release(at_);
            at_ = nullptr;
            count_ = 0;
            at_ = static_cast<T*>(card_.allocate(count * sizeof(T)));
            count_ = count;
        }
        OutputArray<T> array;
        array.data = at_;
        array.count = count;
        return array;
    }
    /// The numbers, at the front.
    void put(std::span<const T> numbers) {
        const OutputArray<T> array = of(numbers.size());
        if (!numbers.empty()) card_.to_card(array.data, numbers.data(), numbers.size_bytes());
    }
    void put(T number) { put(std::span<const T>(&number, 1)); }
    /// The first number, after all work ordered so far.
    [[nodiscard]] T first() const {
        T number{};
        card_.to_host(&number, at_, sizeof(T));
        return number;
    }
    [[nodiscard]] T* data() const { return at_; }

private:
    Card& card_;
    T* at_ = nullptr;
    std::uint64_t count_ = 0;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
