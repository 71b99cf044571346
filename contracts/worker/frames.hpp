// SPDX-License-Identifier: Apache-2.0
// The records that a role and its assay-worker exchange (docs/architecture.md, "worker frames"). A frame is a
// 16-byte head (u32 payload length, u16 kind, u16 descriptors, u64 request number, little-endian), then one
// marker byte for each 250 descriptors (rounded up) that carries them, then the payload: the canonical
// encoding of one record below. Bulk bytes travel as passed descriptors; each record says which, in order.
// The answer to a request is zero or more Progress, Boundary and Pulse frames, and then one answer or one
// Refusal, all with the request's number. The worker handles requests one at a time, in order; it reads
// Cancel and Taken at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/error.hpp"
#include "contracts/dispute/question.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/first_state.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/worker/unit_parts.hpp"

namespace assay::worker {

/// 2: JobSpec names a profile, another family and an initial blob; Initial may carry a file; Refusal has a
/// fix. 3: Replay says which blob the reveal names for the update, Replayed whether the difference is named;
/// kUnsound. 4: Train says what the slot carries; Train and Replay may bring its file; a trace may hold what
/// is carried. 5: JobSpec may hold a rate of `finalise`. 6: a slot's state is a head and a file for each
/// array (contracts/program/state_head.hpp), and a request brings the arrays that it reads. 7: Replay
/// computes without a claim; Trained names no trace root; Root reads what a slot carries. 8: JobSpec may hold
/// a norm bound; BaseState names the clips of a merge; Evaluate names a beacon. 9: Descend and DescendArray.
/// 10: a drill may name an operator; Trained shows what its first state is made of. 11: kLost. 12: Pulse. 13:
/// Replay names the base's root. 14: Taken.
inline constexpr std::uint32_t kProtocolVersion = 14;
inline constexpr std::uint32_t kMaxPayload = 1U << 20;
inline constexpr std::uint16_t kMaxDescriptors = 257;  ///< a merge of all slots: base state, an update each
/// Files of a slot's state: its head and at most every kind of array.
inline constexpr std::size_t kMaxStateFiles = 6;
/// No state, update or token file is larger; a descriptor that names more is refused unread.
inline constexpr std::size_t kMaxBulk = program::kMaxFileBytes;
/// The most bytes of the sentence that says what to do about a refusal.
inline constexpr std::size_t kMaxFix = 1024;

enum class FrameKind : std::uint16_t {
    kHello = 1,
    kOpenJob = 2,
    kOpened = 3,
    kInitial = 4,
    kBaseState = 5,
    kTrain = 6,
    kProgress = 7,
    kBoundary = 8,
    kTrained = 9,
    kReplay = 10,
    kReplayed = 11,
    kMerge = 12,
    kEvaluate = 13,
    kEvaluated = 14,
    kRoot = 15,
    kRooted = 16,
    kSample = 17,
    kSampled = 18,
    kDescend = 19,
    kDescended = 20,
    kDescendArray = 21,
    kCancel = 22,
    kRefusal = 23,
    kPulse = 24,
    kTaken = 25,
};

/// Why the worker did not do what it was asked. Frozen numbers.
enum class RefusalReason : std::uint8_t {
    kBadFrame = 1,        ///< not a frame of this protocol; the worker ends after this refusal
    kNoJob = 2,           ///< a request that needs an open job, and none is open
    kBadRequest = 3,      ///< its fields or descriptors contradict each other or the job
    kBadBytes = 4,        ///< a state, update or token file that is not what it should be
    kCancelled = 5,       ///< Cancel came before the answer
    kNotSupported = 6,    ///< the worker knows the request and cannot do it; nothing is answered so today
    kDrillForbidden = 7,  ///< a drill outside a devnet
    kInternal = 8,        ///< memory ran out, or a bug of ours
    kDiverged = 9,        ///< the inputs are right, the result is not finite (Merge, Evaluate)
    kMachine = 10,        ///< this machine, as it is set up, cannot do it (a memory budget that is too small)
    kUnsound = 11,  ///< this machine computes by another law than the job's, so none of its answers count
    kLost = 12,     ///< the device no longer answers; what it gave before is right
};

/// The cause of a refusal. Only this decides what a role does about one (node/roles/worker_refusals).
enum class RefusalCause : std::uint8_t {
    kPassing,  ///< nobody: the request was cancelled, or the job is not open
    kBytes,    ///< the bytes that came with the request
    kRequest,  ///< its fields, which the ledger's rules should not have let through, or our own build
    kResult,   ///< the inputs: the request was done, but its result is not finite
    kMeans,    ///< this machine's memory, settings or patience; another machine may do it
    kUnsound,  ///< this machine's bits
    kLost,     ///< its device, which has gone
};
RefusalCause cause_of(RefusalReason reason);

std::string_view to_text(RefusalReason reason);

/// Worker to role, first frame of a process, request number 0.
struct Hello {
    static constexpr FrameKind kKind = FrameKind::kHello;
    std::uint32_t version = kProtocolVersion;
    std::string arena;                 ///< where tensors live: "heap"
    std::vector<std::string> targets;  ///< kernel targets in use, best first, e.g. "avx512", "scalar"
    std::uint32_t threads = 1;
    base::Hash256 self_test;  ///< root of a tiny training step; the same on every machine that is sound
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.version, self.arena, self.targets, self.threads, self.self_test);
    }
};

