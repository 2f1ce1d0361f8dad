import { expect, test } from 'bun:test'
import { viewFeeds } from '../../../../src/feeds/publishers/publishers.ts'
import { dayMs, hourMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

/** An instance whose operator writes through the API; what it and a reader are passed on. */
function withOperator() {
  const instance = openTestInstance()
  const token = instance.key()
  const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
  const operate = async (method: string, path: string, body?: unknown) => {
    instance.clock.advance(1_000)
    const url = `/admin/v1/${path}`
    const answer = body
      ? await instance.send(method, url, body, undefined, { authorization })
      : await instance.get(url, undefined, { authorization })
    const text = await answer.text()
    expect(answer.status, text).toBeLessThan(300)
    return text
  }
  /** How many of the codes are in exports, changes and the operator's exports. */
  const passedOn = async (codes: string) => {
    const texts = [
      await (await instance.get(`/v1/export/prices?codes=${codes}`, token)).text(),
      await (await instance.get(`/v1/changes?since=start&codes=${codes}`, token)).text(),
      await operate('GET', `export?codes=${codes}`),
      await operate('GET', `export?codes=${codes}&history=true`),
    ]
    return texts.map(text => codes.split(',').filter(code => text.includes(code)).length)
  }
  return { ...instance, token, operate, passedOn }
}

test('a shipped code that the catalogue marks for display only is in no export and no change until the operator allows it', async () => {
  const { operate, passedOn, get, token } = withOperator()
  const at = (hoursAgo: number) => isoInstant(startAt - (startAt % hourMs) - hoursAgo * hourMs)
  const codes = 'POWER_PJM_WESTERN_HUB_USD,WTI_USD'
  await operate('POST', 'observations', {
    observations: codes.split(',').map(code => ({ code, observed_at: at(3), price: 30 })),
  })
  const latest = await (await get(`/v1/prices/latest?by_code=${codes}`, token)).json()
  expect((latest as { data: unknown }).data).toMatchObject({
    prices: [{ metadata: { license_class: 'view' } }, { code: 'WTI_USD' }],
  })
  expect(await passedOn(codes)).toEqual([1, 1, 1, 1])
  await operate('PATCH', 'series/POWER_PJM_WESTERN_HUB_USD', { license_class: 'open' })
  expect(await passedOn(codes)).toEqual([2, 2, 2, 2])
  await operate('PATCH', 'series/POWER_PJM_WESTERN_HUB_USD', { license_class: null })
  // The change feed ends the code that it began, and has none of its values.
  expect(await passedOn(codes)).toEqual([1, 2, 1, 1])
  const answer = await get(`/v1/changes?since=start&codes=${codes.split(',')[0]}`, token)
  const { data } = (await answer.json()) as { data: { changes: unknown[] } }
  expect(data.changes).toEqual([
    expect.objectContaining({ kind: 'deleted', observed_at: null, value: null, previous: null }),
  ])
})

test('a series that the operator declares for display only is in answers, but in no export, no change and no vintages', async () => {
  const { operate, passedOn, get, token } = withOperator()
  const own = { category: 'natural_gas', unit: 'mwh', currency: 'EUR' }
  await operate('POST', 'series', {
    series: [
      {
        code: 'VIEW_GAS_EUR',
        name: 'For display',
        ...own,
        cadence: 'daily',
        license_class: 'view',
      },
      { code: 'OPEN_GAS_EUR', name: 'Ours', ...own, cadence: 'daily' },
    ],
  })
  const computed = { code: 'TWICE_GAS_EUR', name: 'Computed', ...own, formula: '2 * VIEW_GAS_EUR' }
  await operate('POST', 'series', computed)
  const at = isoInstant(startAt - dayMs)
  await operate('POST', 'observations', {
    source: 'Desk',
    observations: ['VIEW_GAS_EUR', 'OPEN_GAS_EUR'].map(code => ({
      code,
      observed_at: at,
      price: 30,
    })),
  })
  const codes = 'VIEW_GAS_EUR,OPEN_GAS_EUR,TWICE_GAS_EUR'
  for (const code of ['VIEW_GAS_EUR', 'TWICE_GAS_EUR'])
    expect((await get(`/v1/prices/latest?by_code=${code}`, token)).status, code).toBe(200)
  expect(await passedOn(codes)).toEqual([1, 1, 1, 1])
  await operate('PATCH', 'series/VIEW_GAS_EUR', { license_class: 'open' })
  expect(await passedOn(codes)).toEqual([3, 3, 3, 2])
})

test('an export of the past has no value that may only be displayed, and has those that such a value replaced', async () => {
  const { services, clock, get, token } = withOperator()
  const seriesId = services.catalogue.named('WTI_USD')!.id
  const feed = { name: viewFeeds[0]!, periodKind: 0 as const }
  const day = (daysAgo: number) => startAt - (startAt % dayMs) - daysAgo * dayMs
  const record = (points: Record<number, number>, isFeed: boolean) => {
    clock.advance(60_000)
    services.batches.record(
      isFeed
        ? { kind: 'feed', actor: 'feed', feed }
        : { kind: 'push', actor: 'operator', source: 'Desk' },
      Object.entries(points).map(([ago, value]) => ({ seriesId, observedAt: day(+ago), value })),
    )
    clock.advance(60_000)
    return isoInstant(clock.now())
  }
  // Below 10 is what must not be passed on.
  const first = record({ 5: 9.1, 4: 9.2, 3: 9.3 }, true)
  record({ 2: 10.1, 3: 10.2 }, false)
  const second = record({ 5: 10.3 }, false)
  record({ 2: 9.4 }, true)
  services.batches.remove({ kind: 'correction', actor: 'operator', reason: 'test' }, seriesId, [
    day(4),
  ])
  clock.advance(60_000)
  const valuesAt = async (asOf?: string, interval = 'raw') => {
    const range = `start_date=${isoInstant(day(6))}&end_date=${isoInstant(day(1))}`
    const path = `/v1/export/prices?codes=WTI_USD&interval=${interval}&${range}${asOf ? `&as_of=${asOf}` : ''}`
    const text = await (await get(path, token)).text()
    return [...new Set(text.match(/\b(?:9|10)\.\d\b/g) ?? [])].sort()
  }
  expect(await valuesAt(first)).toEqual([])
  expect(await valuesAt(second)).toEqual(['10.1', '10.2', '10.3'])
  expect(await valuesAt(second, 'day')).toEqual(['10.1', '10.2', '10.3'])
  expect(await valuesAt()).toEqual(['10.2', '10.3'])
})
