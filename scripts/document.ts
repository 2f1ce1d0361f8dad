import { join } from 'node:path'
import { type Config, loadConfig } from '../src/config/config.ts'
import { openDatabase } from '../src/database/database.ts'
import { documentName, documentToShip } from '../src/http/openapi/shipped.ts'
import { createApp, documentSettings } from '../src/instance/app/app.ts'
import { openServices } from '../src/instance/services/services.ts'
import { createRandomIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createSystemClock } from '../src/lib/time/clock.ts'

/** Services over an empty database in memory. */
export function servicesOf(config: Config) {
  const clock = createSystemClock()
  const log = createLog({ level: 'error', format: 'text', write: () => undefined, clock })
  const masterKey = 'of no use: nothing is stored'
  const db = openDatabase(':memory:')
  return openServices({ db, config, clock, ids: createRandomIds(), log, masterKey })
}

/** The application over them: what its routes are, and nothing else. */
export const appOf = (config: Config) => createApp(servicesOf(config))

export const documentIn = async (app: ReturnType<typeof appOf>): Promise<string> =>
  await (await app.handle(new Request('http://localhost/openapi.json'))).text()

/** The settings of a copy that no one has set anything of. */
export const usualConfig = () =>
  loadConfig({ flags: {}, env: {}, files: { directory: '/' }, readFile: () => undefined })

/**
 * Creates the document that is compiled into the program, with default settings; returns its path.
 */
export async function writeDocument(dir: string): Promise<string> {
  const path = join(dir, `${documentName}.zst`)
  const config = usualConfig()
  const app = appOf(config)
  const text = await documentIn(app)
  await Bun.write(path, await documentToShip(text, app, documentSettings(config)))
  return path
}
