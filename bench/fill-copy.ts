import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../src/config.ts'
import { openHouse } from '../src/instance.ts'
import { systemClock } from '../src/lib/clock.ts'
import { randomIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'

const stepMs = 1000

const dir = process.argv[2]!
const clock = systemClock()
const house = openHouse({
  dir,
  // A copy that was not opened to be served does not take the directory for itself, and could not
  // be served afterwards.
  serving: true,
  ground: {
    config: loadConfig({ mode: 'dev', flags: {}, env: {}, files: { directory: dir } }),
    clock,
    ids: randomIds(),
    log: createLog({
      level: 'warn',
      format: 'text',
      write: line => process.stderr.write(line),
      clock,
    }),
  },
})
while (house.feed!.step(stepMs));
house.close()
writeFileSync(join(dir, 'filled.json'), '{}')
