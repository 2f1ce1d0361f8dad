import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { productionKeys } from '../../../src/cli/server/first-start.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { type Instance, openInstance } from '../../../src/instance/instance.ts'
import { createRandomIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

const dirs: string[] = []
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

const startAt = Date.parse('2026-11-20T15:00:00Z')

/** A served directory that can be stopped and started, at its own time. */
function directory() {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-rates-'))
  dirs.push(dir)
  const config = loadConfig({
    mode: 'serve',
    flags: {},
    env: {},
    files: { directory: '/' },
    readFile: () => undefined,
  })
  const open = (now: number): Instance => {
    const clock = createManualClock(now)
    return openInstance({
      runtime: {
        config,
        clock,
        ids: createRandomIds(),
        log: createLog({ level: 'error', format: 'json', write: () => {}, clock }),
      },
      dir,
      serving: true,
    })
  }
  return { open }
}

const ask = async (instance: Instance, token: string) =>
  (
    await instance.app.handle(
      new Request('http://localhost/v1/account', { headers: { authorization: `Token ${token}` } }),
    )
  ).status

describe('rate windows', () => {
  test('rate windows continue after a clean stop and drain by the elapsed time', async () => {
    const { open } = directory()
    const first = open(startAt)
    const { apiKey } = productionKeys(first.services)
    for (let i = 0; i < 60; i++) expect(await ask(first, apiKey!)).toBe(200)
    expect(await ask(first, apiKey!)).toBe(429)
    first.close()

    const second = open(startAt + 30_000)
    expect(await ask(second, apiKey!)).toBe(429)
    second.close()

    const third = open(startAt + 60_000)
    expect(await ask(third, apiKey!)).toBe(200)
    third.close()
  })

  test('of a crash are empty, in the customer’s favour', async () => {
    const { open } = directory()
    const first = open(startAt)
    const { apiKey } = productionKeys(first.services)
    for (let i = 0; i < 61; i++) await ask(first, apiKey!)
    first.services.db.close()

    const second = open(startAt + 1_000)
    expect(await ask(second, apiKey!)).toBe(200)
    second.close()
  })
})
