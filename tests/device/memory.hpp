// Memory of the device and pinned memory of the host, guarded: the host cannot touch the first at all (protection keys,
// where the processor has them), nor the second while a copy to it is under way; behind every block lies a page that
// nobody may touch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device.hpp"

namespace ptx {

void* allocate_device_memory(std::size_t bytes);
/// False: not the beginning of a block that is there.
bool free_device_memory(void* place);
std::size_t device_bytes_in_use();
std::size_t device_blocks_in_use();
std::size_t most_device_bytes();
bool device_memory_holds(std::uint64_t address);
/// Null where [at, at + bytes) lies in one block that is there.
const char* device_range_error(const void* at, std::size_t bytes);

/// Marks bytes as written, by a copy or a memset.
void mark_device_written(const void* at, std::size_t bytes);
/// How many of these bytes nobody wrote (only where PTX_CHECK modules are in use).
std::size_t device_bytes_unwritten(const void* at, std::size_t bytes);

/// The host may touch the device's memory while one lives: it stands for the device.
class AsDevice {
public:
    AsDevice();
    ~AsDevice();
    AsDevice(const AsDevice&) = delete;
    AsDevice& operator=(const AsDevice&) = delete;

private:
    unsigned before_;
};

void* allocate_pinned_memory(std::size_t bytes);
bool free_pinned_memory(void* place);
std::size_t pinned_blocks_in_use();
bool is_pinned(const void* at);
/// A copy will write (or read) this pinned memory some time: until it has, the host must not touch (write) it.
void pin_pending(const void* at, bool written);
void pin_done(const void* at, bool written);
/// Lets the copy itself in, until pin_done.
void pin_open(const void* at);

// What check_read and check_write ask.
void begin_launch(const Kernel& kernel);
/// \param rank  in its team
void begin_block(std::uint32_t rank, std::uint32_t shared_bytes);
const char* check_device_read(Thread& t, std::uintptr_t at, unsigned bytes, bool strong);
const char* check_device_write(Thread& t, std::uintptr_t at, unsigned bytes, bool strong);
void add_known_memory(const void* at, std::size_t bytes);

/// What lies at an address, for messages.
std::string describe(std::uintptr_t at);
void catch_faults();
/// Checks what is behind the blocks, and counts what was not freed.
void check_blocks_at_end();

}  // namespace ptx
