// Ctrl-C and SIGTERM: the first asks the run to stop at a good moment, the second ends the program at once.
#pragma once

namespace exemplar {

void install_interrupt_handler();
bool interrupt_requested();

}  // namespace exemplar
