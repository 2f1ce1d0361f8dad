import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { RateDecision, RateTable } from '../../../src/plans/rates/rate.ts'
import { createRateTable } from '../../../src/plans/rates/rate.ts'

const windowMs = 60_000
const mib = 2 ** 20

/** The definition itself: every admission ever made, looked through from the start. */
class NaiveLog {
  private readonly admissions = new Map<string, number[]>()

  private counted(key: string, now: number): number[] {
    return (this.admissions.get(key) ?? []).filter(at => at + windowMs > now)
  }

  peek(key: string, now: number, limit: number): RateDecision {
    const inWindow = this.counted(key, now)
    const used = inWindow.length
    const admitted = used < limit
    const blocking = inWindow.at(-limit)
    return {
      admitted,
      limit,
      used,
      remaining: Math.max(0, limit - used),
      resetMs: used > 0 ? inWindow.at(-1)! + windowMs - now : 0,
      retryAfterMs: admitted ? 0 : limit === 0 ? windowMs : blocking! + windowMs - now,
    }
  }

  take(key: string, now: number, limit: number): RateDecision {
    const before = this.peek(key, now, limit)
    if (!before.admitted) return before
    this.admissions.set(key, [...(this.admissions.get(key) ?? []), now])
    return { ...this.peek(key, now, limit), admitted: true, retryAfterMs: 0 }
  }
}

const steps = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b', '203.0.113.7'),
    // Bursts, waits, and the milliseconds around the end of the window.
    waitMs: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: fc.integer({ min: 1, max: windowMs / 4 }) },
      { weight: 2, arbitrary: fc.integer({ min: windowMs - 2, max: windowMs + 2 }) },
      // Parts of a millisecond, which do not count.
      { weight: 1, arbitrary: fc.nat(windowMs * 1024).map(parts => parts / 1024) },
      // Longer than times fit relative to one base.
      { weight: 1, arbitrary: fc.constant(2 ** 32 - windowMs / 2) },
    ),
    limit: fc.constantFrom(8, 8, 8, 8, 3, 1, 12, 0),
    look: fc.boolean(),
  }),
  { maxLength: 40, size: 'max' },
)

describe('createRateTable: one key', () => {
  test('is admitted if and only if fewer than the limit were admitted in the window before', () => {
    let decisions = 0
    let refusals = 0
    fc.assert(
      fc.property(steps, sequence => {
        const table = createRateTable({ limit: 8, windowMs, seed: 42, bytesMax: mib })
        const naive = new NaiveLog()
        let clock = 0
        for (const { key, waitMs, limit, look } of sequence) {
          clock += waitMs
          const now = Math.floor(clock)
          if (
            look &&
            !Bun.deepEquals({ ...table.peek(key, clock, limit) }, naive.peek(key, now, limit))
          )
            return false
          const expected = naive.take(key, now, limit)
          if (!Bun.deepEquals({ ...table.take(key, clock, limit) }, expected)) return false
          decisions += 1
          if (!expected.admitted) refusals += 1
        }
        return true
      }),
      { numRuns: 10_000 },
    )
    expect(decisions).toBeGreaterThan(100_000)
    expect(refusals).toBeGreaterThan(10_000)
  })

  test('gets its slot back exactly one window after it took it', () => {
    const table = createRateTable({ limit: 2, windowMs, seed: 1 })
    const decisions = [0, 10, 59_999, 60_000, 60_009, 60_010].map(now => {
      const { admitted, remaining, resetMs, retryAfterMs } = table.take('k', now)
      return [admitted, remaining, resetMs, retryAfterMs]
    })
    expect(decisions).toEqual([
      [true, 1, 60_000, 0],
      [true, 0, 60_000, 0],
      [false, 0, 11, 1],
      [true, 0, 60_000, 0],
      [false, 0, 59_991, 1],
      [true, 0, 60_000, 0],
    ])
  })

  test('whose limit falls from 60 to 5 waits until only four admissions are left', () => {
    const table = createRateTable({ limit: 60, windowMs, seed: 1 })
    for (let i = 0; i < 60; i += 1) expect(table.take('k', i * 100).admitted).toBe(true)
    const { admitted, limit, used, remaining, retryAfterMs } = table.take('k', 6000, 5)
    expect({ admitted, limit, used, remaining, retryAfterMs }).toEqual({
      admitted: false,
      limit: 5,
      used: 60,
      remaining: 0,
      retryAfterMs: 5500 + windowMs - 6000,
    })
    expect(table.take('k', 6000 + retryAfterMs - 1, 5).admitted).toBe(false)
    expect(table.take('k', 6000 + retryAfterMs, 5).admitted).toBe(true)
  })

  test('is not charged for refusals', () => {
    const table = createRateTable({ limit: 3, windowMs, seed: 1 })
    for (let i = 0; i < 3; i += 1) table.take('k', 0)
    for (let now = 1; now < windowMs; now += 7) expect(table.take('k', now).admitted).toBe(false)
    expect(table.take('k', windowMs)).toMatchObject({ admitted: true, used: 1, remaining: 2 })
  })

  test('that asks without pause takes no more memory than its window has milliseconds', () => {
    const table = createRateTable({ limit: 10_000_000, windowMs, seed: 1, bytesMax: 64 * mib })
    let asked = 0
    for (let now = 0; now < 3 * windowMs; now += 1 / 32) {
      asked += 1
      const { used } = table.take('k', now)
      if (now < windowMs && used !== asked) throw new Error(`${used} of ${asked} at ${now}`)
    }
    expect(table.peek('k', 3 * windowMs - 1)).toMatchObject({ used: 32 * windowMs })
    expect(table.peek('k', 3 * windowMs - 1, 32)).toMatchObject({ retryAfterMs: windowMs })
    expect(table.peek('k', 3 * windowMs - 1, 33)).toMatchObject({ retryAfterMs: windowMs - 1 })
    expect(table.bytes).toBeLessThan(2 * mib)
  })

  test('gains nothing from a clock that runs back', () => {
    const table = createRateTable({ limit: 1, windowMs, seed: 1 })
    expect(table.take('k', 100_000).admitted).toBe(true)
    expect(table.take('k', 0)).toMatchObject({ admitted: false, retryAfterMs: windowMs })
    expect(table.take('k', 160_000).admitted).toBe(true)
  })
})