/// Makes this the worker's job, and drops an earlier one. Descriptors: training token file, held-out token
/// file.
struct OpenJob {
    static constexpr FrameKind kKind = FrameKind::kOpenJob;
    std::string chain_id;  ///< drills are refused unless it begins with "devnet"
    program::JobSpec spec;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.chain_id, self.spec);
    }
};

struct Opened {
    static constexpr FrameKind kKind = FrameKind::kOpened;
    std::uint64_t parameters = 0;
    std::uint64_t work_units = 0;  ///< of one slot's round
    /// The planned memory of a step on this machine: three arrays of the slot's state (parameters, both
    /// moments) and the step's own buffers. It does not include states that are read, written or hashed
    /// between steps, the tokens, or the program itself.
    std::uint64_t step_bytes = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.parameters, self.work_units, self.step_bytes);
    }
};
/// Memory of a step of the job, rounded up: "12 MiB".
std::string step_memory(const Opened& opened);

/// Asks for the base state of round 0. Descriptor: the file of JobSpec::initial_blob, when the job names one;
/// the worker checks it (blob id, shape, finite numbers, step 0, no momentum) and returns it. Answer:
/// BaseState; the role compares its root with the one that the job names.
struct Initial {
    static constexpr FrameKind kKind = FrameKind::kInitial;
    template <class Self, class V>
    static void fields(Self&, V&) {}
};

/// Answer to Initial and Merge. Descriptor: the base state's bytes.
struct BaseStateFrame {
    static constexpr FrameKind kKind = FrameKind::kBaseState;
    base::Hash256 root;
    /// program::update_clip of the merged slots, in the order of the request. Empty when none was merged, or
    /// the job has no norm bound.
    std::vector<std::uint32_t> clips = {};
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.root, self.clips);
    }
};

/// A planted fault of one segment, to show that faults are found; never accepted outside a devnet. The rest
/// of the trace is computed correctly from the false state. Names: contracts/worker/drill_rows.hpp.
enum class DrillKind : std::uint8_t {
    kLazy = 1,   ///< skip the segment's steps; its end is its start plus small noise, losses are made up
    kFlip = 2,   ///< flip one bit of one parameter
    kUlp = 3,    ///< move one parameter to the next binary32 number
    kZero = 4,   ///< compute nothing; the segment ends with the round's base: in the last one, no update
    kNoise = 5,  ///< compute nothing; the segment ends with random numbers
    kSkip = 6,   ///< skip the segment's steps; its end is its start, losses are made up
    kStale = 7,  ///< continue training from the base of round 0, which in round 1 is that of the round before
    kShard = 8,  ///< train on the batches of the next slot: byte for byte that slot's work
    kReplay = 9,     ///< the segment's end as this worker trained it in the round before, from round 0's base
    kPlace = 10,     ///< the boundary's root is of the true numbers and the counters of another step
    kFinalise = 11,  ///< hand in the update with all signs inverted; the segment does not matter
    kOperator = 12,  ///< move one number of an operator's first output by one ulp, right after it ran
};

