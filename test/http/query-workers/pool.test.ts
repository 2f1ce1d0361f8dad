import { describe, expect, test } from 'bun:test'
import type {
  FromQueryWorker,
  QueryWorkerRequest,
  QueryWorkerThread,
  ToQueryWorker,
} from '../../../src/http/query-workers/messages.ts'
import { createQueryWorkerPool } from '../../../src/http/query-workers/pool.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, createSystemClock } from '../../../src/lib/time/clock.ts'
import { until } from '../../support/until.ts'

const question: Omit<QueryWorkerRequest, 'id'> = {
  url: 'http://localhost/v1/analytics/statistics',
  method: 'GET',
  headers: [],
  body: undefined,
  caller: undefined,
  now: 0,
  snapshotAt: 0,
}

/** A query worker that responds when the test decides; the pool calls it like a thread. */
function heldQueryWorker() {
  const posted: ToQueryWorker[] = []
  let hear: (message: FromQueryWorker) => void = () => {}
  let end: (reason: string) => void = () => {}
  const thread: QueryWorkerThread = {
    post: message => void posted.push(message),
    onMessage: listener => {
      hear = listener
    },
    onEnd: listener => {
      end = listener
    },
    stop() {
      isStopped = true
    },
  }
  let isStopped = false
  const questions = () =>
    posted.flatMap(message => (message.kind === 'question' ? [message.question] : []))
  return {
    thread,
    posted,
    questions,
    isStopped: () => isStopped,
    ready: () => hear({ kind: 'ready' }),
    answer: (id: number, { goesOn = false } = {}) =>
      hear({
        kind: 'answer',
        id,
        status: 200,
        headers: [],
        body: new Uint8Array(),
        goesOn,
        asked: [],
      }),
    die: () => end('killed by the test'),
    fail: (message: string) => hear({ kind: 'failed', message }),
  }
}

function poolOf(
  options: {
    perAccountMax?: number
    waitMaxMs?: number
    threads?: number
    stopwatch?: { monotonic(): number }
    retryDelaysMs?: readonly number[]
    idleMaxMs?: number
  } = {},
) {
  const readers: ReturnType<typeof heldQueryWorker>[] = []
  const lines: string[] = []
  const clock = createManualClock(0)
  const pool = createQueryWorkerPool({
    threads: 1,
    start() {
      const reader = heldQueryWorker()
      readers.push(reader)
      return reader.thread
    },
    log: createLog({ level: 'debug', format: 'json', write: line => void lines.push(line), clock }),
    stopwatch: createSystemClock(),
    ...options,
  })
  return { pool, readers, lines }
}

