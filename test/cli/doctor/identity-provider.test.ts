import { afterAll, afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryProviders } from '../../../src/cli/doctor/providers.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { good } from '../../support/servers/certificates.ts'
import { startIdentityProvider } from '../../support/servers/identity-provider.ts'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-test-'))
afterAll(() => rmSync(dir, { recursive: true }))
const secretFile = join(dir, 'secret')
writeFileSync(secretFile, 'right\n')

const open: { stop(): unknown }[] = []
afterEach(() => {
  for (const provider of open.splice(0)) provider.stop()
})

const redirectUri = 'https://prices.example.com/sign-in/company/callback'

async function started() {
  const provider = await startIdentityProvider(Date.now)
  open.push(provider)
  provider.register({ redirectUri, secret: 'right' })
  const examined = async (settings: Record<string, string> = {}, clockAheadMs = 0) => {
    const config = loadConfig({
      mode: 'serve',
      env: {},
      files: { directory: '/' },
      readFile: () => undefined,
      flags: {
        'server.base_url': 'https://prices.example.com',
        'oidc.issuer': provider.issuer,
        'oidc.client_id': 'wellhead',
        'oidc.client_secret_file': secretFile,
        ...settings,
      },
    })
    const findings = await tryProviders(config, createManualClock(Date.now() + clockAheadMs))
    return findings.map(({ status, found, advice }) => [status, found, advice])
  }
  return { ...provider, examined }
}

test('doctor does what a sign-in at the identity provider does, and leaves no attempt there', async () => {
  const { examined, issuer } = await started()
  expect(await examined()).toEqual([
    ['ok', `${issuer} has keys, and accepts the client and its secret`, null],
    ['ok', `it returns people to ${redirectUri}`, null],
  ])
  expect(await examined({ 'oidc.issuer': '' })).toEqual([])
})

test.each<[string, Record<string, string>, string, RegExp, string]>([
  [
    'a wrong secret',
    { 'oidc.client_secret_file': '' },
    'error',
    /answered 401 invalid_client$/,
    'correct oidc.client_id and oidc.client_secret_file',
  ],
  [
    'another redirect address',
    { 'server.base_url': 'https://other.example.com' },
    'warning',
    /^it does not return people to https:\/\/other\.example\.com\/sign-in\/company\/callback$/,
    'register exactly this redirect address',
  ],
  [
    'a secret that cannot be read',
    { 'oidc.client_secret_file': '/nowhere/secret' },
    'error',
    /\/nowhere\/secret/,
    'correct oidc.client_secret_file',
  ],
  [
    'an address where nothing listens',
    { 'oidc.issuer': 'http://127.0.0.1:1' },
    'warning',
    /./,
    '--offline',
  ],
])('doctor reports %s of the identity provider', async (_, settings, status, found, advice) => {
  const { examined } = await started()
  expect((await examined(settings)).at(-1)).toEqual([
    status,
    expect.stringMatching(found),
    expect.stringContaining(advice),
  ])
})

test('doctor names the setting for a certificate authority that this machine does not trust', async () => {
  const server = createServer(good, (_, response) => response.end())
  server.on('tlsClientError', () => undefined)
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  open.push({ stop: () => server.close() })
  const { examined } = await started()
  const { port } = server.address() as { port: number }
  expect(await examined({ 'oidc.issuer': `https://127.0.0.1:${port}` })).toEqual([
    [
      'warning',
      expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
      expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    ],
  ])
})

test('doctor reports a provider with another name or without keys', async () => {
  const { examined, describe, loseKeys } = await started()
  describe({ issuer: 'https://login.example.com' })
  const advice = 'correct oidc.issuer'
  expect(await examined()).toEqual([
    ['error', 'the provider names itself https://login.example.com', advice],
  ])
  describe({})
  loseKeys()
  expect(await examined()).toEqual([['error', 'the provider has no keys to sign with', advice]])
})

test('doctor reports a clock that differs from that of the identity provider', async () => {
  const { examined } = await started()
  expect((await examined({}, 90_000)).at(-1)).toEqual([
    'error',
    expect.stringMatching(/^the clock of this machine differs by \d+ s, so sign-ins are refused$/),
    'synchronize the clock',
  ])
})
