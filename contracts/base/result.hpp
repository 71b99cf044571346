// SPDX-License-Identifier: Apache-2.0
// Result<T, E> is returned by every function that can fail: a value, or the named reason why there is none.
// It replaces C++23's std::expected.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "contracts/base/check.hpp"

namespace assay::base {

/// Wraps a reason so that `return failed(Reason::kX);` converts to any Result with that error type.
template <class E>
struct Failed {
    E reason;
};

template <class E>
Failed<std::decay_t<E>> failed(E&& reason) {
    return {std::forward<E>(reason)};
}

/// Either a T or an E. Reading the one that is not there is our bug and ends the process.
template <class T, class E>
class [[nodiscard]] Result {
public:
    using value_type = T;
    using error_type = E;

    Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    template <class U>
    requires std::is_convertible_v<U, E> Result(Failed<U> failure)
        : held_(std::in_place_index<1>, std::move(failure.reason)) {}

    [[nodiscard]] bool ok() const { return held_.index() == 0; }
    explicit operator bool() const { return ok(); }

    [[nodiscard]] T& value() & { return checked(*this); }
    [[nodiscard]] const T& value() const& { return checked(*this); }
    [[nodiscard]] T&& value() && { return std::move(checked(*this)); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }

    [[nodiscard]] const E& error() const {
        ASSAY_CHECK(!ok());
        return *std::get_if<1>(&held_);
    }

private:
    template <class Self>
    static auto& checked(Self& self) {
        ASSAY_CHECK(self.ok());
        return *std::get_if<0>(&self.held_);
    }

    std::variant<T, E> held_;
};

/// Success without a value, or a reason.
template <class E>
class [[nodiscard]] Result<void, E> {
public:
    using value_type = void;
    using error_type = E;

    Result() = default;
    template <class U>
    requires std::is_convertible_v<U, E> Result(Failed<U> failure) : error_(std::move(failure.reason)) {}

    [[nodiscard]] bool ok() const { return !error_.has_value(); }
    explicit operator bool() const { return ok(); }
    [[nodiscard]] const E& error() const {
        ASSAY_CHECK(error_.has_value());
        return *error_;
    }

private:
    std::optional<E> error_;
};

}  // namespace assay::base

#define ASSAY_JOIN_(a, b) a##b
#define ASSAY_JOIN(a, b) ASSAY_JOIN_(a, b)

/// ASSAY_TRY(call()): returns the reason from the enclosing function when the call failed.
#define ASSAY_TRY(...)                                                                       \
    do {                                                                                     \
        auto assay_tried = (__VA_ARGS__);                                                    \
        if (!assay_tried.ok()) return ::assay::base::failed(std::move(assay_tried).error()); \
    } while (false)

/// ASSAY_ASSIGN(auto x, call()): declares x from the value, or returns the reason.
#define ASSAY_ASSIGN(declaration, ...) \
    ASSAY_ASSIGN_(ASSAY_JOIN(assay_result_, __LINE__), declaration, __VA_ARGS__)
#define ASSAY_ASSIGN_(name, declaration, ...)                   \
    auto name = (__VA_ARGS__);                                  \
    if (!name.ok()) return ::assay::base::failed(name.error()); \
    declaration = std::move(name).value()
