import { describe, expect, test } from 'bun:test'
import { type Compressors, parquetReadObjects } from 'hyparquet'
import { dayMs, hourMs, isoDay, isoInstant, isoMillis } from '../../../../src/lib/time/instant.ts'
import { createObservationStore } from '../../../../src/topics/prices/store/observations.ts'
import { isFull } from '../../../support/full.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { createRandom } from '../../../support/random.ts'
import { createFollower, type WireChange } from '../../../support/topics/follower.ts'
import { createPriceOracle, type Row, type Write } from '../../../support/topics/price-oracle.ts'

const compressors: Compressors = { ZSTD: input => Bun.zstdDecompressSync(input) }

/** Values of two years, because each year has a file; few, so that they are written often. */
const firstAt = Date.parse('2025-12-30T00:00:00Z')
const days = 4
const desk = ['DESK_A', 'DESK_B', 'DESK_C'] as const
/** Shipped codes: the daily one has the means of the hours of the other. */
const [hourly, daily] = ['POWER_DA_DE_LU_EUR', 'POWER_DE_EUR']
const names = [...desk, hourly, daily]
const [spread, nested, power] = ['DESK_SPREAD', 'DESK_NESTED', 'DESK_POWER']
const formulas = {
  [spread]: { text: 'DESK_B - DESK_A', legs: ['DESK_A', 'DESK_B'] },
  [nested]: { text: `max(${spread}, avg(DESK_C, 3 days))`, legs: [...desk] },
  [power]: { text: `2 * ${daily}`, legs: [hourly, daily] },
}
/** In Berlin in winter the day begins an hour before that of UTC. */
const hoursOf = (day: number) => Array.from({ length: 24 }, (_, i) => day + (i - 1) * hourMs)
const limitMs = 7 * dayMs
const sources = ['desk 0', 'desk 1'] as const
const [seeds, steps, checkEach] = isFull ? [[1, 2, 3, 4], 500, 25] : [[2, 33], 100, 8]

interface Answer {
  data: {
    batch: number & { id: number }
    recorded_at: string
    kept_as_corrected: number
    restored: number
    removed: number
    left: number
    id: number
    values: { id: number; code: string; observed_at: string; price: number; source: string }[]
  }
}

