import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import {
  deliveryTerms,
  resolutions,
  sinceEver,
} from '../../../../src/topics/delivery/math/terms.ts'
import { needs } from '../../../support/needs.ts'
import { pandasPython } from '../../../support/requirements.ts'
import { withDelivery } from '../../../support/topics/delivery.ts'

const zones = [
  ['Europe/Berlin', '00:00'],
  ['Europe/London', '00:00'],
  ['Europe/Athens', '00:00'],
  ['Europe/Lisbon', '00:00'],
  ['Europe/Berlin', '06:00'],
  ['Europe/London', '05:00'],
  ['Europe/Helsinki', '00:00'],
  ['Atlantic/Azores', '00:00'],
] as const
const dates = ['2026-03-28', '2026-03-29', '2026-03-30', '2026-10-24', '2026-10-25', '2026-10-26']

/** Means of values, weighted by the time until the next one, by the local date of their market. */
const program = `
import sys, json, pandas as pd
rows = pd.read_csv(sys.argv[1])
rows["start"] = pd.to_datetime(rows["start"], utc=True)
rows["end"] = pd.to_datetime(rows["end"], utc=True)
means = {}
for (code, zone, day_starts), own in rows.groupby(["code", "zone", "day_starts"]):
    local = own["start"].dt.tz_convert(zone).dt.tz_localize(None)
    date = (local - pd.Timedelta(day_starts + ":00")).dt.strftime("%Y-%m-%d")
    weight = (own["end"] - own["start"]).dt.total_seconds()
    total = (own["price"] * weight).groupby(date).sum() / weight.groupby(date).sum()
    means[code] = {
        day: {"mean": mean, "count": int((date == day).sum()), "hours": float(weight[date == day].sum() / 3600)}
        for day, mean in total.items()
    }
print(json.dumps(means))
`

interface Day {
  date: string
  base: number
  count: number
  hours: number
  complete: boolean
}

needs('test:full', 'pandas alone').test(
  'pandas has the same means of the days around 29 March and 25 October 2026 in eight zones and every resolution',
  async () => {
    const { clock, admin, get, key } = withDelivery()
    clock.set(Date.UTC(2026, 10, 1))
    const lines = ['code,zone,day_starts,start,end,price']
    const codes: string[] = []
    for (const [i, [zone, day_starts]] of zones.entries())
      for (const resolution of resolutions) {
        const code = `DESK_POWER_${i}_${resolution}_EUR`
        codes.push(code)
        const series = { code, name: code, category: 'power', unit: 'mwh', currency: 'EUR' }
        const terms = { time: 'delivery', zone, day_starts, resolution }
        expect((await admin('POST', '/series', { ...series, ...terms })).status).toBe(201)
        const own = { zone, dayStarts: day_starts, resolutions: sinceEver(resolution) }
        const days = deliveryTerms({ time: 'delivery', ...own })!
        for (const date of dates) {
          const periods = periodsOf(days, dayOfDate(days, date)).map(({ start, end }, at) => ({
            start: isoInstant(start),
            end: isoInstant(end),
            price: Math.round(9000 * Math.sin(at * 1.7 + i)) / 100,
          }))
          const observations = periods.map(({ start, price }) => ({
            code,
            observed_at: start,
            price,
          }))
          const { status, body } = await admin('POST', '/observations', { observations })
          expect({ code, date, status, held: body.data?.held }).toEqual({
            code,
            date,
            status: 200,
            held: 0,
          })
          for (const { start, end, price } of periods)
            lines.push([code, zone, day_starts, start, end, price].join(','))
        }
      }
    const folder = mkdtempSync(join(tmpdir(), 'wellhead-pandas-'))
    const file = join(folder, 'values.csv')
    writeFileSync(file, lines.join('\n'))
    const { stdout, stderr } = Bun.spawnSync([pandasPython, '-c', program, file])
    rmSync(folder, { recursive: true })
    expect(stderr.toString()).toBe('')
    const means = JSON.parse(stdout.toString()) as Record<
      string,
      Record<string, { mean: number; count: number; hours: number }>
    >
    let compared = 0
    for (const code of codes) {
      const token = key()
      const read = async (path: string) =>
        ((await (await get(path, token)).json()) as { data: never }).data
      for (const [start, end] of [
        [dates[0], dates[2]],
        [dates[3], dates[5]],
      ]) {
        const range = `start=${start}&end=${end}`
        const { days } = (await read(`/v1/delivery/${code}/days?${range}`)) as { days: Day[] }
        const { prices } = (await read(
          `/v1/prices/historical?code=${code}&interval=day&day=market&precision=full&start_date=${start}&end_date=${end}`,
        )) as { prices: { bar?: { average: number }; average?: number }[] }
        expect({ days: days.length, prices: prices.length }, code).toEqual({ days: 3, prices: 3 })
        for (const [i, day] of days.entries()) {
          const { mean, count, hours } = means[code]![day.date]!
          expect({
            code,
            date: day.date,
            count: day.count,
            hours: day.hours,
            complete: day.complete,
          }).toEqual({ code, date: day.date, count, hours, complete: true })
          const row = prices[days.length - 1 - i]!
          for (const own of [day.base, row.bar?.average ?? row.average!])
            expect(Math.abs(own - mean)).toBeLessThan(1e-9)
          compared += 1
        }
      }
    }
    expect(compared).toBe(8 * 5 * 6)
  },
)
