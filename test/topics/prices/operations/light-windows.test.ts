import { expect, test } from 'bun:test'
import { handingOver } from '../../../support/instance/handed-over.ts'
import { openTestInstance } from '../../../support/instance/instance.ts'

/** Which of these requests are handed to a query worker; here one that takes none of them. */
async function handedOver(paths: readonly string[]): Promise<string[]> {
  const instance = openTestInstance()
  const authorization = `Token ${instance.key()}`
  const { app, asked } = handingOver(instance)
  const handed: string[] = []
  for (const path of paths) {
    const before = asked.length
    const answer = await app.fetch(
      new Request(`http://localhost/v1/prices/${path}`, { headers: { authorization } }),
    )
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    if (asked.length > before) handed.push(path)
  }
  return handed
}

test('a page of up to 200 stored rows is served without a query worker whatever its range', async () => {
  const paths = [
    'historical?by_code=WTI_USD&interval=raw&start_date=2026-11-01',
    'historical?by_code=WTI_USD,BRENT_CRUDE_USD&interval=day&start_date=2020-01-01',
    'past_day?by_code=WTI_USD',
    'past_week?by_code=WTI_USD&interval=hour&page=2',
    'past_year?by_code=WTI_USD&format=csv&per_page=200',
    'past_month?by_code=WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD,GOLD_USD&per_page=50',
  ]
  expect(await handedOver(paths)).toEqual([])
})

test('a query worker makes longer pages, bars of days, values of the past and other currencies', async () => {
  const paths = [
    'past_year?by_code=WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD&interval=1d',
    'past_year?by_code=WTI_USD&format=csv&per_page=201',
    'past_year?by_code=WTI_USD&interval=weekly',
    'past_year?by_code=WTI_USD&interval=month&per_page=1',
    'past_month?by_code=WTI_USD&interval=raw&as_of=2026-11-01T12:00:00Z',
    'past_month?by_code=WTI_USD&currency=USD',
  ]
  expect(await handedOver(paths)).toEqual(paths)
})
