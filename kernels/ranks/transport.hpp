#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

// How the ranks of a run talk to each other: whoever carries the messages (MPI, or threads of one process) implements
// this much. Each function is called by all the ranks that it concerns, in the same order.

namespace carom {

/// The other ranks can no longer be reached, one of them having failed.
struct RanksLost : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Transport {
public:
    /// A message to or from another rank.
    struct Parcel {
        int peer = 0;
        std::byte* data = nullptr;
        std::size_t bytes = 0;  ///< to be received: the room; then, what has come. At most kMost
    };
    static constexpr std::size_t kMost = std::size_t{1} << 30;

    virtual ~Transport() = default;
    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// This rank among those of its machine.
    [[nodiscard]] virtual int rank_here() const { return rank(); }
    /// Whether swap() reads and writes the memory of GPUs.
    [[nodiscard]] virtual bool reaches_devices() const { return false; }

    /// Begins to send all of `out` and to receive all of `in`, at most one message per pair of ranks and direction.
    /// Nothing else may be sent or received before end_swap(), till when both must stay where they are.
    virtual void begin_swap(std::span<const Parcel> out, std::span<Parcel> in) = 0;
    /// Waits until all is sent and received. \throws RanksLost
    virtual void end_swap() = 0;
    void swap(std::span<const Parcel> out, std::span<Parcel> in) {
        begin_swap(out, in);
        end_swap();
    }
    /// A rank of which a message has come and is not received yet; -1: there is none.
    virtual int whose_message_waits() = 0;
    /// Puts the largest of all ranks' values in the place of each.
    virtual void max_all(std::span<std::uint64_t> values);
    /// The same with sums.
    virtual void sum_all(std::span<std::uint64_t> values);
    /// Gives all ranks what rank 0 has.
    virtual void broadcast(std::span<std::byte> bytes);
    /// Ends all ranks, this one too where they are processes of their own, with an exit status.
    virtual void abort(int status) = 0;

    // Made of the above.

    template <class T>
    void broadcast_value(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        broadcast(std::as_writable_bytes(std::span(&value, 1)));
    }
    /// Bytes of any number to a rank that calls receive_from().
    void send_to(int peer, std::span<const std::byte> bytes);
    [[nodiscard]] std::vector<std::byte> receive_from(int peer);
    /// The same where the number is known. \throws RanksLost  it is another
    void receive_from(int peer, std::span<std::byte> bytes);
    /// Sends bytes to one rank, and gives what another sends to this one.
    [[nodiscard]] std::vector<std::byte> pass(int to, std::span<const std::byte> bytes, int from);
    /// Sends each of `peers` its bytes, of any number; gives what they sent, in their order.
    [[nodiscard]] std::vector<std::vector<std::byte>> exchange(const std::vector<int>& peers,
                                                               const std::vector<std::vector<std::byte>>& out);

private:
    std::uint64_t receive_count(int peer);
    void receive_pieces(int peer, std::span<std::byte> bytes);
    template <class Combine>
    void combine_all(std::span<std::uint64_t> values, Combine&& combine);
};

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

/// What append() has put there.
template <class T>
std::vector<T> values_in(std::span<const std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

}  // namespace carom
