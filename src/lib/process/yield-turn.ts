import { constants, setPriority } from 'node:os'

/**
 * Lowers the priority of this process below everything else, above all the server: requests for
 * prices are more urgent than a command that takes seconds.
 */
export function yieldTurn(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Without the permission to lower it, the process runs at normal priority.
  }
}
