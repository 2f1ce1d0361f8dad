import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until as waitUntil } from '../../support/until.ts'

const root = temporaryDir()
const small = join(root, 'small')
mkdirSync(small)
const disk = needs('mount')
if (disk.isMet) Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'none', small])
afterAll(() => {
  if (disk.isMet) Bun.spawnSync(['umount', '-l', small])
  remove(root)
})

const ballast = join(small, 'ballast')

/**
 * Fills the rest of the disk; earlier filling stays. Only the space that was left at the beginning
 * is filled: a server that finds the disk full frees its reserve, which must not be filled too.
 */
function fill() {
  const { bavail, bsize } = statfsSync(small)
  try {
    writeFileSync(ballast, Buffer.alloc(bavail * bsize, 1), { flag: 'a' })
  } catch (error) {
    // The server wrote during the filling: the rest is filled all the same.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

interface Line {
  msg: string
  ts: string
  level: string
}

function logOf(server: Server) {
  const lines: Line[] = []
  const reading = (async () => {
    let rest = ''
    for await (const chunk of server.process.stderr as ReadableStream<Uint8Array>) {
      rest += new TextDecoder().decode(chunk)
      const parts = rest.split('\n')
      rest = parts.pop()!
      for (const part of parts) if (part.startsWith('{')) lines.push(JSON.parse(part) as Line)
    }
  })()
  return { lines, reading, has: (msg: string) => lines.some(line => line.msg === msg) }
}

const until = (isSo: () => boolean | Promise<boolean>) => waitUntil(String(isSo), isSo)

const rowsFrom = (place: number) =>
  Array.from({ length: 400 }, (_, i) => ({
    code: 'WTI_USD',
    observed_at: new Date(Date.UTC(2020, 0, 1) + (place * 400 + i) * 60_000).toISOString(),
    price: 60 + (i % 40),
  }))

disk.describe('a disk that fills while 500 pushes and 50 readers are under way', () => {
  test('a full disk fails no read, notifies writers and the operator, and writes resume when there is space', async () => {
    writeFileSync(join(root, 'wellhead.toml'), '')
    mkdirSync(join(small, 'data'))
    writeFileSync(join(small, 'data/wellhead.toml'), '[data]\nreserve_mb = 2\n')
    const server = await start('serve', small)
    const log = logOf(server)
    const push = async (place: number) =>
      (
        await fetch(`${server.url}/admin/v1/observations`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${server.adminToken}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ observations: rowsFrom(place) }),
        })
      ).status
    expect(await push(0)).toBe(200)
    const read = async () => (await server.get('/v1/prices/latest?by_code=WTI_USD')).status
    const health = async (query = '') => {
      const response = await fetch(`${server.url}/health${query}`)
      return [response.status, ((await response.json()) as { status: string }).status]
    }
    await until(
      () => statSync(join(small, 'data/reserve'), { throwIfNoEntry: false })?.size === 2 ** 21,
    )
    expect(await health('?ready=write')).toEqual([200, 'ok'])

    const [pushed, reads]: [number[], Set<number>] = [[], new Set()]
    let goesOn = true
    const readers = Array.from({ length: 50 }, async () => {
      while (goesOn) {
        reads.add(await read())
        await Bun.sleep(20)
      }
    })
    let place = 0
    const pushers = Array.from({ length: 10 }, async () => {
      while (place < 500) {
        place += 1
        pushed.push(await push(place))
      }
    })
    await until(() => pushed.length >= 20)
    fill()
    await Promise.all(pushers)
    goesOn = false
    await Promise.all(readers)
    expect([...reads]).toEqual([200])
    expect(new Set(pushed)).toEqual(new Set([200, 503]))
    expect(pushed.at(-1)).toBe(503)
    await until(() => log.has('storage_unwritable'))
    expect(await health()).toEqual([200, 'degraded'])
    expect(await health('?ready=write')).toEqual([503, 'degraded'])
    const status = (await (await server.get('/v1/status')).json()) as {
      data: { status: string; components: { name: string; status: string; message: string }[] }
    }
    expect(status.data.components.find(part => part.name === 'database')).toMatchObject({
      status: 'degraded',
      message: 'Writes are refused: the disk is full; writes resume with 5 MB free.',
    })
    // The freed reserve is for essential writes.
    const account = await fetch(`${server.url}/admin/v1/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'somebody@example.com' }),
    })
    expect(account.status).toBe(201)
    expect(await push(501)).toBe(503)

    // A server that stops now, and one that starts on the full disk.
    expect(await server.stop()).toBe(0)
    await log.reading
    expect(log.has('server_stopped')).toBe(true)
    fill()
    const again = await start('serve', small)
    const [restarted, after] = [again, logOf(again)]
    expect((await restarted.get('/v1/prices/latest?by_code=WTI_USD')).status).toBe(200)
    expect((await fetch(`${restarted.url}/health?ready=write`)).status).toBe(503)

    rmSync(ballast)
    await until(async () => (await fetch(`${restarted.url}/health?ready=write`)).status === 200)
    expect(after.has('storage_writable')).toBe(true)
    const back = await fetch(`${restarted.url}/admin/v1/observations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ observations: rowsFrom(600) }),
    })
    expect(back.status).toBe(200)
    expect(await restarted.stop()).toBe(0)
  }, 120_000)
})
