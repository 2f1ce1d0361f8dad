import { expect, test } from 'bun:test'
import { configExplain } from '../../src/cli/config.ts'
import { loadConfig } from '../../src/config.ts'
import { configKeys } from '../../src/config-keys.ts'

test('config explain prints one aligned line for each setting, with its value and where it comes from', () => {
  const config = loadConfig({
    mode: 'dev',
    flags: { 'server.port': '9000' },
    env: { WELLHEAD_DATA_DIR: '/data' },
    files: { directory: '/work' },
    readFile: () => undefined,
  })
  const lines: string[] = []
  configExplain(config, line => lines.push(line))
  expect(lines.map(line => line.split(' ', 1)[0]!)).toEqual([
    'KEY',
    'mode',
    ...Object.keys(configKeys).filter(key => !/^feeds\.\w+\./.test(key)),
    'client_profiles',
  ])
  const port = lines.find(line => line.startsWith('server.port '))!
  expect(port.split(/ {2,}/)).toEqual([
    'server.port',
    '9000',
    'flag --port',
    'Port to listen on; 0 takes any free one.',
  ])
  expect(lines.find(line => line.startsWith('data.dir '))).toContain('  /data  ')
  for (const column of ['VALUE', 'SOURCE', 'DESCRIPTION']) {
    const at = lines[0]!.indexOf(column)
    expect(port.slice(at - 2, at + 1)).toMatch(/^ {2}\S$/)
  }
})
