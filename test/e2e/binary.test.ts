import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { defaultLimits } from '../../src/plans/limits.ts'
import { remove, run, type Server, start, temporaryDir } from '../support/instance/binary.ts'
import { until } from '../support/until.ts'

describe('the binary in production', () => {
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

  test('an empty directory has a catalogue and no prices', async () => {
    const { status } = await server.get('/v1/prices/latest?by_code=WTI_USD')
    expect(status).toBe(404)
  })

  test('the version names the commit that the binary was built from, and its day', async () => {
    const git = ['git', 'log', '-1', '--format=%H']
    const hasHistory = Bun.spawnSync(git, { cwd: import.meta.dir }).exitCode === 0
    const { code, out } = await run('version', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      commit: hasHistory ? expect.stringMatching(/^[0-9a-f]{7,}$/) : null,
      day: hasHistory ? expect.stringMatching(/^\d{4}-\d\d-\d\d$/) : null,
    })
  })

  test('has no fixtures and no controls', async () => {
    const response = await fetch(`${server.url}/_dev/clock`, {
      headers: { authorization: `Bearer ${server.adminToken}` },
    })
    expect(response.status).toBe(404)
    expect(await response.text()).toBe('')
  })

  test('the data directory and its socket are for their user only', () => {
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(statSync(join(data, 'wellhead.sock')).mode & 0o777).toBe(0o600)
  })

  test('a second server names the process that holds the data directory and exits with 75', async () => {
    const outcome = await run('serve', '--data', data, '--port', '0')
    expect(outcome.code).toBe(75)
    expect(outcome.err).toContain(`process ${server.process.pid}`)
  })

  test('an import goes through the running server and is in latest at once', async () => {
    const file = join(dir, 'new.csv')
    await Bun.write(
      file,
      'code,observed_at,price\nWTI,2026-11-19T15:00:00Z,71.5\nNO_SUCH_USD,2026-11-19T15:00:00Z,1\n',
    )
    const outcome = await run('import', '--data', data, file)
    expect(outcome.code).toBe(2)
    expect(outcome.out).toContain('inserted 1')
    expect(existsSync(`${file}.rejected`)).toBe(true)
    const body = (await (await server.get('/v1/prices/latest?by_code=WTI_USD')).json()) as {
      data: { price: number }
    }
    expect(body.data.price).toBe(71.5)
  })

  test('quarantine hides a day and lifting it brings the day back', async () => {
    const day = async () =>
      (
        (await (await server.get('/v1/prices/2026-11-19?by_code=WTI_USD')).json()) as {
          data: { prices: unknown[] }
        }
      ).data.prices
    expect(await day()).toHaveLength(1)
    const added = await run(
      'quarantine',
      'add',
      '--data',
      data,
      'WTI_USD',
      '2026-11-19',
      '--reason',
      'test',
    )
    expect(added.code).toBe(0)
    expect(await day()).toHaveLength(0)
    await run('quarantine', 'remove', '--data', data, added.out.split('\t')[0]!)
    expect(await day()).toHaveLength(1)
  })

  test('an export that is imported into an empty instance and exported again is identical to the byte', async () => {
    const first = join(dir, 'first.csv')
    expect((await run('export', '--data', data, '-o', first)).code).toBe(0)
    const instance = join(dir, 'copy')
    expect((await run('import', '--create', '--data', instance, first)).code).toBe(0)
    const second = join(dir, 'second.csv')
    await run('export', '--data', instance, '-o', second)
    expect(await Bun.file(second).text()).toBe(await Bun.file(first).text())
    expect(await Bun.file(first).text()).toContain('WTI_USD,2026-11-19T15:00:00Z,71.5,USD')
  })

  test('a backup of the running server is sound, restores, and answers the same', async () => {
    const file = join(dir, 'backup.db')
    expect((await run('backup', '--data', data, file)).code).toBe(0)
    expect((await run('verify', file)).code).toBe(0)
    const restored = join(dir, 'restored')
    expect((await run('restore', '--create', '--data', restored, file)).code).toBe(0)
    expect((await run('export', '--data', restored)).out).toBe(
      (await run('export', '--data', data)).out,
    )
    expect((await run('restore', '--data', data, file)).err).toContain('in use')
  })

  test('healthcheck asks the server', async () => {
    const port = new URL(server.url).port
    expect((await run('healthcheck', '--port', port)).code).toBe(0)
    expect((await run('healthcheck', '--port', '1')).code).toBe(1)
    // The port is not in the configuration: the server took a free one.
    const byData = await run('healthcheck', '--data', data)
    expect({ code: byData.code, err: byData.err }).toEqual({ code: 0, err: '' })
  })

  test('an invalid configuration starts nothing and is reported with its key, its value and the allowed values', async () => {
    const outcome = await run('serve', '--data', join(dir, 'other'), '--port', '70000')
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain('server.port')
    expect(outcome.err).toContain('70000')
    expect(existsSync(join(dir, 'other'))).toBe(false)
  })

  test('no token is in the log or on disk', async () => {
    for (const token of [server.apiKey, server.adminToken]) {
      await fetch(`${server.url}/v1/prices/latest?by_code=WTI_USD&api_key=${token}`)
      for (const name of ['wellhead.db', 'wellhead.db-wal']) {
        const path = join(data, name)
        if (existsSync(path)) expect((await Bun.file(path).text()).includes(token)).toBe(false)
      }
    }
  })

  test('SIGTERM ends it with 0, and the next start finds everything', async () => {
    expect(await server.stop()).toBe(0)
    expect(existsSync(join(data, 'wellhead.sock'))).toBe(false)
    server = await start('serve', dir)
    expect((await server.get('/v1/prices/latest?by_code=WTI_USD')).status).toBe(200)
  })

  test('a second SIGTERM ends the server at once, and the next start finds no missing commit', async () => {
    await server.stop()
    const config = join(dir, 'notice.toml')
    await Bun.write(config, '[server]\nstop_notice = "1m"\n')
    server = await start('serve', dir, '--config', config)
    server.process.kill('SIGTERM')
    // Two signals are one for a process that has not run between them.
    await until('the first is noticed', async () => (await server.get('/health')).status === 503)
    expect(await server.stop()).not.toBe(0)
    const verified = await run('verify', '--data', data)
    expect({ code: verified.code, out: verified.out }).toEqual({
      code: 0,
      out: `${join(data, 'wellhead.db')} is valid\n`,
    })
    server = await start('serve', dir)
    expect((await server.get('/v1/prices/latest?by_code=WTI_USD')).status).toBe(200)
    await server.stop()
    const log = await new Response(server.process.stderr as ReadableStream).text()
    expect(log).not.toContain('commits_missing')
    expect(log).not.toContain('checksums_rebuilt')
  })
})

