import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  binary,
  remove,
  run,
  type Server,
  start,
  temporaryDir,
} from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'

describe('the operator of a binary', () => {
  const dir = temporaryDir()
  const data = join(dir, 'data')
  let server: Server
  beforeAll(async () => {
    server = await start('serve', dir)
  })
  afterAll(async () => {
    server.process.kill('SIGKILL')
    await server.process.exited
    remove(dir)
  })

  const picture = () => [
    readdirSync(data).sort(),
    ...['wellhead.db', 'wellhead.db-wal'].map(name =>
      createHash('sha256')
        .update(readFileSync(join(data, name)))
        .digest('hex'),
    ),
  ]

  test('importing the same file again keeps values that were corrected or deleted', async () => {
    const path = join(dir, 'eia.csv')
    await Bun.write(
      path,
      'code,observed_at,price\nWTI_USD,2026-11-25,71.2\nWTI_USD,2026-11-26,71.9\n',
    )
    const at = ['--data', data]
    const load = () => run('import', ...at, '--json', '--source', 'EIA', path)
    expect((await load()).code).toBe(0)
    const why = ['--reason', 'typing']
    await run('values', 'correct', ...at, 'WTI_USD', '2026-11-26', '71.95', ...why)
    await run('values', 'delete', ...at, 'WTI_USD', '2026-11-25', ...why)
    const again = await load()
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out)).toMatchObject({ inserted: 0, revised: 0, kept_as_corrected: 2 })
    expect(again.err).toContain('2 values are kept as corrected')
    const stored = async () =>
      (await run('export', ...at, 'WTI_USD')).out.trimEnd().split('\n').slice(1)
    expect(await stored()).toEqual(['WTI_USD,2026-11-26T00:00:00Z,71.95,USD'])
    const listed = await run('review', 'list', ...at, '--status', 'kept')
    expect(listed.out).toMatch(/71\.9 .*71\.95 .*corrected .*stands by a correction/)
    const child = Bun.spawn([binary(), 'import', ...at, '--replace', '--source', 'EIA', '-'], {
      env: { PATH: process.env.PATH },
      stdin: Bun.file(path),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toContain('inserted 1, revised 1')
    expect(await stored()).toHaveLength(2)
  })

  test('the openapi command prints the document that the server returns, without a server', async () => {
    const { code, out, err } = await run('openapi')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(await (await server.get('/openapi.json')).text())
  })

  test('sees no colours where output does not go to a terminal', async () => {
    const escapeStart = '\u001b['
    const commands = [
      ['doctor'],
      ['--help'],
      ['feeds', 'list'],
      ['codes', 'search', 'crude'],
      ['plans', 'list'],
      ['accounts', 'list'],
      ['batches', 'list'],
      ['review', 'list'],
      ['audit'],
      ['config', 'explain'],
      ['backup', 'list'],
      ['no-such-command'],
    ]
    for (const words of commands) {
      const where = words.length === 1 && words[0] !== 'doctor' ? [] : ['--data', data]
      const child = Bun.spawn([binary(), ...words, ...where], {
        env: { PATH: process.env.PATH, FORCE_COLOR: '1', CLICOLOR_FORCE: '1' },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const text = await new Response(child.stdout).text()
      const errors = await new Response(child.stderr).text()
      expect(`${text}${errors}`).not.toBe('')
      expect(`${text}${errors}`.includes(escapeStart), words.join(' ')).toBe(false)
    }
  }, 60_000)

  needs('terminal').test(
    'sees colours at a terminal, and none with NO_COLOR or a dumb one',
    async () => {
      const escapeStart = '\u001b['
      const atTerminal = async (env: Record<string, string>) => {
        const line = `${binary()} doctor --data ${data}`
        const child = Bun.spawn(['script', '-qec', line, '/dev/null'], {
          env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
          stdin: 'ignore',
          stdout: 'pipe',
        })
        return await new Response(child.stdout).text()
      }
      expect(await atTerminal({})).toContain(`${escapeStart}32mok${escapeStart}39m`)
      expect(await atTerminal({ NO_COLOR: '1' })).not.toContain(escapeStart)
      expect(await atTerminal({ TERM: 'dumb' })).not.toContain(escapeStart)
    },
    60_000,
  )

  test('a consumer that reads late gets all that a command prints', async () => {
    const child = Bun.spawn([binary(), 'config', 'explain', '--data', data], {
      env: { PATH: process.env.PATH },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    // Nothing is read for now: the socket between the two is full before the command ends.
    Bun.sleepSync(1500)
    const late = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    const { out } = await run('config', 'explain', '--json', '--data', data)
    const keys = (JSON.parse(out) as { key: string }[]).map(({ key }) => key)
    const printed = new Set(late.split('\n').map(line => line.split(' ')[0]))
    expect(keys.filter(key => !printed.has(key))).toEqual([])
  }, 30_000)

  needs('terminal').test(
    'a terminal of 0 columns gets tables and help as they are printed to a pipe',
    async () => {
      for (const words of [
        ['codes', 'search', 'gasoline', '--data', data],
        ['accounts', 'list', '--data', data],
        ['config', 'explain', '--data', data],
        ['import', '--help'],
      ]) {
        const line = `stty cols 0 rows 0; ${[binary(), ...words].join(' ')}`
        const child = Bun.spawn(['script', '-qec', line, '/dev/null'], {
          env: { PATH: process.env.PATH, TERM: 'xterm' },
          stdin: 'ignore',
          stdout: 'pipe',
        })
        const atTerminal = (await new Response(child.stdout).text()).replaceAll('\r\n', '\n')
        const { out } = await run(...words)
        expect(out.split('\n').length).toBeGreaterThan(2)
        expect(atTerminal, words.join(' ')).toBe(out)
      }
    },
    60_000,
  )

  test('syncs a data source through the running server, and without one', async () => {
    const created = await fetch(`${server.url}/v1/data-sources`, {
      method: 'POST',
      headers: { authorization: `Token ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data_source: { name: 'feed', source_type: 'file' } }),
    })
    expect(created.status).toBe(201)
    const synced = await run('sources', 'sync', 'feed', '--data', data)
    expect({ code: synced.code, err: synced.err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^sources sync: scraper_config.path is missing/),
    })
    const listed = await run('sources', 'list', '--data', data, '--json')
    expect(JSON.parse(listed.out)).toEqual([
      expect.objectContaining({ name: 'feed', status: 'error', failed_syncs: 1 }),
    ])
  })

  test('verify and restore find one flipped bit of a backup by its checksum, and replace nothing', async () => {
    const file = join(dir, 'one.db')
    const made = await run('backup', file, '--data', data)
    expect({ code: made.code, out: made.out }).toEqual({
      code: 0,
      out: expect.stringContaining('one.db.sha256'),
    })
    const checked = Bun.spawnSync(['sha256sum', '-c', 'one.db.sha256'], { cwd: dir })
    expect({ exitCode: checked.exitCode, stdout: checked.stdout.toString() }).toEqual({
      exitCode: 0,
      stdout: 'one.db: OK\n',
    })
    expect((await run('verify', file)).code).toBe(0)
    const bytes = readFileSync(file)
    for (const at of [Math.floor(bytes.length / 2), bytes.length - 1]) {
      bytes[at]! ^= 1
      await Bun.write(file, bytes)
      const target = join(dir, 'restored')
      for (const words of [
        ['verify', file],
        ['restore', file, '--data', target, '--create'],
      ]) {
        const found = await run(...words)
        const said = found.out + found.err
        expect({ code: found.code, said }, words[0]).toEqual({
          code: 1,
          said: expect.stringContaining('its SHA-256 checksum is'),
        })
      }
      expect(existsSync(join(target, 'wellhead.db'))).toBe(false)
      bytes[at]! ^= 1
    }
  })

  test('doctor reports a running server and a killed one, and changes nothing', async () => {
    const statusOf = (out: string, check: string) =>
      (
        JSON.parse(out) as { checks: { check: string; status: string; found: string }[] }
      ).checks.find(entry => entry.check === check)
    const running = await run('doctor', '--data', data, '--json')
    expect({ code: running.code, err: running.err }).toEqual({ code: 0, err: '' })
    expect(statusOf(running.out, 'server')).toMatchObject({
      status: 'ok',
      found: expect.stringContaining(`process ${server.process.pid}`),
    })
    server.process.kill('SIGKILL')
    await server.process.exited
    const before = picture()
    const killed = await run('doctor', '--data', data, '--json')
    expect(picture()).toEqual(before)
    expect({
      code: killed.code,
      found: statusOf(killed.out, 'server')?.found,
      status: statusOf(killed.out, 'database')?.status,
    }).toEqual({ code: 0, found: 'none runs', status: 'ok' })
    const alone = await run('sources', 'sync', 'feed', '--data', data)
    expect({ code: alone.code, err: alone.err }).toEqual({
      code: 1,
      err: expect.stringMatching(/scraper_config.path is missing/),
    })
  })
})
