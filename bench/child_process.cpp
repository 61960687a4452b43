// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "child_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace bench {

child_process::child_process(std::vector<std::string> words) : child_process(std::move(words), false) {}

child_process::child_process(std::vector<std::string> words, bool errors_too) : name_{words.front()} {
  int ends[2];  // a socket: writing to a program that has ended is then an error, not a signal
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail(std::strerror(errno));
  socket_ = ends[0];
  try {
    id_ = ago::tools::spawn(words, {ends[1], ends[1], errors_too ? ends[1] : -1});
  } catch (not_started const&) {
    close(ends[1]);
    close(socket_);
    throw;
  }
  close(ends[1]);
}

child_process::~child_process() {
  shutdown(socket_, SHUT_WR);
  try {
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (receive(until)) {}
  } catch (std::exception const&) {  // it has been killed
  }
  wait();
  close(socket_);
}

void child_process::fail(std::string const& why) const { throw std::runtime_error(name_ + ' ' + why); }

void child_process::kill() {
  if (id_ > 0) ::kill(id_, SIGKILL);
}

int child_process::wait() {
  if (id_ <= 0) return 0;
  return ago::tools::wait_for(std::exchange(id_, -1));
}

bool child_process::receive(std::chrono::steady_clock::time_point until) {
  for (;;) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd waiting{socket_, POLLIN, 0};
    int const ready = left.count() > 0 ? poll(&waiting, 1, int(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      kill();
      fail("did not answer in time");
    }
    char block[4096];
    ssize_t const count = recv(socket_, block, sizeof block, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) unread_.append(block, std::size_t(count));
    return count > 0;
  }
}

std::string child_process::ask(std::string const& line, std::chrono::seconds limit) {
  auto const until = std::chrono::steady_clock::now() + limit;
  std::string const text = line + '\n';
  // If the program has ended already, reading notices it. A line fits into the socket's buffer.
  (void)send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  std::size_t end;
  while ((end = unread_.find('\n')) == std::string::npos)
    if (!receive(until)) {
      int const status = wait();
      fail(status > 128 ? "was ended by signal " + std::to_string(status - 128)
                        : "ended with status " + std::to_string(status) + " instead of an answer to '" + line + "'");
    }
  std::string const answer = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  if (answer == "ok") return {};
  if (answer.starts_with("ok ")) return answer.substr(3);
  if (answer.starts_with("error ")) fail("failed: " + answer.substr(6));
  fail("answered '" + answer + "' to '" + line + "'");
}

ending run_program_to_end(std::vector<std::string> const& words, std::chrono::seconds limit) {
  child_process child(words, true);
  shutdown(child.socket_, SHUT_WR);
  auto const until = std::chrono::steady_clock::now() + limit;
  while (child.receive(until)) {}
  std::string& text = child.unread_;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return {child.wait(), text.substr(text.rfind('\n') + 1)};
}

}  // namespace bench
