import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { openInstance } from '../src/instance/instance.ts'
import { createRandomIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createSystemClock } from '../src/lib/time/clock.ts'

const stepMs = 1000

const dir = process.argv[2]!
const clock = createSystemClock()
const instance = openInstance({
  dir,
  // A copy that was not opened to be served does not take the directory for itself, and could not
  // be served afterwards.
  serving: true,
  runtime: {
    config: loadConfig({ mode: 'dev', flags: {}, env: {}, files: { directory: dir } }),
    clock,
    ids: createRandomIds(),
    log: createLog({
      level: 'warn',
      format: 'text',
      write: line => process.stderr.write(line),
      clock,
    }),
  },
})
while (instance.feed!.step(stepMs));
instance.close()
writeFileSync(join(dir, 'filled.json'), '{}')
