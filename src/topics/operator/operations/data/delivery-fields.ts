import { t } from '../../../../http/answer/schema.ts'
import {
  checked,
  choice,
  type Field,
  field,
  flag,
  listOf,
  text,
} from '../../../../http/input/body-schema.ts'
import type { Form } from '../../../../http/input/form.ts'
import { addDuration } from '../../../../lib/time/duration.ts'
import { dayMs, parseDay } from '../../../../lib/time/instant.ts'
import { minuteOf, zoneName } from '../../../../lib/time/zone.ts'
import {
  horizonMax,
  type ResolutionFrom,
  resolutions,
  weekdayNames,
} from '../../../delivery/math/terms.ts'

const resolutionsMax = 20

export const timeOfDay = (description: string, example: string): Field<string> =>
  checked(text(5, { description, examples: [example] }), value =>
    minuteOf(value) === undefined ? 'must be a time of day HH:MM.' : undefined,
  )

export const timeZone = (description: string, example: string): Field<string> =>
  field(t.string(description, example), (form, name) => {
    const value = form.text(name, 60)
    if (value === undefined) return undefined
    return zoneName(value) ?? form.fault(name, `must be an IANA time zone, such as ${example}.`)
  })

function horizonFault(value: string): string | undefined {
  const end = /^P[\dDTHM]+$/.test(value) ? addDuration(0, value) : undefined
  return end !== undefined && end > 0 && end <= horizonMax
    ? undefined
    : `must be an ISO 8601 duration up to P${horizonMax / dayMs}D, such as P2D.`
}

function peakHoursFault(value: string): string | undefined {
  const [from, to, more] = value.split('-').map(time => (time === '24:00' ? 1440 : minuteOf(time)))
  return from !== undefined && to !== undefined && more === undefined && from < to
    ? undefined
    : 'must be two times of day HH:MM-HH:MM, the earlier first.'
}

const resolutionLine = t.Object({
  from: t.date('First market day.', '2025-10-01'),
  resolution: t.oneOf(resolutions),
})

function readResolutions(form: Form, name: string): ResolutionFrom[] | undefined {
  const value = form.value(name)
  if (value === undefined) return undefined
  if (form.has('resolution') && !form.isNull('resolution'))
    return form.fault(name, 'must be absent next to resolution.')
  if (!Array.isArray(value) || value.length === 0 || value.length > resolutionsMax)
    return form.fault(name, `must be a list of 1 to ${resolutionsMax} {from, resolution}.`)
  const items = form.items(name)
  const all = value.map((_, i) => {
    const item = items.part(String(i))
    const from = item.text('from', 10)
    if (from === undefined || parseDay(from) === undefined)
      return item.fault('from', 'must be a day YYYY-MM-DD.')
    const resolution = item.choice('resolution', resolutions)
    return resolution === undefined
      ? item.has('resolution')
        ? undefined
        : item.fault('resolution', 'is required.')
      : { from, resolution }
  })
  if (!all.every(line => line !== undefined)) return undefined
  return all.every((line, i) => i === 0 || line.from > all[i - 1]!.from)
    ? all
    : form.fault(name, 'must be in the order of from, each day once.')
}

/** The attributes of a series of delivery periods. */
export const deliveryFields = {
  time: choice(['observed', 'delivery'], {
    description:
      '`observed` (default): a value is of a moment. `delivery`: of a delivery period, whose start is its `observed_at`. It cannot change once the series has values.',
  }),
  resolution: choice(resolutions, {
    description: 'Length of a delivery period. Required with `delivery`.',
  }),
  resolutions: field<ResolutionFrom[]>(
    t.Array(resolutionLine, {
      maxItems: resolutionsMax,
      description: 'Instead of `resolution`: the resolution from each market day on.',
    }),
    readResolutions,
  ),
  zone: timeZone('IANA time zone of the market day. Required with `delivery`.', 'Europe/Berlin'),
  day_starts: timeOfDay(
    'Local time at which the market day begins; the gas day at 06:00 or 05:00. Default: 00:00.',
    '06:00',
  ),
  horizon: checked(
    text(20, {
      description: 'How far after now a period may begin. Default: P2D.',
      examples: ['P2D'],
    }),
    horizonFault,
  ),
  gate_closes: timeOfDay('When the auction closes, in `zone` on the day before delivery.', '12:00'),
  publishes_at: timeOfDay(
    'When prices are published, in `zone` on the day before delivery. Absent: with delivery.',
    '12:45',
  ),
  peak_hours: checked(
    text(11, {
      description: 'Peak hours in `zone`. Default: 08:00-20:00.',
      examples: ['08:00-20:00'],
    }),
    peakHoursFault,
  ),
  peak_days: listOf(
    t.String({ examples: ['mon'] }),
    { nouns: 'days of the week', item: weekdayNames },
    7,
    day => weekdayNames.find(name => name === day.toLowerCase()),
    { description: 'Days with peak hours. Default: Monday to Friday.', examples: [['mon', 'tue']] },
  ),
  peak_holidays: flag({
    description: 'True: closed days of `calendar` have no peak. Default: false.',
  }),
}
