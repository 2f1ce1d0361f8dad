/** Instants are Unix milliseconds; days are `YYYY-MM-DD` text, always UTC. */

export const secondMs = 1000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/**
 * Whether work that was last done at an instant is due again. An instant in the future was set by a
 * wrong clock: without this, the work would wait until the clock reaches it.
 */
export const isDueAgain = (doneAt: number | undefined, everyMs: number, now: number): boolean =>
  doneAt === undefined || doneAt > now || now - doneAt >= everyMs

const instantPattern =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})$/

/** The number of so many digits from a place of a text on; NaN where one of them is none. */
function digitsAt(text: string, from: number, count: number): number {
  let number = 0
  for (let at = from; at < from + count; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    number = number * 10 + digit
  }
  return number
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const daysIn = (year: number, month: number): number =>
  month === 2 && isLeap(year) ? 29 : (monthDays[month - 1] ?? 0)

/** Midnight UTC of `YYYY-MM-DD`; undefined for a day that no calendar has, such as 2026-02-30. */
export function parseDay(text: string): number | undefined {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-') return undefined
  const [year, month, day] = [digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2)]
  // Written without a pattern because millions of days are parsed; `Date.UTC` maps years below 100
  // to 1900 to 1999.
  if (!(year >= 100 && day >= 1 && day <= daysIn(year, month))) return undefined
  return Date.UTC(year, month - 1, day)
}

/**
 * An ISO 8601 instant with a zone (`Z` or an offset); undefined without one, or when a field is out
 * of range.
 */
export function parseInstant(text: string): number | undefined {
  return utcInstant(text) ?? zonedInstant(text)
}

/** As most times are written, `2026-11-21T19:30:00Z` with or without three decimals; undefined for others. */
function utcInstant(text: string): number | undefined {
  const isWhole = text.length === 20
  if (!(isWhole || (text.length === 24 && text[19] === '.'))) return undefined
  if (text[10] !== 'T' || text[13] !== ':' || text[16] !== ':' || !text.endsWith('Z'))
    return undefined
  const day = parseDay(text.slice(0, 10))
  const [hour, minute, second] = [
    digitsAt(text, 11, 2),
    digitsAt(text, 14, 2),
    digitsAt(text, 17, 2),
  ]
  const ms = isWhole ? 0 : digitsAt(text, 20, 3)
  if (day === undefined || !(hour <= 23 && minute <= 59 && second <= 59 && ms >= 0))
    return undefined
  return day + hour * hourMs + minute * minuteMs + second * secondMs + ms
}

function zonedInstant(text: string): number | undefined {
  const m = instantPattern.exec(text)
  if (!m) return undefined
  const day = parseDay(m[1]!)
  if (day === undefined) return undefined
  const [hour, minute, second] = [Number(m[2]), Number(m[3]), Number(m[4] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const ms = m[5] ? Math.floor(Number(`0.${m[5]}`) * 1000) : 0
  const offset = offsetMs(m[6]!)
  return offset === undefined
    ? undefined
    : day + hour * hourMs + minute * minuteMs + second * secondMs + ms - offset
}

function offsetMs(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(-2))
  if (hours > 23 || minutes > 59) return undefined
  return (zone[0] === '-' ? -1 : 1) * (hours * hourMs + minutes * minuteMs)
}

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
const minuteTexts = Array.from(
  { length: 24 * 60 },
  (_, n) => `T${twoDigits[Math.floor(n / 60)]}:${twoDigits[n % 60]}:00Z`,
)

/** `2026-11-21T19:30:00Z`; milliseconds only when there are any. */
export function isoInstant(at: number): string {
  const ms = at - startOfDay(at)
  // Most prices are of a whole minute: two texts that are there already.
  if (ms % minuteMs === 0) return isoDay(at) + minuteTexts[ms / minuteMs]
  const fraction = ms % secondMs
  const time = `${twoDigits[Math.floor(ms / hourMs)]}:${twoDigits[Math.floor(ms / minuteMs) % 60]}:${twoDigits[Math.floor(ms / secondMs) % 60]}`
  return `${isoDay(at)}T${time}${fraction === 0 ? '' : `.${String(fraction).padStart(3, '0')}`}Z`
}

/** The same, always with milliseconds: texts of one length, whose order is that of the times. */
export const isoMillis = (at: number): string => new Date(at).toISOString()

/** The same of an instant that is not known or has not come: null. */
export const isoOrNull = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : isoInstant(at)

let lastDay = { startsAt: Number.NaN, text: '' }

/** `YYYY-MM-DD`. The last day is cached: nearly every caller needs today, and on every request. */
export function isoDay(at: number): string {
  const startsAt = startOfDay(at)
  if (lastDay.startsAt !== startsAt) lastDay = { startsAt, text: dayText(startsAt) }
  return lastDay.text
}

function dayText(startsAt: number): string {
  const date = new Date(startsAt)
  const year = date.getUTCFullYear()
  if (!(year >= 1000 && year <= 9999)) return date.toISOString().slice(0, 10)
  return `${year}-${twoDigits[date.getUTCMonth() + 1]}-${twoDigits[date.getUTCDate()]}`
}

/** The form that e-mails, RSS feeds and headers of HTTP use: `Mon, 23 Nov 2026 02:00:00 GMT`. */
export const mailInstant = (at: number): string => new Date(at).toUTCString()

export const startOfDay = (at: number): number => Math.floor(at / dayMs) * dayMs
export const startOfHour = (at: number): number => Math.floor(at / hourMs) * hourMs

/** The Monday on or before `at`, midnight UTC. */
export function startOfWeek(at: number): number {
  const day = Math.floor(at / dayMs)
  return (day - (weekdayOf(at) - 1)) * dayMs
}

export function startOfMonth(at: number): number {
  const d = new Date(at)
  return Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), 1)
}

export function startOfQuarter(at: number): number {
  const d = new Date(at)
  return Date.UTC(d.getUTCFullYear(), d.getUTCMonth() - (d.getUTCMonth() % 3), 1)
}

export const startOfYear = (at: number): number => Date.UTC(new Date(at).getUTCFullYear(), 0, 1)

export function startOfNextMonth(at: number): number {
  const d = new Date(at)
  return Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 1)
}

/** The first day of the span of so many months that a time is in, counted from January. */
export function startOfMonths(at: number, months: number): number {
  const date = new Date(startOfDay(at))
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth()
  const passed = months < 12 ? date.getUTCMonth() % months : month % months
  return date.setUTCMonth(date.getUTCMonth() - passed, 1)
}

/** The same day and time so many months later, or the last day of that month. */
export function addMonths(at: number, months: number): number {
  const date = new Date(at)
  const passed = date.getUTCDate() - 1
  const first = date.setUTCMonth(date.getUTCMonth() + months, 1)
  return Math.min(first + passed * dayMs, date.setUTCMonth(date.getUTCMonth() + 1, 0))
}

/** 1 = Monday … 7 = Sunday, UTC. */
export const weekdayOf = (at: number): number => ((((Math.floor(at / dayMs) + 3) % 7) + 7) % 7) + 1
