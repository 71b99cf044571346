// SPDX-License-Identifier: Apache-2.0
#include "trainer/devices/operator_bench.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "contracts/base/check.hpp"
#include "contracts/program/initial.hpp"
#include "trainer/step/adopted.hpp"
#include "trainer/step/device_failure.hpp"
#include "trainer/step/single.hpp"

namespace assay::trainer {

namespace {
using Kind = program::OperatorKind;

// Tokens of a sequence: as many as GPT-2's, or fewer that divide all of them. The block of a weight
// gradient's sums.
std::uint64_t sequence_of(std::uint64_t tokens) {
    std::uint64_t context = 1024;
    while (tokens % context != 0) context /= 2;
    return context;
}

Kind operator_of(GemmKind kind) {
    switch (kind) {
        case GemmKind::kForward: return Kind::kLinear;
        case GemmKind::kInputGradient: return Kind::kLinearInputGradient;
        case GemmKind::kWeightGradient: return Kind::kLinearWeightGradient;
        case GemmKind::kHeadInputGradient: return Kind::kHeadInputGradient;
        case GemmKind::kHeadWeightGradient: return Kind::kHeadWeightGradient;
    }
    ASSAY_CHECK(false);
}

// A program of one operator: tensors 0 and 1 are its operands, 2 is its output.
program::Program program_of(program::Profile profile, GemmShape shape, GemmKind kind) {
    const std::uint64_t context = sequence_of(shape.tokens);
    const bool of_head = kind == GemmKind::kHeadInputGradient || kind == GemmKind::kHeadWeightGradient;
    const auto rows = [&](std::uint64_t cols) {
        return program::Tensor{"rows", program::TensorRole::kActivation, {0, context}, cols};
    };
    const auto weight = [&](program::TensorRole role) {
        return of_head ? program::Tensor{"weight", role, {shape.out, 0}, shape.in}
                       : program::Tensor{"weight", role, {shape.in, 0}, shape.out};
    };
    program::Program program;
    program.model.context = static_cast<std::uint32_t>(context);
    program.model.vocabulary = 2;
    program.model.layers = program.model.heads = program.model.width = 1;
    program.profile = profile;
    const auto w = weight(program::TensorRole::kActivation);
    switch (kind) {
        case GemmKind::kForward: program.tensors = {rows(shape.in), w, rows(shape.out)}; break;
        case GemmKind::kInputGradient:
        case GemmKind::kHeadInputGradient: program.tensors = {rows(shape.out), w, rows(shape.in)}; break;
        case GemmKind::kWeightGradient: program.tensors = {rows(shape.in), rows(shape.out), w}; break;
        case GemmKind::kHeadWeightGradient: program.tensors = {rows(shape.out), rows(shape.in), w}; break;
    }
    program::Operator one;
    one.kind = operator_of(kind);
    one.name = "product";
    one.operands = {0, 1};
    one.outputs = {2};
    one.rule = program::row_of(one.kind).rule(context);
    program.operators = {one};
    return program;
}

struct OperatorBench {
    OperatorBench(std::unique_ptr<Device> opened, program::Profile profile, GemmShape shape, GemmKind kind)
        : device(std::move(opened)),
          program(program_of(profile, shape, kind)),
          group(single_operator(program, 0)) {
        const std::uint64_t sequences = shape.tokens / program.model.context;
        for (program::TensorId id = 0; id < 3; ++id) {
            const program::Tensor& tensor = program.tensors[id];
            const std::uint64_t count = tensor.rows.of(sequences) * tensor.cols;
            at[id] = device->allocate(count);
            if (id == 2) {
                device->zero(at[id], count);
                continue;
            }
            std::vector<float> noise(count);
            for (std::uint64_t i = 0; i < count; ++i) {
                const auto word = static_cast<std::uint32_t>((i + 1) * (id + 1) * 0x9e3779b1U);
                noise[i] = static_cast<float>(word >> 8) * 0x1p-23F - 1.0F;
            }
            device->write(at[id], noise);
        }
        device->begin(program, {.tokens = shape.tokens});
        const std::vector<std::uint32_t> tokens(sequences * (program.model.context + 1));
        device->load(tokens);
        device->select(0, sequences);
    }
    void operator()() {
        device->run({.group = group, .tensors = at});
        device->wait({}, {});
        if (const auto checked = device->check(); !checked.ok()) throw DeviceFailure(checked.error());
    }
    std::unique_ptr<Device> device;
    program::Program program;
    Group group;
    std::array<float*, 3> at{};
};

struct StateBench {
    StateBench(std::unique_ptr<Device> opened, const program::ModelConfig& model, StateWork what)
        : device(std::move(opened)),
          work(what),
          tensors(program::parameter_tensors(model)),
          parameters(program::initial_parameters(model, 1)),
          first(parameters.size(), 1e-3F),
          second(parameters.size(), 1e-6F),
          state(*device, parameters, first, second) {}
    void operator()() {
        if (work == StateWork::kCopy) {
            state.sync();
            // A device that has failed copies nothing.
            if (const auto checked = device->check(); !checked.ok()) throw DeviceFailure(checked.error());
            return;
        }
        const DeviceState at = state.at();
        const std::size_t count = parameters.size();
        const DeviceView arrays[] = {
            {at.parameters, count}, {at.first_moment, count}, {at.second_moment, count}};
        ASSAY_CHECK(device->roots(tensors, arrays).ok());
    }
    std::unique_ptr<Device> device;
    StateWork work;
    std::vector<program::TensorInfo> tensors;
    std::vector<float> parameters, first, second;
    AdoptedState state;
};
}  // namespace

std::function<void()> make_operator_bench(std::unique_ptr<Device> device, program::Profile profile,
                                          GemmShape shape, GemmKind kind) {
    return [bench = std::make_shared<OperatorBench>(std::move(device), profile, shape, kind)] { (*bench)(); };
}

std::function<void()> make_state_bench(std::unique_ptr<Device> device, const program::ModelConfig& model,
                                       StateWork work) {
    return [bench = std::make_shared<StateBench>(std::move(device), model, work)] { (*bench)(); };
}

}  // namespace assay::trainer
