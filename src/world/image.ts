import type { Settings } from '../store/operator/settings.ts'
import { permitsBegunName } from './drilling/permits.ts'
import type { WorldFeed } from './filler.ts'
import { forgetBeginning } from './prices/progress.ts'

/**
 * Writes what takes long to invent of a copy, but for prices, and then forgets when the copy began.
 * A copy that begins with what is there now goes on from it to its own moment, and so has what one
 * has that began now.
 */
export function layRegisters(feed: Pick<WorldFeed, 'layRegisters'>, settings: Settings): void {
  feed.layRegisters()
  forgetBeginning(settings)
  settings.remove(permitsBegunName)
}
