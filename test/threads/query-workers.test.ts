import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { transact } from '../../src/database/database.ts'
import { workerConfig } from '../../src/http/query-workers/config-copy.ts'
import type {
  FromQueryWorker,
  QueryWorkerRequest,
  ToQueryWorker,
} from '../../src/http/query-workers/messages.ts'
import { openInstance } from '../../src/instance/instance.ts'
import { databasePath } from '../../src/instance/services/directory.ts'
import { createSeededIds } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log/log.ts'
import { workerErrorMessage } from '../../src/lib/process/worker-error.ts'
import { createManualClock } from '../../src/lib/time/clock.ts'
import { minuteMs } from '../../src/lib/time/instant.ts'
import { spawnThread } from '../../src/threads/thread.ts'
import { contractOf } from '../../src/topics/catalogue/service/contract-calendar.ts'
import { familyOf } from '../../src/topics/futures/math/families.ts'
import { startAt } from '../support/instance/instance.ts'

type Answer = Extract<FromQueryWorker, { kind: 'answer' }>

const dir = mkdtempSync(join(tmpdir(), 'wellhead-test-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('a query worker survives news of a series that is not committed yet, and has it at the next request', async () => {
  const clock = createManualClock(startAt)
  const config = loadConfig({
    flags: { 'data.dir': dir, 'readers.threads': '0', 'data.reserve_mb': '0' },
    env: {},
    files: { directory: dir },
    readFile: () => undefined,
  })
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  const runtime = { config, clock, ids: createSeededIds(1), log }
  const instance = openInstance({ runtime, dir, serving: false })
  const { services } = instance
  const worker = spawnThread('query-worker')
  const heard: (FromQueryWorker | { kind: 'ended'; message: string })[] = []
  let wake = () => {}
  const note = (message: (typeof heard)[number]) => {
    heard.push(message)
    wake()
  }
  worker.onmessage = event => note(event.data as FromQueryWorker)
  worker.onerror = event => note({ kind: 'ended', message: workerErrorMessage(event.message) })
  const next = async () => {
    while (heard.length === 0)
      await new Promise<void>(resolve => {
        wake = resolve
      })
    return heard.shift()!
  }
  const post = (message: ToQueryWorker) => worker.postMessage(message)
  const ask = async (id: number) => {
    const question: QueryWorkerRequest = {
      id,
      url: 'http://localhost/v1/commodities/WTI_FUTURES_2027_11',
      method: 'GET',
      headers: [],
      body: undefined,
      caller: undefined,
      now: startAt,
      snapshotAt: startAt,
    }
    post({ kind: 'question', question })
    return await next()
  }
  try {
    worker.postMessage({
      databasePath: databasePath(dir),
      config: workerConfig(config),
      now: startAt,
    })
    expect(await next()).toEqual({ kind: 'ready' })
    // The main thread notifies inside the transaction; the list that the worker has lacks the series.
    const seriesId = Math.max(...services.series.all().map(({ id }) => id)) + 1
    const at = startAt - minuteMs
    post({ kind: 'written', changes: [{ seriesId, extent: { firstAt: at, lastAt: at } }] })
    post({ kind: 'quarantine', seriesId })
    transact(services.db, () => {
      services.catalogue.addContracts([contractOf(familyOf('WTI_FUTURES'), '2027-11')])
      expect(services.catalogue.named('WTI_FUTURES_2027_11')!.id).toBe(seriesId)
      services.ingest.write([{ seriesId, observedAt: at, value: 71.5 }])
    })
    const answer = await ask(1)
    expect(answer).toMatchObject({ kind: 'answer', status: 200 })
    const { data } = JSON.parse(new TextDecoder().decode((answer as Answer).body))
    expect(data).toMatchObject({
      code: 'WTI_FUTURES_2027_11',
      last_observation: '2026-11-20T14:59:00Z',
    })
  } finally {
    worker.terminate()
    instance.close()
  }
}, 60_000)
