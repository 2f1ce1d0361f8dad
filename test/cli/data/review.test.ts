import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, emptyDirectory } from '../../support/instance/command.ts'

test('the review list shows the value of a later file, which only a release with --replace replaces', async () => {
  const dir = emptyDirectory(temporaryDir())
  const file = join(dir, 'wti.csv')
  const imported = (rows: readonly (readonly [day: number, price: number])[]) => {
    const lines = rows.map(([day, price]) => {
      const at = new Date(Date.UTC(2026, 0, day)).toISOString()
      return `WTI_USD,${at},${price}`
    })
    writeFileSync(file, `code,observed_at,price\n${lines.join('\n')}\n`)
    return command('import', file, '--data', dir)
  }
  await imported(Array.from({ length: 100 }, (_, i) => [i + 1, 70 + (i % 7) / 10]))
  expect((await imported([[101, 701]])).code).toBe(2)
  expect((await imported([[101, 70.1]])).code).toBe(0)
  expect((await command('review', 'list', '--data', dir)).out).toMatch(
    /70\.1 \(70\.1 was recorded at 2\S+Z\)/,
  )
  const refused = await command('review', 'release', '1', '--data', dir)
  expect({ code: refused.code, err: refused.err }).toEqual({
    code: 1,
    err: expect.stringMatching(/70\.1 was recorded at \S+ Reject it, or release it with replace\./),
  })
  const released = await command('review', 'release', '1', '--replace', '--data', dir)
  expect({ code: released.code, out: released.out }).toEqual({
    code: 0,
    out: expect.stringContaining('released'),
  })
  remove(dir)
})
