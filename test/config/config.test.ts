import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ConfigSources } from '../../src/config/config.ts'
import { ConfigProblem, envName, explain, loadConfig } from '../../src/config/config.ts'
import { configKeys } from '../../src/config/keys.ts'
import {
  choice,
  decimal,
  duration,
  flag,
  integer,
  list,
  network,
  Secret,
  secret,
  text,
} from '../../src/config/kinds.ts'
import { shippedClientProfiles } from '../../src/plans/clients/shipped-profiles.ts'
import { switchNames } from '../../src/plans/clients/switches.ts'
import { runs } from '../support/full.ts'

/** A refusal of one names them all. */
const allSwitches = `(${switchNames.join(', ')})`

type Given = Partial<Pick<ConfigSources, 'mode' | 'flags' | 'env'>> & {
  explicit?: string
  disk?: Readonly<Record<string, string>>
}

/** Sources with their own disk; the working directory is /srv. */
const sources = ({ mode, flags = {}, env = {}, explicit, disk = {} }: Given): ConfigSources => ({
  mode,
  flags,
  env,
  files: { explicit, directory: '/srv' },
  readFile: path => {
    if (disk[path] === 'FORBIDDEN') throw new Error(`EACCES: permission denied, open '${path}'`)
    return disk[path]
  },
})

const load = (given: Given) => loadConfig(sources(given))
const inFile = (toml: string) => ({ disk: { '/srv/wellhead.toml': toml } })

function problemsOf(work: () => unknown): readonly string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof ConfigProblem) return error.problems
    throw error
  }
  throw new Error('show and check the configuration was accepted')
}

const problems = (given: Given) => problemsOf(() => load(given))

const everywhere = { only: [], except: [] }

