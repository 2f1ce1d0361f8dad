import { afterAll, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isoInstant, minuteMs } from '../../../src/lib/time/instant.ts'
import { remove, run, start, temporaryDir } from '../../support/instance/binary.ts'

const kills = process.env.WELLHEAD_TORTURE === '1' ? 100 : 4
const batchRows = 500
const since = Date.parse('2015-01-01T00:00:00Z')

const dir = temporaryDir()
afterAll(() => remove(dir))

test(`${kills} kills, every other one during a checkpoint of the WAL, damage no page and lose no commit`, async () => {
  const data = join(dir, 'data')
  const database = join(data, 'wellhead.db')
  const writtenAt = () => statSync(database).mtimeMs
  let [sent, acknowledged, folds] = [0, 0, 0]
  for (let kill = 0; kill < kills; kill += 1) {
    const server = await start('serve', dir)
    const push = async () => {
      const observations = Array.from({ length: batchRows }, (_, i) => ({
        code: 'WTI_USD',
        observed_at: isoInstant(since + (sent + i) * minuteMs),
        price: 70 + ((sent + i) % 9) / 10,
      }))
      sent += batchRows
      const response = await fetch(`${server.url}/admin/v1/observations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.adminToken}` },
        body: JSON.stringify({ observations }),
      })
      expect(response.status).toBe(200)
      acknowledged = sent
    }
    await push()
    const isWhileFolding = kill % 2 === 1
    const before = writtenAt()
    let isKilled = false
    const pushing = (async () => {
      for (;;) await push()
    })().catch(error => {
      // The kill cuts the last one off.
      if (!isKilled) throw error
    })
    if (isWhileFolding) {
      // Only a checkpoint writes the database file itself.
      while (writtenAt() === before) await Bun.sleep(0)
      folds += 1
    } else await Bun.sleep(37 * (kill % 7))
    isKilled = true
    server.process.kill('SIGKILL')
    await server.process.exited
    await pushing
    const verified = await run('verify', '--data', data)
    expect({ code: verified.code, err: verified.err }, String(kill)).toEqual({ code: 0, err: '' })
    expect(existsSync(`${database}-checksums`)).toBe(true)
    const exported = await run('export', '--data', data, 'WTI_USD')
    expect({ code: exported.code, err: exported.err }).toEqual({ code: 0, err: '' })
    const rows = exported.out.trim().split('\n').length - 1
    // An unacknowledged write may exist as a whole, or not at all.
    expect([acknowledged, sent]).toContain(rows)
    sent = rows
    acknowledged = rows
  }
  expect(folds).toBe(Math.floor(kills / 2))
}, 3_600_000)
