#include "kernels/ranks/transport.hpp"

#include <algorithm>

namespace carom {

template <class Combine>
void Transport::combine_all(std::span<std::uint64_t> values, Combine&& combine) {
    const auto bytes = std::as_writable_bytes(values);
    if (rank() == 0) {
        std::vector<std::uint64_t> others(values.size());
        for (int peer = 1; peer < size(); ++peer) {
            Parcel in{peer, std::as_writable_bytes(std::span(others)).data(), bytes.size()};
            swap({}, {&in, 1});
            for (std::size_t k = 0; k < values.size(); ++k) combine(values[k], others[k]);
        }
    } else {
        const Parcel out{0, bytes.data(), bytes.size()};
        swap({&out, 1}, {});
    }
    broadcast(bytes);
}

void Transport::max_all(std::span<std::uint64_t> values) {
    combine_all(values, [](std::uint64_t& mine, std::uint64_t other) { mine = std::max(mine, other); });
}

void Transport::sum_all(std::span<std::uint64_t> values) {
    combine_all(values, [](std::uint64_t& mine, std::uint64_t other) { mine += other; });
}

void Transport::broadcast(std::span<std::byte> bytes) {
    if (rank() == 0) {
        std::vector<Parcel> out;
        for (int peer = 1; peer < size(); ++peer) out.push_back({peer, bytes.data(), bytes.size()});
        swap(out, {});
    } else {
        Parcel in{0, bytes.data(), bytes.size()};
        swap({}, {&in, 1});
    }
}

void Transport::send_to(int peer, std::span<const std::byte> bytes) {
    std::uint64_t count = bytes.size();
    const Parcel told{peer, std::as_writable_bytes(std::span(&count, 1)).data(), sizeof count};
    swap({&told, 1}, {});
    for (std::size_t at = 0; at < bytes.size(); at += kMost) {
        // What is sent is only read.
        const Parcel out{peer, const_cast<std::byte*>(bytes.data()) + at, std::min(kMost, bytes.size() - at)};
        swap({&out, 1}, {});
    }
}

std::uint64_t Transport::receive_count(int peer) {
    std::uint64_t count = 0;
    Parcel told{peer, std::as_writable_bytes(std::span(&count, 1)).data(), sizeof count};
    swap({}, {&told, 1});
    return count;
}

void Transport::receive_pieces(int peer, std::span<std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kMost) {
        Parcel in{peer, bytes.data() + at, std::min(kMost, bytes.size() - at)};
        swap({}, {&in, 1});
    }
}

std::vector<std::byte> Transport::receive_from(int peer) {
    std::vector<std::byte> bytes(receive_count(peer));
    receive_pieces(peer, bytes);
    return bytes;
}

void Transport::receive_from(int peer, std::span<std::byte> bytes) {
    if (receive_count(peer) != bytes.size()) throw RanksLost("a message is not as long as it should be");
    receive_pieces(peer, bytes);
}

std::vector<std::byte> Transport::pass(int to, std::span<const std::byte> bytes, int from) {
    std::uint64_t sent = bytes.size();
    std::uint64_t coming = 0;
    const Parcel told{to, std::as_writable_bytes(std::span(&sent, 1)).data(), sizeof sent};
    Parcel tells{from, std::as_writable_bytes(std::span(&coming, 1)).data(), sizeof coming};
    swap({&told, 1}, {&tells, 1});
    std::vector<std::byte> in(coming);
    for (std::uint64_t at = 0; at < std::max(sent, coming); at += kMost) {
        // What is sent is only read.
        const Parcel out{to, const_cast<std::byte*>(bytes.data()) + at, std::min(kMost, sent - std::min(at, sent))};
        Parcel into{from, in.data() + at, std::min(kMost, coming - std::min(at, coming))};
        swap({&out, at < sent ? 1U : 0U}, {&into, at < coming ? 1U : 0U});
    }
    return in;
}

std::vector<std::vector<std::byte>> Transport::exchange(const std::vector<int>& peers,
                                                        const std::vector<std::vector<std::byte>>& out) {
    std::vector<std::uint64_t> sent(peers.size());
    std::vector<std::uint64_t> coming(peers.size());
    std::vector<Parcel> to;
    std::vector<Parcel> from;
    for (std::size_t k = 0; k < peers.size(); ++k) {
        sent[k] = out[k].size();
        to.push_back({peers[k], std::as_writable_bytes(std::span(&sent[k], 1)).data(), sizeof sent[k]});
        from.push_back({peers[k], std::as_writable_bytes(std::span(&coming[k], 1)).data(), sizeof coming[k]});
    }
    swap(to, from);
    std::vector<std::vector<std::byte>> in(peers.size());
    for (std::size_t k = 0; k < peers.size(); ++k) in[k].resize(coming[k]);
    bool more = true;
    for (std::size_t at = 0; more; at += kMost) {
        to.clear();
        from.clear();
        more = false;
        for (std::size_t k = 0; k < peers.size(); ++k) {
            if (at < sent[k]) {
                to.push_back({peers[k], const_cast<std::byte*>(out[k].data()) + at, std::min(kMost, sent[k] - at)});
            }
            if (at < coming[k]) from.push_back({peers[k], in[k].data() + at, std::min(kMost, coming[k] - at)});
            more = more || at + kMost < std::max(sent[k], coming[k]);
        }
        swap(to, from);
    }
    return in;
}

}  // namespace carom