struct Drill {
    DrillKind kind = DrillKind::kFlip;
    std::uint32_t segment = 0;
    std::string tensor;                ///< kFlip, kUlp: canonical name; else empty
    std::uint64_t index = 0;           ///< kFlip, kUlp, kOperator: element of the tensor or output, row-major
    std::uint8_t bit = 0;              ///< kFlip: 0 (lowest of the significand) to 31 (sign)
    std::uint32_t step = 0;            ///< kOperator: of the segment, from 0
    std::uint32_t operator_index = 0;  ///< kOperator: in the step's program
    friend bool operator==(const Drill&, const Drill&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.segment, self.tensor, self.index, self.bit, self.step, self.operator_index);
    }
};

/// Trains one slot for one round. Descriptors: base state of the round; with `carried_in`, head and carried
/// arrays of the slot state at the end of the slot's last accepted round; when resuming, the slot state of
/// boundary `resume->boundaries.size() - 1`, as a Boundary frame gave it. Answers: Progress after each step,
/// Boundary at each segment's end, then Trained.
struct Train {
    static constexpr FrameKind kKind = FrameKind::kTrain;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::optional<program::TraceRecord> resume;  ///< Boundary::so_far of the boundary to go on from
    std::vector<Drill> drills;
    base::Hash256 carried_in = {};  ///< root of what the slot carries in; zero when nothing
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.round, self.slot, self.resume, self.drills, self.carried_in);
    }
};

struct Progress {
    static constexpr FrameKind kKind = FrameKind::kProgress;
    std::uint32_t step = 0;  ///< inner step of this round just finished, from 0
    std::uint32_t loss_bits = 0;
    std::uint32_t gradient_norm_bits = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.step, self.loss_bits, self.gradient_norm_bits);
    }
};

/// A segment has ended. Descriptors: head and arrays of the slot state at boundary `index`. The role keeps
/// them until the window for checks of the round closes: they serve audits, and a killed worker resumes from
/// them.
struct Boundary {
    static constexpr FrameKind kKind = FrameKind::kBoundary;
    std::uint32_t index = 0;  ///< 1 … segments; boundary 0 is the base state itself
    program::TraceRecord so_far;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.index, self.so_far);
    }
};

/// Descriptor: the update file; none when the slot diverged.
struct Trained {
    static constexpr FrameKind kKind = FrameKind::kTrained;
    program::TraceRecord trace;
    program::FirstStateParts start;    ///< from the base and what is carried, as they came
    std::uint64_t nanoseconds = 0;     ///< of this request, by the monotonic clock
    std::uint64_t peak_rss_bytes = 0;  ///< of the worker process so far
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.trace, self.start, self.nanoseconds, self.peak_rss_bytes);
    }
};

/// Computes one audit unit. The role compares it with the claim, if it knows the claim. Descriptors for
/// segment 0: base state of the round and, with `carried_in`, head and carried arrays of the slot state from
/// which they come. Segment s > 0: slot state of boundary s. Finalise: base state of the round, and of the
/// state at the last boundary the head and the arrays that it reads (RoundPlan::start). A head that is not
/// one of the job's comes without arrays.
struct Replay {
    static constexpr FrameKind kKind = FrameKind::kReplay;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;
    base::Hash256 base_root;   ///< the root that the base must have; ignored by units that read none
    base::Hash256 start_root;  ///< the root that the state at its boundary must have; segment 0 ignores it
    base::Hash256 carried_in;  ///< root of what segment 0 carries in; zero when nothing
    bool want_end_state = false;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.round, self.slot, self.unit, self.base_root, self.start_root, self.carried_in,
              self.want_end_state);
    }
};

