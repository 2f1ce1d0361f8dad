import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DefaultSettings, TaskUtils } from '@microsoft/powerquery-parser'
import { XMLParser } from 'fast-xml-parser'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { withParametersInPlace } from '../../src/http/openapi/parameters.ts'
import { root, sharedInstance } from '../support/interface/packages.ts'

const folder = join(root, 'docs/spreadsheets')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

let copy: Wellhead
beforeAll(async () => {
  copy = await sharedInstance()
}, 600_000)

interface Reply {
  status: number
  text: string
}

/** Asks as a spreadsheet does: the program waits until the answer is there. */
function fetchSync(address: string, headers: Record<string, string> = {}): Reply {
  const program = `const [address, headers] = JSON.parse(process.argv.at(-1))
const response = await fetch(address, { headers })
console.log(JSON.stringify({ status: response.status, text: await response.text() }))`
  const args = ['-e', program, JSON.stringify([address, headers])]
  const outcome = Bun.spawnSync([process.execPath, ...args], { stderr: 'inherit' })
  return JSON.parse(String(outcome.stdout)) as Reply
}

describe('the script for Sheets, in a stand-in of its runtime', () => {
  interface Script {
    WELLHEAD_PRICE(code: unknown, field?: string): unknown
    WELLHEAD_LATEST(codes: unknown): unknown[][]
    WELLHEAD_HISTORY(code: unknown, start?: unknown, end?: unknown, interval?: string): unknown[][]
    WELLHEAD_CURVE(family: string): unknown[][]
    onOpen(): void
    setUpWellhead(): void
  }
  const properties = new Map<string, string>()
  const kept = new Map<string, string>()
  const menus: string[] = []
  const paths: string[] = []
  const answers: string[] = []
  let script: Script

  beforeAll(() => {
    const ui = {
      createMenu: (name: string) => {
        const menu = {
          addItem(title: string, work: string) {
            menus.push(`${name} > ${title}: ${work}`)
            return menu
          },
          addToUi: () => undefined,
        }
        return menu
      },
      prompt: () => {
        const answer = answers.shift()
        return {
          getSelectedButton: () => (answer === undefined ? 'CANCEL' : 'OK'),
          getResponseText: () => answer ?? '',
        }
      },
      ButtonSet: { OK_CANCEL: 'OK_CANCEL' },
      Button: { OK: 'OK' },
    }
    const runtime = {
      SpreadsheetApp: { getUi: () => ui },
      PropertiesService: {
        getUserProperties: () => ({
          getProperty: (name: string) => properties.get(name) ?? null,
          setProperty: (name: string, value: string) => properties.set(name, value),
        }),
      },
      CacheService: {
        getUserCache: () => ({
          get: (key: string) => kept.get(key) ?? null,
          put(key: string, value: string) {
            // Keys of the real one are at most 250 characters long, values 100 KB.
            expect(key.length).toBeLessThanOrEqual(250)
            expect(Buffer.byteLength(value)).toBeLessThan(100_000)
            kept.set(key, value)
          },
        }),
      },
      UrlFetchApp: {
        fetch(address: string, { headers }: { headers: Record<string, string> }) {
          paths.push(address)
          const { status, text } = fetchSync(address, headers)
          return { getContentText: () => text, getResponseCode: () => status }
        },
      },
    }
    const names =
      'WELLHEAD_PRICE, WELLHEAD_LATEST, WELLHEAD_HISTORY, WELLHEAD_CURVE, onOpen, setUpWellhead'
    const load = new Function(
      ...Object.keys(runtime),
      `${read('wellhead.gs')}\nreturn { ${names} }`,
    )
    script = load(...Object.values(runtime)) as Script
  })

  test('the Sheets script requests the address and key in a menu and reports when they are missing', () => {
    expect(() => script.WELLHEAD_PRICE('WTI_USD')).toThrow('Set address and key in the menu')
    script.onOpen()
    expect(menus).toEqual(['Wellhead > Address and key: setUpWellhead'])
    answers.push(`${copy.url}/`, ` ${copy.apiKey} `)
    script.setUpWellhead()
    expect(properties.get('WELLHEAD_KEY')).toBe(copy.apiKey)
  })

  test('answers a price and its other fields, and asks once a minute at most', async () => {
    const { data } = (await (
      await copy.get('/v1/prices/latest', { by_code: 'WTI_USD' })
    ).json()) as {
      data: { price: number }
    }
    expect(script.WELLHEAD_PRICE('wti')).toBe(data.price)
    expect(script.WELLHEAD_PRICE([['WTI_USD']], 'unit')).toBe('barrel')
    const before = paths.length
    expect(script.WELLHEAD_PRICE('WTI_USD', 'currency')).toBe('USD')
    expect(paths).toHaveLength(before)
    expect(() => script.WELLHEAD_PRICE('WTI_USD', 'nope')).toThrow('nope is not a field')
    expect(() => script.WELLHEAD_PRICE('NOPE_USD')).toThrow('Unknown commodity code: NOPE_USD')
  })

  test('answers a row for each cell of a range, in its order', () => {
    const rows = script.WELLHEAD_LATEST([['WTI_USD'], ['NOPE_USD'], [''], ['EUR_USD']])
    expect(rows.map(row => row[0])).toEqual(['WTI_USD', 'NOPE_USD', '', 'EUR_USD'])
    expect(rows[0]).toEqual([
      'WTI_USD',
      expect.any(Number),
      'USD',
      'barrel',
      expect.any(Number),
      expect.any(Date),
    ])
    expect(rows[1]).toEqual(['NOPE_USD', 'invalid_code', '', '', '', ''])
    expect(rows[2]).toEqual(['', '', '', '', '', ''])
  })

  test('answers every page of a history, and a curve', () => {
    const start = new Date('2026-01-01T00:00:00Z')
    const rows = script.WELLHEAD_HISTORY('WTI_USD', start, '2026-10-31')
    expect(rows[0]).toEqual(['Time', 'Price'])
    expect(rows.length).toBeGreaterThan(200)
    const times = rows.slice(1).map(row => (row[0] as Date).getTime())
    expect(times).toEqual([...new Set(times)].toSorted((left, right) => right - left))
    const weeks = script.WELLHEAD_HISTORY('WTI_USD', '2026-01-01', '2026-10-31', 'week')
    expect(weeks.length).toBeLessThan(50)
    expect(script.WELLHEAD_CURVE('CL')).toHaveLength(13)
  })
})

