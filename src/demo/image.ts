import { permitsBegunName } from '../topics/drilling/demo/permits.ts'
import { forgetFuturesBeginning } from '../topics/futures/demo/futures.ts'
import type { Settings } from '../topics/operator/store/settings.ts'
import { forgetBeginning } from '../topics/prices/demo/progress.ts'
import type { WorldFeed } from './filler.ts'

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
