import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigProblem, loadConfig } from '../../../src/config/config.ts'
import { recognised } from '../../../src/plans/clients/client-profile.ts'
import { parseProfiles } from '../../../src/plans/clients/client-profiles.ts'
import {
  shippedClientProfiles,
  shippedProfiles,
} from '../../../src/plans/clients/shipped-profiles.ts'
import { switchEffects } from '../../../src/plans/clients/switches.ts'

const page = readFileSync(
  join(import.meta.dir, '../../../docs/reference/client-profiles.md'),
  'utf8',
)
const profiles = shippedClientProfiles()
const profileBy = (headers: Record<string, string>, method = 'GET') =>
  recognised(profiles, of => (of === 'method' ? method : (headers[of] ?? null)))?.name
const plain = { accept: '*/*', 'accept-encoding': 'gzip' }
const profileOf = (agent: string) => profileBy({ ...plain, 'user-agent': agent })

describe('the shipped profiles', () => {
  test.each([
    ['prices-go/1.2', 'shipped-go'],
    ['Energy_Golang/0.1 (linux)', 'shipped-go'],
    ['energy-golang/0.1', 'shipped-go'],
    ['prices-php', 'shipped-php'],
    ['prices-node/2.0.1', 'shipped-node'],
    ['prices.client-typescript/1', 'shipped-node'],
    ['prices-python/0.4', 'shipped-python'],
    ['OpenBB-Platform/4.1', 'shipped-openbb'],
    ['prices-google-sheets-addon/3', 'shipped-spreadsheet'],
    ['prices-excel/1.0', 'shipped-spreadsheet'],
    ['prices-mcp/1.1', 'shipped-mcp'],
    ['prices-mcp-server/1.1', 'shipped-mcp'],
  ])('%s is of %p', (agent, name) => {
    expect(profileOf(agent)).toBe(name)
  })

  test.each([
    'Go-http-client/2.0',
    'python-requests/2.32',
    'Python-urllib/3.12',
    'node',
    'Bun/1.4.5',
    'curl/8.9',
    'GuzzleHttp/7',
    'Mozilla/5.0 (X11; Linux x86_64)',
    'wellhead-python/0.2.0',
    'wellhead-testkit/0.2.0',
    'Microsoft Office Excel/16',
  ])('%s is of no family', agent => {
    expect(profileOf(agent)).toBe('shipped-everybody')
  })

  test.each([
    [{ ...plain, 'x-sdk-name': 'prices-node' }, 'shipped-node'],
    [{ ...plain, 'x-sdk-name': 'prices-python' }, 'shipped-python'],
    [{ ...plain, 'x-sdk-language': 'Python' }, 'shipped-python'],
    [{ 'content-type': 'application/json', 'accept-encoding': 'gzip' }, 'shipped-go'],
    [{ accept: 'application/json' }, 'shipped-php'],
    [
      { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'python-httpx/0.28' },
      'shipped-openbb',
    ],
    [
      { ...plain, 'user-agent': 'Mozilla/5.0 (compatible; Google-Apps-Script)' },
      'shipped-spreadsheet',
    ],
    [{ accept: 'application/json', 'user-agent': 'curl/8.9' }, 'shipped-everybody'],
    [{ ...plain, accept: 'application/json' }, 'shipped-everybody'],
    [
      { 'content-type': 'application/json', 'user-agent': 'Go-http-client/2.0' },
      'shipped-everybody',
    ],
  ])('what a request with %p says by other headers is enough for %s', (headers, name) => {
    expect(profileBy(headers as Record<string, string>)).toBe(name)
  })

  test('a creation without an accepted type is of no family, because only a GET says so', () => {
    expect(profileBy({ 'content-type': 'application/json' }, 'POST')).toBe('shipped-everybody')
  })

  test('are taken by one word, among profiles of the operator', () => {
    const own = { name: 'own', match: { 'X-Client': '.' }, switches: ['latest_list'] }
    const { profiles: parsed, faults } = parseProfiles([own, 'shipped'])
    expect(faults).toEqual([])
    expect(parsed.map(profile => profile.name)).toEqual([
      'own',
      ...shippedProfiles.map(profile => profile.name),
    ])
    const config = loadConfig({
      flags: {},
      env: {},
      files: { directory: '/' },
      readFile: () => 'client_profiles = ["shipped"]',
    })
    expect(config.clientProfiles).toHaveLength(shippedProfiles.length)
  })

  test('the shipped profiles are on in a demo instance and in production unless the file says otherwise', () => {
    const namesIn = (mode: 'dev' | 'serve', text?: string) =>
      loadConfig({
        mode,
        flags: {},
        env: {},
        files: { directory: '/' },
        readFile: () => text,
      }).clientProfiles.map(profile => profile.name)
    expect(namesIn('dev')).toEqual(shippedProfiles.map(profile => profile.name))
    expect(namesIn('dev', 'client_profiles = []')).toEqual([])
    expect(namesIn('serve')).toEqual(namesIn('dev'))
    expect(namesIn('serve', 'client_profiles = []')).toEqual([])
  })

  test('another word is refused with the one that is right, a wrong switch with all that there are', () => {
    const load = (text: string) => () =>
      loadConfig({ flags: {}, env: {}, files: { directory: '/' }, readFile: () => text })
    expect(load('client_profiles = ["standard"]')).toThrow(ConfigProblem)
    expect(load('client_profiles = ["standard"]')).toThrow('must be a table, or "shipped"')
    const wrong = `[[client_profiles]]\nname = "x"\nmatch = { A = "b" }\nswitches = ["nothing_like_it"]`
    for (const name of ['latest_list', 'omit_null']) expect(load(wrong)).toThrow(name)
  })
})

describe('the page of clients', () => {
  test('has every switch with its effect', () => {
    for (const [name, effect] of Object.entries(switchEffects)) {
      expect(page).toContain(`| \`${name}\` | ${effect} |`)
    }
  })

  test('has every shipped profile, whom it is for, what it switches and why', () => {
    for (const { name, recognised, switches, why } of shippedProfiles) {
      const list = Object.entries(switches)
        .map(([habit, paths]) => `\`${[habit, ...paths].join(' ')}\``)
        .join(', ')
      expect(page).toContain(`| \`${name}\` | ${recognised} | ${list} | ${why} |`)
    }
  })
})
