import { describe, expect, test } from 'bun:test'
import type { Job } from '../../../src/instance/jobs/job.ts'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

const lines: string[] = []
const quiet = (clock: ReturnType<typeof createManualClock>) =>
  createLog({ level: 'info', format: 'json', write: line => void lines.push(line), clock })

describe('the runner', () => {
  test('a clock that is moved far runs the jobs at every due moment in order and once at the end', async () => {
    const clock = createManualClock(0)
    const seen: string[] = []
    const every = (name: string, ms: number): Job => ({
      name,
      pass: () => void seen.push(`${name}@${clock.now()}`),
      nextStop: after => (Math.floor(after / ms) + 1) * ms,
    })
    await createRunner([every('a', 40), every('b', 100)], clock, quiet(clock)).advance(clock, 130)
    expect(seen).toEqual([
      'a@40',
      'b@40',
      'a@80',
      'b@80',
      'a@100',
      'b@100',
      'a@120',
      'b@120',
      'a@130',
      'b@130',
    ])
  })

  test('a moment that only a job that stands alone needs runs no other job', async () => {
    const clock = createManualClock(0)
    const seen: string[] = []
    const every = (name: string, ms: number, more: Partial<Job> = {}): Job => ({
      name,
      pass: () => void seen.push(`${name}@${clock.now()}`),
      nextStop: after => (Math.floor(after / ms) + 1) * ms,
      ...more,
    })
    const jobs = [every('feed', 100), every('sender', 40, { isAlone: true })]
    await createRunner(jobs, clock, quiet(clock)).advance(clock, 110)
    expect(seen).toEqual([
      'sender@40',
      'sender@80',
      'feed@100',
      'sender@100',
      'feed@110',
      'sender@110',
    ])
  })

  test('a job without stops passes once, at the end', async () => {
    const clock = createManualClock(0)
    const seen: number[] = []
    await createRunner(
      [{ name: 'flush', pass: () => void seen.push(clock.now()) }],
      clock,
      quiet(clock),
    ).advance(clock, 86_400_000)
    expect(seen).toEqual([86_400_000])
  })

  test('a job that fails does not keep the others from passing, and is tried again', async () => {
    const clock = createManualClock(0)
    let tries = 0
    let others = 0
    const failing: Job = {
      name: 'failing',
      pass() {
        tries += 1
        throw new Error('disk full')
      },
    }
    const jobs = createRunner(
      [failing, { name: 'other', pass: () => void others++ }],
      clock,
      quiet(clock),
    )
    await jobs.tick()
    await jobs.tick()
    expect({ tries, others }).toEqual({ tries: 2, others: 2 })
    expect(lines.join('')).toContain('disk full')
  })

  test('a clock moved far waits at every stop for what a pass began and did not wait for', async () => {
    const clock = createManualClock(0)
    const seen: string[] = []
    let under: Promise<void> | undefined
    const sending: Job = {
      name: 'sending',
      pass() {
        const at = clock.now()
        under = new Promise<void>(done => setImmediate(done)).then(
          () => void seen.push(`${at} ended at ${clock.now()}`),
        )
      },
      nextStop: after => after + 50,
      settled: async () => await under,
    }
    await createRunner([sending], clock, quiet(clock)).advance(clock, 120)
    expect(seen).toEqual(['50 ended at 50', '100 ended at 100', '120 ended at 120'])
  })

  test('passes never overlap', async () => {
    const clock = createManualClock(0)
    let running = 0
    let most = 0
    const slow: Job = {
      name: 'slow',
      async pass() {
        running += 1
        most = Math.max(most, running)
        await Promise.resolve()
        running -= 1
      },
    }
    const jobs = createRunner([slow], clock, quiet(clock))
    await Promise.all([jobs.tick(), jobs.tick(), jobs.tick()])
    expect(most).toBe(1)
  })
})
