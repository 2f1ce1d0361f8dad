import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { generateWorld } from '../src/demo/file.ts'
import { databasePath, makeDirectory } from '../src/instance/services/directory.ts'
import { createRandomIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createSystemClock } from '../src/lib/time/clock.ts'

const dir = process.argv[2]!
const clock = createSystemClock()
makeDirectory(dir)
await generateWorld(databasePath(dir), {
  config: loadConfig({ mode: 'dev', flags: {}, env: {}, files: { directory: dir } }),
  clock,
  ids: createRandomIds(),
  log: createLog({
    level: 'warn',
    format: 'text',
    write: line => process.stderr.write(line),
    clock,
  }),
})
writeFileSync(join(dir, 'filled.json'), '{}')
