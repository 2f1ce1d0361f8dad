import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../../../src/feeds/files/csv.ts'
import type { Dataset } from '../../../../src/feeds/files/dataset.ts'
import { faultOf, now } from '../../../support/topics/carriers.ts'
import { openPositionDatasets, record } from '../../../support/topics/positions.ts'

const note = {
  id: 'Meeting-2026-11',
  date: '2026-11-05',
  title: 'Producers keep quotas',
  category: 'Supply Policy',
  commodity: 'brent',
}
const trade = {
  member: 'Jordan Example',
  ticker: 'xyz',
  transaction_type: 'Sale (Partial)',
  amount_range: '$1,001 - $15,000',
  transaction_date: '2026-10-02',
  disclosure_date: '2026-10-30',
}

describe('every dataset of the indicators', () => {
  const { positions, annotations, congress } = openPositionDatasets()
  for (const dataset of [positions, annotations, congress] as Dataset<unknown>[]) {
    const [names, ...rows] = dataset.example
      .trim()
      .split('\n')
      .map(line => fieldsOf(line, ',')!)
    const sent = rows.map(fields => Object.fromEntries(names!.map((name, i) => [name, fields[i]])))

    test(`${dataset.name} takes its own example, and nothing happens when it comes again`, () => {
      const columnNames = dataset.columns.map(column => column.name)
      expect(names!.filter(name => !columnNames.includes(name))).toEqual([])
      expect(dataset.key!.filter(name => !columnNames.includes(name))).toEqual([])
      const records = sent.map(row => record(dataset, row, now))
      expect(dataset.write(records, 1)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
      expect(dataset.write(records, 2)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
    })

    test(`${dataset.name} refuses a row that lacks what it needs, and names it`, () => {
      for (const { name } of dataset.columns.filter(column => column.required)) {
        expect(faultOf(dataset, { ...sent[0], [name]: '' }), name).toMatchObject({
          field: name,
          reason: expect.stringContaining(' is missing: '),
        })
      }
    })
  }
})

describe('a note', () => {
  test('a note is stored under its own id and the catalogue code of its commodity', () => {
    const { annotations, notes } = openPositionDatasets()
    annotations.write([record(annotations, note, now)], 1)
    expect(notes.page(undefined, 10, 0)).toEqual([
      {
        id: 'meeting-2026-11',
        on: '2026-11-05',
        title: 'Producers keep quotas',
        description: 'Producers keep quotas',
        category: 'supply_policy',
        commodity: 'BRENT_CRUDE_USD',
        source: 'import',
      },
    ])
    expect(
      annotations.write([record(annotations, { ...note, title: 'Quotas rise' }, now)], 2).revised,
    ).toBe(1)
    expect(notes.page(undefined, 10, 0).map(annotation => annotation.title)).toEqual([
      'Quotas rise',
    ])
  })

  for (const [change, field, reason] of [
    [{ id: 'two words' }, 'id', ' is not accepted: '],
    [{ date: '2026-11-21' }, 'date', ' is out of range: '],
    [{ title: 'x'.repeat(201) }, 'title', ' at most 200 characters'],
    [{ description: 'two\nlines' }, 'description', ' one line '],
    [{ category: '<b>' }, 'category', ' is not accepted: '],
    [{ commodity: 'BRENT_CRUDE_USDD' }, 'commodity', ' did you mean BRENT_CRUDE_USD?'],
  ] as const) {
    test(`is refused for ${JSON.stringify(change).slice(0, 40)}`, () => {
      expect(faultOf(openPositionDatasets().annotations, { ...note, ...change })).toMatchObject({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})

describe('a disclosed trade', () => {
  test('a disclosed trade is identified by what was traded, and its disclosure date can be corrected', () => {
    const { congress, trades } = openPositionDatasets()
    const sent = record(congress, trade, now)
    expect(sent).toMatchObject({
      ticker: 'XYZ',
      transactionType: 'sale_partial',
      transactedOn: '2026-10-02',
      source: 'import',
    })
    expect(congress.write([sent], 1).inserted).toBe(1)
    expect(
      congress.write([record(congress, { ...trade, disclosure_date: '2026-11-02' }, now)], 2)
        .revised,
    ).toBe(1)
    expect(trades.page(10, 0).map(trade => trade.disclosedOn)).toEqual(['2026-11-02'])
    expect(
      congress.write([record(congress, { ...trade, transaction_type: 'purchase' }, now)], 3)
        .inserted,
    ).toBe(1)
  })

  for (const [change, field, reason] of [
    [{ ticker: 'X Y' }, 'ticker', ' is not a symbol: '],
    [{ transaction_type: 'gift' }, 'transaction_type', ' is not known: '],
    [{ disclosure_date: '2026-10-01' }, 'disclosure_date', ' is before the trade on 2026-10-02: '],
    [{ transaction_date: '2026-12-01' }, 'transaction_date', ' is out of range: '],
  ] as const) {
    test(`is refused for ${JSON.stringify(change)}`, () => {
      expect(faultOf(openPositionDatasets().congress, { ...trade, ...change })).toMatchObject({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }
})
