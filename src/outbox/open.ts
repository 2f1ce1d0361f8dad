import type { Runtime } from '../config/runtime.ts'
import { chanceOf } from '../lib/ids.ts'
import { createTracer } from '../send/traces/tracer.ts'
import { version } from '../version.ts'
import { createHeldMessages } from './held-back.ts'
import { createOutbox } from './outbox.ts'
import { createQueue } from './queue.ts'
import { createOutboxStore } from './store/outbox.ts'
import { createQueueStore } from './store/queue.ts'

export type OutboxServices = ReturnType<typeof openOutbox>

export function openOutbox({
  db,
  clock,
  ids,
  log,
  config,
  settings,
}: Pick<Runtime, 'db' | 'clock' | 'ids' | 'log' | 'config'> & {
  settings: Parameters<typeof createHeldMessages>[0]['settings']
}) {
  const outbox = createOutbox(createOutboxStore(db), {
    db,
    clock,
    ids,
    log,
    chance: () => chanceOf(ids),
  })
  const { endpoint } = config.otel
  const { serviceName } = config.brand
  return {
    outbox,
    heldMessages: createHeldMessages({ db, settings, outbox }),
    /** Undefined where spans go nowhere. */
    tracer:
      endpoint === '' ? undefined : createTracer({ endpoint, serviceName, version, ids, log }),
    queue: createQueue({ db, outbox, store: createQueueStore(db) }),
  }
}