describe('where values come from', () => {
  test('without any source the defaults hold', () => {
    const config = load({})
    expect(config.mode).toBe('serve')
    expect(config.server).toEqual({
      host: '127.0.0.1',
      port: 8470,
      trustedProxies: [],
      baseUrl: '',
      readyFile: '',
      stopNoticeMs: 0,
      drainMs: 10_000,
    })
    expect(config.brand).toMatchObject({
      serviceName: 'Wellhead',
      headerPrefix: 'X-Service-',
      exchangeWords: ['exch', 'ice', 'nymex'],
      docsUrl: '{base_url}/docs',
    })
    expect(config.limits).toEqual({
      perMinute: 60,
      unauthenticatedPerMinute: 10,
      overQuotaPerMinute: 5,
      marinePerMinute: 30,
      marineHistoricalPerMinute: 5,
      keysMax: 5,
      enterprisePerMonth: 10_000_000,
    })
    expect(config.vintage.coverageSinceAt).toBe(Date.parse('2026-07-28T00:00:00Z'))
    expect(config.dev).toEqual({ seed: 1, world: 'whole', clockAt: undefined })
    expect({
      plans: config.plans,
      dir: config.data.dir,
      format: config.log.format,
      scope: config.quota.scope,
    }).toEqual({ plans: 'spec', dir: '/srv/wellhead-data', format: 'json', scope: 'key' })
    expect(config.demo.codes).toHaveLength(9)
    expect(config.clientProfiles).toEqual(shippedClientProfiles())
    expect(new Set(config.provenance.values())).toEqual(new Set(['default']))
  })

  test('a demo instance takes 600 requests a minute of a key unless configured otherwise', () => {
    expect(load({ mode: 'dev' }).limits.perMinute).toBe(600)
    expect(load({ mode: 'serve' }).limits.perMinute).toBe(60)
    expect(load({ mode: 'dev', flags: { 'limits.per_minute': '60' } }).limits.perMinute).toBe(60)
  })

  test('dev mode logs in text format unless configured otherwise', () => {
    expect(load({ mode: 'dev' }).log.format).toBe('text')
    expect(load({ mode: 'dev', env: { WELLHEAD_LOG_FORMAT: 'json' } }).log.format).toBe('json')
  })

  test('every default is a value that its own key accepts, and survives being shown and read again', () => {
    for (const [name, key] of Object.entries(configKeys)) {
      const { kind } = key as (typeof configKeys)['server.port']
      if (key.default === undefined) continue
      const text = kind.show(key.default as never)
      expect({ name, accept: kind.accept(kind.fromText(text)) }).toEqual({
        name,
        accept: key.default as never,
      })
    }
  })

  test('a flag beats the environment, the environment beats the file, the file beats the default', () => {
    fc.assert(
      fc.property(fc.subarray(['flag', 'env', 'file']), given => {
        const has = (source: string) => given.includes(source)
        const config = load({
          flags: has('flag') ? { 'server.port': '1001' } : {},
          env: has('env') ? { WELLHEAD_SERVER_PORT: '1002' } : {},
          ...(has('file') ? inFile('# ports\n[server]\nport = 1003\n') : {}),
        })
        const [port, source] = has('flag')
          ? [1001, 'flag --port']
          : has('env')
            ? [1002, 'env WELLHEAD_SERVER_PORT']
            : has('file')
              ? [1003, 'wellhead.toml:3']
              : [8470, 'default']
        expect([config.server.port, config.provenance.get('server.port')]).toEqual([
          port,
          source,
        ] as [number, string])
      }),
    )
  })

  test('the file is the one named, else the one in the data directory, else for the default directory the one in the working directory', () => {
    const disk = {
      '/etc/w.toml': 'server.port = 1',
      '/srv/wellhead-data/wellhead.toml': 'server.port = 2',
      '/srv/wellhead.toml': 'server.port = 3',
      '/data/wellhead.toml': 'server.port = 4',
      '/srv/sub/w.toml': 'server.port = 5',
    }
    const from = (given: Given) => {
      const config = load({ disk, ...given })
      return [config.server.port, config.provenance.get('server.port')]
    }
    expect(from({ explicit: '/etc/w.toml' })).toEqual([1, '/etc/w.toml:1'])
    expect(from({ explicit: 'sub/w.toml' })).toEqual([5, 'sub/w.toml:1'])
    expect(from({})).toEqual([2, 'wellhead-data/wellhead.toml:1'])
    expect(from({ flags: { 'data.dir': '/data' } })).toEqual([4, '/data/wellhead.toml:1'])
    expect(from({ env: { WELLHEAD_DATA_DIR: '/data' } })).toEqual([4, '/data/wellhead.toml:1'])
    const { '/srv/wellhead-data/wellhead.toml': _, ...withoutOwn } = disk
    expect(from({ disk: withoutOwn })).toEqual([3, 'wellhead.toml:1'])
    expect(from({ disk: withoutOwn, flags: { 'data.dir': 'wellhead-data' } })).toEqual([
      3,
      'wellhead.toml:1',
    ])
    expect(from({ env: { WELLHEAD_CONFIG: '/etc/w.toml' } })).toEqual([1, '/etc/w.toml:1'])
    expect(from({ explicit: 'sub/w.toml', env: { WELLHEAD_CONFIG: '/etc/w.toml' } })).toEqual([
      5,
      'sub/w.toml:1',
    ])
  })

  test("the working directory's file is not read for another data directory, also where it cannot be read", () => {
    const disk = { '/srv/wellhead.toml': 'server.port = 3' }
    for (const given of [
      { flags: { 'data.dir': '/data' } },
      { flags: { 'data.dir': 'elsewhere' } },
      { env: { WELLHEAD_DATA_DIR: '/data' } },
    ]) {
      const config = load({ disk, ...given })
      expect({ port: config.server.port, file: config.file }).toEqual({
        port: 8470,
        file: undefined,
      })
      expect(
        loadConfig({
          flags: {},
          env: {},
          ...given,
          files: { directory: '/srv' },
          readFile(path) {
            if (path === '/srv/wellhead.toml') throw new Error('EACCES')
            return undefined
          },
        }).server.port,
      ).toBe(8470)
    }
    expect(load({ disk }).file).toBe('/srv/wellhead.toml')
  })

  test('an installed package has its own directory and file, and its file is for that directory alone', () => {
    const installed = { dataDirectory: '/var/lib/wellhead', configFile: '/etc/wellhead.toml' }
    const disk: Record<string, string> = {
      '/etc/wellhead.toml': 'server.port = 1',
      '/srv/wellhead.toml': 'server.port = 3',
    }
    const from = (flags: Record<string, string>) => {
      const { data, server, provenance } = loadConfig({
        flags,
        env: {},
        files: { directory: '/srv', installed },
        readFile: path => disk[path],
      })
      return [data.dir, provenance.get('data.dir'), server.port]
    }
    expect(from({})).toEqual(['/var/lib/wellhead', 'package', 1])
    expect(from({ 'data.dir': '/var/lib/wellhead' })).toEqual([
      '/var/lib/wellhead',
      'flag --data',
      1,
    ])
    expect(from({ 'data.dir': '/home/ann' })).toEqual(['/home/ann', 'flag --data', 8470])
  })

  test('relative paths are seen from the working directory on the command line and from the file in the file', () => {
    const disk = {
      '/etc/w.toml': 'plans = "plans.toml"\ndata.dir = "state"\nserver.ready_file = ""',
    }
    const config = load({ explicit: '/etc/w.toml', disk })
    expect({
      plans: config.plans,
      dir: config.data.dir,
      readyFile: config.server.readyFile,
    }).toEqual({ plans: '/etc/plans.toml', dir: '/etc/state', readyFile: '' })
    expect(load({ flags: { 'data.dir': 'd' }, env: { WELLHEAD_PLANS: 'p.toml' } })).toMatchObject({
      plans: '/srv/p.toml',
      data: { dir: '/srv/d' },
    })
    expect(load({ env: { WELLHEAD_PLANS: 'unlimited' } }).plans).toBe('unlimited')
  })

  test('a configuration file in the data directory cannot move the data directory', () => {
    const at = (dir: string) => ({
      disk: { '/srv/wellhead-data/wellhead.toml': `\n[data]\ndir = "${dir}"` },
    })
    expect(problems(at('../other'))).toEqual([
      'wellhead-data/wellhead.toml:3: data.dir = "../other" points away from the directory this file was found in; set it by --data, WELLHEAD_DATA_DIR or --config FILE',
    ])
    expect(load(at('.')).data.dir).toBe('/srv/wellhead-data')
  })

  test('the environment spells lists with commas and booleans in words, and empty means unset', () => {
    const config = load({
      env: {
        WELLHEAD_CORS_ORIGINS: 'https://a.example.com, http://localhost:3000/',
        WELLHEAD_SERVER_TRUSTED_PROXIES: '10.0.0.0/8,::1',
        WELLHEAD_LOG_LEVEL: '',
      },
    })
    expect(config.cors.origins).toEqual(['https://a.example.com', 'http://localhost:3000'])
    expect(config.server.trustedProxies).toEqual(['10.0.0.0/8', '::1/128'])
    expect(config.log.level).toBe('info')
  })

  test('no two settings share a variable, nor one the file variable of another', () => {
    const names = Object.keys(configKeys)
      .filter(key => !key.endsWith('.key_file'))
      .flatMap(key => [envName(key), `${envName(key)}_FILE`])
    expect(new Set(names).size).toBe(names.length)
  })

  test('client profiles are read in their order', () => {
    const config = load(
      inFile(`[server]
port = 1
[[client_profiles]]
name = "a"
match = { User-Agent = '^x-1\\.' }
switches = ["latest_list", "error_string"]
[[client_profiles]]
name = "b"
switches = ["retry_after_cap"]
values = { retry_after_cap = 5 }
[client_profiles.match]
X-Client = "b"
User-Agent = "y"
`),
    )
    expect(config.clientProfiles).toEqual([
      {
        name: 'a',
        signs: [{ of: 'user-agent', pattern: /^x-1\./i, weight: 1 }],
        needed: 1,
        switches: new Map([
          ['latest_list', everywhere],
          ['error_string', everywhere],
        ]),
        retryAfterCapSeconds: 60,
      },
      {
        name: 'b',
        signs: [
          { of: 'x-client', pattern: /b/i, weight: 1 },
          { of: 'user-agent', pattern: /y/i, weight: 1 },
        ],
        needed: 2,
        switches: new Map([['retry_after_cap', everywhere]]),
        retryAfterCapSeconds: 5,
      },
    ])
    expect(config.provenance.get('client_profiles')).toBe('wellhead.toml:3')
    expect(explain(config).find(row => row.key === 'client_profiles')?.value).toBe('2')
  })
})

