import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { feedNames } from '../../../src/config/keys.ts'
import { storageValue, storageVolume } from './power.ts'
import type { StandIn } from './stand-in.ts'
import { fredIds } from './world.ts'

/** The values that a publisher has for one code: the length of a period, and the values by day. */
interface Expected {
  feed: string
  code: string
  kind: string
  values: Map<string, number>
}

/** The agency's marks for a missing value. */
const blanks = new Set(['', 'NA'])

const maps = resolve(import.meta.dir, '../../../fixtures/feeds')

/**
 * The values that an instance must hold after reading every feed from the stand-in, computed from
 * the files without our parsers: by code and day. Where two feeds have the same period, the
 * preferred one's value counts; a longer period is left out where it contains a shorter one.
 * `thisMonth` is the current month by the clock of the instance.
 */
export function expectedValues(
  publishers: StandIn,
  { since, thisMonth }: { since: string; thisMonth: string },
): Map<string, Map<string, number>> {
  const byCode = new Map<string, Expected[]>()
  for (const feed of feedNames) {
    const [, ...lines] = readFileSync(join(maps, `${feed}.tsv`), 'utf8')
      .trim()
      .split('\n')
    for (const line of lines) {
      const [id = '', code = '', , factor = '1', kind = '', at = ''] = line.split('\t')
      // Other tests compare delivery periods: they are not stored by day.
      if (!/^[A-Z0-9_]+$/.test(code) || kind === 'instant') continue
      const values = new Map<string, number>()
      for (const [period, text] of entries(publishers, feed, id, at, thisMonth)) {
        const day = period.length === 7 ? `${period}-01` : period
        const end = kind === 'month' ? `${period}-31` : day
        if (!blanks.has(text) && end >= since) values.set(day, times(text, factor))
      }
      byCode.set(code, [...(byCode.get(code) ?? []), { feed, code, kind, values }])
    }
  }
  return new Map([...byCode].map(([code, all]) => [code, valuesInForce(all)]))
}

const lengths = ['day', 'week', 'month']

function valuesInForce(all: readonly Expected[]): Map<string, number> {
  const values = new Map<string, number>()
  // The shortest period first; of one length the preferred feed.
  for (const kind of lengths) {
    const finer = [...values.keys()].sort()
    for (const statement of all.filter(statement => statement.kind === kind)) {
      for (const [day, value] of statement.values) {
        if (!values.has(day) && !finer.some(other => isWithin(other, day, kind))) {
          values.set(day, value)
        }
      }
    }
  }
  return values
}

const isWithin = (other: string, day: string, kind: string): boolean => {
  if (kind === 'day') return other === day
  if (kind === 'month') return other.slice(0, 7) === day.slice(0, 7)
  const first = Temporal.PlainDate.from(day).subtract({ days: 6 }).toString()
  return other >= first && other <= day
}

/** Exactly, through a whole number. */
const times = (text: string, factor: string): number => {
  if (factor === '1') return Number(text)
  const [whole = '', fraction = ''] = factor.split('.')
  const places = fraction.length
  const [units = '', parts = ''] = text.split('.')
  const digits = BigInt(units + parts) * BigInt(whole + fraction)
  return Number(`${digits}e-${places + parts.length}`)
}

type Entries = Iterable<readonly [period: string, text: string]>

