import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryProviders } from '../../../src/cli/doctor/providers.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { standInBucket } from '../../support/servers/s3-server.ts'

const root = mkdtempSync(join(tmpdir(), 'wellhead-places-'))
const bucket = standInBucket('backups')
afterAll(async () => {
  await bucket.stop()
  rmSync(root, { recursive: true, force: true })
})

const findings = () =>
  tryProviders(
    loadConfig({
      flags: {
        'data.dir': root,
        'backups.directory': join(root, 'disk'),
        'backups.s3_bucket': 'backups',
        'backups.s3_endpoint': bucket.endpoint,
        'backups.s3_access_key': 'access',
        'backups.s3_secret_key': 'secret',
      },
      env: {},
      files: { directory: root },
      readFile: () => undefined,
    }),
    createManualClock(Date.UTC(2026, 10, 22)),
  )

test('doctor lists the backups in each place, and names one that has none or does not answer', async () => {
  bucket.objects.set('wellhead-20261121T120000Z.db', new Uint8Array([1]))
  const [disk, storage] = await findings()
  expect(disk).toEqual({
    check: 'backups',
    status: 'warning',
    found: `${join(root, 'disk')} has no backup`,
    advice: 'make one: wellhead backup',
  })
  expect(storage).toMatchObject({
    status: 'ok',
    found: 's3://backups/: the newest is of 2026-11-21T12:00:00Z',
  })
  bucket.isDown = true
  const [, down] = await findings()
  expect(down).toMatchObject({
    check: 'backups',
    status: 'warning',
    found: expect.stringMatching(/^s3:\/\/backups\/: /),
    advice: expect.stringContaining('correct the settings of backups'),
  })
})