/** An instance, the model of it, and what a client reads of it. */
function openBoth(seed: number) {
  const instance = openTestInstance({ 'limits.per_minute': '1000000' })
  const { clock } = instance
  const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!
  const oracle = createPriceOracle(names)
  const tokens = [instance.key(), instance.key()]
  const accounts = instance.services.keys.accounts().map(({ account }) => account.id)
  const batches: number[] = []
  const ranges: { id: number; code: string }[] = []

  const operate = async (method: string, path: string, body?: unknown) => {
    const answer = await instance.send(method, `/admin/v1${path}`, body, undefined, {
      authorization,
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const done = async (method: string, path: string, body?: unknown): Promise<Answer['data']> => {
    const answer = await operate(method, path, body)
    if (answer.status >= 300)
      throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
    return answer.body.data
  }
  const waiting = async () => (await done('GET', '/review?per_page=100')).values

  const dayOf = () => firstAt + random(days) * dayMs
  const timeOf = (code: string) =>
    code === hourly
      ? pick(hoursOf(dayOf()))
      : // A value at another time of the day takes the place of the mean of the day as well.
        dayOf() + (code === daily && random(4) === 0 ? 15 * hourMs : 0)
  /** A moment of the past, often just before, at or after one at which the point got a value. */
  const pastOf = (code: string, at: number): number => {
    const known = oracle.versions(code).filter(version => version.at === at)
    if (known.length === 0 || random(2) === 0) return startAt + random(clock.now() - startAt)
    return Math.min(clock.now() - 1, pick(known).from + 500 * (random(3) - 1))
  }
  const someWrites = (source: string, isPast: boolean): Write[] => {
    const code = pick(names.filter(name => oracle.code(name).isActive))
    const times = new Set(
      code === hourly && random(3) > 0
        ? hoursOf(dayOf())
        : Array.from({ length: 1 + random(5) }, () => timeOf(code)),
    )
    return [...times].map(at => ({
      code,
      at,
      // Zero waits for review where no value was zero before.
      value: random(20) === 0 ? 0 : 60 + random(4),
      source,
      recordedAt: isPast ? pastOf(code, at) : undefined,
    }))
  }
  const sent = ({ code, at, value, recordedAt }: Write) => ({
    code,
    observed_at: isoInstant(at),
    price: value,
    ...(recordedAt !== undefined && { recorded_at: isoMillis(recordedAt) }),
  })
  const take = async (
    id: number,
    writes: readonly Write[],
    answer: Answer['data'],
    isRecorded: boolean,
  ) => {
    const held = new Set(
      (await waiting()).map(one => `${one.code} ${Date.parse(one.observed_at)} ${one.price}`),
    )
    const kept = isRecorded ? [] : writes.filter(oracle.isOverruled)
    expect(answer.kept_as_corrected).toBe(kept.length)
    for (const write of writes) {
      const isHeld = !isRecorded && held.has(`${write.code} ${write.at} ${write.value}`)
      if (!isHeld && !kept.includes(write)) oracle.write(id, Date.parse(answer.recorded_at), write)
    }
  }
  const push = async () => {
    const source = pick(sources)
    const writes = someWrites(source, random(4) === 0)
    const answer = await done('POST', '/observations', { source, observations: writes.map(sent) })
    oracle.begin(answer.batch, 'push')
    batches.push(answer.batch)
    await take(answer.batch, writes, answer, false)
  }
  const importFile = async () => {
    const source = pick(sources)
    const isRecorded = random(2) === 0
    const { id } = (
      await done('POST', '/batches', {
        file_name: 'prices.csv',
        source,
        ...(isRecorded && { as_recorded: true }),
      })
    ).batch
    oracle.begin(id, 'file')
    for (let part = 0; part <= random(3); part += 1) {
      clock.advance(1_000)
      // A history of another instance is one for which there are no values yet.
      const writes = someWrites(source, !isRecorded && random(2) === 0)
      const body = { batch: id, observations: writes.map(sent) }
      await take(id, writes, await done('POST', '/observations', body), isRecorded)
    }
    await done('POST', `/batches/${id}/end`, {})
    batches.push(id)
  }
  const change = async () => {
    const code = pick(names.filter(name => oracle.code(name).isActive))
    const at = timeOf(code)
    const current = oracle.currentOf(code, at)
    // A mean is corrected as well, but not deleted.
    if (code === daily && !current) return
    const named = { code, observed_at: isoInstant(at), reason: 'test' }
    const price = random(2) === 0 ? undefined : 60 + random(6)
    const [method, body] = price === undefined ? ['DELETE', named] : ['PATCH', { ...named, price }]
    if (!current) return expect((await operate(method, '/values', body)).status).toBe(404)
    const { batch, recorded_at: at2 } = await done(method, '/values', body)
    oracle.begin(batch, 'correction')
    batches.push(batch)
    const recordedAt = Date.parse(at2)
    if (price === undefined) oracle.remove(batch, recordedAt, code, at)
    else oracle.write(batch, recordedAt, { code, at, value: price, source: current.source })
  }
  const undo = async () => {
    // The newest, or any of the older ones.
    const id = random(2) === 0 ? batches.at(-1) : pick(batches)
    if (id === undefined || oracle.isUndone(id)) return
    const answer = await done('POST', `/batches/${id}/undo`, { only_untouched: true })
    const { restored, removed, left } = answer
    const undone = oracle.undo(answer.batch.id, id, Date.parse(answer.recorded_at))
    expect({ restored, removed, left }).toEqual(undone)
    batches.push(answer.batch.id)
  }
  const quarantine = async () => {
    const code = pick(names)
    const from = dayOf()
    const to = from + random(3) * dayMs
    const { id } = await done('POST', '/quarantine', {
      code,
      from: isoDay(from),
      to: isoDay(to),
      reason: 'test',
    })
    oracle.code(code).hidden.set(id, { from, to: to + dayMs })
    ranges.push({ id, code })
  }
  const lift = async () => {
    const [range] = ranges.splice(random(ranges.length), 1)
    if (!range) return
    await done('DELETE', `/quarantine/${range.id}`)
    oracle.code(range.code).hidden.delete(range.id)
  }
  const review = async () => {
    const held = (await waiting()).filter(({ code }) => oracle.code(code).isActive)
    const value = held[random(held.length)]
    if (!value) return
    const write = { ...value, at: Date.parse(value.observed_at), value: value.price }
    if (random(2) === 0) {
      await done('POST', '/review/reject', { ids: [value.id] })
      return oracle.reject(write)
    }
    const { batch, recorded_at: at } = await done('POST', '/review/release', {
      ids: [value.id],
      replace: true,
    })
    oracle.begin(batch, 'release')
    batches.push(batch)
    oracle.write(batch, Date.parse(at), write)
  }
  const showOrHide = async () => {
    const name = pick(names)
    const code = oracle.code(name)
    // A shipped code is visible to everyone.
    if (random(3) === 0 || name === hourly || name === daily) {
      // One of them stays active, so that there is something to write.
      if (code.isActive && names.filter(one => oracle.code(one).isActive).length === 1) return
      code.isActive = !code.isActive
      await done('PATCH', `/series/${name}`, { active: code.isActive ? null : false })
      return
    }
    code.visibleTo = pick([undefined, undefined, [accounts[0]!], [accounts[1]!]])
    await done('PATCH', `/series/${name}`, { visible_to: code.visibleTo ?? null })
  }
  const weights = new Map<() => Promise<unknown>, number>([
    [push, 10],
    [importFile, 3],
    [change, 4],
    [undo, 4],
    [quarantine, 1],
    [lift, 1],
    [review, 2],
    [showOrHide, 1],
  ])
  const acts = [...weights].flatMap(([act, weight]) => Array.from({ length: weight }, () => act))

  const isSeen = (code: string, reader: number): boolean => oracle.sees(code, accounts[reader]!)
  /** A leg may be retired, but not hidden from the reader. */
  const isFormulaSeen = (legs: readonly string[], reader: number): boolean =>
    legs.every(leg => oracle.code(leg).visibleTo?.includes(accounts[reader]!) ?? true)
  const codesOf = (reader: number): string[] => [
    ...names.filter(name => isSeen(name, reader)),
    ...Object.entries(formulas).flatMap(([code, { legs }]) =>
      isFormulaSeen(legs, reader) ? [code] : [],
    ),
  ]
  const rowsAt = (code: string, moment: number): Row[] => {
    if (code === spread)
      return spreadOf(oracle.stateAt('DESK_B', moment), oracle.stateAt('DESK_A', moment))
    if (code === nested) return nestedOf(rowsAt(spread, moment), oracle.stateAt('DESK_C', moment))
    if (code === daily)
      return withMeans(oracle.stateAt(daily, moment), oracle.stateAt(hourly, moment)).filter(
        ({ at }) => !oracle.isHidden(daily, at),
      )
    if (code === power)
      return rowsAt(daily, moment).map(({ at, value }) => ({ at, value: 2 * value }))
    return oracle.stateAt(code, moment)
  }
  const sinceOf = (code: string): number => {
    // A day has its mean or its recorded value, whichever is known.
    if (code === daily || code === power) return Math.min(...[hourly, daily].map(oracle.since))
    const legs = formulas[code]?.legs ?? [code]
    return Math.max(...legs.map(oracle.since))
  }
  const linesOf = (code: string, moment: number): string[] =>
    rowsAt(code, moment).map(({ at, value }) => `${code},${isoInstant(at)},${value}`)

  return {
    instance,
    oracle,
    random,
    codesOf,
    linesOf,
    sinceOf,
    async step() {
      clock.advance(60_000)
      await pick(acts)()
    },
    async begin() {
      const guards = Object.fromEntries(
        ['jump', 'unit', 'sign', 'repeat', 'future', 'same_day', 'stop'].map(rule => [rule, 'off']),
      )
      await done('PATCH', `/series/${hourly}`, { guards, resolution: 'PT1H' })
      await done('PATCH', `/series/${daily}`, { guards })
      const terms = { category: 'own', unit: 'barrel', currency: 'USD', decimals: 2 }
      await done('POST', '/series', {
        series: [
          ...desk.map(code => ({ ...terms, code, name: code, guards })),
          ...Object.entries(formulas).map(([code, { text }]) => ({
            ...terms,
            code,
            name: code,
            formula: text,
            ...(code === power && { unit: 'mwh', currency: 'EUR' }),
          })),
        ],
      })
    },
    /** The records after a cursor, in pages; the cursor to continue from. */
    async read(reader: number, since: string, limit: number) {
      const changes: WireChange[] = []
      for (let cursor = since; ; ) {
        // Nothing computed stays in memory between some pages, as after a restart.
        if (random(10) === 0) {
          instance.services.catalogue.reload()
          instance.services.catalogue.notifyReloaded()
        }
        const answer = await instance.get(
          `/v1/changes?since=${cursor}&derived=true&limit=${limit}`,
          tokens[reader],
        )
        const text = await answer.text()
        if (answer.status !== 200) throw new Error(text)
        const { data } = JSON.parse(text) as {
          data: { changes: WireChange[]; cursor: string; has_more: boolean }
        }
        changes.push(...data.changes)
        cursor = data.cursor
        if (!data.has_more) return { changes, cursor }
      }
    },
    /** The export of a code, and since when it is exact. */
    async exported(reader: number, code: string, moment?: number) {
      const query = new URLSearchParams({
        codes: code,
        start_date: isoDay(firstAt - dayMs),
        end_date: isoDay(firstAt + days * dayMs),
        columns: 'code,observed_at,price',
        ...(moment !== undefined && { as_of: isoMillis(moment) }),
      })
      const answer = await instance.get(`/v1/export/prices?${query}`, tokens[reader])
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${code}: ${text}`)
      return text.trim().split('\n').slice(1)
    },
    /** The rows of the vintage file of a year. */
    async vintages(year: number) {
      const everybodys = names.filter(name => oracle.code(name).visibleTo === undefined)
      const query = `format=parquet&history=true&start_date=${year}-01-01&end_date=${year}-12-31`
      const answer = await instance.app.handle(
        new Request(`http://localhost/admin/v1/export?${query}&codes=${everybodys.join()}`, {
          headers: { authorization },
        }),
      )
      const rows =
        everybodys.length === 0
          ? []
          : await parquetReadObjects({ file: await answer.arrayBuffer(), compressors })
      return { everybodys, rows }
    },
    /** The records that are not forgotten, by their recording. */
    async replayed(reader: number) {
      const query = `from=${isoMillis(startAt - dayMs)}&to=${isoMillis(clock.now() + dayMs)}`
      const answer = await instance.get(
        `/v1/changes/replay?${query}&speed=max&format=ndjson&derived=true`,
        tokens[reader],
      )
      const text = (await answer.text()).trim()
      return text === '' ? [] : text.split('\n').map(line => JSON.parse(line) as WireChange)
    },
  }
}

