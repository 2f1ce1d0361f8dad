import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('bun run routes lists every operation with its access, cost and file', () => {
  const root = join(import.meta.dir, '..')
  const listed = Bun.spawnSync([process.execPath, 'scripts/routes.ts'], { cwd: root })
  const lines = listed.stdout.toString().trim().split('\n')
  expect(lines.length).toBeGreaterThan(500)
  const incomplete = lines.filter(line => !/^[A-Z]+ +\/\S* +\S+ +\S+ +src\/\S+\.ts$/.test(line))
  expect(incomplete).toEqual([])
  const [latest] = lines.filter(line => line.includes(' /v1/prices/latest '))
  expect(latest?.split(/ +/)).toEqual([
    'GET',
    '/v1/prices/latest',
    'key',
    'quota',
    'src/topics/prices/operations/latest.ts',
  ])
})