/** One publisher's values of one of its series up to today. */
function entries(
  { world, today }: StandIn,
  feed: string,
  id: string,
  at: string,
  thisMonth: string,
): Entries {
  const agency = (name: string, isOutlook = false): Entries =>
    (world.agency.get(name)?.rows ?? [])
      .filter(({ period }) => (isOutlook ? period < thisMonth : period <= today))
      .map(({ period, value }) => [period, value] as const)
  if (feed === 'eia') return agency(id, at === 'steo')
  if (feed === 'eia_bulk') {
    const name = at === 'INTL' ? id : id.split('.').slice(1, -1).join('.')
    return agency(name, at === 'STEO')
  }
  if (feed === 'fred') return agency(fredIds[id] ?? '')
  if (feed === 'ecb' || feed === 'norges_bank') {
    const days = [...world.rates].filter(([day]) => day <= today)
    return days.map(([day, rates]) => [day, crossOf(rates, id, feed)] as const)
  }
  if (feed === 'gie') {
    const stored = id.endsWith('/gasInStorage') ? storageVolume : storageValue
    const days = []
    for (let day = Date.parse('2026-01-01'); day <= Date.parse(today); day += 86_400_000)
      days.push([new Date(day).toISOString().slice(0, 10), stored(storagePlace(at), day)] as const)
    return days
  }
  if (feed === 'world_bank') {
    const [names = [], , ...months] = world.pinkSheet
    const column = names.findIndex(name => name.replace(/[\s*]+$/, '') === id)
    return months
      .filter(([month = '']) => month <= today.slice(0, 7))
      .map(cells => [cells[0]!, cells[column] ?? ''] as const)
  }
  return madeUp(feed, id, today)
}

/** For `NOK/USD` the number of kroner per dollar, from both rates in euro; to ten decimals. */
function crossOf(rates: Readonly<Record<string, string>>, id: string, feed: string): string {
  const inEuro = (currency: string | undefined) =>
    currency === undefined || currency === 'EUR' ? 1 : Number(rates[currency] ?? 'N/A')
  if (feed === 'norges_bank') {
    const base = id.split('/')[0]
    const rate = inEuro('NOK') / inEuro(base)
    return Number.isFinite(rate) ? rate.toFixed(4) : ''
  }
  const [of, to] = id.split('/')
  const rate = inEuro(of) / inEuro(to)
  if (!Number.isFinite(rate)) return ''
  return to === undefined ? rates[of!]! : rate.toFixed(10)
}

const weeks = (first: string, today: string): string[] =>
  Array.from({ length: 40 }, (_, i) =>
    Temporal.PlainDate.from(first).add({ weeks: i }).toString(),
  ).filter(day => day <= today)

const storagePlace = (at: string): string => at.split('=')[1] ?? ''

/** Publishers without a file here: the constant values that the stand-in gives them. */
function madeUp(feed: string, id: string, today: string): Entries {
  const values = (first: string, base: number) =>
    weeks(first, today).map((day, i) => [day, base + (i % 9) / 8] as const)
  if (feed === 'alberta') {
    return Array.from({ length: Number(today.slice(5, 7)) }, (_, i) => [
      `2026-${String(i + 1).padStart(2, '0')}`,
      '71.4',
    ])
  }
  if (feed === 'ec_oil_bulletin') {
    const titles = ['AT', 'DE', 'FR', 'GR', 'IT'].flatMap(country => [
      `${country}_price_with_tax_euro95`,
      `${country}_price_with_tax_diesel`,
    ])
    const place = titles.indexOf(id)
    if (place < 0) return []
    return values('2026-01-05', 1500).map(([day, value]) => [day, String(value + place)] as const)
  }
  if (feed === 'uk_road_fuel') {
    return values('2026-01-05', 130).map(([day, value]) => {
      const petrol = value.toFixed(3)
      return [day, id === 'ULSP' ? petrol : (Number(petrol) + 8.1).toFixed(2)] as const
    })
  }
  if (feed === 'eex_auctions') {
    return values('2026-01-08', 70).map(([day, value]) => [day, value.toFixed(3)] as const)
  }
  if (feed === 'lbma') {
    const [metal, currency] = id.split('/')
    const dollars = metal === 'silver' ? 60 : 4000
    return values('2026-01-05', dollars).map(
      ([day, value]) =>
        [
          day,
          { USD: value.toFixed(3), GBP: String(dollars * 0.75), EUR: '' }[currency!] ?? '',
        ] as const,
    )
  }
  return []
}
