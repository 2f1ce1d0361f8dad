import { describe, expect, test } from 'bun:test'
import type { Dataset } from '../../../src/feeds/files/dataset.ts'
import type { JudgedRow } from '../../../src/feeds/files/row-guards.ts'
import { isoDay } from '../../../src/lib/time/instant.ts'
import { createChance } from '../../support/guard-measure.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { realRows } from '../../support/real-data.ts'

const now = Date.parse('2027-01-01T00:00:00Z')
const { services } = openTestInstance()
const { rowGuards } = services

type Fields = Record<string, string>

/** Rows of a dataset that are fit to be written, in the order of their files. */
interface RealRows {
  name: string
  dataset: Dataset<unknown>
  /** The rows of each line, oldest first. */
  lines: JudgedRow[][]
}

const codeOf = (seriesId: number) => services.catalogue.byId(seriesId).code

function rowsOf(name: string, datasetName: string, rows: readonly Fields[]): RealRows {
  const dataset = services.datasets.find(dataset => dataset.name === datasetName)!
  const judged = rows.flatMap((fields): JudgedRow[] => {
    const checked = dataset.check(fields, now)
    return 'record' in checked ? [{ fields, record: checked.record, recordedAt: now }] : []
  })
  const lineOf = ({ record }: JudgedRow) =>
    JSON.stringify(dataset.guarded!.numbersOf(record, codeOf).map(numbers => numbers.line))
  return { name, dataset, lines: [...Map.groupBy(judged, lineOf).values()] }
}

const dayOf = (text: string) => new Date(`${text} UTC`).toISOString().slice(0, 10)

function realDatasets(): RealRows[] {
  if (!needs('../shared/data').isMet) return []
  const stocks = new Map(
    realRows('eia-weekly-stocks/petroleum_inventories_metadata.csv').map(row => [row[0]!, row[2]!]),
  )
  const [columns = []] = realRows('eia-weekly-stocks/petroleum_inventories.csv', 0)
  const capacities: Fields = { US: 'US_CRUDE_STORAGE', cushing: 'CUSHING_STORAGE' }
  return [
    rowsOf(
      'rig counts of the United States by month',
      'rig-counts',
      realRows('eia-rig-counts-monthly/E_ERTRR0_XR0_NUS_C.csv')
        .slice(4)
        .flatMap(([month, total]) => (total ? [{ date: month!, region: 'US', total }] : []))
        .reverse(),
    ),
    rowsOf(
      'positions of managed money',
      'cftc-positions',
      realRows('cftc-cot/managed_money_weekly.csv').flatMap(row =>
        ['WTI', 'NATURAL_GAS', 'RBOB'].map((market, i) => ({
          report_date: row[0]!,
          market,
          managed_money_long: String(Number(row[1 + 5 * i])),
          managed_money_short: String(Number(row[2 + 5 * i])),
          open_interest: String(Number(row[5 + 5 * i])),
        })),
      ),
    ),
    rowsOf(
      'weekly stocks by district',
      'oil-inventories',
      realRows('eia-weekly-stocks/petroleum_inventories.csv').flatMap(row =>
        columns.flatMap((column, i) => {
          const series = stocks.get(column)
          return series && row[i] !== ''
            ? [{ series, date: row[0]!, level: row[i]!, unit: 'million_barrels' }]
            : []
        }),
      ),
    ),
    rowsOf(
      'crude oil stocks of the United States since 1982',
      'oil-inventories',
      realRows('eia-weekly-stocks/weekly_us_ending_stocks_excluding_spr.csv').map(
        ([month, year, level]) => ({
          series: 'WCESTUS1',
          date: dayOf(`${month},${year}`.replaceAll('"', '')),
          level: level!,
          unit: 'MBBL',
        }),
      ),
    ),
    rowsOf(
      'crude oil stocks at Cushing since 2004',
      'oil-inventories',
      realRows('eia-weekly-stocks/rtl_eiaStocks_kbbl.csv').flatMap(([date, series, level]) =>
        series === 'CrudeCushing'
          ? [{ series: 'CUSHING_STORAGE', date: date!, level: level!, unit: 'MBBL' }]
          : [],
      ),
    ),
    rowsOf(
      'settlements of WTI',
      'futures-settlements',
      realRows('eia-nymex-futures/wti_c1_c4_daily_2010_2020.csv').flatMap(row =>
        [1, 2, 3, 4].flatMap(n =>
          row[n] ? [{ contract: `WTI_FUTURES.${n}`, traded_on: row[0]!, settlement: row[n] }] : [],
        ),
      ),
    ),
    rowsOf(
      'storage capacities',
      'storage-capacities',
      realRows('eia-weekly-stocks/eia_working_storage_capacity_kbbl.csv').flatMap(
        ([series, date, capacity, product]) =>
          product === 'crude' && capacities[series!]
            ? [
                {
                  code: capacities[series!]!,
                  effective_on: date!,
                  capacity: capacity!,
                  unit: 'thousand_barrels',
                },
              ]
            : [],
      ),
    ),
  ]
}

