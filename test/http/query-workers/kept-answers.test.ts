import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { openVersion } from '../../../src/database/database-version.ts'
import { withKeptAnswers } from '../../../src/http/query-workers/kept-answers.ts'
import { createQueryWorkerPool } from '../../../src/http/query-workers/pool.ts'
import type { FromQueryWorker, QueryWorkerRequest } from '../../../src/http/query-workers/terms.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createSystemClock } from '../../../src/lib/time/clock.ts'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-kept-'))
const path = join(dir, 'wellhead.db')
const db = openDatabase(path)
const version = openVersion(path)
afterAll(() => {
  version.close()
  db.close()
  rmSync(dir, { recursive: true })
})

type Answer = Extract<FromQueryWorker, { kind: 'answer' }>

const question = (changes: Partial<QueryWorkerRequest> = {}): Omit<QueryWorkerRequest, 'id'> => ({
  url: 'http://localhost/v1/analytics/statistics?code=WTI_USD',
  method: 'GET',
  headers: [],
  body: undefined,
  caller: undefined,
  now: 1_000,
  mark: 1_000,
  ...changes,
})

/** A pool with one reader, which counts the questions that reach it and answers with that count. */
function countingPool(
  answerOf: (count: number) => Partial<Answer> = () => ({}),
  later?: (ms: number, run: () => void) => () => void,
) {
  let hear: (message: FromQueryWorker) => void = () => {}
  let count = 0
  const clock = createSystemClock()
  const pool = createQueryWorkerPool({
    threads: 1,
    log: createLog({ level: 'error', format: 'json', write: () => {}, clock }),
    stopwatch: clock,
    start: () => {
      queueMicrotask(() => hear({ kind: 'ready' }))
      return {
        post(message) {
          if (message.kind !== 'question') return
          count += 1
          const answer: Answer = {
            kind: 'answer',
            id: message.question.id,
            status: 200,
            headers: [],
            body: new TextEncoder().encode(String(count)),
            goesOn: false,
            asked: [],
            ...answerOf(count),
          }
          queueMicrotask(() => hear(answer))
        },
        onMessage(listener) {
          hear = listener
        },
        onEnd() {},
        stop() {},
      }
    },
  })
  const kept = withKeptAnswers(pool, version.read, later)
  const ask = async (changes?: Partial<QueryWorkerRequest>) => {
    const outcome = await kept.ask('a', question(changes))
    return outcome.kind === 'answer' ? new TextDecoder().decode(outcome.body) : outcome.kind
  }
  return { ask, count: () => count }
}

const commit = () =>
  db.run(
    "INSERT INTO settings (name, value) VALUES ('x', '1') ON CONFLICT (name) DO UPDATE SET value = value || '1'",
  )

describe('kept answers', () => {
  test('the same question of one moment reaches a reader once, also while it is answered', async () => {
    const { ask, count } = countingPool()
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['1', '1', '1'])
    expect(await ask({ now: 1_999 })).toBe('1')
    expect(count()).toBe(1)
  })

  test('a commit, the next second and another question are answered anew', async () => {
    const { ask } = countingPool()
    expect(await ask()).toBe('1')
    commit()
    expect(await ask()).toBe('2')
    expect(await ask()).toBe('2')
    expect(await ask({ now: 2_000 })).toBe('3')
    expect(await ask({ now: 2_000, url: 'http://localhost/v1/other' })).toBe('4')
    expect(await ask({ now: 2_000, headers: [['accept-encoding', 'gzip']] })).toBe('5')
    expect(await ask({ now: 2_000, body: '{}' })).toBe('6')
  })

  test('an answer that goes on, fails or must be written is nobody else’s', async () => {
    for (const own of [{ goesOn: true }, { status: 503 }]) {
      const { ask, count } = countingPool(() => own)
      await ask()
      await ask()
      expect(count()).toBe(2)
    }
  })

  test('what does not fit is asked anew', async () => {
    const { ask, count } = countingPool(() => ({ body: new Uint8Array(10 * 2 ** 20) }))
    await ask({ url: 'http://localhost/1' })
    await ask({ url: 'http://localhost/2' })
    await ask({ url: 'http://localhost/1' })
    expect(count()).toBe(2)
    await ask({ url: 'http://localhost/2' })
    expect(count()).toBe(3)
  })
})

test('bodies are released a second of real time later, also where the clock stands still', async () => {
  const due: (() => void)[] = []
  const { ask, count } = countingPool(undefined, (_ms, run) => {
    due.push(run)
    return () => {}
  })
  await ask()
  await ask()
  expect(count()).toBe(1)
  for (const run of due) run()
  await ask()
  expect(count()).toBe(2)
})