test('many keys at once keep separate windows while the table grows and cleans up', () => {
  const table = createRateTable({ limit: 4, windowMs, seed: 7 })
  const naive = new NaiveLog()
  let state = 1
  const chance = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  for (let i = 0, now = 0; i < 100_000; i += 1) {
    now += chance(20)
    const key = `10.0.${chance(16)}.${chance(256)}`
    const expected = naive.take(key, now, 4)
    const decision = table.take(key, now, 4)
    if (
      decision.admitted !== expected.admitted ||
      decision.used !== expected.used ||
      decision.retryAfterMs !== expected.retryAfterMs
    ) {
      expect({ i, key, ...decision }).toEqual({ i, key, ...expected })
    }
  }
  expect(table.crowded).toBe(false)
})

const addressOf = (n: number) =>
  `${11 + (n >>> 24)}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`

describe('createRateTable: a crowd', () => {
  test('of a million addresses has a window each in under 64 MB', () => {
    Bun.gc(true)
    const before = heapStats().heapSize
    const table = createRateTable({ limit: 10, windowMs, seed: 99 })
    for (let n = 0; n < 1_000_000; n += 1)
      if (!table.take(addressOf(n), n / 20).admitted) throw new Error(`refused ${n}`)
    expect(table.bytes).toBeLessThan(48 * mib)
    expect(table.crowded).toBe(false)
    expect(table.keys).toBe(1_000_000)
    for (let n = 0; n < 1_000_000; n += 997) expect(table.peek(addressOf(n), 50_000).used).toBe(1)

    Bun.gc(true)
    expect(heapStats().heapSize - before).toBeLessThan(64_000_000)

    for (let n = 0; n < 5000; n += 1) table.take(addressOf(2_000_000 + n), 2 * windowMs + n)
    expect(table.bytes).toBeLessThan(mib)
  })

  test('of new keys in every window does not grow the table', () => {
    const table = createRateTable({ limit: 10, windowMs, seed: 3 })
    let bytesMost = 0
    for (let n = 0; n < 300_000; n += 1) {
      table.take(addressOf(n), n * 60)
      bytesMost = Math.max(bytesMost, n % 1000 === 0 ? table.bytes : 0)
    }
    expect(bytesMost).toBeLessThan(mib)
  })

  test('a crowd larger than the rate table resets no existing client and uses no more memory', () => {
    const table = createRateTable({ limit: 5, windowMs, seed: 5, bytesMax: mib })
    const settled = Array.from({ length: 100 }, (_, n) => `settled-${n}`)
    const naive = new NaiveLog()
    for (const key of settled) table.take(key, 0)
    for (const key of settled) naive.take(key, 0, 5)
    for (let n = 0; n < 200_000; n += 1) {
      const now = n / 10
      table.take(addressOf(n), now)
      if (n % 200 !== 0) continue
      const key = settled[(n / 200) % settled.length]!
      expect({ ...table.take(key, now) }).toEqual(naive.take(key, now, 5))
      expect(table.bytes).toBeLessThanOrEqual(mib)
    }
    expect(table.crowded).toBe(true)
  })

  test('that takes all it can get leaves room for those who were there before', () => {
    const table = createRateTable({ limit: 10, windowMs, seed: 5, bytesMax: mib })
    const settled = Array.from({ length: 100 }, (_, n) => `settled-${n}`)
    for (const key of settled) table.take(key, 0)
    for (let n = 0; !table.crowded; n += 1)
      for (let i = 0; i < 10; i += 1) table.take(addressOf(n), 1)
    for (let n = 0; n < 100_000; n += 1) table.take(addressOf(1_000_000 + n), 2)
    for (let used = 2; used <= 10; used += 1) {
      for (const key of settled) expect(table.take(key, 3)).toMatchObject({ admitted: true, used })
    }
  })

  test.each([
    ['steadily', (n: number) => n],
    ['in waves', (n: number) => 9000 * Math.floor(n / 30_000)],
  ])('that keeps coming back %s gets no address over its limit', (_, timeOf) => {
    const table = createRateTable({ limit: 5, windowMs, seed: 5, bytesMax: mib })
    const own = new NaiveLog()
    let refusedForOthers = 0
    for (let n = 0; n < 200_000; n += 1) {
      const [key, now] = [addressOf(n % 30_000), timeOf(n)]
      // An admitted request would also have been admitted for the key alone; a refusal may be
      // caused by others.
      const alone = own.peek(key, now, 5).admitted
      const { admitted, remaining, retryAfterMs } = table.take(key, now)
      if (admitted && !alone) throw new Error(`${key} was admitted over its limit at ${now}`)
      if (!admitted && !(remaining === 0 && retryAfterMs > 0 && retryAfterMs <= windowMs))
        throw new Error(`refused, ${retryAfterMs}`)
      if (admitted) own.take(key, now, 5)
      else if (alone) refusedForOthers += 1
    }
    expect(refusedForOthers).toBeGreaterThan(0)
    expect(table.bytes).toBeLessThanOrEqual(mib)
  })

  test('a crowd that leaves room in the rate table gives no client a fresh window for one used up in the crowd', () => {
    const table = createRateTable({ limit: 5, windowMs, seed: 5, bytesMax: mib })
    for (let n = 0; n < 21_500; n += 1) table.take(addressOf(n), 0)
    const newcomers = Array.from({ length: 500 }, (_, n) => `newcomer-${n}`)
    const admissions = (now: number) =>
      newcomers.map(
        key =>
          Array.from({ length: 5 }, () => table.take(key, now).admitted).filter(Boolean).length,
      )
    const inTheCrowd = admissions(30_000)
    expect(Math.max(...inTheCrowd)).toBe(5)
    const afterIt = admissions(windowMs)
    expect(Math.max(...afterIt.map((more, n) => more + inTheCrowd[n]!))).toBe(5)
    expect(admissions(windowMs + 30_000).filter((count, n) => count + afterIt[n]! > 5)).toEqual([])
    expect(admissions(3 * windowMs)).toEqual(newcomers.map(() => 5))
  })

  test('shares windows of the common size, whatever limit a call brings', () => {
    const table = createRateTable({ limit: 5, windowMs, seed: 5, bytesMax: mib })
    for (let n = 0; n < 60_000; n += 1) table.take(addressOf(n), 0)
    const decisions = Array.from({ length: 20 }, () => ({
      ...table.take(addressOf(70_000), 0, 50),
    }))
    expect(decisions.filter(decision => decision.admitted).length).toBeLessThanOrEqual(5)
    expect(decisions.at(-1)).toEqual({
      admitted: false,
      limit: 5,
      used: 5,
      remaining: 0,
      resetMs: windowMs,
      retryAfterMs: windowMs,
    })
    expect({ ...table.peek(addressOf(70_000), 0, 50) }).toEqual(decisions.at(-1)!)
  })

  test('that has gone leaves newcomers separate windows and returns its memory', () => {
    const table = createRateTable({ limit: 5, windowMs, seed: 5, bytesMax: mib })
    for (let n = 0; n < 60_000; n += 1) table.take(addressOf(n), 0)
    expect(table.crowded).toBe(true)
    const full = table.bytes
    const later = windowMs + 1
    for (let n = 0; n < 1000; n += 1) {
      expect(table.take(`newcomer-${n}`, later)).toMatchObject({ admitted: true, used: 1 })
    }
    expect(table.crowded).toBe(false)
    for (let n = 0; n < 1000; n += 1)
      expect(table.take(`newcomer-${n}`, later)).toMatchObject({ admitted: true, used: 2 })
    expect(table.bytes).toBeLessThan(full / 4)
  })

  test('under any limits and clock never gets a key more than its limit', () => {
    const moves = fc.array(
      fc.record({
        first: fc.nat(200_000),
        size: fc.integer({ min: 2000, max: 15_000 }),
        waitMs: fc.oneof(
          fc.constant(0),
          fc.nat(windowMs / 2),
          fc.integer({ min: windowMs - 1, max: windowMs + 1 }),
        ),
      }),
      { minLength: 2, maxLength: 8 },
    )
    let crowds = 0
    fc.assert(
      fc.property(moves, fc.nat(), (sequence, seed) => {
        const limit = 3
        const table = createRateTable({ limit, windowMs, seed, bytesMax: mib })
        const own = new NaiveLog()
        let now = 0
        for (let n = 0; n < 24_000; n += 1) table.take(`first-${n}`, 0)
        for (const { first, size, waitMs } of sequence) {
          now += waitMs
          for (let n = 0; n < size; n += 1) {
            const key = addressOf((first + (n >> 1)) % 40_000)
            if (table.take(key, now).admitted && !own.take(key, now, limit).admitted) return false
          }
          if (table.crowded) crowds += 1
          if (table.bytes > mib) return false
        }
        return true
      }),
      { numRuns: 15 },
    )
    expect(crowds).toBeGreaterThan(0)
  })
})

