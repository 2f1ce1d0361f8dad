import { minuteMs } from '../../../lib/time/instant.ts'
import { numberFormat, zone } from '../person/preferences.ts'
import { now } from '../requests/boot.ts'
import { localText, numberText, spanText, zoneText } from './writing.ts'

export { decimalsOf } from '../../../topics/prices/math/format.ts'

/** A number with the digits its series has, as the person wants numbers. */
export const number = (value: number, decimals?: number): string =>
  numberText(value, decimals, numberFormat.value)

/** The same of a cell: a column writes its values alone. */
export const figure = (value: number): string => number(value)

/** Writes the values of a column as `text` does, and a dash where there is none. */
export const orDash =
  (text: (value: number) => string) =>
  (value: number | null | undefined): string =>
    value == null ? '–' : text(value)

/** `once`, `12 times`. */
export const timesText = (count: number): string =>
  count === 1 ? 'once' : `${number(count)} times`

/** With a sign, and a real minus; what rounds to zero has none. */
export function signed(value: number, decimals = 2): string {
  const text = number(Math.abs(value), decimals)
  if (!/[1-9]/.test(text)) return text
  return `${value > 0 ? '+' : '−'}${text}`
}

/** An ISO instant on the clock of the person; a day stays itself. */
const local = (iso: string): string => {
  const at = iso.length > 10 ? Date.parse(iso) : Number.NaN
  return Number.isNaN(at) ? iso : localText(at, zone.value)
}

/** `2026-11-22`, the day of an instant for the person. */
export const day = (iso: string | null | undefined): string => (iso ? local(iso).slice(0, 10) : '–')

/** `2026-11-22`, a day of data: the same in every time zone. */
export const dataDay = (iso: string | null | undefined): string => (iso ? iso.slice(0, 10) : '–')

/** So much of an instant on the clock of the person, with the name of their zone. */
function moment(iso: string | null | undefined, charactersMax: number): string {
  if (!iso) return '–'
  const text = local(iso)
  return text === iso
    ? text
    : `${text.slice(0, charactersMax)} ${zoneText(Date.parse(iso), zone.value)}`
}

/** `2026-11-22 18:55 UTC`. */
export const instant = (iso: string | null | undefined): string => moment(iso, 16)

/** `2026-11-22 18:55:03 UTC`. */
export const second = (iso: string | null | undefined): string => moment(iso, 19)

/** When a value was observed: that of midnight, UTC, is of a whole day. */
export const observed = (iso: string): string =>
  /T00:00(:00(\.0+)?)?Z$/.test(iso) ? dataDay(iso) : instant(iso)

/** How long ago something was, in one unit. */
export function ago(iso: string | null | undefined): string {
  if (!iso) return 'never'
  const passedMs = now() - Date.parse(iso)
  if (passedMs < -minuteMs) return `in ${spanText(-passedMs)}`
  if (passedMs < minuteMs) return 'just now'
  return `${spanText(passedMs)} ago`
}

/** The same of a moment that need not be. */
export const agoOrDash = (iso: string | null | undefined): string => (iso ? ago(iso) : '–')

/** The same of a newest value: one of a period that lies ahead was published by now. */
export const agoOfNewest = (iso: string | null | undefined): string =>
  iso && Date.parse(iso) > now() ? 'just now' : ago(iso)

/** Words that are written in capitals. */
const initials: ReadonlySet<string> = new Set(
  'api cas dj doe duc eia fx hfo iea lng ltl mape mgo ngl padd rmse sms spr us vlsfo'.split(' '),
)

const shortWords: Readonly<Record<string, string>> = {
  bpd: 'bbl/d',
  avg: 'average',
  ifo380: 'IFO 380',
  mbpd: 'million bbl/d',
  mcf: 'Mcf',
  mcfd: 'Mcf/d',
}

const phrases: Readonly<Record<string, string>> = {
  email: 'E-mail',
  fixture: 'Generated data',
  intraday_2_5m: 'Every 2.5 minutes',
  intraday_5m: 'Every 5 minutes',
  read_only: 'Read-only',
  sms: 'Text message',
  supply_demand: 'Supply and demand',
  timezone: 'Time zone',
}

/** `crude_oil` as people write it. */
export const words = (name: string): string => {
  const text = (phrases[name] ?? name)
    .split('_')
    .map(word => shortWords[word] ?? (initials.has(word) ? word.toUpperCase() : word))
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const unitWords: Readonly<Record<string, string>> = {
  barrel: 'bbl',
  barrels: 'bbl',
  bcf: 'Bcf',
  bcf_per_day: 'Bcf/d',
  cubic_metre: 'm³',
  gallon: 'gal',
  gigajoule: 'GJ',
  kilogram: 'kg',
  litre: 'L',
  metric_kilotons: 'kt',
  metric_ton: 't',
  metric_ton_co2: 't CO₂',
  million_barrels: 'million bbl',
  million_barrels_per_day: 'million bbl/d',
  MT: 't',
  mmbtu: 'MMBtu',
  mw: 'MW',
  mwh: 'MWh',
  percent: '%',
  pound: 'lb',
  rate: '',
  troy_ounce: 'oz t',
  twh: 'TWh',
}

/** Units of the hundredth part of a currency, which stand without it. */
const hundredths: Readonly<Record<string, string>> = {
  pence_per_litre: 'p/L',
  pence_per_therm: 'p/therm',
}

/** A formula with the signs that people write. */
export const formulaText = (formula: string): string =>
  formula.replaceAll(' x ', ' × ').replaceAll(' - ', ' − ')

/** The source of a catalogue entry whose values were recorded without one: it names no publisher. */
const unnamedSource = 'market_reporting'

/** The publisher of values as people write it. */
export const publisherText = (source: string, isGenerated: boolean): string =>
  source === unnamedSource ? (isGenerated ? 'Generated' : 'Not named') : words(source)

/** `EIA/crude_oil`, a publisher and what it publishes, as people write it. */
export function sourceText(source: string): string {
  const [publisher = '', subject] = source.split('/')
  if (!subject) return words(publisher)
  const text = words(subject)
  if (publisher === unnamedSource) return text
  return `${words(publisher)}, ${text === text.toUpperCase() ? text : text.toLowerCase()}`
}

/** `barrel` after a currency: `USD/bbl`. */
export function unitOf(currency: string | null, unit: string): string {
  if (hundredths[unit]) return hundredths[unit]
  const word = unit
    .split('/')
    .map(part => unitWords[part] ?? part.replaceAll('_', ' '))
    .join('/')
  return [currency, word].filter(Boolean).join('/')
}
