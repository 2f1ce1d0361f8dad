import { openDatabase, readAtOnce } from '../database/database.ts'
import { createEncoder } from '../http/answer/encoding.ts'
import type { Admitted, Caller } from '../http/gate/request-context.ts'
import { createAnswering, type QueryWorkerInstance } from '../http/query-workers/answering.ts'
import { openedWorkerConfig } from '../http/query-workers/config-copy.ts'
import type {
  AskedSeries,
  QueryWorkerCaller,
  ToQueryWorker,
} from '../http/query-workers/messages.ts'
import { createApp } from '../instance/app/app.ts'
import { openServices, type Services } from '../instance/services/services.ts'
import { createRandomIds } from '../lib/ids.ts'
import { createLog, reportLost } from '../lib/log/log.ts'
import { createIdleCollection } from '../lib/process/idle-collection.ts'
import { createOutput } from '../lib/process/output.ts'
import { errorMessage } from '../lib/text/error-message.ts'
import { createManualClock, createSystemClock } from '../lib/time/clock.ts'
import { secondMs } from '../lib/time/instant.ts'
import { newAccountState, newKeyState } from '../topics/keys/service/keyring.ts'

/** The arguments of a query worker, from the main thread. */
export interface QueryWorkerStart {
  databasePath: string
  /** The configuration of a worker. */
  config: unknown
  now: number
}

/** Query workers do not open sealed data. */
const noMasterKey = 'a reader opens nothing that is sealed'

/**
 * The memory that each query worker may cache encoded bodies in; a body is cached when it is
 * requested again soon.
 */
const cachedBytesMax = 2 ** 20

/** Without requests for so long, a query worker collects its garbage. */
const idleMs = secondMs

/**
 * A query worker: the same instance over its own read-only connection. It answers requests that the
 * main thread has admitted, and is notified of every write before the requests that come after it.
 */
function openQueryWorker({
  databasePath,
  config: copied,
  now,
}: QueryWorkerStart): QueryWorkerInstance {
  const config = openedWorkerConfig(copied)
  const clock = createManualClock(now, createSystemClock())
  const output = createOutput(process.stderr, 'Standard error')
  const log = createLog({ ...config.log, write: output.put, clock: createSystemClock() })
  output.onLost(reportLost(log))
  const db = openDatabase(databasePath, { readonly: true })
  const opened = readAtOnce(db, () =>
    openServices({ db, config, clock, ids: createRandomIds(), log, masterKey: noMasterKey }),
  )
  let askedSeries: AskedSeries[] = []
  let snapshotAt = now
  const services: Services = {
    ...opened,
    meter: {
      ...opened.meter,
      noteRequested: (_key, seriesIds, etag) => void askedSeries.push({ seriesIds, etag }),
    },
    ingest: { ...opened.ingest, snapshotAt: () => snapshotAt },
  }
  // Accounts may have changed since this thread began: the main thread says what they are entitled to.
  const formulaLimits = new Map<string, number | null>()
  services.catalogue.limitOwned(accountId => formulaLimits.get(accountId) ?? null)
  // The main thread may notify before it commits. A request comes after the commit, so the catalogue
  // is read again at the next one, and what was written to series that it lacked is noted then.
  let isBehind = false
  const unknown = new Set<number>()
  const isKnown = (seriesId: number) => {
    if (services.catalogue.byId(seriesId)) return true
    unknown.add(seriesId)
    isBehind = true
    return false
  }
  const catchUp = () => {
    if (!isBehind) return
    isBehind = false
    services.catalogue.reload()
    for (const id of unknown) if (services.catalogue.byId(id)) services.forgetSeries(id)
    unknown.clear()
  }
  const admitted = new WeakMap<Request, Admitted>()
  const app = createApp(services, { admitted })
  const encoder = createEncoder(cachedBytesMax)
  return {
    // Encoded here, because a long body takes longer to encode than the main thread may be held up.
    // Refusals are short, and a log of requests reads them.
    async handle(request) {
      const response = await app.handle(request)
      return response.ok ? await encoder.leave(request, response) : response
    },
    admit(request, question) {
      clock.set(question.now)
      catchUp()
      snapshotAt = question.snapshotAt
      const { account, entitled } = question.caller ?? {}
      if (account && entitled && services.catalogue.ownedBy(account.id).length > 0)
        formulaLimits.set(account.id, entitled.formulaSeries)
      admitted.set(request, {
        caller: question.caller && callerOf(question.caller),
        profile: question.profile,
      })
    },
    takeAsked() {
      const taken = askedSeries
      askedSeries = []
      return taken
    },
    onMessage(message) {
      switch (message.kind) {
        case 'written':
          for (const { seriesId, extent } of message.changes) {
            if (!isKnown(seriesId)) continue
            if (extent) services.catalogue.extend(seriesId, extent.firstAt, extent.lastAt)
            services.forgetSeries(seriesId)
          }
          return
        case 'quarantine':
          services.quarantine.reload()
          if (isKnown(message.seriesId)) services.forgetSeries(message.seriesId)
          return
        case 'catalogue':
          isBehind = true
          return
      }
    },
  }
}

function callerOf({ key, account, holder, role, entitled, session }: QueryWorkerCaller): Caller {
  const accountState = newAccountState(account)
  const holderState = holder.id === account.id ? accountState : newAccountState(holder)
  holderState.role = role
  holderState.actsOn = accountState
  return { key: newKeyState(key, accountState, holderState), entitled, session }
}

declare const self: {
  onmessage: ((event: { data: QueryWorkerStart | ToQueryWorker }) => void) | null
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void
}

// The first message names the files to open; the later ones are requests of the main thread.
self.onmessage = ({ data }) => {
  let instance: QueryWorkerInstance
  try {
    instance = openQueryWorker(data as QueryWorkerStart)
  } catch (error) {
    const message = errorMessage(error)
    return self.postMessage({ kind: 'failed', message })
  }
  const onMessage = createAnswering(instance, (message, transfer) =>
    self.postMessage(message, transfer),
  )
  const noteWork = createIdleCollection(idleMs)
  self.onmessage = event => {
    const message = event.data as ToQueryWorker
    onMessage(message)
    if (message.kind === 'question') noteWork()
  }
  self.postMessage({ kind: 'ready' })
}
