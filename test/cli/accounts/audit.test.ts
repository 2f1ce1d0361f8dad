import { afterAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processUser } from '../../../src/lib/files/file-faults.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'

const dir = join(temporaryDir(), 'data')
emptyDirectory(dir)
afterAll(() => remove(join(dir, '..')))

test('commands are audited under the system user, and a single changed byte of the audit trail is detected', async () => {
  const file = join(dir, '..', 'wti.csv')
  writeFileSync(file, 'code,observed_at,price\nWTI_USD,2026-11-19T15:00:00Z,71.23\n')
  expect(await command('import', file, '--data', dir)).toMatchObject({ code: 0 })
  await command('series', 'edit', 'WTI_USD', '--cadence', 'daily', '--data', dir)
  await command('series', 'list', '--data', dir)
  const { out } = await command('audit', '--json', '--data', dir)
  const user = `command ${processUser()}`
  expect(JSON.parse(out)).toMatchObject([
    { id: 2, actor: user, from: 'this machine', thing: '/admin/v1/series/WTI_USD' },
    { id: 1, actor: user, action: 'import', thing: 'batch 1', outcome: 'done' },
  ])
  const shown = await command('audit', '--thing', 'WTI_USD', '--data', dir)
  expect(shown.out.trimEnd().split('\n')).toHaveLength(2)
  expect((await command('audit', '--limit', '0', '--data', dir)).code).toBe(1)

  const instance = join(dir, '..', 'copy.db')
  expect(await command('backup', '--data', dir, instance)).toMatchObject({ code: 0 })
  expect(await command('verify', instance)).toMatchObject({ code: 0 })
  const bytes = readFileSync(instance)
  const at = bytes.indexOf(Buffer.from('/admin/v1/series/WTI_USD'))
  expect(at).toBeGreaterThan(0)
  bytes[at] = bytes[at]! ^ 1
  writeFileSync(instance, bytes)
  const { code, err } = await command('verify', instance)
  expect(code).toBe(1)
  expect(err).toContain('its SHA-256 checksum is ')
  expect(err).toContain('the audit trail was changed: entry 2')
})
