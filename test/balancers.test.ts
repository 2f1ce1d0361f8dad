import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { needs } from './support/needs.ts'
import { freePort } from './support/servers/nats.ts'
import { until } from './support/until.ts'

const dir = resolve(import.meta.dir, '../docs/balancers')
const work = mkdtempSync(join(tmpdir(), 'wellhead-balancers-'))

/** The command with which each balancer checks its configuration. */
const checks = {
  caddy: ['caddy', 'validate', '--adapter', 'caddyfile', '--config', join(dir, 'Caddyfile')],
  nginx: [
    'nginx',
    '-t',
    '-c',
    join(dir, 'nginx.conf'),
    '-g',
    `error_log stderr; pid ${join(work, 'nginx.pid')};`,
  ],
  haproxy: ['haproxy', '-c', '-f', join(dir, 'haproxy.cfg')],
}

for (const [name, command] of Object.entries(checks) as [keyof typeof checks, string[]][])
  needs(name).test(`${name} takes the configuration of the documentation`, () => {
    const outcome = Bun.spawnSync(command, {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env.PATH, HOME: work },
    })
    expect(outcome.exitCode, `${outcome.stdout}${outcome.stderr}`).toBe(0)
  })

/** The configuration of the documentation on this machine, with one node for all three. */
async function localConfiguration(file: string, node: number | undefined, port: number) {
  const text = await Bun.file(join(dir, file)).text()
  const path = join(work, file)
  await Bun.write(
    path,
    text
      .replaceAll(/10\.0\.1\.\d:8470/g, `127.0.0.1:${node}`)
      .replace(/\b(listen |bind :)8443/, (_, word: string) =>
        word === 'listen ' ? `listen 127.0.0.1:${port}` : `bind 127.0.0.1:${port}`,
      ),
  )
  return path
}

const runs = {
  nginx: ['nginx.conf', (path: string) => ['nginx', '-c', path, '-g', 'daemon off;']],
  haproxy: ['haproxy.cfg', (path: string) => ['haproxy', '-db', '-f', path]],
} as const

for (const [name, [file, command]] of Object.entries(runs) as [
  keyof typeof runs,
  (typeof runs)['nginx'],
][])
  needs(name).test(
    `${name} reaches a healthy node, with the client's address, the host with its port, and 20 MB`,
    async () => {
      let checks = 0
      await using node = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        maxRequestBodySize: 64_000_000,
        async fetch(request) {
          // As Wellhead does.
          if (!request.headers.has('host')) return new Response(null, { status: 400 })
          if (request.url.endsWith('/health?max_lag=5s')) checks += 1
          const { length } = await request.bytes()
          // The host of a form is compared with that of its page, which has the port.
          const { host } = new URL(request.url)
          return new Response(`${host} ${length} ${request.headers.get('x-forwarded-for')}`)
        },
      })
      const port = await freePort()
      const path = await localConfiguration(file, node.port, port)
      const balancer = Bun.spawn(command(path), { stdout: 'ignore', stderr: 'ignore' })
      const send = (body: Uint8Array) =>
        fetch(`http://127.0.0.1:${port}/admin/v1/observations`, {
          method: 'POST',
          body,
          headers: { 'x-forwarded-for': '198.51.100.7' },
        })
          .then(response => response.text())
          .catch(() => 'no connection')
      try {
        await until('it listens', async () => (await send(new Uint8Array(1))) !== 'no connection')
        // Without an accepted check of each of three nodes, HAProxy has no node left.
        if (name === 'haproxy') await until('it checks the nodes', () => checks >= 6)
        expect((await send(new Uint8Array(20_000_000))).replace(', ', ',')).toBe(
          `127.0.0.1:${port} 20000000 198.51.100.7,127.0.0.1`,
        )
      } finally {
        balancer.kill()
        await balancer.exited
      }
    },
  )

test('each routes by the key of the request', async () => {
  const texts = await Promise.all(
    ['Caddyfile', 'nginx.conf', 'haproxy.cfg'].map(file => Bun.file(join(dir, file)).text()),
  )
  for (const text of texts)
    expect(text.toLowerCase()).toMatch(
      /header authorization|http_authorization|hdr\(authorization\)/,
    )
  rmSync(work, { recursive: true, force: true })
})