const newestOf = (rows: readonly Row[], at: number): Row | undefined =>
  rows.findLast(row => row.at <= at && row.at >= at - limitMs)

/** B less A, at each time of either. */
function spreadOf(b: readonly Row[], a: readonly Row[]): Row[] {
  const times = [...new Set([...b, ...a].map(({ at }) => at))].sort((x, y) => x - y)
  return times.flatMap(at => {
    const [left, right] = [newestOf(b, at), newestOf(a, at)]
    return left && right ? [{ at, value: left.value - right.value }] : []
  })
}

/** The greater one of a value and the mean of C over the three days up to it. */
function nestedOf(spreads: readonly Row[], c: readonly Row[]): Row[] {
  return spreads.flatMap(({ at, value }) => {
    const closes = c.filter(row => row.at > at - 3 * dayMs && row.at <= at)
    if (closes.length === 0) return []
    const mean = closes.reduce((sum, row) => sum + row.value, 0) / closes.length
    return [{ at, value: Math.max(value, mean) }]
  })
}

/** Recorded values, and the means of days that have all hours and no recorded value. */
function withMeans(recorded: readonly Row[], hours: readonly Row[]): Row[] {
  const values = new Map(hours.map(({ at, value }) => [at, value]))
  const means = Array.from({ length: days }, (_, i) => firstAt + i * dayMs).flatMap(day => {
    const own = hoursOf(day).flatMap(at => values.get(at) ?? [])
    const isRecorded = recorded.some(({ at }) => at >= day && at < day + dayMs)
    if (own.length < 24 || isRecorded) return []
    return [{ at: day, value: own.reduce((sum, value) => sum + value * hourMs, 0) / dayMs }]
  })
  return [...recorded, ...means].sort((a, b) => a.at - b.at)
}