describe(`real rows of datasets`, () => {
  const all = realDatasets()

  needs('../shared/data').test('are not held, not even the first settlement below zero', () => {
    const held: string[] = []
    let rows = 0
    for (const { name, dataset, lines } of all)
      for (const line of lines) {
        rows += line.length
        for (const { isHeld, observedAt, reason } of rowGuards.judge(dataset, line).flagged)
          if (isHeld) held.push(`${name} ${isoDay(observedAt)} ${reason}`)
      }
    expect(rows).toBeGreaterThan(18_000)
    expect(held).toEqual([])
  })

  const learntRows = 60

  /** A row of a line, one of its numbers and the rows before it. */
  interface Place {
    dataset: Dataset<unknown>
    before: readonly JudgedRow[]
    fields: Fields
    column: string
    value: number
  }

  /** Whether a row is refused or flagged by the guards after the rows before it. */
  function isFlagged({ dataset, before }: Place, faulty: readonly Fields[]): boolean {
    const rows = faulty.map(fields => ({ fields, checked: dataset.check(fields, now) }))
    const judged = rows.flatMap(({ fields, checked }) =>
      'record' in checked ? [{ fields, record: checked.record, recordedAt: now }] : [],
    )
    if (judged.length < faulty.length) return true
    const { flagged } = rowGuards.judge(dataset, [...before, ...judged])
    return flagged.some(flag => faulty.includes(flag.fields as Fields))
  }

  /** Counts stay whole numbers: otherwise the row would be refused for that alone. */
  const written = (value: number, fault: number) =>
    String(Number.isInteger(value) ? Math.round(fault) : fault)
  const laterBy = (days: number, { dataset, fields }: Place): Fields => {
    const column = dataset.guarded!.time
    const later = isoDay(Date.parse(fields[column]!) + days * 86_400_000)
    return { ...fields, [column]: later.slice(0, fields[column]!.length) }
  }

  /** Undefined where the fault would be none. */
  type Fault = (place: Place) => boolean | undefined
  const valued =
    (of: (value: number) => number): Fault =>
    place =>
      isFlagged(place, [{ ...place.fields, [place.column]: written(place.value, of(place.value)) }])
  const faults: [name: string, of: Fault][] = [
    ['a decimal point to the right', valued(v => v * 10)],
    ['a decimal point to the left', valued(v => v / 10)],
    ['cents for dollars', valued(v => v * 100)],
    ['dollars for cents', valued(v => v / 100)],
    ['thousands', valued(v => v * 1000)],
    ['of thousands', valued(v => v / 1000)],
    ['gallons for barrels', valued(v => v / 42)],
    ['barrels for gallons', valued(v => v * 42)],
    ['cubic metres for barrels', valued(v => v * 6.2898)],
    ['barrels for cubic metres', valued(v => v * 0.158987)],
    ['yen for dollars', valued(v => v * 151.3)],
    ['zero', valued(() => 0)],
    ['the other sign', valued(v => -v)],
    ['twice as much', valued(v => v * 2)],
    ['half as much', valued(v => v / 2)],
    [
      'the same value thirty times, of columns that move',
      place => {
        if (place.dataset.guarded!.columns[place.column]!.mayRepeat) return undefined
        const { cadence } = place.dataset.guarded!
        const days = cadence === 'daily' ? 1 : cadence === 'weekly' ? 7 : 31
        const rows = Array.from({ length: 30 }, (_, i) => laterBy(i * days, place))
        // A row in the future would be refused for that alone.
        const last = Date.parse(rows.at(-1)![place.dataset.guarded!.time]!)
        return last > now ? undefined : isFlagged(place, rows)
      },
    ],
    ['a time that has not come', place => isFlagged(place, [laterBy(50 * 366, place)])],
    [
      'a day twice, with two values',
      place => {
        const other = written(place.value, place.value * 1.02 + 1)
        return isFlagged(place, [place.fields, { ...place.fields, [place.column]: other }])
      },
    ],
  ]

  const data = needs('../shared/data')
  test.skipIf(!data.isMet).each(faults)(
    `with 500 injected faults of the kind "%s": at least 95%% are held, flagged or refused${data.why}`,
    (kind, isFound) => {
      const chance = createChance()
      const long = all.flatMap(({ dataset, lines }) =>
        lines.filter(line => line.length > 30).map(line => ({ dataset, line })),
      )
      let found = 0
      for (let i = 0; i < 500; ) {
        const { dataset, line } = long[chance(long.length)]!
        const at = 25 + chance(line.length - 25)
        const fields = line[at]!.fields as Fields
        const columns = Object.keys(dataset.guarded!.columns).filter(column => fields[column])
        const column = columns[chance(columns.length)]!
        const before = line.slice(Math.max(0, at - learntRows), at)
        const is = isFound({ dataset, before, fields, column, value: Number(fields[column]) })
        if (is === undefined) continue
        i += 1
        if (is) found += 1
      }
      if (process.env.TABLE) console.log(`| ${kind} | ${(found / 5).toFixed(1)} % |`)
      expect(found / 500).toBeGreaterThanOrEqual(0.95)
    },
  )
})
