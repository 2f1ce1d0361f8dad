import type { Runtime } from '../config/runtime.ts'
import { chanceOf } from '../lib/ids.ts'
import { createHeldMessages, type HeldMessages } from './held-back.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createQueue, type Queue } from './queue.ts'
import { createOutboxStore } from './store/outbox.ts'
import { createQueueStore } from './store/queue.ts'

export interface OutboxServices {
  outbox: Outbox
  heldMessages: HeldMessages
  queue: Queue
}

export function openOutbox({
  db,
  clock,
  ids,
  log,
  settings,
}: Pick<Runtime, 'db' | 'clock' | 'ids' | 'log'> & {
  settings: Parameters<typeof createHeldMessages>[0]['settings']
}): OutboxServices {
  const outbox = createOutbox(createOutboxStore(db), {
    db,
    clock,
    ids,
    log,
    chance: () => chanceOf(ids),
  })
  return {
    outbox,
    heldMessages: createHeldMessages({ db, settings, outbox }),
    queue: createQueue({ db, outbox, store: createQueueStore(db) }),
  }
}
