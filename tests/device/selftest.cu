// What the harness itself must get right: instructions against the host's arithmetic, warps, barriers, atomics, blocks
// that run at a time, CUB's algorithms; and that each kind of defect is found. usage: selftest | selftest
// NAME-OF-DEFECT
#include <cuda_runtime.h>
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

static int g_bad = 0;
static void expect(bool good, const char* what) {
    if (good) return;
    std::printf("WRONG: %s\n", what);
    ++g_bad;
}
#define CHECK(call)                                                      \
    do {                                                                 \
        const cudaError_t status_ = (call);                              \
        if (status_ != cudaSuccess) {                                    \
            std::printf("%s: %s\n", #call, cudaGetErrorString(status_)); \
            std::exit(3);                                                \
        }                                                                \
    } while (false)

template <class T>
struct Device {
    T* data = nullptr;
    std::size_t size;
    explicit Device(std::size_t n) : size(n) { CHECK(cudaMalloc(&data, n * sizeof(T))); }
    explicit Device(const std::vector<T>& from) : Device(from.size()) {
        CHECK(cudaMemcpy(data, from.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device&) = delete;
    ~Device() { cudaFree(data); }
    std::vector<T> get() const {
        std::vector<T> to(size);
        CHECK(cudaMemcpy(to.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

// The same expressions by both compilers.
template <class T>
__host__ __device__ void arithmetic(T a, T b, T c, T* out) {
    int k = 0;
    out[k++] = a + b;
    out[k++] = a - b;
    out[k++] = a * b;
    out[k++] = a / b;
    out[k++] = std::sqrt(std::fabs(a));
    out[k++] = std::fma(a, b, c);
    out[k++] = a * b + c;  // not fused
    out[k++] = std::floor(a);
    out[k++] = std::ceil(a);
    out[k++] = std::trunc(a);
    out[k++] = std::rint(a);
    out[k++] = a < b ? a : c;
    out[k++] = std::copysign(a, b);
    out[k++] = static_cast<T>(static_cast<float>(a));
    out[k++] = static_cast<T>(static_cast<double>(a) * 0.1);
    out[k++] = -a;
    out[k++] = std::fmin(a, b);
    out[k++] = std::fmax(a, b);
}
constexpr int kResults = 18;

__host__ __device__ void integers(std::uint64_t x, std::uint64_t y, std::uint64_t* out) {
    int k = 0;
    const auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y);
    const auto s = static_cast<std::int32_t>(a), r = static_cast<std::int32_t>(b);
    out[k++] = x + y;
    out[k++] = x * y;
    out[k++] = x >> (y & 63);
    out[k++] = x << (y & 63);
    out[k++] = static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> (y & 63));
    out[k++] = std::uint64_t{a} * b;
    out[k++] = static_cast<std::uint64_t>(std::int64_t{s} * r);
    out[k++] = b != 0 ? a / b : 0;
    out[k++] = b != 0 ? a % b : 0;
    out[k++] = y != 0 ? x / y : 0;
    out[k++] = y != 0 ? x % y : 0;
    out[k++] = r != 0 && !(s == INT32_MIN && r == -1) ? static_cast<std::uint64_t>(s / r) : 0;
    out[k++] = (a & b) ^ (a | ~b);
    out[k++] = static_cast<std::uint8_t>(a) + static_cast<std::int8_t>(b);
    out[k++] = static_cast<std::uint64_t>(static_cast<std::int16_t>(a));
    out[k++] = x < y;
    out[k++] = static_cast<std::uint64_t>(static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y));
    out[k++] = (x >> 7 & 0x1f) * 3 + (a >> 3 & 7);
    out[k++] = static_cast<std::uint64_t>((static_cast<unsigned __int128>(x) * y) >> 64);
    out[k++] = static_cast<std::uint64_t>(static_cast<float>(x));
    out[k++] = static_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(x)) * 1e-3);
    out[k++] = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<float>(s) * 0.37F));
    out[k++] = (a << 13) | (a >> 19);
    out[k++] = std::min(a, b) + static_cast<std::uint64_t>(std::max(s, r));
}
constexpr int kIntegerResults = 24;

template <class T>
__global__ void arithmetic_kernel(const T* a, const T* b, const T* c, T* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) arithmetic(a[i], b[i], c[i], out + i * kResults);
}
__global__ void integers_kernel(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) integers(a[i], b[i], out + i * kIntegerResults);
}