describe('what is refused', () => {
  test('all problems of all sources are reported at once', () => {
    expect(
      problems({
        flags: { 'server.port': '99999', 'dev.clock': '2026-11-21T19:30:00' },
        env: { WELLHEAD_QUOTA_SCOPE: 'keys', WELLHEAD_SERVER_DRAIN: 'soon' },
        ...inFile('[servr]\nport = 1\n\n[limits]\nper_minute = "60"\nkeys_max = 0\n'),
      }),
    ).toEqual([
      'wellhead.toml:2: unknown key servr.port; did you mean server.port?',
      'flag --port: server.port = 99999 must be an integer from 0 to 65535',
      'env WELLHEAD_SERVER_DRAIN: server.drain = "soon" must be a length of time from 0s to 10m, in ms, s, m, h or d',
      'env WELLHEAD_QUOTA_SCOPE: quota.scope = "keys" must be one of key, account',
      'wellhead.toml:5: limits.per_minute = "60" must be an integer from 1 to 10000000; write per_minute = 60',
      'wellhead.toml:6: limits.keys_max = 0 must be an integer from 1 to 1000',
      'flag --clock: dev.clock = "2026-11-21T19:30:00" must be an instant with its zone, such as 2026-07-28T00:00:00Z',
    ])
  })

  test('a file that is not TOML is refused with line and column', () => {
    expect(problems(inFile('[server]\nport = 1\nx = =\n'))[0]).toStartWith('wellhead.toml:3:5: ')
    expect(problems(inFile('plans = "spec"\nplans = "spec"\n'))[0]).toStartWith('wellhead.toml:2:')
  })

  test.each([
    ['port = 1', 'wellhead.toml:1: unknown key port; did you mean server.port?'],
    ['server.prot = 1', 'wellhead.toml:1: unknown key server.prot; did you mean server.port?'],
    [
      'client.profile = 1',
      'wellhead.toml:1: unknown key client.profile; did you mean client_profiles?',
    ],
    [
      '[brand]\nheaderPrefix = "X-"',
      'wellhead.toml:2: unknown key brand.headerPrefix; did you mean brand.header_prefix?',
    ],
    [
      '[brand]\nheader-prefix = "X-"',
      'wellhead.toml:2: unknown key brand.header-prefix; did you mean brand.header_prefix?',
    ],
    [
      '[limit]\nper_minute = 1',
      'wellhead.toml:2: unknown key limit.per_minute; did you mean limits.per_minute?',
    ],
    ['colour = "red"', 'wellhead.toml:1: unknown key colour'],
    ['\n[colours]', 'wellhead.toml:2: unknown key colours'],
    ['constructor = 1', 'wellhead.toml:1: unknown key constructor'],
    ['mode = "dev"', 'wellhead.toml:1: unknown key mode'],
    [
      '[egress]\nallow = "10.0.0.0/8,::1/128"',
      'wellhead.toml:2: egress.allow = "10.0.0.0/8,::1/128" must be a list of addresses or networks, such as 10.0.0.0/8; write allow = ["10.0.0.0/8","::1/128"]',
    ],
    [
      '[server]\ntrusted_proxies = "the proxy"',
      'wellhead.toml:2: server.trusted_proxies = "the proxy" must be a list of addresses or networks, such as 10.0.0.0/8',
    ],
    ['server.port = nan', 'wellhead.toml:1: server.port = NaN must be an integer from 0 to 65535'],
    ['server = 1', 'wellhead.toml:1: server is a section: its keys go under [server]'],
    ['[plans]\nspec = 1', 'wellhead.toml:1: plans = (a table) must be spec or unlimited or a path'],
    [
      '[client_profiles]\nname = "a"',
      'wellhead.toml:1: client_profiles must be tables, each under [[client_profiles]]',
    ],
  ])('%j is refused', (toml, problem) => {
    expect(problems(inFile(toml))).toEqual([problem])
  })

  const sound = { name: '"a"', match: '{ User-Agent = "^x" }', switches: '["latest_list"]' }
  test.each([
    [
      { name: '' },
      '1: client_profiles[0].name is missing: it must be a text of 1 to 100 characters',
    ],
    [{ name: '" "' }, '2: client_profiles[0].name = " " must be a text of 1 to 100 characters'],
    [{ nane: '"b"' }, '5: client_profiles[0].nane is unknown; did you mean name?'],
    [
      { match: '' },
      "1: client_profiles[0].match is missing: it must name at least one request header with a regular expression, such as { User-Agent = '^example/1' }",
    ],
    [
      { match: '{}' },
      "3: client_profiles[0].match = {} must name at least one request header with a regular expression, such as { User-Agent = '^example/1' }",
    ],
    [
      { match: '{ User-Agent = "(" }' },
      '3: client_profiles[0].match.User-Agent = "(" must be a regular expression (missing ))',
    ],
    [
      { match: '{ User-Agent = 1 }' },
      '3: client_profiles[0].match.User-Agent = 1 must be a regular expression of 1 to 200 characters',
    ],
    [
      { match: `{ User-Agent = "${'x'.repeat(201)}" }` },
      `3: client_profiles[0].match.User-Agent = "${'x'.repeat(119)}… must be a regular expression of 1 to 200 characters`,
    ],
    [
      { match: '{ "User Agent" = "x" }' },
      '3: client_profiles[0].match.User Agent is not the name of a header',
    ],
    [
      { switches: '["latest_lst"]' },
      `4: client_profiles[0].switches[0] = "latest_lst" is not a switch; did you mean latest_list? ${allSwitches}`,
    ],
    [
      { switches: '["latest_list", 7]' },
      `4: client_profiles[0].switches[1] = 7 is not a switch ${allSwitches}`,
    ],
    [
      { switches: '["latest_list", "latest_flat_and_list"]' },
      '4: client_profiles[0].switches must not name both latest_list and latest_flat_and_list',
    ],
    [
      { switches: '["quota_without_retry_after", "retry_after_cap"]' },
      '4: client_profiles[0].switches must not name both retry_after_cap and quota_without_retry_after',
    ],
    [
      { values: '{ retry_aftr_cap = 5 }' },
      '5: client_profiles[0].values.retry_aftr_cap is not a value of a switch; did you mean retry_after_cap?',
    ],
    [
      { values: '7' },
      '5: client_profiles[0].values = 7 must be a table, such as { retry_after_cap = 60 }',
    ],
    [
      { values: '{ retry_after_cap = "soon" }' },
      '5: client_profiles[0].values.retry_after_cap = "soon" must be an integer from 1 to 86400, in seconds',
    ],
    [
      { values: '{ retry_after_cap = 0 }' },
      '5: client_profiles[0].values.retry_after_cap = 0 must be an integer from 1 to 86400, in seconds',
    ],
  ] as [Record<string, string>, string][])(
    'a client profile with %j is refused',
    (changed, problem) => {
      const fields = Object.entries({ ...sound, ...changed }).map(([key, value]) =>
        value === '' ? '# none' : `${key} = ${value}`,
      )
      expect(problems(inFile(['[[client_profiles]]', ...fields].join('\n')))).toEqual([
        `wellhead.toml:${problem}`,
      ])
    },
  )

  test('each profile has its own line, and no two have one name', () => {
    const profile =
      '[[client_profiles]]\nname = "a"\nmatch = { User-Agent = "^x" }\nswitches = ["latest_list"]\n'
    expect(problems(inFile(profile + profile.replace('latest_list', 'x')))).toEqual([
      `wellhead.toml:8: client_profiles[1].switches[0] = "x" is not a switch ${allSwitches}`,
      'wellhead.toml:6: client_profiles[1].name = "a" is the name of an earlier profile too',
    ])
  })

  test.each([
    ['server.host', 'http://localhost'],
    ['server.host', ''],
    ['server.port', '8470.5'],
    ['server.port', '0x10'],
    ['server.base_url', '{base_url}/x'],
    ['server.base_url', 'ftp://example.com'],
    ['server.base_url', 'https://user:pass@example.com'],
    ['server.trusted_proxies', '10/8'],
    ['server.trusted_proxies', '10.0.0.0/33'],
    ['server.trusted_proxies', 'proxy.example.com'],
    ['server.drain', '11m'],
    ['data.dir', ''],
    ['brand.header_prefix', 'X-Service'],
    ['brand.header_prefix', 'X Service-'],
    ['brand.header_prefix', 'X-Service-\r\n-'],
    ['brand.exchange_words', ''],
    ['brand.exchange_words', 'Exch'],
    ['brand.xml_root', '1st'],
    ['brand.webhook_user_agent', 'Wéllhead'],
    ['brand.docs_url', 'docs'],
    ['brand.docs_url', 'javascript:alert(1)'],
    ['brand.docs_url', 'https://example.com/{x}'],
    ['brand.service_name', 'Well\nhead'],
    ['brand.sender', 'nobody'],
    ['brand.sender', 'A <a@example.com>, B <b@example.com>'],
    ['cors.origins', 'https://example.com/path'],
    ['cors.origins', 'example.com'],
    ['demo.codes', 'wti_usd'],
    ['vintage.coverage_since', '2026-02-30T00:00:00Z'],
    ['sqlite.autocheckpoint', '-1'],
    ['dev.seed', '4294967296'],
  ] as const)('%s = %j', (key, value) => {
    const problem = problems({ flags: { [key]: value } })
    expect(problem).toHaveLength(1)
    expect(problem[0]).toStartWith(
      `flag ${(configKeys[key] as { flag?: string }).flag ?? key}: ${key} = `,
    )
    expect(problem[0]).toEndWith(` must be ${configKeys[key].kind.allowed}`)
  })

  test.each([
    ['server.host', '::1', '::1'],
    ['server.base_url', 'https://prices.example.com/energy/', 'https://prices.example.com/energy'],
    ['brand.docs_url', 'https://docs.example.com', 'https://docs.example.com'],
    ['brand.docs_url', '{base_url}', '{base_url}'],
    ['brand.support_url', '', ''],
    ['brand.sender', 'prices@example.com', 'prices@example.com'],
    ['cors.origins', 'https://Desk.Example.com:443', 'https://desk.example.com'],
    ['server.drain', '1500ms', '1500ms'],
    ['vintage.coverage_since', '2026-07-28T02:00:00+02:00', '2026-07-28T00:00:00Z'],
  ])('%s = %j is taken as %j', (key, value, expected) => {
    const row = explain(load({ flags: { [key]: value } })).find(each => each.key === key)
    expect(row?.value).toBe(expected)
  })

  test('an instant may be written in the file with or without quotes, but not without a zone', () => {
    const at = (value: string) =>
      load(inFile(`[vintage]\ncoverage_since = ${value}`)).vintage.coverageSinceAt
    expect([
      at('"2026-08-01T00:00:00Z"'),
      at('2026-08-01T00:00:00Z'),
      at('2026-08-01 02:00:00+02:00'),
    ]).toEqual(Array(3).fill(Date.parse('2026-08-01T00:00:00Z')))
    expect(() => at('2026-08-01T00:00:00')).toThrow('wellhead.toml:2: vintage.coverage_since')
    expect(() => at('2026-08-01')).toThrow('wellhead.toml:2: vintage.coverage_since')
  })

  test('files that are missing or cannot be read are named', () => {
    const disk = { '/srv/wellhead-data/wellhead.toml': 'FORBIDDEN' }
    expect(problems({ explicit: 'no.toml' })).toEqual(['flag --config: there is no file no.toml'])
    expect(problems({ disk })[0]).toStartWith('wellhead-data/wellhead.toml cannot be read: EACCES')
    expect(problems({ env: { WELLHEAD_LOG_LEVEL_FILE: 'none' } })).toEqual([
      'env WELLHEAD_LOG_LEVEL_FILE: there is no file none',
    ])
  })

  test('a variable and its file variable together are refused', () => {
    expect(
      problems({
        env: { WELLHEAD_LOG_LEVEL: 'info', WELLHEAD_LOG_LEVEL_FILE: 'f' },
        disk: { '/srv/f': 'debug' },
      }),
    ).toEqual([
      'env WELLHEAD_LOG_LEVEL: set together with WELLHEAD_LOG_LEVEL_FILE; only one of them may be',
    ])
  })

  test('a flag for a key that does not exist is refused', () => {
    expect(problems({ flags: { 'server.ports': '1' } })).toEqual([
      'flag server.ports: unknown key; did you mean server.port?',
    ])
  })

  test('random files are either taken or refused with problems, never with another error', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '[server]',
        '[[client_profiles]]',
        'port = 1',
        'x = """',
        'a.b.c = [',
        ']',
        '"""',
        '[a."b.c"]',
        '__proto__ = 1',
        '# x',
        'data.dir = 1',
      ),
      fc.string({ maxLength: 20 }),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), lines => {
        try {
          load(inFile(lines.join('\n')))
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigProblem)
        }
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('secrets', () => {
  const key = { kind: secret(), default: new Secret(''), description: 'Key of the mail provider.' }
  const keys = { 'mail.key': key, 'log.level': configKeys['log.level'] }
  const canary = 'canary-Zm9vYmFy'

  test('are read from a file, without its last line break, and shown by nothing but reveal', () => {
    const config = loadConfig(
      sources({
        env: { WELLHEAD_MAIL_KEY_FILE: '/run/mail' },
        disk: { '/run/mail': `${canary}\n` },
      }),
      keys,
    )
    expect(config.mail.key.reveal()).toBe(canary)
    const shown = [
      JSON.stringify(config),
      JSON.stringify(explain(config, keys)),
      Bun.inspect(config),
      `${config.mail.key}`,
      JSON.stringify([...config.provenance]),
    ]
    expect(shown.join('\n')).not.toContain(canary)
    expect(explain(config, keys)[1]).toEqual({
      key: 'mail.key',
      value: '[redacted]',
      source: 'env WELLHEAD_MAIL_KEY_FILE',
      description: 'Key of the mail provider.',
    })
    expect(explain(loadConfig(sources({}), keys), keys)[1]?.value).toBe('')
  })

  test.each<[string, Given]>([
    ['a bad secret in a flag', { flags: { 'mail.key': `${canary}\u0007` } }],
    ['a bad secret in a variable', { env: { WELLHEAD_MAIL_KEY: `${canary}\u0007` } }],
    [
      'a bad secret in the file of a variable',
      { env: { WELLHEAD_MAIL_KEY_FILE: 'f' }, disk: { '/srv/f': `${canary}\n\n` } },
    ],
    ['a bad secret in the configuration file', inFile(`[mail]\nkey = ["${canary}"]`)],
    ['a secret on a line that is not TOML', inFile(`[mail]\nkey = ${canary}`)],
    ['a secret next to a line that is not TOML', inFile(`[mail]\nkey = "${canary}"\nx = =`)],
    [
      "another file's secret given to an open key",
      { env: { WELLHEAD_LOG_LEVEL_FILE: 'f' }, disk: { '/srv/f': canary } },
    ],
    ['a signing secret given to an open key', { flags: { 'log.level': `whsec_${canary}` } }],
    ['a secret under a misspelled key', inFile(`[mail]\nkye = "${canary}"`)],
  ])('%s is refused without being shown', (_, given) => {
    const problem = problemsOf(() => loadConfig(sources(given), keys))
    expect(problem).toHaveLength(1)
    expect(problem[0]).not.toContain('canary')
  })
})

test.each([
  ['booleans', flag(), ['true', '1', 'YES', 'false', '0', 'no'], ['maybe', '2']],
  ['numbers', decimal(-1, 1.5), ['-1', '0', '1.5'], ['1.6', '1e0', '', 'x', 'Infinity']],
  ['integers', integer(0, 10), ['0', '10'], ['11', '-1', '1.0', '1e1', ' 1', '']],
  [
    'lengths of time',
    duration('1s', '1d'),
    ['1s', '60m', '24h', '1d', '1000ms'],
    ['999ms', '2d', '10', '1.5s', 's'],
  ],
  ['choices', choice('a', 'b'), ['a', 'b'], ['A', '', 'a,b']],
  [
    'lists',
    list('digits', each => (/^\d$/.test(each) ? each : undefined), 2),
    ['1,2', ' 3 , 4,'],
    ['1', '1,x', ''],
  ],
  ['texts', text('digits', /^\d+$/), ['1'], ['', 'a', '1\n']],
  [
    'networks',
    list('networks', network),
    ['10.0.0.0/8', '::/0', '192.0.2.1', '2001:db8::1', ''],
    ['1', '0x7f.1', '10.1/16', 'fe80::1%eth0', '010.0.0.1'],
  ],
] as const)('%s in text', (_, kind, good, bad) => {
  for (const valid of good)
    expect([valid, kind.accept(kind.fromText(valid))]).not.toEqual([valid, undefined])
  for (const invalid of bad)
    expect({ invalid, accept: kind.accept(kind.fromText(invalid)) }).toEqual({
      invalid,
      accept: undefined,
    })
})

describe('a variable that sets nothing', () => {
  test('is refused as an unknown key is, with the one that was probably meant', () => {
    const env = {
      WELLHEAD_SERVER_PROT: '1',
      WELLHEAD_SOMETHING_ELSE_ALTOGETHER: 'x',
      WELLHEAD_USER: 'x',
      WELLHEAD_LOG_LEVL_FILE: '/x',
    }
    expect(problems({ env })).toEqual([
      'env WELLHEAD_SERVER_PROT: unknown variable; did you mean WELLHEAD_SERVER_PORT?',
      'env WELLHEAD_SOMETHING_ELSE_ALTOGETHER: unknown variable',
      'env WELLHEAD_USER: unknown variable',
      'env WELLHEAD_LOG_LEVL_FILE: unknown variable; did you mean WELLHEAD_LOG_LEVEL_FILE?',
    ])
  })
  test('is left alone when it is empty, of clients, or of an orchestrator for a service of this name', () => {
    const env = {
      WELLHEAD_SERVER_PROT: '',
      WELLHEAD_URL: 'http://127.0.0.1:8470',
      WELLHEAD_API_KEY: 'x',
      WELLHEAD_SERVICE_HOST: '10.0.0.1',
      WELLHEAD_SERVICE_PORT_HTTP: '80',
      WELLHEAD_PORT: 'tcp://10.0.0.1:80',
      WELLHEAD_PORT_80_TCP_ADDR: '10.0.0.1',
    }
    expect(load({ env }).server.port).toBe(8470)
  })
})
