// What libFuzzer calls: the target is named by CAROM_FUZZ_TARGET, and CAROM_FUZZ_SEEDS is a folder into which its seeds
// are written before anything else. See scripts/fuzz.sh.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>

#include "tests/fuzz/targets.hpp"

namespace {

const carom::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    const char* const name = std::getenv("CAROM_FUZZ_TARGET");
    try {
        chosen = &carom::fuzz::target(name == nullptr ? "" : name);
        const char* const folder = std::getenv("CAROM_FUZZ_SEEDS");
        if (folder != nullptr) {
            int number = 0;
            for (const std::string& seed : chosen->seeds()) {
                std::ofstream(std::string(folder) + "/seed" + std::to_string(number++), std::ios::binary) << seed;
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "CAROM_FUZZ_TARGET: %s\n", error.what());
        ::_exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    chosen->read(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// One time of two as libFuzzer does it, else as texts change.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
    static const std::vector<std::string> seeds = chosen->seeds();
    std::mt19937 random(seed);
    const std::string made = carom::fuzz::mutated(std::string(reinterpret_cast<const char*>(data), size),
                                                  seeds[random() % seeds.size()], random);
    const std::size_t kept = std::min(made.size(), most);
    std::memcpy(data, made.data(), kept);
    return kept;
}
