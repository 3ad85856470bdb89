#pragma once

namespace carom {

/// Sees to it that threads that wait for each other spin for microseconds only. At the end of each step the wait is
/// short, so going to sleep at once costs two thirds of the speed of 10,000 balls; but libgomp's own choice is to spin
/// for milliseconds, and where other programs want the cores too, that takes them from the very thread that is waited
/// for: ten times slower, measured with two threads on two busy cores. The library looks at its environment only when
/// it is loaded, so this sets GOMP_SPINCOUNT and starts the program again, in the same process; it returns where the
/// user has said what he wants (OMP_WAIT_POLICY, GOMP_SPINCOUNT), and where starting again is not possible.
void limit_spinning(char** argv);

}  // namespace carom
