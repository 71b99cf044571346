// SPDX-License-Identifier: Apache-2.0
// The table of operators for people.
#include "contracts/program/operator_table.hpp"
#include "tests/tools/reference_tables.hpp"

namespace assay::docs {

namespace {

using program::Phase;
using program::Presence;
using program::Reach;
using program::SumChain;
using program::Write;

std::string_view text_of(Phase phase) {
    switch (phase) {
        case Phase::kForward: return "forward";
        case Phase::kBackward: return "backward";
        case Phase::kEitherWay: return "either";
        case Phase::kOncePerStep: return "once a step";
    }
    return {};
}

std::string_view text_of(Reach reach) {
    switch (reach) {
        case Reach::kElement: return "element";
        case Reach::kRow: return "row";
        case Reach::kSequence: return "sequence";
        case Reach::kStep: return "step";
    }
    return {};
}

std::string_view text_of(SumChain chain) {
    switch (chain) {
        case SumChain::kFeatures: return "features";
        case SumChain::kKeys: return "keys";
        case SumChain::kQueries: return "queries";
        case SumChain::kTokens: return "tokens";
        case SumChain::kSequences: return "sequences";
        case SumChain::kLanes: return "lanes";
        case SumChain::kTiles: return "tiles";
        case SumChain::kNone: return "";
    }
    return {};
}

std::string_view text_of(Write write) {
    switch (write) {
        case Write::kWhole: return "";
        case Write::kInPlace: return " (in place)";
        case Write::kColumns: return " (columns)";
        case Write::kAccumulate: return " (added)";
    }
    return {};
}

template <class Argument>
std::string named(const Argument& one) {
    const std::string name(one.name);
    switch (one.presence) {
        case Presence::kAlways: return name;
        case Presence::kMaybe: return "[" + name + "]";
        case Presence::kMany: return name + " …";
    }
    return name;
}

}  // namespace

std::string operators_table() {
    std::string text = head({"operator", "when", "operands", "outputs", "reach", "chain"});
    for (const program::OperatorRow& row : program::operator_table()) {
        std::string operands;
        for (const program::Operand& one : row.operands) {
            operands += (operands.empty() ? "" : ", ") + named(one);
        }
        std::string outputs;
        for (const program::Output& one : row.outputs) {
            outputs += (outputs.empty() ? "" : ", ") + named(one) + std::string(text_of(one.write));
        }
        text += line({code(row.name), std::string(text_of(row.phase)), operands, outputs,
                      std::string(text_of(row.cut.reach)), std::string(text_of(row.cut.chain))});
    }
    return text;
}

}  // namespace assay::docs
