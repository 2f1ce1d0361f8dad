import { expect, test } from 'bun:test'
import { createFeedWriter, type WritingRun } from '../../../src/feeds/engine/writer.ts'
import type { MapEntry } from '../../../src/feeds/publishers/map.ts'
import { createFeedStore } from '../../../src/feeds/store/feeds.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'

const entry: MapEntry = {
  sourceId: 'IQ',
  target: {
    dataset: 'opec-productions',
    column: 'production',
    fixed: { country: 'Iraq', unit: 'TBPD' },
  },
  unit: '',
  factor: '1',
  kind: 'month',
  at: '',
  note: '',
}
const months = Array.from({ length: 24 }, (_, i) =>
  new Date(Date.UTC(2024, 9 + i, 1)).toISOString().slice(0, 7),
)

test('an implausible feed row is flagged and stays pending with its batch', () => {
  const { services } = openTestInstance()
  const { db } = services
  const store = createFeedStore(db)
  const writer = createFeedWriter({
    ...services,
    catalogue: {
      find: code => services.catalogue.named(code),
      nearest: code => services.catalogue.suggest(code)[0]?.code,
    },
    store,
    sources: services.valueSources,
  })
  const run = (dryRun = false): WritingRun => ({
    feed: 'eia',
    feedNumber: store.state('eia').number,
    batch: (name, periodKind) =>
      services.batches.begin({ kind: 'feed', actor: `feed ${name}`, feed: { name, periodKind } }),
    now: startAt,
    dryRun,
    winsOver: () => true,
  })
  const send = (rows: [period: string, text: string][], dryRun = false) =>
    writer.writeDataset(
      'opec-productions',
      [
        {
          entry,
          unit: undefined,
          rows: rows.map(([period, text]) => ({ period, text })),
          blanks: 0,
          faults: [],
          covers: undefined,
        },
      ],
      run(dryRun),
    )
  expect(send(months.map((month, i) => [month, String(4200 + ((i * 13) % 50))]))).toMatchObject({
    inserted: 24,
    held: 0,
  })
  const production = () =>
    db
      .query<{ month: string; bpd: number }, []>(
        `SELECT month, bpd FROM opec_productions WHERE month >= '2026-10' ORDER BY month`,
      )
      .all()
  // Barrels where thousands of them are meant, and a month that is right.
  const rows: [string, string][] = [
    ['2026-10', '4.21'],
    ['2026-09', '4230'],
  ]
  expect(send(rows, true)).toMatchObject({ inserted: 0, revised: 1, held: 1 })
  expect(services.flaggedValues.total({ status: 'waiting' })).toBe(0)
  expect(send(rows)).toMatchObject({ inserted: 0, revised: 1, held: 1 })
  expect(production()).toEqual([])
  const [flag] = services.flaggedValues.list({ status: 'waiting' }, 10, 0)
  expect(flag).toMatchObject({ dataset: 'opec-productions', rule: 'unit', value: 4210 })
  // The next run sends the same values: still one flag, and no row.
  expect(send(rows)).toMatchObject({ unchanged: 1, held: 1 })
  expect(services.flaggedValues.total({})).toBe(1)
  expect(send([['2026-10', '4210']])).toMatchObject({ inserted: 1, held: 0 })
  expect(production()).toEqual([{ month: '2026-10', bpd: 4_210_000 }])
})
