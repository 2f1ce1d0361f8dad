import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  type DatasetReads,
  readsAsOf,
  readsNow,
} from '../../../../../src/database/dataset-reads.ts'
import { datasetTables } from '../../../../../src/database/dataset-tables.ts'
import { fracSpreads, rigCounts } from '../../../../../src/topics/drilling/dataset/counts.ts'
import { runs } from '../../../../support/full.ts'
import { openTestInstance } from '../../../../support/instance/instance.ts'
import { changesOf, exampleRows, type Fields } from '../../../../support/topics/dataset-changes.ts'

/** Columns and tables that are not part of the data: recording times and revisions. */
const aside = [
  'changes',
  'batches',
  'batch_rows',
  'batch_series',
  'dataset_coverage',
  'dataset_changes',
  'dataset_revisions',
  'doubted_values',
  'observation_revisions',
  'price_changes',
  'series',
  'value_sources',
  'series_sources',
  'permit_reads',
  'idempotency',
  'audit_entries',
  'audit_anchor',
]

/** Orders the nodes of trees by their text. */
const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

function openDatasets(settings: Record<string, string> = {}) {
  const instance = openTestInstance(settings)
  const { batches, batchStore, datasets, db } = instance.services
  const rowsOf = (name: string): Fields[] =>
    exampleRows(datasets.find(dataset => dataset.name === name)!)
  /** A batch that writes its rows in several parts, as a long file does. */
  const pushParts = (name: string, parts: readonly (readonly Fields[])[], replace = false) => {
    const dataset = datasets.find(dataset => dataset.name === name)!
    instance.clock.advance(1000)
    const running = batches.begin({ kind: 'push', actor: 'test', dataset: name, replace })
    for (const [i, rows] of parts.entries()) {
      if (i > 0) instance.clock.advance(1000)
      const records = rows.map(row => {
        const checked = dataset.check(row, instance.clock.now())
        if ('field' in checked) throw new Error(`${name}: ${checked.reason}`)
        return checked.record
      })
      const now = instance.clock.now()
      const write = (some: readonly unknown[]) => dataset.write(some, now)
      running.count(running.during(() => running.writeRows(name, records, now, write)))
    }
    return running.end()
  }
  const push = (name: string, rows: readonly Fields[], replace = false) =>
    pushParts(name, [rows], replace)
  const undo = (id: number, onlyUntouched = false) => {
    instance.clock.advance(1000)
    return batches.undo(batchStore.find(id)!, { actor: 'test' }, onlyUntouched)
  }
  const tables = db
    .query<{ name: string }, []>(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
       AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '%\\_text' ESCAPE '\\' ORDER BY name`,
    )
    .all()
    .map(({ name }) => name)
    .filter(name => !aside.includes(name))
  /** Every table but those, without times of recording and without words that no one uses now. */
  const content = () =>
    Object.fromEntries(
      tables.flatMap(name => {
        const rows = (db.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
          .map(({ recorded_at: _, batch_id: __, born_at: ___, fetched_at: ____, ...row }) => row)
          .filter(row => row.permits !== 0 && row.disclosures !== 0 && row.oil_bbl !== 0)
        const isWord = name === 'permit_well_names' || name === 'inventory_records'
        return rows.length === 0 || isWord ? [] : [[name, rows.toSorted(byText)]]
      }),
    )
  return { ...instance, db, datasets, rowsOf, push, pushParts, undo, content, batchStore }
}

describe('a batch of a dataset', () => {
  test('is undone, with all that is counted from it, whatever the dataset', () => {
    const { datasets, rowsOf, push, undo, content, batchStore, db } = openDatasets()
    expect(Object.keys(changesOf).toSorted()).toEqual(datasets.map(({ name }) => name).toSorted())
    for (const { name } of datasets) {
      const empty = content()
      const rows = rowsOf(name)
      const first = push(name, rows)
      const filled = content()
      const { revised, added } = changesOf[name]!
      const changes = [
        { ...rows[0]!, ...revised },
        { ...rows[0]!, ...added },
      ]
      const second = push(name, changes)
      expect({ name, inserted: second.inserted, revised: second.revised }).toEqual({
        name,
        inserted: 1,
        revised: 1,
      })
      const changed = content()
      const undone = undo(second.id)
      expect({ name, undone }).toMatchObject({ name, undone: { restored: 1, removed: 1, left: 0 } })
      expect(content(), name).toEqual(filled)
      expect(batchStore.find(second.id)!.undoneAt, name).not.toBeNull()
      const repeated = push(name, [...changes, ...rows.slice(1)])
      const { inserted, revised: revisedAgain, kept } = repeated
      expect({ name, inserted, revisedAgain, kept }).toEqual({
        name,
        inserted: 0,
        revisedAgain: 0,
        kept: 2,
      })
      expect(content(), name).toEqual(filled)
      if (!('batch' in undone)) throw new Error(name)
      const again = undo(undone.batch.id)
      expect({ name, again }).toMatchObject({ name, again: { restored: 2, removed: 0, left: 0 } })
      expect(content(), name).toEqual(changed)
      if (!('batch' in again)) throw new Error(name)
      undo(again.batch.id)
      expect(undo(first.id), name).toMatchObject({ restored: 0, removed: 2, left: 0 })
      expect(content(), name).toEqual(empty)
      expect(push(name, rows).kept, name).toBe(2)
      expect(content(), name).toEqual(empty)
      push(name, rows, true)
      expect(content(), name).toEqual(filled)
    }
    // Compares the index with the rows.
    db.run(
      "INSERT INTO frac_disclosure_text (frac_disclosure_text, rank) VALUES ('integrity-check', 1)",
    )
  })

  test('a past read between a dataset batch and its undo still returns the values served at that time', () => {
    const { rowsOf, push, undo, db, clock } = openDatasets()
    const [row] = rowsOf('rig-counts')
    push('rig-counts', [row!])
    const before = clock.now()
    const { id } = push('rig-counts', [
      { ...row!, oil: '500' },
      { ...row!, date: '2026-11-06' },
    ])
    const between = clock.now()
    undo(id)
    const knownBy = (reads: DatasetReads) =>
      reads
        .statement<{ day: string; oil: number }, []>(
          'SELECT counted_on AS day, oil FROM rig_counts ORDER BY 1',
          rigCounts,
        )
        .all()
    const knownAt = (moment: number) => knownBy(readsAsOf(db, moment))
    expect(knownBy(readsNow(db))).toEqual([{ day: '2026-11-13', oil: 411 }])
    expect(knownAt(before)).toEqual([{ day: '2026-11-13', oil: 411 }])
    expect(knownAt(between)).toEqual([
      { day: '2026-11-06', oil: 411 },
      { day: '2026-11-13', oil: 500 },
    ])
    expect(knownAt(clock.now())).toEqual([{ day: '2026-11-13', oil: 411 }])
  })

  test('has what stood before the first of its writes, also where rows are replaced', () => {
    const { rowsOf, push, undo, services } = openDatasets()
    const [row] = rowsOf('well-production')
    const oil = () => services.db.query('SELECT oil_bbl AS oil FROM well_production').all()
    push('well-production', [row!])
    const before = oil()
    const { id } = push('well-production', [
      { ...row!, oil_bbl: '1' },
      { ...row!, oil_bbl: '2' },
    ])
    expect(oil()).toEqual([{ oil: 2 }])
    expect(undo(id)).toMatchObject({ restored: 1, removed: 0 })
    expect(oil()).toEqual(before)
  })

  test('that writes a row several times is one writer of it', () => {
    const { rowsOf, pushParts, undo, services } = openDatasets()
    const [row] = rowsOf('rig-counts')
    const oil = () => services.db.query('SELECT oil FROM rig_counts').values().flat()
    const first = pushParts('rig-counts', [[row!]])
    const parts = ['500', '501', '502'].map(oil => [{ ...row!, oil }])
    const second = pushParts('rig-counts', parts)
    expect(oil()).toEqual([502])
    const undone = undo(second.id)
    expect({ undone, oil: oil() }).toMatchObject({
      undone: { restored: 1, removed: 0, left: 0 },
      oil: [411],
    })
    // What came in several writes and was undone is in no one's way.
    expect(undo(first.id)).toMatchObject({ restored: 0, removed: 1, left: 0 })
    const third = pushParts('rig-counts', [[row!], ...parts])
    expect({ undo: undo(third.id), oil: oil() }).toMatchObject({
      undo: { restored: 0, removed: 1, left: 0 },
      oil: [],
    })
  })

  test('no source file replaces dataset rows in a way that hides the replaced rows from their batch', () => {
    const source = join(import.meta.dir, '../../../../../src')
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name =>
      name.endsWith('.ts'),
    )
    const names = datasetTables.map(({ name }) => name).join('|')
    const replaces = new RegExp(`REPLACE INTO (?:${names})\\b`)
    expect(replaces.test('INSERT OR REPLACE INTO rig_counts (region)')).toBe(true)
    const found = files.filter(name => replaces.test(readFileSync(join(source, name), 'utf8')))
    expect(files.length).toBeGreaterThan(50)
    expect(found).toEqual([])
  })

  test('is refused where a later one wrote the same rows, which it names', () => {
    const { rowsOf, push, undo } = openDatasets()
    const [row] = rowsOf('rig-counts')
    const { id } = push('rig-counts', [row!, { ...row!, date: '2026-11-06' }])
    const later = push('rig-counts', [{ ...row!, oil: '500' }])
    expect(undo(id)).toEqual({ touched: 1, examples: ['rig_counts US 2026-11-13'] })
    expect(undo(id, true)).toMatchObject({ restored: 0, removed: 1, left: 1 })
    expect(undo(later.id)).toMatchObject({ restored: 1, removed: 0 })
  })

  test('leaves a disclosure that substances of another batch are of', () => {
    const { rowsOf, push, undo } = openDatasets()
    const disclosures = push('frac-disclosures', rowsOf('frac-disclosures'))
    const chemicals = push('frac-chemicals', rowsOf('frac-chemicals'))
    expect(undo(disclosures.id)).toEqual({
      touched: 1,
      examples: ['frac_disclosures b41f0c7e'],
    })
    undo(chemicals.id)
    expect(undo(disclosures.id)).toMatchObject({ restored: 0, removed: 2 })
  })

  test('cannot be undone once what stood before it is forgotten, and knows it', () => {
    const { rowsOf, push, batchStore, clock, services } = openDatasets({ 'batches.undo_days': '2' })
    const { id } = push('rig-counts', rowsOf('rig-counts'))
    const isForgotten = () => {
      services.batches.prune()
      return batchStore.find(id)!.isForgotten
    }
    const kept = () => services.db.query('SELECT * FROM batch_rows').all().length
    expect({ isForgotten: isForgotten(), kept: kept() }).toEqual({ isForgotten: false, kept: 2 })
    clock.advance(2 * 86_400_000 - 1)
    expect({ isForgotten: isForgotten(), kept: kept() }).toEqual({ isForgotten: false, kept: 2 })
    clock.advance(3_600_000)
    expect({ isForgotten: isForgotten(), kept: kept() }).toEqual({ isForgotten: true, kept: 0 })
  })
})

type Step =
  | { kind: 'push'; values: [region: number, rigs: number][]; replace: boolean; later: number }
  | { kind: 'undo'; pick: number; onlyUntouched: boolean; later: number }
  | { kind: 'ask'; ago: number; later: number }

const regions = ['US', 'permian', 'TX', 'NM']
const later = fc.constantFrom(1, 1, 1000)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('push' as const),
      values: fc.uniqueArray(fc.tuple(fc.nat(regions.length - 1), fc.integer({ min: 1, max: 4 })), {
        minLength: 1,
        maxLength: 3,
        selector: ([region]) => region,
      }),
      replace: fc.constantFrom(false, false, true),
      later,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('undo' as const),
      pick: fc.nat(20),
      onlyUntouched: fc.boolean(),
      later,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), ago: fc.nat(4000), later }),
  },
)

/** Everything that was ever said of a row, as a list: the naive history. */
interface Statement {
  region: string
  rigs: number | undefined
  at: number
  batch: number
}

/** Crews of the country are the values of a series, too. */
const cleared = [
  'batch_rows',
  'batch_series',
  'batches',
  'bars',
  'dataset_changes',
  'dataset_revisions',
  'frac_spreads',
  'observation_revisions',
  'price_changes',
  'observations',
]

/** More of them: `bun run torture R37`, or SEQUENCES=50000 bun test test/topics/prices/service/writes/batches-of-datasets.test.ts */
const sequences = Number(
  process.env.SEQUENCES ?? (process.env.WELLHEAD_TORTURE === '1' ? 10_000 : runs(300)),
)

test(
  'any sequence of dataset batches and undos matches a naive model in which undone rows never return',
  () => {
    const { db, clock, rowsOf, push, undo, batchStore } = openDatasets()
    const [row] = rowsOf('frac-spreads')
    // Before the first batch of a dataset, values answer by their own time.
    push('frac-spreads', [row!])
    const storedBy = (reads: DatasetReads) =>
      Object.fromEntries(
        reads
          .statement<{ region: string; rigs: number }, []>(
            'SELECT region, active AS rigs FROM frac_spreads ORDER BY 1',
            fracSpreads,
          )
          .all()
          .map(({ region, rigs }) => [region, rigs]),
      )
    const stored = () => storedBy(readsNow(db))
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 14 }), steps => {
        for (const table of cleared) db.run(`DELETE FROM ${table}`)
        clock.advance(3_600_000)
        const statements: Statement[] = []
        const undoes = new Map<number, number>()
        const batchIds: number[] = []
        const of = (region: string) => statements.filter(event => event.region === region)
        const known = (moment: number) =>
          Object.fromEntries(
            regions.flatMap(region => {
              const rigs = of(region).findLast(event => event.at <= moment)?.rigs
              return rigs === undefined ? [] : [[region, rigs]]
            }),
          )
        const isTouched = (region: string, id: number) => {
          const left: number[] = []
          const own = of(region)
          for (const { batch } of own.slice(own.findLastIndex(event => event.batch === id) + 1))
            if (left.length > 0 && undoes.get(batch) === left.at(-1)) left.pop()
            else left.push(batch)
          return left.length > 0
        }
        const before = (region: string, id: number) => {
          const own = of(region)
          return own[own.findLastIndex(event => event.batch === id) - 1]?.rigs
        }
        for (const event of steps) {
          clock.advance(event.later)
          if (event.kind === 'push') {
            const rows = event.values.map(([region, rigs]) => ({
              ...row!,
              region: regions[region]!,
              active_spreads: String(rigs),
            }))
            const { id, kept } = push('frac-spreads', rows, event.replace)
            batchIds.push(id)
            let keptCount = 0
            for (const { region, active_spreads: text } of rows) {
              const rigs = Number(text)
              const said = of(region)
              if (said.at(-1)?.rigs === rigs) continue
              const isUndo = (one: Statement | undefined) =>
                one !== undefined && undoes.has(one.batch)
              const wasTakenBack = said.some((one, i) => isUndo(one) && said[i - 1]?.rigs === rigs)
              if (!event.replace && isUndo(said.at(-1)) && wasTakenBack) keptCount += 1
              else statements.push({ region, rigs, at: clock.now(), batch: id })
            }
            expect(kept).toBe(keptCount)
          } else if (event.kind === 'undo') {
            const id = batchIds[event.pick % Math.max(1, batchIds.length)]
            if (id === undefined || batchStore.find(id)!.undoneAt !== null) continue
            const own = regions.filter(region => of(region).some(({ batch }) => batch === id))
            const touched = own.filter(region => isTouched(region, id))
            const done = undo(id, event.onlyUntouched)
            if (touched.length > 0 && !event.onlyUntouched) {
              expect('touched' in done && done.touched).toBe(touched.length)
              continue
            }
            if (!('batch' in done)) throw new Error(`refused: ${done.examples.join()}`)
            expect(done.left).toBe(touched.length)
            batchIds.push(done.batch.id)
            undoes.set(done.batch.id, id)
            for (const region of own.filter(region => !touched.includes(region)))
              statements.push({
                region,
                rigs: before(region, id),
                at: clock.now(),
                batch: done.batch.id,
              })
          } else {
            const moment = clock.now() - event.ago
            expect(storedBy(readsAsOf(db, moment))).toEqual(known(moment))
          }
        }
        expect(stored()).toEqual(known(Number.POSITIVE_INFINITY))
      }),
      { numRuns: sequences },
    )
  },
  Math.max(60_000, 120 * sequences),
)