enum class UnitVerdict : std::uint8_t {
    kComputed = 1,   ///< from its start to its end
    kMisplaced = 2,  ///< the start has its root but is impossible at its boundary, so nothing follows from it
    kUnavailable = 3,  ///< the start or the base does not have its root, so nothing can be computed
};

/// Descriptors: with `want_end_state`, the computed end (slot state, or update file).
struct Replayed {
    static constexpr FrameKind kKind = FrameKind::kReplayed;
    UnitVerdict verdict = UnitVerdict::kComputed;
    UnitParts parts;  ///< for kMisplaced only the unit root; for kUnavailable all zero
    std::string why;  ///< one sentence for people; empty when computed
    std::uint64_t nanoseconds = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.verdict, self.parts, self.why, self.nanoseconds);
    }
};

/// Descriptors: base state of the round, then one update file per entry, in order. Answer: BaseState.
struct Merge {
    static constexpr FrameKind kKind = FrameKind::kMerge;
    struct Entry {
        std::uint32_t slot = 0;
        std::uint64_t weight = 0;
        base::Hash256 update_root;  ///< the update file must have it
        template <class Self, class V>
        static void fields(Self& self, V& visit) {
            visit(self.slot, self.weight, self.update_root);
        }
    };
    std::uint32_t round = 0;
    std::vector<Entry> accepted;  ///< ascending slots
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.round, self.accepted);
    }
};

/// Asks for the mean loss over the held-out sequences that a round's beacon draws (program::drawn_held_out),
/// or without a beacon over the first `max_sequences` (0: all). Descriptor: a base state.
struct Evaluate {
    static constexpr FrameKind kKind = FrameKind::kEvaluate;
    std::uint64_t max_sequences = 0;
    std::optional<base::Hash256> beacon = std::nullopt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.max_sequences, self.beacon);
    }
};

struct Evaluated {
    static constexpr FrameKind kKind = FrameKind::kEvaluated;
    std::uint32_t loss_bits = 0;
    std::uint64_t tokens = 0;  ///< target tokens over which the mean is taken
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.loss_bits, self.tokens);
    }
};

/// The kind of a state or update. kCarried: head and carried arrays of a slot's last state; its root is that
/// of what the slot carries out.
enum class BulkKind : std::uint8_t { kBaseState = 1, kSlotState = 2, kUpdate = 3, kCarried = 4 };

/// Asks for the root of a state or an update. Descriptors: its file, or files. Answer: Rooted.
struct Root {
    static constexpr FrameKind kKind = FrameKind::kRoot;
    BulkKind kind = BulkKind::kBaseState;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind);
    }
};

struct Rooted {
    static constexpr FrameKind kKind = FrameKind::kRooted;
    base::Hash256 root;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.root);
    }
};

/// Lets the model continue a text. Descriptor: a base state.
struct Sample {
    static constexpr FrameKind kKind = FrameKind::kSample;
    std::vector<std::uint32_t> prompt;  ///< token numbers, at least one
    std::uint32_t count = 0;            ///< tokens to add, at most 4096
    std::uint64_t seed = 0;
    program::Float32 temperature = 0.8F;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.prompt, self.count, self.seed, self.temperature);
    }
};

struct Sampled {
    static constexpr FrameKind kKind = FrameKind::kSampled;
    std::vector<std::uint32_t> tokens;  ///< the added ones
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.tokens);
    }
};

/// Asks what a player of a dispute has to know about steps of a slot. Descriptors: as for Replay of the
/// question's segment; or with `from_step` head and arrays of a slot state of that segment at the step or
/// before it. Answer: Descended.
struct Descend {
    static constexpr FrameKind kKind = FrameKind::kDescend;
    dispute::Question question;
    /// The root that the slot state must have; a segment 0 from its base ignores it.
    base::Hash256 start_root;
    base::Hash256 carried_in;  ///< root of what segment 0 carries in; zero when nothing
    bool from_step = false;
    /// Asks only for the slot state before question.at.step, for `from_step` of the next question.
    bool want_state = false;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.question, self.start_root, self.carried_in, self.from_step, self.want_state);
    }
};

