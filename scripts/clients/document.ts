import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { createSystemClock } from '../../src/lib/clock.ts'
import { createRandomIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { openServices } from '../../src/services.ts'
import { openDatabase } from '../../src/store/database.ts'

/**
 * The OpenAPI document of the interface as the sources have it, or of a running copy at an address.
 */
export async function documentText(address: string | undefined): Promise<string> {
  if (address !== undefined) {
    const answer = await fetch(new URL('/openapi.json', address))
    if (!answer.ok) throw new Error(`${address} answered ${answer.status} for /openapi.json.`)
    return await answer.text()
  }
  const clock = createSystemClock()
  const config = loadConfig({
    flags: {},
    env: {},
    files: { directory: process.cwd() },
    readFile: () => undefined,
  })
  const log = createLog({ level: 'error', format: 'text', write: () => undefined, clock })
  const db = openDatabase(':memory:')
  const app = createApp(
    openServices({
      db,
      config,
      clock,
      ids: createRandomIds(),
      log,
      masterKey: 'of no use: nothing is stored',
    }),
  )
  return await (await app.handle(new Request('http://localhost/openapi.json'))).text()
}