template <class T>
void test_arithmetic(const char* what) {
    std::vector<T> values = {T(0),
                             T(-0.0),
                             T(1),
                             T(-1),
                             T(0.1),
                             T(1e-30),
                             T(-1e30),
                             T(3.5),
                             T(2.5),
                             T(-2.5),
                             T(0.5),
                             T(1e-40),
                             std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             std::numeric_limits<T>::max(),
                             std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::denorm_min()};
    std::mt19937_64 random(1);
    std::vector<T> a, b, c;
    for (int i = 0; i < 20000; ++i) {
        const auto pick = [&]() -> T {
            if (random() % 8 == 0) return values[random() % values.size()];
            return static_cast<T>(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                             static_cast<int>(random() % 60) - 90));
        };
        a.push_back(pick()), b.push_back(pick()), c.push_back(pick());
    }
    const int n = static_cast<int>(a.size());
    Device<T> da(a), db(b), dc(c), out(a.size() * kResults);
    arithmetic_kernel<T><<<(n + 127) / 128, 128>>>(da.data, db.data, dc.data, out.data, n);
    CHECK(cudaDeviceSynchronize());
    const std::vector<T> got = out.get();
    int wrong[kResults] = {};
    for (int i = 0; i < n; ++i) {
        T want[kResults];
        arithmetic(a[i], b[i], c[i], want);
        for (int k = 0; k < kResults; ++k) {
            const T g = got[i * kResults + k];
            if (std::isnan(g) && std::isnan(want[k])) continue;
            // fmin and fmax of zeros of two signs: C++ leaves it open.
            if (k >= 16 && g == want[k]) continue;
            wrong[k] += std::memcmp(&g, &want[k], sizeof g) != 0;
        }
    }
    for (int k = 0; k < kResults; ++k) {
        if (wrong[k] != 0) std::printf("WRONG: %s, expression %d: %d of %d\n", what, k, wrong[k], n), ++g_bad;
    }
}
void test_integers() {
    std::mt19937_64 random(2);
    std::vector<std::uint64_t> a, b;
    for (int i = 0; i < 20000; ++i) {
        a.push_back(random() >> random() % 64), b.push_back(random() >> random() % 64);
        if (i % 5 == 0) a.back() = ~a.back();
    }
    const int n = static_cast<int>(a.size());
    Device<std::uint64_t> da(a), db(b), out(a.size() * kIntegerResults);
    integers_kernel<<<(n + 127) / 128, 128>>>(da.data, db.data, out.data, n);
    const auto got = out.get();
    int wrong[kIntegerResults] = {};
    for (int i = 0; i < n; ++i) {
        std::uint64_t want[kIntegerResults];
        integers(a[i], b[i], want);
        for (int k = 0; k < kIntegerResults; ++k) {
            // Floats beyond 2^63 have no integer: open in C++.
            if (k == 19 && a[i] > (1ULL << 63)) continue;
            if (k == 20 && static_cast<std::int64_t>(a[i]) < 0) continue;
            wrong[k] += got[i * kIntegerResults + k] != want[k];
        }
    }
    for (int k = 0; k < kIntegerResults; ++k) {
        if (wrong[k] != 0) std::printf("WRONG: integers, expression %d: %d of %d\n", k, wrong[k], n), ++g_bad;
    }
}