describe('createRateTable: a clean stop', () => {
  const used = (table: RateTable, keys: readonly string[], now: number) =>
    keys.map(key => table.peek(key, now).used)

  test('is survived by every window, aged by the time it took', () => {
    const options = { limit: 5, windowMs, seed: 11 }
    const before = createRateTable(options)
    const keys = Array.from({ length: 500 }, (_, n) => `key-${n}`)
    keys.forEach((key, n) => {
      for (let i = 0; i <= n % 5; i += 1) before.take(key, n * 60 + i)
    })
    const stoppedAt = 40_000
    const downMs = 30_000
    const saved = before.save(stoppedAt)
    const expected = used(before, keys, stoppedAt + downMs)
    expect(new Set(expected)).toEqual(new Set([0, 1, 2, 3, 4, 5]))

    const after = createRateTable(options)
    expect(after.load(saved, 0.5, downMs)).toBe(true)
    expect(used(after, keys, 0.5)).toEqual(expected)
    expect(used(after, keys, windowMs)).toEqual(keys.map(() => 0))
  })

  test('in a crowd keeps shared windows too', () => {
    const options = { limit: 2, windowMs, seed: 11, bytesMax: mib }
    const before = createRateTable(options)
    const own = new NaiveLog()
    for (let n = 0; n < 80_000; n += 1) {
      const key = addressOf(n % 25_000)
      if (before.take(key, n / 10).admitted) own.take(key, n / 10, 2)
    }
    const after = createRateTable(options)
    expect(after.load(before.save(8000), 8000, 0)).toBe(true)
    expect(after.crowded).toBe(true)
    for (let n = 0; n < 50_000; n += 1) {
      const key = addressOf(n % 25_000)
      if (after.take(key, 9000).admitted && !own.take(key, 9000, 2).admitted)
        throw new Error(`${key} was admitted over its limit`)
    }
    expect(after.bytes).toBeLessThanOrEqual(mib)
  })

  test('under another seed or limit is not mixed up', () => {
    const saved = createRateTable({ limit: 5, windowMs, seed: 1 }).save(0)
    expect(createRateTable({ limit: 5, windowMs, seed: 2 }).load(saved, 0, 0)).toBe(false)
  })
})

test('a cleared rate table remembers no clients', () => {
  const table = createRateTable({ limit: 1, windowMs, seed: 1 })
  table.take('k', 0)
  table.clear()
  expect(table.keys).toBe(0)
  expect(table.take('k', 0).admitted).toBe(true)
})

test.each([
  [{ limit: 1, windowMs, seed: -1 }, 'seed: -1 is not'],
  [{ limit: 1, windowMs, seed: 0.5 }, 'seed: 0.5 is not'],
  [{ limit: -1, windowMs, seed: 1 }, 'limit, windowMs: -1, 60000'],
  [{ limit: 1, windowMs: 0, seed: 1 }, 'limit, windowMs: 1, 0'],
  [{ limit: 1, windowMs, seed: 1, bytesMax: 1000 }, 'bytesMax: 1000 is not'],
  [
    { limit: 100_000, windowMs, seed: 1, bytesMax: mib },
    'bytesMax: 1048576 is too little for a limit of 100000',
  ],
])('%j is refused: %s', (options, message) => {
  expect(() => createRateTable(options)).toThrow(message)
})
