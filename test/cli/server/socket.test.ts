import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt } from '../../../src/cli/command.ts'
import { giveUp } from '../../../src/cli/data/import.ts'
import { openOperator } from '../../../src/cli/operator.ts'
import { listenLocally, serverSocket, socketFile } from '../../../src/cli/socket.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { inOwnTemporaryDirectory } from '../../support/own-temporary-directory.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wellhead-socket-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const listening = (dir: string) => {
  const local = new WeakSet<Request>()
  return listenLocally(
    dir,
    local,
    request => new Response(local.has(request) ? 'from this machine' : 'from anywhere'),
  )
}

describe('the command socket', () => {
  test.each([
    ['short', 'data'],
    ['longer than the kernel takes', 'x'.repeat(180)],
  ])(
    'the command socket is in the data directory and accessible only to its user when the path is %s',
    async (_, name) => {
      const dir = join(root, name)
      mkdirSync(dir)
      await inOwnTemporaryDirectory(async () => {
        const before = readdirSync(tmpdir()).sort()
        expect(serverSocket(dir)).toBeUndefined()
        const socket = listening(dir)
        expect(lstatSync(socketFile(dir)).mode & 0o777).toBe(0o600)
        const unix = serverSocket(dir)!
        expect(await (await fetch('http://localhost/', { unix })).text()).toBe('from this machine')
        expect(readdirSync(tmpdir()).sort()).toEqual(before)
        await socket.stop()
        expect(existsSync(socketFile(dir))).toBe(false)
      })
    },
  )

  test('a request that must not be made twice does not end as a failure to try again', async () => {
    const socket = listening(root)
    const operator = await openOperator(root, openTestInstance().services)
    await socket.stop()
    const codes: Record<string, number> = {}
    const lines: string[] = []
    const requests = [
      ['GET', '/admin/v1/accounts'],
      ['PATCH', '/admin/v1/keys/7'],
      ['DELETE', '/admin/v1/keys/7'],
      ['POST', '/admin/v1/observations'],
      ['POST', '/admin/v1/accounts/7/keys'],
      ['POST', '/admin/v1/accounts/7/credits'],
    ] as const
    for (const [method, path] of requests) {
      const env = { err: (line: string) => void lines.push(line) }
      codes[`${method} ${path}`] = await attempt('x', env, async () => {
        await operator.call(method, path, {})
      })
    }
    expect(codes).toEqual({
      'GET /admin/v1/accounts': 75,
      'PATCH /admin/v1/keys/7': 75,
      'DELETE /admin/v1/keys/7': 75,
      'POST /admin/v1/observations': 75,
      'POST /admin/v1/accounts/7/keys': 1,
      'POST /admin/v1/accounts/7/credits': 1,
    })
    expect(lines.at(-1)).toBe(
      'x: the server of this directory stopped before it responded: the change may have been made. Check that before you try again',
    )
  })

  test('a command is notified when the server behind its socket stops', async () => {
    const socket = listening(root)
    const operator = await openOperator(root, openTestInstance().services)
    expect(operator.instance).toBeUndefined()
    await socket.stop()
    const error = await operator.call('GET', '/').catch((fault: Error) => fault)
    expect(error).toMatchObject({
      message: 'the server of this directory stopped before it responded; try again',
    })
    // An operator's command ends with the code for it. An import adds what it has written.
    const clock = createManualClock(0)
    const env = { out() {}, err() {}, clock, terminal: undefined }
    const refused = () => Promise.reject<never>(error)
    expect(await attempt('plans list', env, refused)).toBe(75)
    const written = { count: 5, what: 'points' } as const
    expect(giveUp(error as Error, written, {}, env)).toBe(75)
    operator.close()
  })

  test('a file in its place that is not a socket is refused', () => {
    writeFileSync(socketFile(root), '')
    expect(() => serverSocket(root)).toThrow(`${socketFile(root)} is not the socket`)
  })

  needs('root').test('of another user is not spoken to', async () => {
    // Another user may listen first where the directory lets everybody write.
    chmodSync(root, 0o777)
    const script = `Bun.serve({ unix: ${JSON.stringify(socketFile(root))}, fetch: () => new Response('') }); console.log('up'); setInterval(() => {}, 1000)`
    const child = Bun.spawn(
      ['setpriv', '--reuid=65534', '--clear-groups', process.execPath, '-e', script],
      { stdout: 'pipe', stderr: 'pipe', cwd: '/', env: { HOME: '/nonexistent' } },
    )
    const first = await child.stdout.getReader().read()
    try {
      expect(new TextDecoder().decode(first.value)).toContain('up')
      expect(() => serverSocket(root)).toThrow('belongs to user 65534')
    } finally {
      child.kill()
      await child.exited
    }
  })
})
