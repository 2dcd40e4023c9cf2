// Ctrl-C and SIGTERM. Set-up, meshing and reading end at once: nothing that they leave is half written. While
// interrupts are polled (a simulation, the runs of a comparison) the first asks for a stop at a good moment,
// another a second or more later ends the program at once.
#pragma once

namespace exemplar {

void install_interrupt_handler();
bool interrupt_requested();

class PolledInterrupts {
 public:
  PolledInterrupts();
  ~PolledInterrupts();
  PolledInterrupts(const PolledInterrupts&) = delete;
  PolledInterrupts& operator=(const PolledInterrupts&) = delete;
};

}  // namespace exemplar
