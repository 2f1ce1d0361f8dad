import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { rangesOf } from '../../../src/lib/time/ranges.ts'
import { createApplier } from '../../../src/replication/store/applier.ts'
import { isLogged, logChanges } from '../../../src/replication/store/change-log.ts'
import type { Delta } from '../../../src/replication/store/delta.ts'
import { createDeltaReader } from '../../../src/replication/store/delta-reader.ts'
import {
  localTables,
  placeIndexes,
  rangedTables,
  replicatedTables,
  textIndexes,
} from '../../../src/replication/store/tables.ts'
import { databaseInMemory } from '../../support/instance/database.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'
import { permit } from '../../support/topics/permits.ts'
import { contentOf } from '../../support/topics/replication.ts'

const dayMs = 86_400_000

/** An instance whose commits are logged, and a copy of its database as it was then. */
function pair() {
  const instance = openTestInstance()
  const { db } = instance.services
  logChanges(db, true)
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-'))
  const path = join(dir, 'copy.db')
  db.query('VACUUM INTO ?').run(path)
  const copy = openDatabase(path)
  copy.run('PRAGMA foreign_keys = OFF')
  logChanges(copy, false)
  const reader = createDeltaReader(db, () => startAt)
  const apply = createApplier(copy)
  let at = 0
  const replicate = (): Delta[] => {
    const applied: Delta[] = []
    for (let before = -1; before !== at; ) {
      before = at
      for (const delta of reader.after(at)) {
        const text = JSON.stringify(delta)
        expect(text.length).toBeLessThan(1_000_000)
        apply(JSON.parse(text))
        applied.push(delta)
        if (delta.isLast) at = delta.upTo
      }
    }
    return applied
  }
  return {
    ...instance,
    db,
    copy,
    replicate,
    rewind() {
      at = 0
    },
    [Symbol.dispose]() {
      copy.close()
      rmSync(dir, { recursive: true })
    },
  }
}

const expectSame = (copy: Database, db: Database) =>
  expect(Object.fromEntries(contentOf(copy))).toEqual(Object.fromEntries(contentOf(db)))

