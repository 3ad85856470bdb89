#include "host/io/open_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include "host/state/errors.hpp"

namespace carom {

namespace {

/// Asks the system first: its reasons are clearer than those of HDF5.
void require_readable(const std::string& path) {
    // A pipe would otherwise be waited for.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) throw SystemError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    struct stat status {};
    const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    ::close(descriptor);
    if (!regular) throw InputError(fmt::format("{}: is not a regular file", path));
}

}  // namespace

h5::Handle open_hdf5_to_read(const std::string& path, const std::string& kind) {
    h5::silence();
    require_readable(path);
    if (H5Fis_hdf5(path.c_str()) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        throw InputError(fmt::format("{}: is not a {} of carom (no HDF5 file)", path, kind));
    }
    h5::Handle file;
    explain_errors(path, kind, [&] {
        const h5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "create properties");
        h5::check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set how files are closed");
#if H5_VERSION_GE(1, 10, 7)
        // Nothing that we write needs a lock to be read, and not every file system knows locks.
        h5::check(H5Pset_file_locking(access, false, true), "switch locks off");
#endif
        file = h5::Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open it");
    });
    return file;
}

void explain_errors(const std::string& path, const std::string& kind, const std::function<void()>& action) {
    try {
        action();
    } catch (const h5::Error& error) {
        throw InputError(fmt::format("{}: is not a whole {} of carom: {}", path, kind, error.what()));
    } catch (const std::length_error&) {
        throw InputError(fmt::format("{}: is not a whole {} of carom: a size makes no sense", path, kind));
    } catch (const std::bad_alloc&) {
        throw InputError(fmt::format("{}: too large for this machine's memory, or damaged", path));
    }
}

}  // namespace carom
