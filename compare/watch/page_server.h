// One page, served on the loopback address alone, that a browser loads again whenever it has changed. It is for
// looking on while runs go on: nothing can be asked of it but the page and its number.
#pragma once

#include <memory>
#include <string>

namespace exemplar {

class PageServer {
 public:
  // Port 0: any that is free. Throws InputError when the port is taken.
  explicit PageServer(int port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  std::string address() const;  // http://127.0.0.1:PORT/
  // What is served from now on. Pages that are open notice within two seconds.
  void show(const std::string& page);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// The page with a script at its end that asks for the number of the version and loads the page anew when it is
// another one.
std::string reloading(const std::string& page, int version);

}  // namespace exemplar
