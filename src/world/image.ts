import type { Settings } from '../store/operator/settings.ts'
import { permitsBegunName } from './drilling/permits.ts'
import type { WorldFeed } from './filler.ts'
import { forgetFuturesBeginning } from './futures/futures.ts'
import { forgetBeginning } from './prices/progress.ts'

/**
 * Writes what takes long to invent of a copy, with all that `ask` asks of it, and then forgets when
 * the copy began. A copy that begins with what is there now goes on from it to its own moment, and
 * so has what one has that began now.
 */
export async function layImage(
  feed: Pick<WorldFeed, 'layImage'>,
  settings: Settings,
  ask: () => Promise<unknown>,
): Promise<void> {
  feed.layImage()
  await ask()
  forgetBeginning(settings)
  forgetFuturesBeginning(settings)
  settings.remove(permitsBegunName)
}
