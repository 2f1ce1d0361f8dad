import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { OpenApiDocument } from '../src/http/openapi/openapi.ts'
import { until } from './support/until.ts'

const root = resolve(import.meta.dir, '..')

/** A program that uses the generated client and prints its results. */
const program = `import { handle, ok } from '@oazapfts/runtime'
import * as api from './index.ts'

const [url = '', key = ''] = process.argv.slice(2)
api.defaults.baseUrl = url
api.defaults.headers = { Authorization: \`Token \${key}\` }

const health = await ok(api.getHealth())
const one = await ok(api.getLatestPrices({ byCode: 'WTI_USD' }))
const price: number = 'price' in one.data ? one.data.price : Number.NaN
const several = await ok(api.getLatestPrices({ byCode: 'WTI_USD,BRENT_CRUDE_USD' }))
const codes: string[] = 'price' in several.data ? [] : several.data.prices.map(row => row.code)
const week = await ok(api.getPricesPastWeek({ byCode: 'BRENT_CRUDE_USD', interval: '1d', perPage: 3 }))
const closes: number[] = week.data.prices.map(row => row.price)
const batch = await ok(api.getPriceBatch({ codes: ['WTI_USD', 'EUR_USD'] }))
const commodities = await ok(api.getCommodities({ category: 'crude_oil' }))
const brent = await ok(api.getCommodity('BRENT_CRUDE_USD'))
const curve = await ok(api.getFuturesCurve('exch-wti'))
const storage = await ok(api.getCushingStorage())
const account = await ok(api.getAccount())
const alert = await ok(
  api.createAlert(
    { price_alert: { name: 'from a client', commodity_code: 'WTI_USD', condition_operator: 'greater_than', condition_value: 90 } },
    { idempotencyKey: 'client-1' },
  ),
)
const listed = await ok(api.listAlerts())
const changed = await ok(api.updateAlert(alert.id, { enabled: false }))
const deleted = await api.deleteAlert(alert.id)
const refused: string = await handle(api.getLatestPrices({ byCode: 'NOPE_USD' }), {
  200: () => 'answered',
  400: problem => ('code' in problem ? problem.code : ''),
  default: status => String(status),
})

console.log(
  JSON.stringify({
    health: health.status, price, codes, closes: closes.length, batch: batch.data.count,
    commodities: commodities.data.every(row => row.category === 'crude_oil'), brent: brent.data.code,
    curve: 'contracts' in curve ? curve.contracts.length : 0, storage: storage.data.unit, plan: account.data.plan,
    alert: alert.commodity_code, listed: listed.some(row => row.id === alert.id), enabled: changed.enabled,
    deleted: deleted.status, refused,
  }),
)
`

const run = async (command: string[]) => {
  const child = Bun.spawn(command, { cwd: root, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

let dir: string
beforeAll(async () => {
  // Inside of the project, where the client's runtime is found.
  mkdirSync(join(root, 'dist'), { recursive: true })
  dir = mkdtempSync(join(root, 'dist/client-'))
  const { code, err } = await run([process.execPath, 'scripts/client.ts', dir])
  expect(code, err).toBe(0)
  writeFileSync(join(dir, 'program.ts'), program)
}, 60_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const check = (file: string) => {
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', include: [file] }),
  )
  return run([
    process.execPath,
    join(root, 'node_modules/typescript/bin/tsc'),
    '--noEmit',
    '-p',
    dir,
  ])
}

test('every operation of the document is a function of the client', () => {
  const document = JSON.parse(readFileSync(join(dir, 'openapi.json'), 'utf8')) as OpenApiDocument
  const operations = Object.values(document.paths).flatMap(item =>
    Object.values(item).map(value => value.operationId),
  )
  const functions = [
    ...readFileSync(join(dir, 'index.ts'), 'utf8').matchAll(/^export function (\w+)/gm),
  ].map(match => match[1]!)
  expect(functions.sort()).toEqual(operations.sort())
})

test('the client and a program that uses it type-check', async () => {
  expect(await check('program.ts')).toEqual({ code: 0, out: '', err: '' })
}, 60_000)

test('a TypeScript program that reads unreturned fields or omits required parameters does not compile', async () => {
  writeFileSync(
    join(dir, 'wrong.ts'),
    `import { ok } from '@oazapfts/runtime'
import * as api from './index.ts'
export const a = (await ok(api.getCushingStorage())).data.volume
export const b: string = (await ok(api.getAccount())).data.quota.used
export const c = api.getPriceBatch({})
export const d = api.getFuturesCurve()
export const e = api.getPricesPastWeek({ byCode: 'WTI_USD', interval: 'fortnight' })
export const f = api.getStatistics({ period: 30 })
export const g = api.getStatistics({ code: 'WTI_USD', period: 'month' })
export const h = api.getTrend({ code: 'WTI_USD', type: 'macd5' })
export const i = api.getRegionalStorage({ region: 'PADD9' })
export const j = api.getFuturesPair({ contract1: 'CL.1' })
export const k = api.listTopProducers({ limit: '5' })
export const l: api.Health = await ok(api.getAccount())
`,
  )
  const { code, out } = await check('wrong.ts')
  expect(code).not.toBe(0)
  expect([...out.matchAll(/wrong\.ts\((\d+)/g)].map(match => match[1])).toEqual(
    Array.from({ length: 12 }, (_, i) => String(3 + i)),
  )
}, 60_000)

test('the sample program of the generated client runs against a demo instance', async () => {
  const ready = join(dir, 'ready.json')
  const copy = Bun.spawn(
    [
      process.execPath,
      'src/main.ts',
      'dev',
      '--data',
      join(dir, 'data'),
      '--port',
      '0',
      '--ready-file',
      ready,
      '--clock',
      '2026-11-20T15:00:00Z',
      '--world',
      'small',
    ],
    { cwd: root, env: { PATH: process.env.PATH }, stdout: 'ignore', stderr: 'pipe' },
  )
  try {
    const isReady = async () => {
      if (copy.exitCode !== null) throw new Error(await new Response(copy.stderr).text())
      return existsSync(ready)
    }
    await until('the demo instance listens', isReady, 120_000)
    const { url, api_key, admin_token } = JSON.parse(readFileSync(ready, 'utf8')) as Record<
      string,
      string
    >
    const filled = async () => {
      const response = await fetch(`${url}/_dev/feed`, {
        headers: { authorization: `Bearer ${admin_token}` },
      })
      const { codes_ready, codes_total } = (await response.json()) as {
        codes_ready: number
        codes_total: number
      }
      return codes_ready === codes_total
    }
    await until('all demo data is there', filled, 120_000)
    const { code, out, err } = await run([
      process.execPath,
      join(dir, 'program.ts'),
      url!,
      api_key!,
    ])
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toEqual({
      health: 'ok',
      price: expect.any(Number),
      codes: ['WTI_USD', 'BRENT_CRUDE_USD'],
      closes: 3,
      batch: 2,
      commodities: true,
      brent: 'BRENT_CRUDE_USD',
      curve: 12,
      storage: 'million_barrels',
      plan: 'enterprise',
      alert: 'WTI_USD',
      listed: true,
      enabled: false,
      deleted: 204,
      refused: 'invalid_code',
    })
  } finally {
    copy.kill('SIGTERM')
    await copy.exited
  }
}, 240_000)