describe('createReaderPool', () => {
  test('no thread runs before the first question', () => {
    const { pool, readers } = poolOf()
    expect(readers).toHaveLength(0)
    void pool.ask('a', question)
    expect(readers).toHaveLength(1)
  })

  test('another is started where all are busy, up to as many as may run', () => {
    const { pool, readers } = poolOf({ threads: 3 })
    void pool.ask('a', question)
    void pool.ask('a', question)
    // The first starts still, and takes both when it is ready.
    expect(readers).toHaveLength(1)
    readers[0]!.ready()
    void pool.ask('a', question)
    expect(readers).toHaveLength(2)
    readers[1]!.ready()
    for (let i = 0; i < 9; i += 1) void pool.ask('b', question)
    expect(readers).toHaveLength(3)
  })

  test('one that has nothing to do takes the next question', () => {
    const { pool, readers } = poolOf({ threads: 3 })
    for (let i = 0; i < 5; i += 1) {
      void pool.ask('a', question)
      readers[0]!.ready()
      readers[0]!.answer(readers[0]!.questions().at(-1)!.id)
    }
    expect(readers).toHaveLength(1)
  })

  test('accounts take turns: many questions of one do not delay the first of another', () => {
    const { pool, readers } = poolOf()
    for (let i = 0; i < 5; i += 1)
      void pool.ask('busy', { ...question, url: `http://localhost/busy/${i}` })
    void pool.ask('quiet', { ...question, url: 'http://localhost/quiet' })
    readers[0]!.ready()
    readers[0]!.answer(readers[0]!.questions()[0]!.id)
    const order = readers[0]!.questions().map(({ url }) => new URL(url).pathname)
    expect(order).toEqual(['/busy/0', '/quiet', '/busy/1'])
  })

  test('an account beyond its share is refused, another one is not', async () => {
    const { pool } = poolOf({ perAccountMax: 2 })
    void pool.ask('busy', question)
    void pool.ask('busy', question)
    expect(await pool.ask('busy', question)).toEqual({ kind: 'overloaded' })
    const other = pool.ask('quiet', question)
    expect(await Promise.race([other, Promise.resolve('waits')])).toBe('waits')
  })

  test('what waits beyond the deadline for busy workers is refused as an overload', async () => {
    const { pool, readers } = poolOf({ waitMaxMs: 20 })
    for (let i = 0; i < 3; i += 1) void pool.ask('a', question)
    readers[0]!.ready()
    expect(await pool.ask('b', question)).toEqual({ kind: 'overloaded' })
  })

  test('a request that waits too long for a worker to start does not count as overload', async () => {
    const { pool } = poolOf({ waitMaxMs: 20 })
    expect(await pool.ask('a', question)).toEqual({ kind: 'lost' })
  })

  test('a worker that opens late on a busy machine answers what waited for it', async () => {
    let [at, reads] = [0, 0]
    const monotonic = () => {
      reads += 1
      return at
    }
    /** The queue was searched for requests that wait too long. */
    const swept = async () => {
      for (const before = reads; reads < before + 3; ) await new Promise(done => setImmediate(done))
    }
    const { pool, readers } = poolOf({ waitMaxMs: 20, stopwatch: { monotonic } })
    const asked = Promise.all([pool.ask('a', question), pool.ask('a', question)])
    at = 55
    await swept()
    expect(await Promise.race([asked, Promise.resolve('waits')])).toBe('waits')
    readers[0]!.ready()
    for (const { id } of readers[0]!.questions()) readers[0]!.answer(id)
    expect((await asked).map(({ kind }) => kind)).toEqual(['answer', 'answer'])
    for (let i = 0; i < 2; i += 1) void pool.ask('a', question)
    const late = pool.ask('b', question)
    at = 74
    await swept()
    at = 75
    expect(await late).toEqual({ kind: 'overloaded' })
    pool.stop()
  })

  test('a query worker that dies loses only its own questions, is logged and is replaced', async () => {
    const { pool, readers, lines } = poolOf()
    const lost = pool.ask('a', question)
    const second = pool.ask('b', question)
    const third = pool.ask('c', question)
    readers[0]!.ready()
    readers[0]!.die()
    expect(await lost).toEqual({ kind: 'lost' })
    expect(await second).toEqual({ kind: 'lost' })
    expect(lines.join()).toContain('query_worker_ended')
    expect(pool.state()).toMatchObject({ failed: 1, fault: { kind: 'ended' } })
    await until('2 query workers are started', () => readers.length >= 2)
    readers[1]!.ready()
    readers[1]!.answer(readers[1]!.questions()[0]!.id)
    expect(await third).toMatchObject({ kind: 'answer', status: 200 })
  })

  test('a query worker is notified of a change before every later question', () => {
    const { pool, readers } = poolOf()
    void pool.ask('a', question)
    readers[0]!.ready()
    pool.notify({ kind: 'catalogue' })
    void pool.ask('a', question)
    expect(readers[0]!.posted.map(({ kind }) => kind)).toEqual([
      'question',
      'catalogue',
      'question',
    ])
  })

  const broken = 'unable to open database file'
  const quick = { retryDelaysMs: [0] }
  /** Lets each worker fail as it starts, until as many have. */
  const failing = async (readers: ReturnType<typeof heldQueryWorker>[], times: number) => {
    for (let i = 0; i < times; i += 1) {
      await until(`query worker ${i} is started`, () => readers.length > i)
      readers[i]!.fail(broken)
    }
  }

  test('after three workers that do not start the caller answers what waits and what comes', async () => {
    const { pool, readers } = poolOf(quick)
    const waiting = pool.ask('a', question)
    await failing(readers, 3)
    expect(await waiting).toEqual({ kind: 'no_worker' })
    expect(await pool.ask('a', question)).toEqual({ kind: 'no_worker' })
    expect(pool.state()).toMatchObject({
      ready: 0,
      failed: 1,
      fault: { kind: 'not_started', reason: broken },
    })
    pool.stop()
  })

  test('a query worker that starts again ends the failure state and receives questions immediately', async () => {
    const { pool, readers, lines } = poolOf(quick)
    void pool.ask('a', question)
    await failing(readers, 4)
    await until('5 query workers are started', () => readers.length >= 5)
    readers[4]!.ready()
    expect(pool.state()).toEqual({ ready: 1, starting: 0, failed: 0, fault: undefined })
    expect(lines.join()).toContain('query_worker_started')
    void pool.ask('a', question)
    expect(readers[4]!.questions()).toHaveLength(1)
    pool.stop()
  })

  test('a reason is logged once, however often the start is tried', async () => {
    const { pool, readers, lines } = poolOf(quick)
    void pool.ask('a', question)
    await failing(readers, 6)
    const events = lines.map(line => (JSON.parse(line) as { msg: string }).msg)
    expect(events).toEqual(['query_worker_not_started', 'query_workers_unavailable'])
    expect(JSON.parse(lines[0]!)).toMatchObject({ reason: broken })
    pool.stop()
  })

  test('no worker is started while the last one that failed waits for its next trial', async () => {
    const { pool, readers } = poolOf({ retryDelaysMs: [60_000] })
    void pool.ask('a', question)
    readers[0]!.fail(broken)
    for (let i = 0; i < 5; i += 1) void pool.ask(`${i}`, question)
    expect(readers).toHaveLength(1)
    pool.stop()
  })

  test('one worker that does not start leaves the questions to the one that works', async () => {
    const { pool, readers } = poolOf({ ...quick, threads: 2 })
    for (let i = 0; i < 4; i += 1) void pool.ask('a', question)
    readers[0]!.ready()
    for (let i = 1; i < 5; i += 1) {
      await until(`query worker ${i} is started`, () => readers.length > i)
      readers[i]!.fail(broken)
    }
    const next = pool.ask('b', question)
    for (let id = 1; id <= 5; id += 1) readers[0]!.answer(id)
    expect(await next).toMatchObject({ kind: 'answer' })
    pool.stop()
  })

  test('idle workers end, and the next request starts one again', async () => {
    const { pool, readers, lines } = poolOf({ idleMaxMs: 0 })
    for (let i = 0; i < 3; i += 1) {
      const answered = pool.ask('a', question)
      expect(readers).toHaveLength(i + 1)
      readers[i]!.ready()
      readers[i]!.answer(readers[i]!.questions()[0]!.id)
      expect(await answered).toMatchObject({ kind: 'answer' })
      await until('the idle query worker is stopped', () => readers[i]!.isStopped())
      // A thread that ends regularly is not a failure.
      readers[i]!.die()
      expect(pool.state()).toEqual({ ready: 0, starting: 0, failed: 0, fault: undefined })
    }
    expect(lines).toEqual([])
  })

  test('no worker ends while a request is open or a response continues', async () => {
    const { pool, readers } = poolOf({ idleMaxMs: 0 })
    // Timers fire in the order of their times: one that was set to end the worker has fired by then.
    const turns = () => Bun.sleep(5)
    void pool.ask('a', question)
    void pool.ask('a', question)
    const reader = readers[0]!
    reader.ready()
    const [first, second] = reader.questions().map(({ id }) => id)
    reader.answer(first!)
    await turns()
    expect(reader.isStopped()).toBe(false)
    reader.answer(second!, { goesOn: true })
    await turns()
    expect(reader.isStopped()).toBe(false)
    await pool.rest(second!, new Uint8Array()).cancel()
    await until('the idle query worker is stopped', () => reader.isStopped())
  })

  test('stopping the query worker pool answers every waiting question', async () => {
    const { pool } = poolOf()
    const waiting = pool.ask('a', question)
    pool.stop()
    expect(await waiting).toEqual({ kind: 'overloaded' })
  })
})
