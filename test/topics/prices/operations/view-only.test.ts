import { expect, test } from 'bun:test'
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
  expect(await passedOn(codes)).toEqual([1, 1, 1, 1])
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
