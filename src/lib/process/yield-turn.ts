import { constants, setPriority } from 'node:os'

/**
 * Lets everything else on this machine go first, the server above all: anyone who waits for a price
 * has less time than a command that takes seconds.
 */
export function yieldTurn(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Where a process may not say so, it works as others do.
  }
}
