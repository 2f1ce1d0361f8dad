import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { needs } from './support/needs.ts'

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
    expect([outcome.exitCode, `${outcome.stdout}${outcome.stderr}`]).toEqual([
      0,
      expect.any(String),
    ])
  })

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