/// The same for an array. Descriptors for an update: base state of the round, head and arrays of the state at
/// the last boundary, as for Replay of `finalise`. For a merge: base state, then an update for each entry, in
/// order. For a clip: its update. Answer: Descended.
struct DescendArray {
    static constexpr FrameKind kKind = FrameKind::kDescendArray;
    struct Entry {
        std::uint32_t slot = 0;
        std::uint64_t weight = 0;
        std::uint32_t clip = 0;
        base::Hash256 update_root;  ///< the update file must have it
        template <class Self, class V>
        static void fields(Self& self, V& visit) {
            visit(self.slot, self.weight, self.clip, self.update_root);
        }
    };
    dispute::ArrayQuestion question;
    std::uint32_t round = 0;
    base::Hash256 end_root;     ///< for an update: the root that the last boundary must have
    std::vector<Entry> merged;  ///< ascending slots; one for a clip
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.question, self.round, self.end_root, self.merged);
    }
};

/// Descriptors: with `want_state`, head and arrays of the slot state.
struct Descended {
    static constexpr FrameKind kKind = FrameKind::kDescended;
    dispute::DisputeAnswer answer;
    std::uint64_t nanoseconds = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.answer, self.nanoseconds);
    }
};

/// Ends the request with this frame's number at the end of the next step. The answer is that request's
/// Refusal.
struct Cancel {
    static constexpr FrameKind kKind = FrameKind::kCancel;
    template <class Self, class V>
    static void fields(Self&, V&) {}
};

struct Refusal {
    static constexpr FrameKind kKind = FrameKind::kRefusal;
    RefusalReason reason = RefusalReason::kInternal;
    std::string text;      ///< what was wrong and where, for people
    std::string fix = {};  ///< what to do next, at most kMaxFix bytes; may be empty
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.reason, self.text, self.fix);
    }
};

/// Worker to role: the request at work goes on, so that a role can tell a long one from one that hangs. Comes
/// after each step that Replay or Descend computes as training does, before each micro-batch of Evaluate,
/// after each update that Merge or DescendArray has read, and while Train, which has Progress, waits.
struct Pulse {
    static constexpr FrameKind kKind = FrameKind::kPulse;
    template <class Self, class V>
    static void fields(Self&, V&) {}
};

/// Role to worker: the last Boundary's files, a whole state in memory, are let go. The worker waits with the
/// next one until it has this, with the number of the Train at work, or the request is cancelled.
struct Taken {
    static constexpr FrameKind kKind = FrameKind::kTaken;
    template <class Self, class V>
    static void fields(Self&, V&) {}
};

using Message = std::variant<Hello, OpenJob, Opened, Initial, BaseStateFrame, Train, Progress, Boundary,
                             Trained, Replay, Replayed, Merge, Evaluate, Evaluated, Root, Rooted, Sample,
                             Sampled, Descend, Descended, DescendArray, Cancel, Refusal, Pulse, Taken>;

FrameKind kind_of(const Message& message);

/// The record of this kind that `payload` encodes. Fails with kBadVariant for a kind that does not exist,
/// with kTooLong above kMaxPayload and for lists above their bounds, and otherwise as the canonical codec
/// does.
base::Result<Message, base::DecodeError> decode_message(std::uint16_t kind, base::ByteView payload);

base::Bytes encode_message(const Message& message);

/// The least and the most descriptors of a well-formed frame with this message.
std::pair<std::size_t, std::size_t> descriptor_bounds(const Message& message);

/// True for the frame that ends a request: an answer or a Refusal.
bool is_final(const Message& message);

}  // namespace assay::worker

namespace assay::base {
ASSAY_ENUM_RANGE(worker::RefusalReason, kBadFrame, kLost);
ASSAY_ENUM_RANGE(worker::DrillKind, kLazy, kOperator);
ASSAY_ENUM_RANGE(worker::UnitVerdict, kComputed, kUnavailable);
ASSAY_ENUM_RANGE(worker::BulkKind, kBaseState, kCarried);
}  // namespace assay::base
