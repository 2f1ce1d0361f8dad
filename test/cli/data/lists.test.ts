import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandEnvironment } from '../../../src/cli/command.ts'
import { fittedLines, table } from '../../../src/cli/table.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'

const root = temporaryDir()
afterAll(() => remove(root))
const data = join(root, 'data')
emptyDirectory(data)
const run = (...words: string[]) => command(...words, '--data', data)

describe('codes search', () => {
  test('codes search also matches words of the name and marks codes without data', async () => {
    const { code, out } = await run('codes', 'search', 'gasoline', 'texas')
    expect(code).toBe(0)
    expect(out).toContain('GASOLINE_TX_USD')
    expect(out).toContain('none')
    expect(out).not.toContain('DIESEL')
    expect((await run('codes', 'search', 'gasoline', 'texas', '--with-data')).out).toContain(
      'No code matches gasoline and texas',
    )
  })
  test('codes search prints its rows as JSON with --json', async () => {
    const { out } = await run('codes', 'search', 'cushing', '--json')
    expect(JSON.parse(out)).toEqual([expect.objectContaining({ code: 'CUSHING_STORAGE' })])
  })
})

test('plans list shows the configured plans, a changed one as well', async () => {
  const spec = JSON.parse((await run('plans', 'list', '--json')).out) as { id: string }[]
  expect(spec.map(({ id }) => id)).toContain('professional')
  writeFileSync(
    join(data, 'plans.toml'),
    '[plans.starter]\nname = "Small"\nrequest_quota = 75000\nprice_monthly = 5900\n',
  )
  writeFileSync(join(data, 'wellhead.toml'), 'plans = "plans.toml"\n')
  const { out } = await run('plans', 'list')
  expect(out).toMatch(/^starter +Small +75000 +month +59\.00 /m)
  expect(await run('plans')).toEqual({ code: 0, out, err: '' })
})

test('alerts, webhooks and deliveries are listed for an account, and an unknown account is refused', async () => {
  await run('accounts', 'create', 'ann@example.com', '--plan', 'enterprise')
  for (const name of ['alerts', 'webhooks', 'deliveries']) {
    const { code, out } = await run(name, 'list', 'ann@example.com')
    expect({ code, out: out.trim() }).toEqual({ code: 0, out: `ann@example.com has no ${name}.` })
    expect(JSON.parse((await run(name, 'list', 'ann@example.com', '--json')).out)).toEqual([])
    const unknown = await run(name, 'list', 'unknown@example.com')
    expect({ code: unknown.code, err: unknown.err }).toEqual({
      code: 1,
      err: expect.stringContaining('No account has the address "unknown@example.com"'),
    })
  }
})

test('mail test reports that no e-mail is sent when no mail provider is configured', async () => {
  const { code, err } = await run('mail', 'test', 'you@example.com')
  expect({ code, err: err.trim() }).toEqual({
    code: 1,
    err: 'mail.provider is none: e-mails are not sent. Set it to smtp or resend',
  })
})

test('tables fit the terminal, and are whole where they go elsewhere', () => {
  const rows = [['1', 'a text that is very long']]
  const lines = (width?: number) => {
    const out: string[] = []
    const env = commandEnvironment({
      operator: { call: async () => ({ status: 200, body: undefined }) },
      out: (line: string) => void out.push(line),
      err() {},
      width,
    })
    env.print(rows, list => table(['ID', 'TEXT'], list))
    return out
  }
  expect(lines(12)).toEqual(['ID  TEXT', '1   a text …'])
  expect(lines()).toEqual(['ID  TEXT', '1   a text that is very long'])
})

test.each([80, 100])('dates, numbers and ids of a table are whole on %d columns', width => {
  const id = '00000000-0000-4000-8000-000000000201'
  const at = '2026-11-20T15:00:00Z'
  const table = { headings: ['ID', 'NAME', 'URL', 'USED', 'NEXT'], rows: [] as string[][] }
  for (const used of ['12', '1,200/10,000'])
    table.rows.push([
      id,
      'A name of several words',
      `https://example.com/${'a'.repeat(80)}`,
      used,
      at,
    ])
  const [, ...rows] = fittedLines(table, width)
  for (const row of rows) {
    expect(row).toStartWith(id)
    expect(row).toEndWith(at)
    expect(row.length).toBeLessThanOrEqual(Math.max(width, 96))
  }
})
