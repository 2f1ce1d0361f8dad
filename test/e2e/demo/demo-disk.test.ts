import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenApiDocument } from '../../../src/http/openapi/openapi.ts'
import { isFull } from '../../support/full.ts'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { operationsOf, random } from '../../support/interface/every-route.ts'
import { requestMaker } from '../../support/interface/hostile.ts'

// The directory of a demo instance stays within one size, whatever is requested: generated data,
// counts, logs and snapshots are bounded.
const dir = temporaryDir()
const requests = isFull ? 3000 : 1000
const megabyte = 2 ** 20
let server: Server = undefined!

beforeAll(async () => {
  const config = join(dir, 'wellhead.toml')
  const limits = ['per_minute', 'unauthenticated_per_minute', 'over_quota_per_minute']
  const own = ['marine_per_minute', 'marine_historical_per_minute']
  writeFileSync(
    config,
    `plans = "unlimited"\n[limits]\n${[...limits, ...own].map(name => `${name} = 1000000\n`).join('')}`,
  )
  server = await start('dev', dir, '--config', config)
}, 120_000)
afterAll(async () => {
  await server.stop()
  remove(dir)
})

/** The size of every file below the directory that holds data. */
function megabytes(path = join(dir, 'data')): number {
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const below = join(path, entry.name)
    if (entry.isDirectory()) return sum + megabytes(below)
    return sum + (statSync(below, { throwIfNoEntry: false })?.size ?? 0) / megabyte
  }, 0)
}

const authorized = (access: string) => ({
  authorization: access === 'operator' ? `Bearer ${server.adminToken}` : `Token ${server.apiKey}`,
  'content-type': 'application/json',
})

test(`${requests} requests of every operation, half of them hostile, leave a demo instance below 250 MB`, async () => {
  const before = megabytes()
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument
  // The key in use must not be revoked, and streams do not end.
  const operations = operationsOf(document).filter(({ path }) => !/stream|token|cable/.test(path))
  const make = requestMaker(document, random(14))
  const statuses = new Map<number, number>()
  for (let n = 0; n < requests; n += 1) {
    const operation = operations[n % operations.length]!
    const { address, headers, body } = make(operation)
    const response = await fetch(server.url + address, {
      method: operation.method,
      signal: AbortSignal.timeout(30_000),
      headers: { ...headers, ...authorized(operation.access) },
      ...(operation.method !== 'GET' &&
        body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }).catch(() => undefined)
    await response?.body?.cancel()
    const status = response?.status ?? 0
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const after = megabytes()
  // Enough of them must have succeeded: a service that refuses everything proves nothing.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(requests / 4)
  expect(after).toBeLessThan(250)
  // The first request of an operation loads it, and there are more than five hundred.
  expect(after - before).toBeLessThan(60)
}, 300_000)