describe('the formulas of the guide', () => {
  const formulas = [
    ...readFileSync(join(root, 'docs/how-to/spreadsheets.md'), 'utf8').matchAll(
      /```excel\n([\s\S]*?)```/g,
    ),
  ]
    .flatMap(([, block = '']) => block.trim().split('\n'))
    .map(line => {
      const [, text = '', key, xpath = ''] =
        /WEBSERVICE\(wellhead_url&"([^"]+)"(&wellhead_key)\),"\/\/([^"]+)"/.exec(line) ?? []
      return { line, path: key ? text : '', steps: xpath.split('/') }
    })
  const parser = new XMLParser({ parseTagValue: false, ignoreDeclaration: true })

  /** The values of every element that a path such as `//price/value` names. */
  function valuesOf(node: unknown, steps: readonly string[]): string[] {
    const nested = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])
    const under = (value: unknown, [step = '', ...rest]: readonly string[]): string[] => {
      if (typeof value !== 'object' || value === null || !(step in value)) return []
      const inner = nested((value as Record<string, unknown>)[step])
      return rest.length === 0 ? inner.map(String) : inner.flatMap(item => under(item, rest))
    }
    const here = nested(node).flatMap(item => under(item, steps))
    const below = nested(node).flatMap(item =>
      typeof item === 'object' && item !== null
        ? Object.values(item).flatMap(inner => valuesOf(inner, steps))
        : [],
    )
    return [...here, ...below]
  }

  test('are all read by this test', () => {
    expect(formulas.length).toBeGreaterThanOrEqual(8)
    expect(formulas.filter(formula => formula.path === '')).toEqual([])
  })

  for (const { line, path, steps } of formulas) {
    test(`${line.slice(0, 110)} finds its value`, () => {
      const { status, text } = fetchSync(`${copy.url}${path}${copy.apiKey}`)
      expect(status).toBe(200)
      expect(text.length).toBeLessThan(32_767)
      const values = valuesOf(parser.parse(text), steps)
      const expected = path.includes('codes=WTI_USD,') ? 3 : path.includes('/curve') ? 12 : 1
      expect(values.length).toBeGreaterThanOrEqual(expected)
      expect(values.every(value => value !== '')).toBe(true)
      if (steps.at(-1) === 'value') expect(values.every(value => Number(value) > 0)).toBe(true)
      if (path.includes('NOPE')) expect(values).toEqual(['invalid_code'])
    })
  }
})

describe('the query', () => {
  test('is Power Query, and a broken one would not pass', async () => {
    const whole = await TaskUtils.tryLexParse(DefaultSettings, read('history.pq'))
    expect(TaskUtils.isParseStageOk(whole)).toBe(true)
    const broken = read('history.pq').replace('each [data][prices]', 'each [data][prices')
    const refused = await TaskUtils.tryLexParse(DefaultSettings, broken)
    expect(TaskUtils.isParseStageOk(refused)).toBe(false)
  })

  test('the Power Query file uses only parameters and fields that the API has', async () => {
    const query = read('history.pq')
    const document = withParametersInPlace(
      (await (await copy.get('/openapi.json')).json()) as {
        paths: Record<string, { get: { parameters: { name: string }[] } }>
      },
    )
    const path = /RelativePath = "([^"]+)"/.exec(query)?.[1] ?? ''
    const names = document.paths[`/${path}`]!.get.parameters.map(parameter => parameter.name)
    const used = /Query = \[([^\]]+)\]/.exec(query)![1]!.matchAll(/(\w+) =/g)
    const parameters = [...used].map(match => match[1]!)
    expect(parameters).toHaveLength(6)
    expect(names).toEqual(expect.arrayContaining(parameters))
    const response = await copy.get(`/${path}`, { by_code: 'WTI_USD', per_page: 2 })
    const answer = (await response.json()) as {
      meta: { has_next: boolean; page: number }
      data: { prices: object[] }
    }
    expect(answer.meta).toMatchObject({ has_next: true, page: 1 })
    const columns = [...query.matchAll(/\{"(\w+)", type/g)].map(match => match[1]!)
    expect(Object.keys(answer.data.prices[0]!)).toEqual(expect.arrayContaining(columns))
  })
})
