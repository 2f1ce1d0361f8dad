import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { binary } from '../support/instance/binary.ts'
import { environmentOf, sharedInstance } from '../support/interface/packages.ts'

let copy: Wellhead
beforeAll(async () => {
  copy = await sharedInstance()
}, 600_000)

interface Outcome {
  code: number
  out: string
  err: string
}

async function runWith(
  env: Record<string, string>,
  args: readonly string[],
  input = '',
): Promise<Outcome> {
  const child = Bun.spawn([binary(), ...args], {
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

/** Runs a command as someone whose server and key are in the environment. */
async function wellhead(...args: string[]): Promise<string> {
  const { code, out, err } = await runWith(environmentOf(copy), args)
  expect(code, err).toBe(0)
  return out
}

describe('someone with a key', () => {
  test('sees prices by their usual names, as a table, JSON or CSV', async () => {
    const table = (await wellhead('get', 'wti', 'brent')).trimEnd().split('\n')
    expect(table).toHaveLength(3)
    expect(table[0]).toMatch(/^CODE +PRICE +CURRENCY +UNIT +24 H +OBSERVED +AGE$/)
    expect(table[1]).toMatch(/^WTI_USD +\$\d+\.\d\d +USD +barrel/)
    expect(table[2]).toStartWith('BRENT_CRUDE_USD')
    const rows = JSON.parse(await wellhead('get', 'wti', '--json')) as Record<string, unknown>[]
    expect(rows).toEqual([
      {
        code: 'WTI_USD',
        price: expect.any(Number),
        currency: 'USD',
        unit: 'barrel',
        change_24h_percent: expect.any(Number),
        observed_at: expect.stringContaining('T'),
      },
    ])
    const csv = (await wellhead('get', 'wti', '--csv')).split('\n')
    expect(csv[0]).toBe('code,price,currency,unit,change_24h_percent,observed_at')
    expect(csv[1]).toStartWith(`WTI_USD,${rows[0]!.price},USD,barrel,`)
  })

  test('gets more codes than one request takes, and all of them', async () => {
    const all = JSON.parse(await wellhead('get', '--json')) as { code: string }[]
    expect(all.length).toBeGreaterThan(500)
    const codes = all.slice(0, 45).map(row => row.code)
    const rows = JSON.parse(await wellhead('get', ...codes, '--json')) as { code: string }[]
    expect(rows.map(row => row.code)).toEqual(codes)
  })

  test('gets every day of a long history', async () => {
    const range = ['--start', '2024-01-01', '--end', '2026-10-31']
    const rows = JSON.parse(await wellhead('history', 'wti', ...range, '--json')) as {
      observed_at: string
    }[]
    const days = rows.map(row => row.observed_at.slice(0, 10))
    expect(days.length).toBeGreaterThan(700)
    expect(days).toEqual([...new Set(days)].toSorted().toReversed())
  })

  test('exports a history to a file that can be imported', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wellhead-export-'))
    const file = join(directory, 'wti.csv')
    const range = ['--start', '2026-09-01', '--end', '2026-10-31', '--interval', 'day']
    await wellhead('export', 'WTI_USD', '--url', copy.url, '-o', file, ...range)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(40)
    const imported = await runWith({}, [
      'import',
      '--create',
      '--data',
      join(directory, 'data'),
      file,
    ])
    expect(imported.code, imported.out + imported.err).toBe(0)
    expect(imported.out + imported.err).toContain(`inserted ${lines.length - 1},`)
  })

  test('sees a chart with its ends and extremes, and a curve', async () => {
    const range = ['--start', '2026-01-01', '--end', '2026-10-31']
    const chart = await wellhead('chart', 'BRENT_CRUDE_USD', ...range)
    const drawn = chart.split('\n').filter(line => line.includes('┤') || line.includes('┼'))
    expect(drawn.length).toBeGreaterThanOrEqual(14)
    expect(Math.max(...drawn.map(line => line.length))).toBeLessThanOrEqual(90)
    expect(chart).toMatch(/2026-01-02 {2}[\d.]+ {3}to {3}2026-10-30 {2}[\d.]+/)
    expect(chart).toMatch(/high [\d.]+ on \d{4}/)
    const curve = await wellhead('curve', 'CL')
    expect(curve).toMatch(/contango|backwardation|flat|mixed/)
    expect(curve.match(/WTI_FUTURES_/g)).toHaveLength(12)
    // The code that lists show names the family too.
    expect(await wellhead('curve', 'WTI_FUTURES')).toBe(curve)
    expect(await wellhead('curve', 'ttf_futures')).toContain('TTF_FUTURES_')
  })

  test('watches prices: each change is a line, and a request that brings none costs nothing', async () => {
    const { apiKey } = await copy.account({ plan: 'free' })
    const env = { WELLHEAD_URL: copy.url, WELLHEAD_API_KEY: apiKey }
    const updates = ['--updates', '3', '--every', '1']
    const { code, out, err } = await runWith(env, ['watch', 'wti', 'brent', ...updates])
    expect(code, err).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(2)
    const headers = { authorization: `Token ${apiKey}` }
    const usage = await fetch(`${copy.url}/v1/usage`, { headers })
    expect(await usage.json()).toMatchObject({ used: 1 })
  })

  test('makes an alert after having seen what it would have done', async () => {
    const preview = await wellhead('alert', 'add', 'WTI_USD', 'above', '10')
    expect(preview).toMatch(/it would have fired \d+ times, last on 2026-/)
    expect(preview).toContain('Nothing was created')
    const created = await wellhead('alert', 'add', 'WTI_USD', '<', '1', '--name', 'low', '--yes')
    const id = /created (\S+) {2}low/.exec(created)?.[1] ?? ''
    expect(await wellhead('alert', 'list')).toContain(id)
    expect(await wellhead('alert', 'remove', id)).toBe(`removed ${id}\n`)
    expect(await wellhead('alert', 'list')).not.toContain(id)
  })

  test('a failing command prints the reason on standard error and exits with 1', async () => {
    const env = environmentOf(copy)
    const unknown = await runWith(env, ['get', 'BRENT_CRUDE_USB'])
    expect(unknown).toMatchObject({ code: 1, out: '' })
    expect(unknown.err).toContain('BRENT_CRUDE_USD')
    const keyless = await runWith({ WELLHEAD_URL: copy.url }, ['get', 'wti'])
    expect(keyless.err).toContain('wellhead login')
    const away = await runWith({ ...env, WELLHEAD_URL: 'http://127.0.0.1:9' }, ['get', 'wti'])
    expect(away.err).toContain('Cannot connect to http://127.0.0.1:9: connection refused')
    const word = await runWith(env, ['alert', 'add', 'wti', 'over', '10'])
    expect(word.err).toContain('operator must be above, below, >, <, >= or <=; got "over".')
  })
})

test('a server and its key are saved for one person only, and asked from then on', async () => {
  const home = mkdtempSync(join(tmpdir(), 'wellhead-home-'))
  const env = { XDG_CONFIG_HOME: home }
  const login = await runWith(env, ['login', copy.url, '--name', 'desk'], `${copy.apiKey}\n`)
  expect(login.code, login.err).toBe(0)
  expect(login.out).toContain('as eval@example.com')
  const path = join(home, 'wellhead/servers.toml')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect((await runWith(env, ['get', 'wti'])).out).toContain('WTI_USD')
  const { apiKey } = await copy.account({ plan: 'free' })
  await runWith(env, ['login', copy.url, '--name', 'free', '--key', apiKey])
  const list = async () => (await runWith(env, ['servers', 'list'])).out
  expect(await list()).toMatch(/^ {2}desk .*\n\* free /)
  expect(await list()).not.toContain(copy.apiKey)
  await runWith(env, ['servers', 'use', 'desk'])
  expect(await list()).toMatch(/^\* desk .*\n {2}free /)
  expect((await runWith(env, ['get', 'wti', '--server', 'free'])).code).toBe(0)
  // An address has the key that was saved for it.
  expect((await runWith(env, ['get', 'wti', '--url', copy.url])).code).toBe(0)
  const elsewhere = await runWith(env, ['get', 'wti', '--url', 'http://127.0.0.1:9'])
  expect(elsewhere.err).toContain('no API key')
  expect((await runWith(env, ['get', 'wti', '--server', 'nope'])).err).toContain(
    'Use desk or free.',
  )
  await runWith(env, ['servers', 'remove', 'desk'])
  expect(await list()).toMatch(/^ {2}free /)
  const wrong = await runWith(env, ['login', copy.url], `${'0'.repeat(64)}\n`)
  expect(wrong.code).toBe(1)
  expect(wrong.err).toContain('UNAUTHORIZED')
})
