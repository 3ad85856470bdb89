#include "host/state/text_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host/state/errors.hpp"
#include "tests/support/message_of.hpp"

namespace carom::test {
namespace {

using testing::HasSubstr;

TEST(TextFile, IsReadWhole) {
    const std::string path = testing::TempDir() + "carom-text-file";
    for (const std::string& text :
         {std::string(), std::string("a\n"), std::string("\r\n\0x", 4), std::string(70000, 'y')}) {
        std::ofstream(path, std::ios::binary) << text;
        EXPECT_EQ(read_text_file(path), text);
    }
    std::filesystem::remove(path);
}

TEST(TextFile, SaysWhyItCannotBeRead) {
    const std::string path = testing::TempDir() + "carom-no-such-file";
    EXPECT_THAT(message_of<SystemError>([&] { (void)read_text_file(path); }),
                HasSubstr(path + ": cannot be read: No such file"));
    EXPECT_THAT(message_of<SystemError>([] { (void)read_text_file(testing::TempDir()); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace carom::test
