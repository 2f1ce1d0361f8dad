import { dayMs, hourMs, minuteMs } from '../../../lib/time/instant.ts'
import type { NumberFormat } from '../../../plans/display.ts'

/** The mark between thousands, and the one before decimals. */
const marks: Readonly<Record<NumberFormat, Readonly<Record<string, string>>>> = {
  decimal_point: { ',': ',', '.': '.' },
  decimal_comma: { ',': '.', '.': ',' },
  // A narrow space that no line breaks at.
  spaced_decimal_comma: { ',': '\u202f', '.': ',' },
}

/** Numbers below this one keep more digits, or nothing would be left of them. */
const smallMax = 0.001

const digits = new Map<string, Intl.NumberFormat>()

/** A formatter with so many decimals: a page writes hundreds of numbers, and making one takes long. */
function digitsFor(least: number, most: number): Intl.NumberFormat {
  const name = `${least} ${most}`
  const options = { minimumFractionDigits: least, maximumFractionDigits: most }
  const made = digits.get(name) ?? new Intl.NumberFormat('en-GB', options)
  digits.set(name, made)
  return made
}

/** A number with the digits its series has, grouped, with a real minus. */
export const numberText = (
  value: number,
  decimals: number | undefined,
  format: NumberFormat,
): string =>
  digitsFor(decimals ?? 0, decimals ?? (Math.abs(value) < smallMax ? 12 : 6))
    .format(value)
    .replace(/[,.-]/g, mark => marks[format][mark] ?? '−')

/** The time zone of a choice; UTC for a name that this browser does not know. */
export function knownZone(choice: string): string {
  // The zones of the browser take long to load, and pages begin with this.
  if (choice === 'UTC') return choice
  try {
    const timeZone =
      choice === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : choice
    new Intl.DateTimeFormat('en', { timeZone })
    return timeZone
  } catch {
    return 'UTC'
  }
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** A zone's formatter, which takes long to make. */
function clock(locale: string, zone: string, options: Intl.DateTimeFormatOptions) {
  const name = `${locale} ${zone} ${JSON.stringify(options)}`
  const made = clocks.get(name) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
  clocks.set(name, made)
  return made
}

/** `2026-11-22 18:55:03` on the clock of a zone, of a moment in Unix ms. */
export const localText = (at: number, zone: string): string =>
  zone === 'UTC'
    ? new Date(at).toISOString().slice(0, 19).replace('T', ' ')
    : clock('sv-SE', zone, { dateStyle: 'short', timeStyle: 'medium' }).format(at)

/** The clock of a zone as if it were UTC, in Unix seconds. */
export const localSeconds = (seconds: number, zone: string): number =>
  zone === 'UTC'
    ? seconds
    : Date.parse(`${localText(seconds * 1000, zone).replace(' ', 'T')}Z`) / 1000

/** Each has the abbreviations of another part of the world. */
const locales = ['en-GB', 'en-US', 'en-IN', 'en-AU', 'en-NZ', 'en-ZA']

/** `UTC`, `CEST` or, of a zone without an abbreviation, `UTC+8`, as it is at a moment. */
export function zoneText(at: number, zone: string): string {
  if (zone === 'UTC') return zone
  const named = locales.map(
    locale =>
      clock(locale, zone, { timeZoneName: 'short' })
        .formatToParts(at)
        .find(({ type }) => type === 'timeZoneName')?.value ?? '',
  )
  const offset = named[0]!.replace('GMT', 'UTC')
  return named.find(name => !/[-+−\d]/.test(name)) ?? offset
}

/** A mark on an axis of time; `part` is what begins there. */
export const axisText = (
  at: number,
  zone: string,
  part: 'year' | 'month' | 'day' | 'time',
): string =>
  part === 'time'
    ? localText(at, zone).slice(11, 16)
    : clock('en-GB', zone, { [part]: part === 'month' ? 'short' : 'numeric' }).format(at)

/** A length of time in one unit, of which only whole ones count, as the age of a price in the command. */
export function spanText(ms: number): string {
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`
  if (ms < 2 * dayMs) return `${Math.floor(ms / hourMs)} h`
  return `${Math.floor(ms / dayMs)} days`
}

export const monthNames = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** The period of a change that is longer than a day, because a code has no value in between. */
export const periodText = (cadence: string | undefined): string =>
  cadence === 'weekly' ? ' a week' : cadence === 'monthly' ? ' a month' : ''
