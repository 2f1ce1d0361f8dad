import { expect, test } from 'bun:test'
import { configExplain, type ExplainOutput } from '../../src/cli/config.ts'
import { loadConfig } from '../../src/config/config.ts'
import { configKeys } from '../../src/config/keys.ts'

const explained = (output: Partial<ExplainOutput> = {}) => {
  const config = loadConfig({
    mode: 'dev',
    flags: { 'server.port': '9000' },
    env: { WELLHEAD_DATA_DIR: '/data' },
    files: { directory: '/work' },
    readFile: () => undefined,
  })
  const lines: string[] = []
  configExplain(config, {
    out: line => void lines.push(line),
    width: undefined,
    json: false,
    ...output,
  })
  return lines
}

test('config explain prints a line for each setting with its value and where it comes from, and what it does beneath', () => {
  const lines = explained()
  expect(lines.filter(line => /^\S/.test(line)).map(line => line.split(' ', 1)[0]!)).toEqual([
    'KEY',
    'mode',
    ...Object.keys(configKeys).filter(key => !/^feeds\.\w+\./.test(key)),
    'client_profiles',
  ])
  const at = lines.findIndex(line => line.startsWith('server.port '))
  expect(lines[at]!.split(/ {2,}/)).toEqual(['server.port', '9000', 'flag --port'])
  expect(lines[at + 1]).toBe('    Port to listen on; 0 takes any free one.')
  expect(lines.find(line => line.startsWith('data.dir '))).toMatch(/ {2}\/data {2}/)
})

test('config explain fits the terminal, and is at most 100 columns wide', () => {
  for (const [width, most] of [
    [undefined, 100],
    [240, 100],
    [72, 72],
  ] as const)
    expect(Math.max(...explained({ width }).map(line => line.length))).toBeLessThanOrEqual(most)
})

test('config explain --json has every setting with what it does', () => {
  const rows = JSON.parse(explained({ json: true }).join('')) as Record<string, string>[]
  expect(rows.find(row => row.key === 'server.port')).toEqual({
    key: 'server.port',
    value: '9000',
    source: 'flag --port',
    description: 'Port to listen on; 0 takes any free one.',
  })
})