describe('a model of an instance in memory', () => {
  for (const seed of seeds)
    test(`agrees with the feed, exports, as_of and vintage files over ${steps} random steps (seed ${seed})`, async () => {
      const both = openBoth(seed)
      const { instance, oracle, random, codesOf, linesOf, sinceOf } = both
      await both.begin()
      const readers = [0, 1].map(reader => ({
        reader,
        follower: createFollower(),
        cursor: 'start',
      }))
      const end = () => instance.clock.now() + dayMs
      const moments = (count: number) =>
        Array.from({ length: count }, () => startAt + random(instance.clock.now() + 1 - startAt))
      for (let step = 1; step <= steps; step += 1) {
        await both.step()
        const isLast = step === steps
        if (random(checkEach) > 0 && !isLast) continue
        for (const one of readers) {
          const read = await both.read(one.reader, one.cursor, 1 + random(isLast ? 1_000 : 30))
          one.follower.take(read.changes)
          one.cursor = read.cursor
          const late = createFollower()
          if (isLast || random(10) === 0)
            late.take((await both.read(one.reader, 'start', 1 + random(200))).changes)
          for (const moment of [end(), ...moments(isLast ? 50 : 3)]) {
            const isNow = moment === end()
            const codes = codesOf(one.reader).filter(code => isNow || moment >= sinceOf(code))
            const wanted = codes.flatMap(code => linesOf(code, moment)).sort()
            const title = `step ${step}, reader ${one.reader}, ${isNow ? 'now' : isoMillis(moment)}`
            const exported: string[] = []
            for (const code of codes)
              exported.push(...(await both.exported(one.reader, code, isNow ? undefined : moment)))
            expect([title, 'export', ...exported.sort()]).toEqual([title, 'export', ...wanted])
            const isCovered = (line: string) =>
              isNow || moment >= sinceOf(line.slice(0, line.indexOf(',')))
            for (const [name, follower] of Object.entries({ follower: one.follower, late })) {
              if (follower === late && late.cursor() === '') continue
              const state = follower.stateAt(isoMillis(moment)).filter(isCovered)
              expect([title, name, ...state]).toEqual([title, name, ...wanted])
            }
          }
        }
        if (random(6) > 0 && !isLast) continue
        for (const year of [2025, 2026]) {
          const { everybodys, rows } = await both.vintages(year)
          const instantOf = (value: unknown) =>
            value instanceof Date ? value.getTime() : undefined
          const filed = rows.map(row => [
            row.code,
            instantOf(row.observed_at),
            row.value,
            instantOf(row.valid_from),
            instantOf(row.valid_to),
          ])
          const wanted = everybodys.flatMap(code =>
            oracle
              .versions(code)
              .filter(({ at }) => new Date(at).getUTCFullYear() === year)
              .map(({ at, value, from, to }) => [code, at, value, from, to]),
          )
          expect([step, ...filed]).toEqual([step, ...wanted])
        }
      }
      expect(createObservationStore(instance.services.db).faults()).toEqual([])
      for (const { reader } of readers) {
        const late = createFollower()
        late.take((await both.read(reader, 'start', 1_000)).changes)
        const lineOf = ({ code, observed_at: at, recorded_at: recorded, value }: WireChange) =>
          `${recorded} ${code} ${at} ${value}`
        const replayed = (await both.replayed(reader)).map(lineOf)
        expect(replayed.toSorted((a, b) => (a.slice(0, 24) < b.slice(0, 24) ? -1 : 1))).toEqual(
          replayed,
        )
        // A record may be read again among those of another transaction.
        expect(replayed.toSorted()).toEqual([...new Set(late.kept.map(lineOf))].sort())
      }
    }, 600_000)
})
