import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, run, start, temporaryDir } from '../../support/instance/binary.ts'
import { until } from '../../support/until.ts'

let dir: string
let data: string
beforeEach(() => {
  dir = temporaryDir()
  data = join(dir, 'data')
})
afterEach(() => remove(dir))

const serve = (...flags: string[]) => run('serve', '--data', data, ...flags)

const addWebhook = (url: string, apiKey: string) =>
  fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Token ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://hook.example.com/prices', events: ['price.updated'] }),
  })

describe('the first start of serve', () => {
  test('a taken port leaves nothing behind: the next start still shows the first credentials', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
    const failed = await serve('--port', String(other.port))
    other.stop(true)
    expect(failed.code).not.toBe(0)
    expect(failed.out).not.toContain('API key')
    const server = await start('serve', dir)
    expect(server.apiKey).toMatch(/^[0-9a-f]{64}$/)
    expect((await server.get('/v1/account')).status).toBe(200)
    await server.stop()
  })

  test('a ready file that cannot be written is named before anything is made', async () => {
    const failed = await serve('--port', '0', '--ready-file', join(dir, 'no', 'such', 'ready'))
    expect(failed.code).not.toBe(0)
    expect(failed.err).toContain(join(dir, 'no', 'such', 'ready'))
    const server = await start('serve', dir)
    expect(server.apiKey).toMatch(/^[0-9a-f]{64}$/)
    await server.stop()
  })
})

describe('a copy without prices', () => {
  const saidBy = async (...flags: string[]): Promise<string> => {
    const server = await start('serve', dir, ...flags)
    await server.stop()
    return await new Response(server.process.stdout as ReadableStream).text()
  }

  test('names the public sources that need no key, until one is set', async () => {
    const hint = /Public feeds that need no key:\n +(wellhead feeds add ecb.*)\n +(.*)\n/
    expect((await saidBy()).match(hint)?.slice(1)).toEqual([
      `wellhead feeds add ecb --data '${data}'`,
      `wellhead feeds add eia_bulk --data '${data}'`,
    ])
    const config = join(dir, 'feeds.toml')
    // The feed is on, and its address on this machine is closed: no publisher is contacted.
    writeFileSync(config, '[feeds.ecb]\nbase_url = "http://127.0.0.1:1"\n')
    const said = await saidBy('--config', config)
    expect(said).not.toMatch(hint)
    expect(said).toContain('http://127.0.0.1')
  })
})

describe('the first credentials', () => {
  const opens = async (url: string, apiKey: string) =>
    (await fetch(`${url}/v1/account`, { headers: { authorization: `Token ${apiKey}` } })).status

  test('first credentials are written to a private file when there is no terminal and never to a log', async () => {
    const server = await start('serve', dir)
    const path = join(data, 'first-credentials')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toContain(`API key:      ${server.apiKey}\n`)
    await server.stop()
    const child = server.process as Bun.Subprocess<'ignore', 'pipe', 'pipe'>
    const log =
      (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
    expect(log).toContain(path)
    expect(log).not.toMatch(/[0-9a-f]{64}|sign-in\?/)
  })

  test('unused first credentials can be reissued, even while the server runs', async () => {
    const server = await start('serve', dir)
    const again = await run('setup', '--again', '--data', data, '--json')
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: '' })
    const shown = JSON.parse(again.out) as { api_key: string; admin_token: string }
    expect(existsSync(join(data, 'first-credentials'))).toBe(false)
    expect(await opens(server.url, server.apiKey)).toBe(401)
    expect(await opens(server.url, shown.api_key)).toBe(200)
    const used = await fetch(`${server.url}/admin/v1/accounts`, {
      headers: { authorization: `Bearer ${shown.admin_token}` },
    })
    expect(used.status).toBe(200)
    await server.stop()
    const refused = await run('setup', '--again', '--data', data)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('have already been used')
    expect(refused.out).not.toMatch(/[0-9a-f]{64}/)
  })
})

test('after SIGTERM the health check returns 503, and other requests are served until the stop notice ends', async () => {
  const config = join(dir, 'wellhead.toml')
  writeFileSync(config, 'server.stop_notice = "1s"\n')
  const server = await start('serve', dir, '--config', config)
  const stopped = server.stop()
  const health = async () => (await fetch(`${server.url}/health`)).status
  await until('/health answers 503', async () => (await health()) === 503)
  expect((await server.get('/v1/account')).status).toBe(200)
  expect(await stopped).toBe(0)
})

describe('files next to the database', () => {
  test('damaged rate windows never stop a start', async () => {
    await (await start('serve', dir)).stop()
    const path = join(data, 'rate-windows.json')
    expect(existsSync(path)).toBe(true)
    for (const content of ['', '\0'.repeat(200), '{"seed":']) {
      writeFileSync(path, content)
      const server = await start('serve', dir)
      expect((await fetch(`${server.url}/health`)).status).toBe(200)
      await server.stop()
      expect(readFileSync(`${path}.damaged`, 'utf8')).toBe(content)
    }
  })

  test('a master key that is damaged, missing or foreign stops the start with the remedy', async () => {
    const server = await start('serve', dir)
    expect((await addWebhook(server.url, server.apiKey)).status).toBe(201)
    await server.stop()
    const path = join(data, 'master.key')
    const key = readFileSync(path, 'utf8')
    for (const content of ['\0'.repeat(65), 'short', `${'0123456789abcdef'.repeat(4)}\n`]) {
      writeFileSync(path, content)
      const refused = await serve('--port', '0')
      expect(refused.code).not.toBe(0)
      expect(refused.err).toContain(path)
      expect(refused.err).toContain('--new-master-key')
    }
    rmSync(path)
    const missing = await serve('--port', '0')
    expect(missing.code).not.toBe(0)
    expect(missing.err).toContain(path)
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, key)
    await (await start('serve', dir)).stop()
  })

  test('the flag --new-master-key discards the sealed secrets and lets the server start', async () => {
    const server = await start('serve', dir)
    const hookUrl = '/v1/webhooks'
    const endpoint = (await (await addWebhook(server.url, server.apiKey)).json()) as { id: string }
    await server.stop()
    rmSync(join(data, 'master.key'))
    const again = await start('serve', dir, '--new-master-key')
    const listed = await fetch(`${again.url}${hookUrl}`, {
      headers: { authorization: `Token ${server.apiKey}` },
    })
    expect(listed.status).toBe(200)
    expect(JSON.stringify(await listed.json())).toContain(endpoint.id ?? 'hook.example.com')
    await again.stop()
    // With the new key in its place the flag is not needed any more.
    await (await start('serve', dir)).stop()
  })
})
