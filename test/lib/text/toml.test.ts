import { expect, test } from 'bun:test'
import { parseToml } from '../../../src/lib/text/toml.ts'

const text = `# a comment
plans = "spec"

[server] # [not.this]
  port = 1
"base_url" = '''
port = 2
[log]
'''
proxies = [
  "10.0.0.1", # port = 3
  "10.0.0.2",
]

brand.docs.url = "x"
demo = { codes = ["A"], limit = 1 }
[log]
level = "info"\r
[[profiles]]
level = "a"
[[profiles]]
level = "b"
[a.b]
c = 2026-07-28T00:00:00Z
`

test('each name is found on the line that sets it, whatever strings, lists and comments look like', () => {
  const parsed = parseToml(text)
  if ('fault' in parsed) throw new Error(parsed.fault)
  const lines = [
    'plans',
    'server',
    'server.port',
    'server.base_url',
    'server.proxies',
    'server.brand.docs.url',
    'server.demo.limit',
    'log.level',
    'profiles',
    'a.b.c',
  ].map(name => [name, parsed.lineOf(name)] as const)
  expect(lines).toEqual([
    ['plans', 2],
    ['server', 4],
    ['server.port', 5],
    ['server.base_url', 6],
    ['server.proxies', 10],
    ['server.brand.docs.url', 15],
    ['server.demo.limit', 16],
    ['log.level', 18],
    ['profiles', 19],
    ['a.b.c', 24],
  ])
  expect(parsed.lineOf('port')).toBeUndefined()
})

test('a fault has its place and does not quote the text', () => {
  const parsed = parseToml('a = 1\nkey = whsec_abcdefgh\n')
  expect(parsed).toMatchObject({ line: 2, column: 7 })
  expect(JSON.stringify(parsed)).not.toContain('whsec_')
})
