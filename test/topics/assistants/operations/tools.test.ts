import { expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

const instance = openTestInstance()
const token = instance.key('professional')
instance.record('DUTCH_TTF_EUR', [31.2, 31.55, 31.901], startAt, dayMs)
instance.record('DUTCH_TTF_EUR', [20], startAt - 400 * dayMs, dayMs)
instance.record('BRENT_CRUDE_USD', [60], startAt, dayMs)

/** The result of a tool, called over HTTP. */
async function call<T>(name: string, args: object): Promise<T> {
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  }
  const accept = { accept: 'application/json, text/event-stream' }
  const answer = await instance.send('POST', '/mcp', message, token, accept)
  const { result } = (await answer.json()) as {
    result: { isError?: boolean; content: { text: string }[] }
  }
  const { text } = result.content[0]!
  expect(result.isError ?? false, text).toBe(false)
  return JSON.parse(text) as T
}

test.each(['Dutch gas', 'gas ttf', 'TTF', 'dutch_ttf_eur'])(
  'a code is found by the words of its names, in any order: %s',
  async text => {
    const { codes } = await call<{ codes: { code: string }[] }>('search_codes', { text })
    expect(codes.map(({ code }) => code)).toEqual(['DUTCH_TTF_EUR'])
  },
)

test('a query in groups covers the whole history, and one without groups a month, with rounded means', async () => {
  interface Queried {
    results: { from: string; bars: number; groups: { group: string; mean: number }[] }[]
  }
  const codes = ['DUTCH_TTF_EUR']
  const byYear = await call<Queried>('query_prices', { codes, group_by: 'year' })
  expect(byYear.results[0]!.bars).toBe(4)
  expect(byYear.results[0]!.groups.map(({ mean }) => mean)).toEqual([20, 31.55033])
  const month = await call<Queried>('query_prices', { codes })
  expect(month.results[0]!.bars).toBe(3)
})

test('the formulas of the account are found and read', async () => {
  const formula = {
    code: 'MY_SPREAD',
    name: 'Our spread',
    formula: 'BRENT_CRUDE_USD * 2',
    unit: 'barrel',
    currency: 'USD',
  }
  expect((await instance.send('POST', '/v1/formulas', formula, token)).status).toBe(201)
  const { paths } = await call<{ paths: { path: string }[] }>('find_paths', { text: 'my formulas' })
  expect(paths[0]!.path).toStartWith('/v1/formulas')
  expect(paths.map(({ path }) => path)).toContain('/v1/formulas')
  const { data } = await call<{ data: { formulas: object[] } }>('read', { path: '/v1/formulas' })
  expect(data.formulas).toMatchObject([formula])
})
