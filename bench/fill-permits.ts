import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { openInstance } from '../src/instance/instance.ts'
import { createRandomIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createSystemClock } from '../src/lib/time/clock.ts'
import { permitWorld } from './permit-world.ts'

/** The size of a transaction when no one waits for it. */
const batchMax = 50_000

const [dir, count] = [process.argv[2]!, Number(process.argv[3])]
const clock = createSystemClock()
const log = createLog({
  level: 'warn',
  format: 'text',
  write: line => process.stderr.write(line),
  clock,
})
const instance = openInstance({
  dir,
  runtime: {
    config: loadConfig({ flags: {}, env: {}, files: { directory: dir } }),
    clock,
    ids: createRandomIds(),
    log,
  },
})
const { db, permits, keys, ids } = instance.services
// A register that is loaded whole has the machine to itself: the indexes it grows fit into memory.
db.run('PRAGMA cache_size = -262144')
const world = permitWorld(clock.now())
const began = clock.monotonic()
let made = 0
for (let from = 0; from < count; from += batchMax) {
  const before = clock.monotonic()
  const batch = world.permits(from, Math.min(count, from + batchMax), count)
  made += clock.monotonic() - before
  permits.store.write(batch, clock.now())
}
const seconds = (clock.monotonic() - began - made) / 1000
process.stderr.write(
  `${count} permits written in ${Math.round(seconds)} s, ${Math.round(count / seconds)} a second\n`,
)
const at = clock.now()
const account = keys.putAccount({
  id: ids.uuid(),
  email: 'desk@example.com',
  plan: 'enterprise',
  addOns: [],
  trialStartedAt: null,
  trialEndsAt: null,
  emailConfirmedAt: at,
  suspendedAt: null,
  createdAt: at,
})
const { token } = keys.addKey(account, { name: 'bench' })
instance.services.adminTokens.rotate()
instance.close()
writeFileSync(join(dir, 'filled.json'), JSON.stringify({ token }))
