import { beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../src/http/openapi/parameters.ts'
import { type People, people } from '../support/topics/people.ts'

// A spreadsheet runs a cell that begins like a formula: no table that this service makes has one.
const formula = /^[=+\-@\t\r＝＋－＠]/
const name = '=HYPERLINK("http://evil.example","Settle")'
const source = '=cmd|calc'
const code = 'HOSTILE_USD'

let all: People
let token: string
let operator: string
let document: OpenApiDocument

beforeAll(async () => {
  all = people()
  token = `Token ${all.person('ann').key}`
  operator = `Bearer ${all.services.adminTokens.rotate()}`
  const made = await all.ask('POST', '/admin/v1/series', operator, {
    code,
    name,
    category: 'refined_products',
    unit: 'barrel',
    currency: 'USD',
    source,
    description: name,
    attribution: name,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const observations = ['2026-11-18', '2026-11-19', '2026-11-20'].map((day, n) => ({
    code,
    observed_at: day,
    price: -50.5 - n / 10,
    source,
  }))
  const pushed = await all.ask('POST', '/admin/v1/observations', operator, { observations })
  expect(pushed.status).toBe(200)
  all.record('VLSFO_SGSIN_USD', [600, 610], all.clock.now(), 86_400_000)
  document = withParametersInPlace(
    (await (await all.get('/openapi.json')).json()) as OpenApiDocument,
  )
})

/** Cells of a CSV text, with the quotes taken off. */
function cellsOf(text: string): string[] {
  const cells: string[] = []
  for (const [, quoted, plain] of text.matchAll(/(?:^|,|\n)(?:"((?:[^"]|"")*)"|([^,\n]*))/g))
    cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
  return cells
}

const isNumber = (cell: string) => cell !== '' && Number.isFinite(Number(cell))

/** Every operation whose description offers CSV. */
const tables = () =>
  Object.entries(document.paths).flatMap(([path, { get }]) => {
    const isTable = JSON.stringify(get?.responses ?? {}).includes('"text/csv"')
    const isByFormat = (get?.parameters ?? []).some(
      ({ name, schema }) => name === 'format' && JSON.stringify(schema).includes('"csv"'),
    )
    // An alias is answered by the handler of the path that it is another name of.
    return (isTable || isByFormat) && !get?.deprecated ? [path] : []
  })

/** The path with the day of the rows, and else with the examples of its parameters. */
const placed = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'date') return '2026-11-19'
    const parameter = document.paths[path]!.get!.parameters!.find(one => one.name === name)
    return encodeURIComponent(String(parameter!.example))
  })

/** The parameters that a path requires, with their examples. */
const required = (path: string): Record<string, string> =>
  Object.fromEntries(
    (document.paths[path]!.get!.parameters ?? [])
      .filter(
        ({ name, in: place, required }) => place === 'query' && required && !/codes?$/.test(name),
      )
      .map(({ name, example }) => [name, String(example)]),
  )

describe('no cell of a table begins like a formula', () => {
  test('in any answer that is CSV', async () => {
    const paths = tables()
    expect(paths.length).toBeGreaterThanOrEqual(9)
    const empty: string[] = []
    let hostile = 0
    for (const path of paths) {
      const isOperator = path.startsWith('/admin/')
      const query = new URLSearchParams({
        ...required(path),
        format: 'csv',
        codes: code,
        from: '2026-11-01',
        to: '2026-11-21',
        ...(isOperator ? { history: 'true' } : { by_code: code, columns: '' }),
      })
      const address = `${placed(path)}?${query}`
      const answer = await all.ask('GET', address, isOperator ? operator : token, undefined, {
        accept: 'text/csv',
      })
      // Pages about other things than prices have no rows of this code.
      if (answer.status === 404) {
        expect(['DATA_NOT_AVAILABLE', 'NOT_FOUND']).toContain(answer.headers.get('x-error-code')!)
        empty.push(path)
        continue
      }
      expect(answer.status, `${address}: ${JSON.stringify(answer.body)}`).toBe(200)
      expect(answer.headers.get('content-type'), address).toStartWith('text/csv')
      const text = String(answer.body.text)
      for (const cell of cellsOf(text))
        if (!isNumber(cell)) expect(cell, address).not.toMatch(formula)
      if (text.includes("'=")) hostile += 1
    }
    expect(hostile).toBeGreaterThanOrEqual(7)
    expect(paths.length - empty.length, `without rows: ${empty.join(', ')}`).toBeGreaterThan(50)
  })

  test('in any answer for a sheet', async () => {
    for (const path of [
      `/v1/prices/excel-latest?codes=${code}&by_code=${code}`,
      `/v1/prices/excel-latest.xml?codes=${code}&by_code=${code}`,
      `/v1/excel/run?path=/v1/prices/past_week&by_code=${code}`,
    ]) {
      const answer = await all.ask('GET', path, token)
      const text = JSON.stringify(answer.body)
      expect(answer.status, path).toBe(200)
      expect(text, path).toMatch(/(?:'|&apos;)=/)
      expect(text).not.toMatch(/[">]=(?:HYPERLINK|cmd)/)
    }
  })
})
