// SPDX-License-Identifier: Apache-2.0
#include "contracts/worker/frames.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "node/wire/channel.hpp"
#include "tests/support/properties.hpp"

using namespace assay;
using namespace assay::worker;

namespace {

program::TraceRecord some_trace() {
    program::TraceRecord trace;
    trace.boundaries = {base::hash("assay/test", base::as_bytes("a")),
                        base::hash("assay/test", base::as_bytes("b"))};
    trace.fingerprints = {{1, 2}, {3, 4}};
    trace.update = base::hash("assay/test", base::as_bytes("u"));
    trace.carried = {trace.update, trace.update};
    return trace;
}

dispute::Question some_question() {
    dispute::Question question;
    question.kind = dispute::QuestionKind::kWitness;
    question.round = 1;
    question.slot = 2;
    question.at = {3, 4, 5, 1, 6, 7};
    question.row = {1, 2, 3};
    question.end = {dispute::EndPart::kCounter, 3, 0};
    question.diverged_at = 9;
    question.fault = {4, 5, 1, 77, 1};
    return question;
}

/// One message of every kind, with every optional part present.
std::vector<Message> all_kinds() {
    const program::TraceRecord trace = some_trace();
    program::JobSpec spec;
    spec.name = "job";
    return {Hello{kProtocolVersion, "heap", {"avx2", "scalar"}, 2, {}},
            OpenJob{"devnet-1", spec},
            Opened{10, 20},
            Initial{},
            BaseStateFrame{trace.update, {1, 65'536}},
            Train{1, 2, trace, {Drill{DrillKind::kUlp, 0, "wte.weight", 5, 0}}, trace.update},
            Progress{1, 2, 3},
            Boundary{1, trace},
            Taken{},
            Trained{trace, {trace.update, {trace.update}, program::CarriedParts{{}, {}, 7}}, 9, 10},
            Replay{1, 2, 3, trace.update, trace.boundaries[0], true},
            Replayed{UnitVerdict::kMisplaced,
                     {trace.update, trace.boundaries[0], trace.fingerprints, program::Divergence{1, 2},
                      trace.boundaries[1], trace.update},
                     "here",
                     5},
            Merge{1, {{0, 1, trace.update}, {1, 2, trace.update}}},
            Evaluate{16},
            Evaluate{0, trace.update},
            Evaluated{1, 2},
            Root{BulkKind::kUpdate},
            Rooted{trace.update},
            Sample{{1, 2, 3}, 10, 7, 0.5F},
            Sampled{{4, 5}},
            Descend{some_question(), trace.update, trace.boundaries[0], true, true},
            DescendArray{
                {dispute::ArraySubject::kMergedOuter, dispute::ArrayLevel::kWitness, {1, 2, 3}, {0, 1, 2}},
                4,
                trace.update,
                {{0, 1, 2, trace.update}, {1, 2, 65'536, trace.update}}},
            Descended{{{trace.update, trace.boundaries[0]}, {1, 2, 3}, dispute::NotFinitePlace{1, 2, 3}}, 5},
            Cancel{},
            Refusal{RefusalReason::kNoJob, "text", "what to do"},
            Pulse{}};
}

/// What makes the kernel refuse a seal: one page of a file of this process, mapped for writing.
class WritableMapping {
public:
    explicit WritableMapping(int number) {
        const std::string path = "/proc/self/fd/" + std::to_string(number);
        const Descriptor again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        struct stat status {};
        if (!again.valid() || ::fstat(again.number(), &status) != 0 || status.st_size == 0) return;
        inode_ = status.st_ino;
        void* page = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, again.number(), 0);
        if (page != MAP_FAILED) page_ = page;
    }
    WritableMapping(const WritableMapping&) = delete;
    WritableMapping& operator=(const WritableMapping&) = delete;
    ~WritableMapping() {
        if (page_ != nullptr) ::munmap(page_, 1);
    }
    [[nodiscard]] bool valid() const { return page_ != nullptr; }
    [[nodiscard]] ino_t inode() const { return inode_; }

private:
    void* page_ = nullptr;
    ino_t inode_ = 0;
};

/// Of the memory file of this label that is open, unsealed and not empty; null when there is none.
std::unique_ptr<WritableMapping> mapping_of_label(const std::string& label) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
        const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
        if (error || target.find(label) == std::string::npos) continue;
        auto mapping = std::make_unique<WritableMapping>(std::stoi(entry.path().filename().string()));
        if (mapping->valid()) return mapping;
    }
    return nullptr;
}

Descriptor unsealed() {
    Descriptor file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(file.valid());
    REQUIRE(::write(file.number(), "a", 1) == 1);
    return file;
}

struct Ends {
    Channel left;
    Channel right;
};
Ends connected() {
    auto ends = socket_pair();
    REQUIRE(ends.ok());
    return {Channel(std::move(ends->first)), Channel(std::move(ends->second))};
}

void write_raw(const Channel& channel, base::ByteView bytes) {
    REQUIRE(::send(channel.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
}

base::Bytes head(std::uint32_t length, std::uint16_t kind, std::uint16_t descriptors, std::uint64_t request) {
    base::Encoder encoder;
    encoder(length, kind, descriptors, request);
    return std::move(encoder).take();
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    for (int number = 0; number < 1024; ++number) {
        if (::fcntl(number, F_GETFD) >= 0) ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("every kind of message decodes to what was encoded") {
    std::set<FrameKind> kinds;
    for (const Message& message : all_kinds()) {
        kinds.insert(kind_of(message));
        const base::Bytes payload = encode_message(message);
        const auto back = decode_message(static_cast<std::uint16_t>(kind_of(message)), payload);
        REQUIRE(back.ok());
        CHECK(kind_of(*back) == kind_of(message));
        CHECK(encode_message(*back) == payload);
    }
    CHECK(kinds.size() == std::variant_size_v<Message>);
}

TEST_CASE("a truncated or lengthened message is refused") {
    for (const Message& message : all_kinds()) {
        const auto kind = static_cast<std::uint16_t>(kind_of(message));
        base::Bytes payload = encode_message(message);
        for (std::size_t size = 0; size < payload.size(); ++size) {
            CHECK_FALSE(decode_message(kind, base::ByteView(payload).first(size)).ok());
        }
        payload.push_back(0);
        const auto longer = decode_message(kind, payload);
        REQUIRE_FALSE(longer.ok());
    }
}

TEST_CASE("an unknown kind is refused") {
    for (const std::uint16_t kind :
         {std::uint16_t{0}, std::uint16_t{26}, std::uint16_t{27}, std::uint16_t{65535}}) {
        const auto message = decode_message(kind, {});
        REQUIRE_FALSE(message.ok());
        CHECK(message.error() == base::DecodeError::kBadVariant);
    }
}

TEST_CASE("lists longer than their bounds are refused") {
    Train train;
    train.drills.resize(17);
    CHECK_FALSE(decode_message(static_cast<std::uint16_t>(FrameKind::kTrain), base::encode(train)).ok());
    Sample sample;
    sample.prompt.resize(65537);
    CHECK_FALSE(decode_message(static_cast<std::uint16_t>(FrameKind::kSample), base::encode(sample)).ok());
    Refusal refusal;
    refusal.fix.assign(kMaxFix, 'f');
    CHECK(decode_message(static_cast<std::uint16_t>(FrameKind::kRefusal), base::encode(refusal)).ok());
    refusal.fix.push_back('f');
    CHECK_FALSE(decode_message(static_cast<std::uint16_t>(FrameKind::kRefusal), base::encode(refusal)).ok());
}

TEST_CASE("changed bytes never decode to a message that encodes differently") {
    const auto kinds = all_kinds();
    std::size_t accepted = 0;
    tests::check_property(20'000, [&] {
        const Message& message = kinds[*tests::between<std::size_t>(0, kinds.size() - 1)];
        base::Bytes payload = encode_message(message);
        for (int changes = *tests::between(0, 3); changes > 0 && !payload.empty(); --changes) {
            const auto place = *tests::between<std::size_t>(0, payload.size() - 1);
            payload[place] = static_cast<std::uint8_t>(*tests::between(0, 255));
        }
        const auto back = decode_message(static_cast<std::uint16_t>(kind_of(message)), payload);
        if (!back.ok()) return;
        ++accepted;
        RC_ASSERT(encode_message(*back) == payload);
    });
    CHECK(accepted > 0);
}

TEST_CASE("random bytes of any kind never decode to a message that encodes differently") {
    tests::check_property(20'000, [] {
        const auto kind = *tests::between<std::uint16_t>(0, 25);
        const auto payload = *rc::gen::arbitrary<base::Bytes>();
        const auto back = decode_message(kind, payload);
        if (back.ok()) RC_ASSERT(encode_message(*back) == payload);
    });
}

TEST_CASE("messages and their descriptors cross a channel") {
    Ends ends = connected();
    const base::Bytes content{1, 2, 3, 4};
    const auto file = memory_file("content", content);
    REQUIRE(file.ok());
    REQUIRE(ends.left.send({7, BaseStateFrame{base::hash("assay/test", content)}, {*file}}).ok());
    const auto got = ends.right.receive();
    REQUIRE(got.ok());
    CHECK(got->request == 7);
    REQUIRE(std::holds_alternative<BaseStateFrame>(got->message));
    REQUIRE(got->bulk.size() == 1);
    const auto bytes = read_all(*got->bulk.front(), 100);
    REQUIRE(bytes.ok());
    CHECK(*bytes == content);
    CHECK_FALSE(read_all(*got->bulk.front(), 3).ok());
}

TEST_CASE("a merge of 256 slots passes 257 descriptors") {
    Ends ends = connected();
    const auto file = memory_file("update", base::Bytes{9});
    REQUIRE(file.ok());
    Merge merge;
    merge.accepted.resize(256);
    REQUIRE(ends.left.send({1, merge, std::vector<SharedDescriptor>(257, *file)}).ok());
    const auto got = ends.right.receive();
    REQUIRE(got.ok());
    CHECK(got->bulk.size() == 257);
}

TEST_CASE("a frame that claims more than a megabyte is refused unread") {
    Ends ends = connected();
    write_raw(ends.left, head(kMaxPayload + 1, static_cast<std::uint16_t>(FrameKind::kHello), 0, 1));
    const auto got = ends.right.receive();
    REQUIRE_FALSE(got.ok());
    CHECK(got.error().what.find("above the limit") != std::string::npos);
}

TEST_CASE(
    "a state travels as its head and at least one array, and never as more files than there are kinds") {
    using Bounds = std::pair<std::size_t, std::size_t>;
    CHECK(descriptor_bounds(Boundary{}) == Bounds{2, kMaxStateFiles});
    CHECK(descriptor_bounds(Replayed{}) == Bounds{0, kMaxStateFiles});
    Train train;
    CHECK(descriptor_bounds(train) == Bounds{1, 1});
    train.resume.emplace();
    CHECK(descriptor_bounds(train) == Bounds{2, 1 + kMaxStateFiles});
    train.carried_in = some_trace().update;
    CHECK(descriptor_bounds(train) == Bounds{3, 1 + 2 * kMaxStateFiles});
    Replay replay;
    CHECK(descriptor_bounds(replay) == Bounds{1, 1 + kMaxStateFiles});
    CHECK(descriptor_bounds(Root{BulkKind::kSlotState}) == Bounds{1, kMaxStateFiles});
    CHECK(descriptor_bounds(Root{BulkKind::kCarried}) == Bounds{1, kMaxStateFiles});
    CHECK(descriptor_bounds(Root{BulkKind::kUpdate}) == Bounds{1, 1});
}

TEST_CASE("a frame that claims too many descriptors is refused") {
    Ends ends = connected();
    write_raw(ends.left, head(0, static_cast<std::uint16_t>(FrameKind::kInitial), kMaxDescriptors + 1, 1));
    CHECK_FALSE(ends.right.receive().ok());
}

TEST_CASE("a frame with the wrong number of descriptors is refused and leaks none") {
    Ends ends = connected();
    const auto file = memory_file("content", base::Bytes{1});
    REQUIRE(file.ok());
    const std::size_t before = open_descriptors();
    REQUIRE(ends.left.send({1, Initial{}, {*file, *file}}).ok());  // at most the one that its job names
    CHECK_FALSE(ends.right.receive().ok());
    CHECK(open_descriptors() == before);
}

TEST_CASE("a frame that announces descriptors and brings none is refused") {
    Ends ends = connected();
    write_raw(ends.left, head(4, static_cast<std::uint16_t>(FrameKind::kRoot), 1, 1));
    write_raw(ends.left, base::Bytes{0xFD});
    CHECK_FALSE(ends.right.receive().ok());
}

TEST_CASE("an end between frames is told from an end inside one") {
    {
        Ends ends = connected();
        ::shutdown(ends.left.number(), SHUT_RDWR);
        const auto got = ends.right.receive();
        REQUIRE_FALSE(got.ok());
        CHECK(got.error().kind == base::ErrorKind::kNotFound);
    }
    Ends ends = connected();
    write_raw(ends.left, head(10, static_cast<std::uint16_t>(FrameKind::kHello), 0, 1));
    ::shutdown(ends.left.number(), SHUT_RDWR);
    const auto got = ends.right.receive();
    REQUIRE_FALSE(got.ok());
    CHECK(got.error().kind == base::ErrorKind::kUnreachable);
}

TEST_CASE("a frame that stops in its middle, or that nobody takes, ends a channel whose silence is limited") {
    Ends ends = connected();
    REQUIRE(ends.right.limit_silence(std::chrono::milliseconds(50)).ok());
    write_raw(ends.left, base::Bytes{1, 2, 3});  // of a head
    const auto cut = ends.right.receive();
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().what.find("stopped in a frame") != std::string::npos);
    // Nobody reads on the left: the socket is full at some time.
    Sample sample;
    sample.prompt.assign(65'536, 7);
    base::Outcome<void> sent;
    for (int i = 0; i < 1000 && sent.ok(); ++i) sent = ends.right.send({1, sample, {}});
    REQUIRE_FALSE(sent.ok());
    CHECK(sent.error().what.find("stopped in a frame") != std::string::npos);
}

TEST_CASE("a memory file is sealed and a pipe is not taken for a file") {
    const auto file = memory_file("content", base::Bytes{1, 2});
    REQUIRE(file.ok());
    CHECK(::ftruncate((*file)->number(), 1) != 0);
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    const Descriptor reading(ends[0]);
    const Descriptor writing(ends[1]);
    const auto size = file_size(reading, 100);
    REQUIRE_FALSE(size.ok());
    CHECK(size.error().kind == base::ErrorKind::kVerification);
    const auto long_one = file_size(**file, 1);
    REQUIRE_FALSE(long_one.ok());
    CHECK(long_one.error().kind == base::ErrorKind::kVerification);
}

TEST_CASE("a descriptor that this machine cannot look at is no fault of the file") {
    const auto size = file_size(Descriptor(), 100);
    REQUIRE_FALSE(size.ok());
    CHECK(size.error().kind == base::ErrorKind::kFailure);
}

TEST_CASE("a memory file that is in use for a moment is sealed once it is not") {
    const Descriptor file = unsealed();
    auto in_use = std::make_unique<WritableMapping>(file.number());
    REQUIRE(::fcntl(file.number(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
    REQUIRE(errno == EBUSY);
    std::thread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        in_use.reset();
    });
    const auto sealed = seal_memory_file(file);
    user.join();
    REQUIRE(sealed.ok());
    CHECK(::write(file.number(), "b", 1) != 1);
    CHECK(errno == EPERM);
}

TEST_CASE("a memory file that stays in use is not sealed, and the error says so") {
    const Descriptor file = unsealed();
    const WritableMapping in_use(file.number());
    const auto sealed = seal_memory_file(file, std::chrono::milliseconds(50));
    REQUIRE_FALSE(sealed.ok());
    CHECK(sealed.error().kind == base::ErrorKind::kFailure);
    CHECK(sealed.error().what.find("cannot seal a memory file: Device or resource busy") == 0);
    CHECK_FALSE(sealed.error().fix.empty());
}

TEST_CASE("a file is taken for sealed when nobody can change or shorten it") {
    CHECK(check_sealed(**memory_file("sealed", base::Bytes(10, 1))).ok());
    const auto passed = [](int seals) {
        Descriptor file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        REQUIRE(file.valid());
        REQUIRE((seals == 0 || ::fcntl(file.number(), F_ADD_SEALS, seals) == 0));
        const auto checked = check_sealed(file);
        CHECK((checked.ok() || checked.error().kind == base::ErrorKind::kVerification));
        return checked.ok();
    };
    CHECK_FALSE(passed(0));
    CHECK_FALSE(passed(F_SEAL_GROW | F_SEAL_SEAL));
    CHECK_FALSE(passed(F_SEAL_SHRINK));
    CHECK_FALSE(passed(F_SEAL_WRITE));
    CHECK(passed(F_SEAL_SHRINK | F_SEAL_WRITE));
    const auto program = open_file("/proc/self/exe");
    REQUIRE(program.ok());
    CHECK_FALSE(check_sealed(**program).ok());
    CHECK(is_same_file(**program, **open_file("/proc/self/exe")));
    CHECK_FALSE(is_same_file(**program, **memory_file("other", base::Bytes(1, 1))));
}

TEST_CASE("a memory file whose first pages stay in use is written into fresh ones") {
    const base::Bytes content(64U << 20U, 7);  // written slowly enough to be found before its seal
    bool caught = false;
    for (int attempt = 0; attempt < 100 && !caught; ++attempt) {
        std::atomic<bool> done = false;
        std::unique_ptr<WritableMapping> in_use;
        std::thread user([&] {
            while (!done && in_use == nullptr) in_use = mapping_of_label("memfd:stuck");
        });
        const auto file = memory_file("stuck", content, std::chrono::milliseconds(20));
        done = true;
        user.join();
        REQUIRE(file.ok());
        struct stat status {};
        REQUIRE(::fstat((*file)->number(), &status) == 0);
        CHECK(status.st_size == static_cast<off_t>(content.size()));
        const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
        CHECK((::fcntl((*file)->number(), F_GET_SEALS) & seals) == seals);
        caught = in_use != nullptr && in_use->inode() != status.st_ino;
    }
    CHECK(caught);
}
