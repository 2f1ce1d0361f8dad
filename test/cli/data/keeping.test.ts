import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'
import { smtpServer } from '../../support/servers/smtp-server.ts'

const root = temporaryDir()
afterAll(() => remove(root))

let places = 0
const place = () => {
  places += 1
  const dir = join(root, `data-${places}`)
  return emptyDirectory(dir)
}

describe('what is kept', () => {
  test('is for its owner only, in a directory that others may enter and over files that they could read', async () => {
    const dir = place()
    chmodSync(dir, 0o755)
    await command('accounts', 'list', '--data', dir)
    chmodSync(join(dir, 'wellhead.db'), 0o644)
    await command('accounts', 'list', '--data', dir)
    const instance = join(root, 'copy.db')
    expect(await command('backup', '--data', dir, instance)).toMatchObject({ code: 0 })
    const paths = [instance, ...readdirSync(dir).map(name => join(dir, name))]
    expect(paths.length).toBeGreaterThan(2)
    for (const path of paths) expect(statSync(path).mode & 0o077, path).toBe(0)
    const restored = place()
    chmodSync(instance, 0o644)
    await command('restore', '--data', restored, instance)
    expect(statSync(join(restored, 'wellhead.db')).mode & 0o777).toBe(0o600)
  })

  test('a backup that fails leaves nothing behind', async () => {
    const dir = place()
    for (const name of readdirSync(dir)) remove(join(dir, name))
    writeFileSync(
      join(dir, 'wellhead.db'),
      'no database at all, whatever its name says'.repeat(100),
    )
    const { code } = await command('backup', '--data', dir, join(dir, 'copy.db'))
    expect({ code, readdirSync: readdirSync(dir) }).toEqual({
      code: 1,
      readdirSync: ['wellhead.db'],
    })
  })
})

describe('verify', () => {
  test('names a file that is not a database, and one that does not exist', async () => {
    const garbage = join(root, 'garbage.db')
    writeFileSync(garbage, 'no database at all, whatever its name says'.repeat(100))
    for (const path of [garbage, join(root, 'none.db')]) {
      const { code, err } = await command('verify', path)
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(path) })
    }
  })
})

describe('quarantine list', () => {
  test('the quarantine list prints column headings, and says so when no day is quarantined', async () => {
    const dir = place()
    const list = () => command('quarantine', 'list', '--data', dir)
    expect((await list()).out).toBe('No quarantined days.\n')
    const days = ['WTI_USD', '2026-11-01', '2026-11-03', '--reason', 'a bad feed']
    await command('quarantine', 'add', ...days, '--data', dir)
    const [headings, row] = (await list()).out.split('\n')
    expect(headings!.split(/ {2,}/)).toEqual(['ID', 'CODE', 'FROM', 'TO', 'REASON'])
    expect(row!.split(/ {2,}/)).toEqual(['1', 'WTI_USD', '2026-11-01', '2026-11-03', 'a bad feed'])
  })
})

describe('a file of plans', () => {
  test('a missing plan file is reported with the allowed values and the value that was probably meant', async () => {
    const dir = place()
    writeFileSync(join(dir, 'wellhead.toml'), 'plans = "unlimted"\n')
    const { code, err } = await command('accounts', 'list', '--data', dir)
    expect(code).toBe(1)
    expect(err).toContain('wellhead.toml:1: plans: ')
    expect(err).toContain('plans must be "spec", "unlimited" or a file of plans')
    expect(err).toContain('did you mean "unlimited"?')
    expect(err).not.toContain('ENOENT')
  })

  test('that changes no plan, or is wrong, is refused with its name', async () => {
    for (const [name, text, reason] of [
      ['empty.json', '{}', 'the file changes no plan'],
      ['list.json', '[1]', 'a table with any of plans, addons'],
      ['half.json', '{"plans": ', 'JSON'],
      ['half.toml', '[plans.starter\n', 'line 1'],
      ['other.toml', '[plans.starter]\nrequest_qota = 5\n', 'plans.starter.request_qota'],
    ] as const) {
      const dir = place()
      writeFileSync(join(dir, 'wellhead.toml'), `plans = "${name}"\n`)
      writeFileSync(join(dir, name), text)
      const { code, err } = await command('accounts', 'list', '--data', dir)
      expect({ name, code }).toEqual({ name, code: 1 })
      expect(err).toContain(join(dir, name))
      expect(err).toContain(reason)
    }
  })
})

describe('notices test', () => {
  test('notices test posts to the configured address and reports whether it was accepted', async () => {
    const bodies: string[] = []
    const server = Bun.serve({
      port: 0,
      async fetch(request) {
        bodies.push(await request.text())
        return new Response('', { status: request.url.endsWith('/no') ? 404 : 200 })
      },
    })
    const dir = place()
    const at = (path: string) =>
      writeFileSync(
        join(dir, 'wellhead.toml'),
        `[notices]\nformat = "slack"\nurl = "http://127.0.0.1:${server.port}/${path}"\n`,
      )
    at('yes')
    expect(await command('notices', 'test', '--data', dir)).toMatchObject({ code: 0 })
    expect(JSON.parse(bodies[0]!)).toEqual({ text: expect.stringContaining('A test') })
    at('no')
    const refused = await command('notices', 'test', '--data', dir)
    expect({ code: refused.code, err: refused.err }).toEqual({
      code: 1,
      err: expect.stringContaining('404'),
    })
    await server.stop(true)
  })

  test('notices test e-mails the configured address and reports when the mail server refuses it', async () => {
    let takes = true
    const smtp = await smtpServer(line =>
      !takes && line.startsWith('RCPT') ? '550 no such mailbox' : undefined,
    )
    const dir = place()
    const config = (provider: string) =>
      writeFileSync(
        join(dir, 'wellhead.toml'),
        `[notices]\nmail = "ops@example.com"\n[mail]\nprovider = "${provider}"\nsmtp_url = "${smtp.url}"\n`,
      )
    config('smtp')
    const taken = await command('notices', 'test', '--data', dir)
    expect({ code: taken.code, out: taken.out }).toEqual({
      code: 0,
      out: expect.stringContaining('ops@example.com'),
    })
    expect(smtp.accepted.map(({ to }) => to)).toEqual([['ops@example.com']])
    takes = false
    const refused = await command('notices', 'test', '--data', dir)
    expect({ code: refused.code, err: refused.err }).toEqual({
      code: 1,
      err: expect.stringContaining('550'),
    })
    expect(smtp.accepted).toHaveLength(1)
    config('none')
    const nowhere = await command('notices', 'test', '--data', dir)
    expect({ code: nowhere.code, err: nowhere.err }).toEqual({
      code: 1,
      err: expect.stringContaining('mail.provider'),
    })
    smtp.close()
  })
})
