import { expect, test } from 'bun:test'
import { createMonthlyForecastJob } from '../../../src/instance/jobs/monthly-forecasts.ts'
import { dayMs, hourMs, parseInstant } from '../../../src/lib/time/instant.ts'
import { forecastPublishedAt } from '../../../src/topics/fundamentals/math/monthly-forecast.ts'
import { createMonthlyForecasts } from '../../../src/topics/fundamentals/service/monthly-forecasts.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const publications = (h: ReturnType<typeof openTestInstance>) =>
  h.services.monthlyForecasts.publications(h.services.catalogue.named('WTI_USD')!.id).sort()

/** A year of closes up to now, and the job over them. */
function setUp() {
  const h = openTestInstance()
  const job = createMonthlyForecastJob({
    ...h.services,
    forecasts: createMonthlyForecasts(h.services.monthlyForecasts),
    clock: h.clock,
  })
  const fill = () =>
    h.record(
      'WTI_USD',
      Array.from({ length: 365 }, (_, n) => 70 + Math.sin(n / 20)),
      h.clock.now(),
      dayMs,
    )
  return { h, job, fill }
}

test('forecasts are made on the first of the month at 06:00 UTC, and not before', async () => {
  const { h, job, fill } = setUp()
  fill()
  await job.pass()
  expect(publications(h).at(-1)).toBe(forecastPublishedAt('2026-11'))
  h.clock.set(parseInstant('2026-12-01T05:59:59Z')!)
  await job.pass()
  expect(publications(h).at(-1)).toBe(forecastPublishedAt('2026-11'))
  h.clock.set(parseInstant('2026-12-01T06:00:00Z')!)
  await job.pass()
  expect(publications(h).at(-1)).toBe(forecastPublishedAt('2026-12'))
})

test('a clock that is moved far stops at each publication', () => {
  const { job } = setUp()
  expect(job.nextStop!(parseInstant('2026-11-20T15:00:00Z')!)).toBe(forecastPublishedAt('2026-12'))
  expect(job.nextStop!(forecastPublishedAt('2026-12'))).toBe(forecastPublishedAt('2027-01'))
})

test('a code whose closes come in later is forecast within an hour', async () => {
  const { h, job, fill } = setUp()
  await job.pass()
  expect(publications(h)).toEqual([])
  fill()
  h.clock.advance(hourMs)
  await job.pass()
  expect(publications(h).length).toBeGreaterThan(6)
})

test('a pass again makes nothing twice', async () => {
  const { h, job, fill } = setUp()
  fill()
  await job.pass()
  const filter = { seriesIds: undefined, fromMonth: '0000-01', toMonth: '9999-12' }
  const before = h.services.monthlyForecasts.page(filter, 10_000, 0)
  h.clock.advance(2 * hourMs)
  await job.pass()
  expect(h.services.monthlyForecasts.page(filter, 10_000, 0)).toEqual(before)
})