test('each table is either replicated or listed as local to this instance with a reason', () => {
  const db = databaseInMemory()
  const all = db
    .query<{ name: string; type: string }, []>(
      `SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow'
       AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .all()
  const covered = [
    ...replicatedTables(db).map(table => table.name),
    ...rangedTables,
    ...Object.keys(localTables),
    ...Object.values(placeIndexes),
    ...Object.values(textIndexes).map(({ index }) => index),
  ]
  expect(covered.toSorted()).toEqual(all.map(table => table.name))
  expect(Object.values(localTables).every(reason => reason.length > 10)).toBe(true)
})

test('nothing is logged unless it is wanted, and nothing any more once it is not', () => {
  const { services } = openTestInstance()
  const { db } = services
  const logged = () => db.query('SELECT count(*) AS n FROM changes').get()
  services.settings.set('colour', 'green')
  expect({ isLogged: isLogged(db), logged: logged() }).toEqual({
    isLogged: false,
    logged: { n: 0 },
  })
  logChanges(db, true)
  services.settings.set('colour', 'red')
  expect({ isLogged: isLogged(db), logged: logged() }).toEqual({ isLogged: true, logged: { n: 1 } })
  logChanges(db, false)
  services.settings.set('colour', 'blue')
  expect(logged()).toEqual({ n: 0 })
})

test('a change is logged in the transaction that makes it', () => {
  using both = pair()
  expect(() =>
    both.db.transaction(() => {
      both.services.settings.set('colour', 'green')
      throw new Error('undone')
    })(),
  ).toThrow('undone')
  expect(both.db.query('SELECT count(*) AS n FROM changes').get()).toEqual({ n: 0 })
})

test('prices that are written, corrected, backdated and removed are the same in the replica', () => {
  using both = pair()
  const { services, clock } = both
  const ids = ['WTI_USD', 'BRENT_CRUDE_USD'].map(
    code => services.catalogue.resolve(code, startAt)!.series.id,
  )
  let seed = 7
  const chance = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const moment = () => startAt - chance(400) * 3_600_000
  for (let round = 0; round < 60; round++) {
    clock.advance(1000)
    const points = Array.from({ length: 1 + chance(80) }, () => ({
      seriesId: ids[chance(2)]!,
      observedAt: moment(),
      value: 50 + chance(40),
      ...(chance(8) === 0 && { recordedAt: startAt - chance(300) * dayMs }),
    }))
    services.ingest.write(points)
    if (round % 7 === 0) services.ingest.withdraw(points[0]!.seriesId, [points[0]!.observedAt])
    if (round % 5 === 0) both.replicate()
  }
  both.replicate()
  expectSame(both.copy, both.db)
})

test('a long history comes in parts that fit into a message', () => {
  using both = pair()
  both.record(
    'WTI_USD',
    Array.from({ length: 9000 }, (_, i) => 50 + (i % 30)),
    startAt,
    3_600_000,
  )
  const parts = both.replicate()
  expect(parts.length).toBeGreaterThan(4)
  expect(parts.map(part => part.isLast)).toEqual([...Array(parts.length - 1).fill(false), true])
  expectSame(both.copy, both.db)
})

test('keys, accounts, permits with their places and names, and rows that go are the same', () => {
  using both = pair()
  const { services } = both
  const token = both.key('enterprise')
  services.permits.record(
    [permit(), permit({ permitNumber: '2', wellName: 'Cedar 1', latitude: 32 })],
    startAt,
  )
  both.replicate()
  services.permits.record(
    [permit({ permitNumber: '2', wellName: 'Willow 9', latitude: 31 })],
    startAt + 1,
  )
  services.keys.putAccount({ ...services.keys.find(token)!.account.account, plan: 'free' })
  services.settings.set('colour', 'green')
  both.db.run("UPDATE settings SET name = 'shade' WHERE name = 'colour'")
  both.db.run("DELETE FROM aliases WHERE alias LIKE 'A%'")
  both.replicate()
  expectSame(both.copy, both.db)
  for (const { index } of Object.values(textIndexes))
    both.copy.run(`INSERT INTO ${index} (${index}) VALUES ('integrity-check')`)
  const named = `SELECT count(*) AS n FROM permit_well_name_text WHERE permit_well_name_text MATCH '"illow"'`
  expect(both.copy.query(named).get()).toEqual({ n: 1 })
})

test('the log applied once more, from its beginning, ends in the same', () => {
  using both = pair()
  both.key('enterprise')
  both.record('WTI_USD', [70, 71, 72], startAt, dayMs)
  both.replicate()
  both.record('WTI_USD', [80, 81, 82], startAt, dayMs)
  both.rewind()
  both.replicate()
  expectSame(both.copy, both.db)
})

test('row numbers that are never reused on the primary are not reused in the replica either', () => {
  using both = pair()
  both.db.run("INSERT INTO feed_runs (id, feed, trigger, started_at) VALUES ('a', 'x', 'start', 1)")
  both.db.run('DELETE FROM feed_runs')
  both.replicate()
  both.copy.run(
    "INSERT INTO feed_runs (id, feed, trigger, started_at) VALUES ('b', 'x', 'start', 1)",
  )
  expect(both.copy.query('SELECT number FROM feed_runs').get()).toEqual({ number: 2 })
})

test('ranges hold every moment and leave wide gaps out', () => {
  expect(rangesOf([])).toEqual([])
  expect(rangesOf([1, 5])).toEqual([
    { from: 1, to: 1 },
    { from: 5, to: 5 },
  ])
  const dense = Array.from({ length: 100 }, (_, i) => i)
  expect(rangesOf([...dense, ...dense.map(at => at + 1_000_000)])).toEqual([
    { from: 0, to: 99 },
    { from: 1_000_000, to: 1_000_099 },
  ])
})
