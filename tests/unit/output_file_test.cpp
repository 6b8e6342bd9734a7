// How files are written; where one may be, tests/functional/test_hostile.py asks.
#include "output_file.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "interrupt.h"
#include "test_support.h"

namespace hipscope {
namespace {

namespace fs = std::filesystem;

using detail::require_writable;
using detail::write_whole;
using OutputFileTest = HarnessTest;

TEST_F(OutputFileTest, WritesANewFile) {
  write_whole(path("new"), "text\n");
  EXPECT_EQ(read_file(path("new")), "text\n");
  EXPECT_EQ(files(), std::vector<std::string>{"new"});
}

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 0777U;
}

TEST_F(OutputFileTest, TheModeIsTheUsersOrThatOfTheOldFile) {
  const mode_t before = umask(027);
  write_whole(path("new"), "text");
  EXPECT_EQ(mode_of(path("new")), 0640U);
  EXPECT_EQ(umask(before), 027U);  // and is as it was
  for (const mode_t mode : {mode_t{0600}, mode_t{0666}}) {
    write_file(path("old"), "old");
    ASSERT_EQ(chmod(path("old").c_str(), mode), 0);
    write_whole(path("old"), "new");
    EXPECT_EQ(mode_of(path("old")), mode);
  }
}

// Ends the process by one signal while it waits for a reader: with 0 where that is noticed.
void write_until_interrupted(const std::string& pipe) {
  detail::install_signal_handlers();
  std::signal(SIGALRM, [](int) { static_cast<void>(kill(getpid(), SIGTERM)); });
  constexpr useconds_t moment = 100'000;
  ualarm(moment, 0);
  try {
    write_whole(pipe, std::string(std::size_t{1} << 20, 'x'));
  } catch (const detail::Interrupted& interrupted) {
    std::_Exit(interrupted.exit_status() - 143);
  }
  std::_Exit(1);
}

TEST_F(OutputFileTest, OneSignalEndsTheWaitForAReader) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string pipe = path("pipe");
  EXPECT_EXIT(write_until_interrupted(pipe), testing::ExitedWithCode(0), "");
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // which never reads
  ASSERT_GE(reader, 0);
  EXPECT_EXIT(write_until_interrupted(pipe), testing::ExitedWithCode(0), "");
  close(reader);
}

TEST_F(OutputFileTest, ReplacesAFileAtOnce) {
  write_file(path("file"), "old and longer");
  std::ifstream reader(path("file"));
  write_whole(path("file"), "new");
  EXPECT_EQ(read_file(path("file")), "new");
  // Whoever had opened the old file still reads all of it.
  std::ostringstream seen;
  seen << reader.rdbuf();
  EXPECT_EQ(seen.str(), "old and longer");
  EXPECT_EQ(files(), std::vector<std::string>{"file"});
}

TEST_F(OutputFileTest, WritesMoreThanOneCallTakes) {
  const std::string large(std::size_t{3} << 20, 'x');
  write_whole(path("large"), large);
  EXPECT_EQ(read_file(path("large")), large);
}

TEST_F(OutputFileTest, ALinkStaysALink) {
  fs::create_directory(path("folder"));
  write_file(path("folder/target"), "old");
  fs::create_symlink("folder/target", path("link"));
  write_whole(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("folder/target")), "new");
  EXPECT_EQ(files(), (std::vector<std::string>{"folder", "link"}));
}

TEST_F(OutputFileTest, ALinkToNothingYetStaysALink) {
  fs::create_symlink("target", path("link"));
  write_whole(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(OutputFileTest, APipeIsWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  require_writable(path("pipe"));
  write_whole(path("pipe"), "text");
  std::array<char, 16> bytes = {};
  EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 4);
  EXPECT_STREQ(bytes.data(), "text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(OutputFileTest, FailureNamesTheFile) {
  try {
    write_whole(path("none/file"), "text");
    FAIL() << "no failure";
  } catch (const detail::WriteError& error) {
    EXPECT_EQ(error.what(), "cannot write " + path("none/file") + ": No such file or directory");
  }
}

TEST_F(OutputFileTest, ASignalWaitsUntilTheFileIsWhole) {
  const std::string text(std::size_t{32} << 20, 'x');
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    write_file(path("file"), "old");
    const pid_t writer = fork();
    if (writer == 0) {
      std::signal(signal, SIG_DFL);  // an experiment that ran here before has changed it
      prctl(PR_SET_DUMPABLE, 0);     // SIGQUIT is to leave no core file
      write_whole(path("file"), text);
      std::_Exit(0);
    }
    while (files().size() == 1) {  // until there is the temporary file
    }
    kill(writer, signal);
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << signal << ": " << status;
    EXPECT_EQ(files(), std::vector<std::string>{"file"}) << signal;
    EXPECT_EQ(read_file(path("file")) == text, true) << signal;
  }
}

}  // namespace
}  // namespace hipscope