async function fileWith(dir: string, line: string): Promise<string> {
  const path = join(dir, 'line.csv')
  await Bun.write(path, `Date,Price\n${line}\n`)
  return path
}

describe('the binary as a demo instance', () => {
  const dir = temporaryDir()
  let server: Server
  let startedMs = 0
  beforeAll(async () => {
    const before = Bun.nanoseconds()
    server = await start('dev', dir)
    startedMs = (Bun.nanoseconds() - before) / 1e6
  })
  afterAll(async () => {
    await server.stop()
    remove(dir)
  })

  test('a demo instance serves plausible prices as soon as it reports that it is ready', async () => {
    const response = await server.get('/v1/prices/latest?by_code=BRENT_CRUDE_USD,WTI_USD')
    expect(response.status).toBe(200)
    expect(response.headers.get('x-service-data')).toBe('fixture')
    expect(startedMs).toBeGreaterThan(0)
  })

  test('a demo instance enforces the limits of the plan only where it is configured to', async () => {
    const refused = await run('dev', '--data', join(dir, 'plan'), '--limits', 'none', '--port', '0')
    expect([refused.code, refused.err.includes('--limits must be plan; got none')]).toEqual([
      1,
      true,
    ])
    const limited = await start('dev', join(dir, 'plan'), '--world', 'small', '--limits', 'plan')
    const { perMinute } = defaultLimits
    const answers = await Promise.all(
      Array.from({ length: perMinute + 20 }, () => limited.get('/v1/prices/latest')),
    )
    const refusals = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(perMinute)
    expect(refusals.length).toBeGreaterThan(0)
    expect(refusals[0]!.headers.get('ratelimit-policy')).toContain(`"burst";q=${perMinute};w=60`)
    expect((await server.get('/v1/prices/latest')).status).toBe(200)
    await limited.stop()
    const printed = await new Response(limited.process.stdout as ReadableStream).text()
    expect(printed).toContain(`${perMinute} requests a minute`)
  }, 60_000)

  test('binds this machine only', async () => {
    const outcome = await run(
      'dev',
      '--data',
      join(dir, 'open'),
      '--host',
      '0.0.0.0',
      '--port',
      '0',
    )
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain('server.host')
  })

  test('a demo directory is not served in production, and real data is not served as a demo instance', async () => {
    const lockedDir = join(dir, 'held')
    expect(
      (
        await run(
          'import',
          '--create',
          '--data',
          lockedDir,
          '--series',
          'WTI_USD',
          await fileWith(dir, '2026-01-02,60'),
        )
      ).code,
    ).toBe(0)
    expect((await run('dev', '--data', lockedDir, '--port', '0')).err).toContain(
      'observations already',
    )
    const other = join(dir, 'other')
    const instance = await start('dev', other, '--world', 'small')
    await instance.stop()
    const outcome = await run('serve', '--data', join(other, 'data'), '--port', '0')
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain('demo instance')
  })

  test('the clock moves forward on demand and prices with it', async () => {
    const post = (path: string, body: unknown) =>
      fetch(server.url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${server.adminToken}` },
      })
    const before = (await (
      await server.get('/v1/prices/latest?by_code=BRENT_CRUDE_USD')
    ).json()) as { data: { created_at: string } }
    expect((await post('/_dev/clock', { advance: 'P1D' })).status).toBe(200)
    const after = (await (
      await server.get('/v1/prices/latest?by_code=BRENT_CRUDE_USD')
    ).json()) as { data: { created_at: string } }
    expect(after.data.created_at > before.data.created_at).toBe(true)
  })
})
