import { afterAll, describe, expect, test } from 'bun:test'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { commandIn } from '../../support/instance/command.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const home = temporaryDir()
const instance = openTestInstance()
const key = instance.key('enterprise')
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: request => instance.app.handle(request),
})
afterAll(async () => {
  await server.stop(true)
  remove(home)
})

const errorOf = async (...words: string[]): Promise<string> => {
  const { code, err } = await commandIn(
    { HOME: home, XDG_CONFIG_HOME: home },
    ...words,
    '--url',
    `http://127.0.0.1:${server.port}`,
    '--key',
    key,
  )
  expect(code).toBe(1)
  return err.trim()
}

describe('a client command reports an error of the server in its own words', () => {
  test('an unknown code is named with each suggestion once', async () => {
    const err = await errorOf('get', 'wtii')
    expect(err).toContain('Unknown commodity code: WTII. Did you mean WTI_USD')
    expect(err.match(/Did you mean/g)).toHaveLength(1)
  })

  test.each([
    [['history', 'WTI_USD', '--start', 'yesterday'], '--start must be a date', 'start_date'],
    [['history', 'WTI_USD', '--as-of', 'noon'], '--as-of must be an ISO 8601 time', 'as_of'],
    [['history', 'WTI_USD', '--interval', '3h'], '--interval must be raw, minute', ': interval'],
    [
      ['history', 'WTI_USD', '--start', '2026-11-20', '--end', '2026-11-01'],
      '--start (2026-11-20) is after --end (2026-11-01)',
      '_date',
    ],
    [['curve', 'CL', '--date', 'foo'], '--date must be a date', ': date'],
    [['curve', 'XX'], 'family must be exch-brent, exch-wti', 'slug'],
  ])('%j names the option', async (words, right, wrong) => {
    const err = await errorOf(...words)
    expect(err).toContain(right)
    expect(err).not.toContain(wrong)
  })
})