__global__ void apart_kernel(const std::uint32_t* in, std::uint32_t* out) {
    const std::uint32_t v = in[threadIdx.x];
    const unsigned even = __ballot_sync(~0U, v % 2 == 0);
    if (v % 2 == 0) {
        out[threadIdx.x] = __reduce_add_sync(even, v);
    } else {
        out[threadIdx.x] = __reduce_max_sync(~even, v);
    }
}
__global__ void right_warps_kernel(const std::uint32_t* in, std::uint32_t* out) {
    __shared__ std::uint32_t s[256];
    const unsigned t = threadIdx.x;
    const std::uint32_t v = in[t];
    std::uint32_t* o = out + t * 11;
    o[0] = __shfl_xor_sync(~0U, v, 5);
    o[1] = __shfl_up_sync(~0U, v, 3);
    o[2] = __shfl_down_sync(~0U, v, 7);
    o[3] = __shfl_sync(~0U, v, static_cast<int>(v % 32));
    o[4] = __shfl_sync(~0U, v, 3, 8);
    o[5] = __ballot_sync(~0U, v % 3 == 0);
    o[6] = __match_any_sync(~0U, v % 5);
    o[7] = __reduce_add_sync(~0U, v);
    s[t] = v;
    __syncthreads();
    o[8] = s[255 - t];
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    o[9] = s[0];
    o[10] = static_cast<std::uint32_t>(__syncthreads_count(v % 7 == 0));
}
void test_warps() {
    std::mt19937 random(3);
    std::vector<std::uint32_t> in(256);
    for (auto& v : in) v = random() % 1000;
    Device<std::uint32_t> din(in), out(256 * 11), apart(256);
    right_warps_kernel<<<1, 256>>>(din.data, out.data);
    apart_kernel<<<1, 256>>>(din.data, apart.data);
    const auto got = out.get();
    const auto parts = apart.get();
    std::uint32_t total = 0, sevens = 0;
    for (const auto v : in) total += v, sevens += v % 7 == 0;
    for (unsigned t = 0; t < 256; ++t) {
        const unsigned w = t / 32 * 32, l = t % 32;
        std::uint32_t ballot = 0, match = 0, sum = 0, even = 0, odd = 0;
        for (unsigned i = 0; i < 32; ++i) {
            if (in[w + i] % 3 == 0) ballot |= 1U << i;
            if (in[w + i] % 5 == in[t] % 5) match |= 1U << i;
            sum += in[w + i];
            if (in[w + i] % 2 == 0)
                even += in[w + i];
            else
                odd = std::max(odd, in[w + i]);
        }
        const std::uint32_t want[11] = {in[w + (l ^ 5)],
                                        l >= 3 ? in[t - 3] : in[t],
                                        l + 7 < 32 ? in[t + 7] : in[t],
                                        in[w + in[t] % 32],
                                        in[w + l / 8 * 8 + 3],
                                        ballot,
                                        match,
                                        sum,
                                        in[255 - t],
                                        total,
                                        sevens};
        for (int k = 0; k < 11; ++k)
            expect(got[t * 11 + k] == want[k], ("warp operation " + std::to_string(k)).c_str());
        expect(parts[t] == (in[t] % 2 == 0 ? even : odd), "warp operations of lanes apart");
    }
}

__global__ void atomics_kernel(std::uint32_t* a, unsigned long long* b, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    atomicAdd(a, 1U);
    atomicMax(a + 1, static_cast<std::uint32_t>(i));
    atomicMin(b, static_cast<unsigned long long>(i + 5));
    atomicAdd(b + 1, static_cast<unsigned long long>(i));
    atomicCAS(a + 2, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1));
}
void test_atomics() {
    Device<std::uint32_t> a(std::vector<std::uint32_t>{0, 0, 0});
    Device<unsigned long long> b(std::vector<unsigned long long>{~0ULL, 0});
    atomics_kernel<<<8, 128>>>(a.data, b.data, 1000);
    const auto x = a.get();
    const auto y = b.get();
    expect(x[0] == 1000 && x[1] == 999 && x[2] >= 1, "32-bit atomics");
    expect(y[0] == 5 && y[1] == 999 * 1000 / 2, "64-bit atomics");
}

void test_thrust() {
    std::mt19937_64 random(4);
    for (const std::size_t n : {1UL, 2UL, 31UL, 1000UL, 5000UL, 40000UL, 300000UL}) {
        std::vector<std::uint64_t> keys(n);
        for (auto& k : keys) k = (random() % 1000) << 32 | random() % 100000;
        std::vector<std::uint32_t> small(n), value(n);
        for (std::size_t i = 0; i < n; ++i)
            small[i] = static_cast<std::uint32_t>(random() % 5000), value[i] = static_cast<std::uint32_t>(i);
        Device<std::uint64_t> dk(keys);
        Device<std::uint32_t> ds(small), dv(value), sums(n), found(1001);
        thrust::sort(thrust::device, dk.data, dk.data + n);
        thrust::sort_by_key(thrust::device, ds.data, ds.data + n, dv.data);
        std::sort(keys.begin(), keys.end());
        expect(dk.get() == keys, ("thrust::sort of " + std::to_string(n)).c_str());
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return small[i] < small[j]; });
        expect(dv.get() == order, ("thrust::sort_by_key of " + std::to_string(n)).c_str());
        thrust::inclusive_scan(thrust::device, ds.data, ds.data + n, sums.data);
        std::vector<std::uint32_t> sorted(n);
        for (std::size_t i = 0; i < n; ++i) sorted[i] = small[order[i]];
        std::partial_sum(sorted.begin(), sorted.end(), sorted.begin());
        expect(sums.get() == sorted, ("thrust::inclusive_scan of " + std::to_string(n)).c_str());
        const std::uint64_t sum = thrust::reduce(thrust::device, dk.data, dk.data + n, std::uint64_t{0});
        expect(sum == std::accumulate(keys.begin(), keys.end(), std::uint64_t{0}),
               ("thrust::reduce of " + std::to_string(n)).c_str());
        std::vector<std::uint64_t> ask(1001);
        for (std::size_t i = 0; i < ask.size(); ++i) ask[i] = i << 32;
        Device<std::uint64_t> da(ask);
        thrust::lower_bound(thrust::device, dk.data, dk.data + n, da.data, da.data + 1001, found.data);
        const auto got = found.get();
        bool good = true;
        for (std::size_t i = 0; i < ask.size(); ++i)
            good &=
                got[i] == static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), ask[i]) - keys.begin());
        expect(good, ("thrust::lower_bound of " + std::to_string(n)).c_str());
    }
}

__global__ void add_kernel(int* x, int by) { *x += by; }
void test_graph() {
    Device<int> x(std::vector<int>{0});
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    add_kernel<<<1, 1, 0, stream>>>(x.data, 1);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add_kernel<<<1, 1, 0, stream>>>(x.data, 10);
    add_kernel<<<1, 1, 0, stream>>>(x.data, 100);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect(x.get()[0] == 331, "a graph, played three times");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaStreamDestroy(stream));
}

// Blocks that run at a time, as those of a cluster or of a cooperative launch do: each hands on what it was given.
constexpr unsigned kBlocks = 4, kThreads = 64;
enum class Meeting { kCluster, kGate, kNone };
template <Meeting kMeeting>
__global__ void hand_on_kernel(int* x, int* out, unsigned* arrived) {
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    x[i] = static_cast<int>(i * i);
#if __CUDA_ARCH__ >= 900
    if (kMeeting == Meeting::kCluster) {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
#endif
    if (kMeeting == Meeting::kGate) {
        const cuda::atomic_ref<unsigned, cuda::thread_scope_device> gate(*arrived);
        __syncthreads();
        if (threadIdx.x == 0) {
            gate.fetch_add(1U, cuda::memory_order_acq_rel);
            while (gate.load(cuda::memory_order_acquire) < kBlocks) __nanosleep(20);
        }
        __syncthreads();
    }
    out[i] = x[kBlocks * kThreads - 1 - i];
}
/// The same by the shared memory of the blocks of a cluster. \tparam kMeets  false: it reads while others write
template <bool kMeets>
__global__ void hand_on_shared_kernel(int* /*x*/, int* out, unsigned* /*arrived*/) {
    __shared__ int s_x[kThreads];
    const unsigned i = blockIdx.x * kThreads + threadIdx.x;
    s_x[threadIdx.x] = 0;
#if __CUDA_ARCH__ >= 900
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    s_x[threadIdx.x] = static_cast<int>(i * i);
    if (kMeets) {
        __cluster_barrier_arrive();
        __cluster_barrier_wait();
    }
    const unsigned other = kBlocks * kThreads - 1 - i;
    out[i] = *static_cast<const int*>(__cluster_map_shared_rank(&s_x[other % kThreads], other / kThreads));
    __cluster_barrier_arrive();  // what a block has is there until others have read it
    __cluster_barrier_wait();
#endif
}
void launch_at_once(const void* kernel, bool cluster, int* x, int* out, unsigned* arrived) {
    cudaLaunchAttribute how{};
    if (cluster) {
        how.id = cudaLaunchAttributeClusterDimension;
        how.val.clusterDim = {kBlocks, 1, 1};
    } else {
        how.id = cudaLaunchAttributeCooperative;
        how.val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = kBlocks;
    config.blockDim = kThreads;
    config.attrs = &how;
    config.numAttrs = 1;
    void* arguments[] = {&x, &out, &arrived};
    CHECK(cudaLaunchKernelExC(&config, kernel, arguments));
}
__global__ void map_kernel(int* out) {
    __shared__ int s_x;
    s_x = 1;
#if __CUDA_ARCH__ >= 900
    out[0] = *static_cast<const int*>(__cluster_map_shared_rank(&s_x, 1));
#endif
}
void test_blocks_at_once() {
    const std::pair<const void*, bool> ways[] = {
        {reinterpret_cast<const void*>(&hand_on_kernel<Meeting::kCluster>), true},
        {reinterpret_cast<const void*>(&hand_on_shared_kernel<true>), true},
        {reinterpret_cast<const void*>(&hand_on_kernel<Meeting::kGate>), false}};
    for (const auto& [kernel, cluster] : ways) {
        Device<int> x(kBlocks * kThreads), out(kBlocks * kThreads);
        Device<unsigned> arrived(std::vector<unsigned>{0});
        launch_at_once(kernel, cluster, x.data, out.data, arrived.data);
        const auto got = out.get();
        bool good = true;
        for (unsigned i = 0; i < kBlocks * kThreads; ++i) {
            const unsigned other = kBlocks * kThreads - 1 - i;
            good &= got[i] == static_cast<int>(other * other);
        }
        expect(good, cluster ? "a cluster that meets" : "a cooperative grid that meets");
    }
}

// -- defects, each of which must be found

__global__ void write_kernel(int* x, int at) { x[at] = 1; }
__global__ void sum_kernel(const int* x, int n, int* out) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    *out = sum;
}
__global__ void race_kernel(int* x, int* out) {
    out[threadIdx.x] = x[(threadIdx.x + 1) % 64];
    x[threadIdx.x] = static_cast<int>(threadIdx.x);
}
__global__ void shared_race_kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = s[63 - threadIdx.x];  // no barrier
}
__global__ void hang_kernel(int* out) {
    if (threadIdx.x < 10)
        __syncwarp(0x3ffU);
    else
        out[threadIdx.x] = static_cast<int>(__ballot_sync(~0U, true));
}
__global__ void misaligned_kernel(char* x) { *reinterpret_cast<int*>(x + 1) = 5; }
__global__ void assert_kernel(int n) {
    if (n > 3) asm volatile("trap;");
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what.empty()) {
        test_arithmetic<float>("float");
        test_arithmetic<double>("double");
        test_integers();
        test_warps();
        test_atomics();
        test_blocks_at_once();
        test_thrust();
        test_graph();
        std::printf(g_bad == 0 ? "selftest: all right\n" : "selftest: %d wrong\n", g_bad);
        return g_bad == 0 ? 0 : 1;
    }
    Device<int> x(64), y(64);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int* pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, 64 * sizeof(int)));
    if (what == "out-of-bounds") write_kernel<<<1, 1>>>(x.data, 64 + 1024);
    if (what == "just-out-of-bounds") write_kernel<<<1, 1>>>(x.data, 64);  // with checks, or at the end
    if (what == "freed") {
        int* z = nullptr;
        CHECK(cudaMalloc(&z, 4));
        CHECK(cudaFree(z));
        write_kernel<<<1, 1>>>(z, 0);
    }
    if (what == "unwritten") sum_kernel<<<1, 1>>>(x.data, 64, y.data);
    if (what == "race") {
        CHECK(cudaMemset(x.data, 0, 256));
        race_kernel<<<1, 64>>>(x.data, y.data);
    }
    if (what == "shared-race") shared_race_kernel<<<1, 64>>>(y.data);
    if (what == "cluster-race" || what == "grid-race") {
        Device<int> to(kBlocks * kThreads), from(std::vector<int>(kBlocks * kThreads));
        launch_at_once(reinterpret_cast<const void*>(&hand_on_kernel<Meeting::kNone>), what == "cluster-race",
                       from.data, to.data, nullptr);
        CHECK(cudaDeviceSynchronize());
    }
    if (what == "cluster-shared-race") {
        Device<int> to(kBlocks * kThreads);
        launch_at_once(reinterpret_cast<const void*>(&hand_on_shared_kernel<false>), true, nullptr, to.data, nullptr);
    }
    if (what == "no-such-block") map_kernel<<<1, 1>>>(x.data);
    if (what == "hang") hang_kernel<<<1, 32>>>(y.data);
    if (what == "misaligned") misaligned_kernel<<<1, 1>>>(reinterpret_cast<char*>(x.data));
    if (what == "trap") assert_kernel<<<1, 1>>>(5);
    if (what == "host-touches-device") std::printf("%d\n", *static_cast<volatile int*>(x.data));
    if (what == "host-memory-to-kernel") write_kernel<<<1, 1>>>(reinterpret_cast<int*>(argv[0]) + 4000, 0);
    if (what == "pinned-too-early") {
        CHECK(cudaMemcpyAsync(pinned, x.data, 256, cudaMemcpyDeviceToHost, stream));
        std::printf("%d\n", pinned[3]);  // no wait
    }
    if (what == "pinned-overwritten") {
        CHECK(cudaMemcpyAsync(x.data, pinned, 256, cudaMemcpyHostToDevice, stream));
        static_cast<volatile int*>(pinned)[3] = 5;  // no wait
    }
    if (what == "capture-malloc") {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        int* z = nullptr;
        if (cudaMalloc(&z, 4) != cudaSuccess) return 86;
    }
    if (what == "too-many-threads") {
        write_kernel<<<1, 2048>>>(x.data, 0);
        if (cudaGetLastError() != cudaSuccess) return 86;
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
