import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { binary } from '../support/instance/binary.ts'
import { clientPackages, installedIn, root, runProgram } from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'

/** The kit's users raise what is in the way of fast tests; its own tests do not need to. */
const environment = () => ({ WELLHEAD_BINARY: binary(), WELLHEAD_DEV_WORLD: 'small' })

describe('the test kit starts, moves, fills and stops a copy', () => {
  const sources = join(root, 'clients/testkit/test')

  test('the test kit for JavaScript starts and moves a demo instance in Bun', async () => {
    const command = [process.execPath, 'test', './testkit.test.mjs', '--timeout', '120000']
    const { code, text } = await runProgram(command, installedIn(sources), environment())
    expect(code, text).toBe(0)
    expect(text).toMatch(/\d\d pass/)
  }, 240_000)

  needs('node 20.3').test(
    'in Node',
    async () => {
      const command = ['node', '--test', 'testkit.test.mjs']
      const { code, text } = await runProgram(command, installedIn(sources), environment())
      expect(code, text).toBe(0)
      expect(text).toMatch(/pass \d\d/)
    },
    240_000,
  )

  needs('pytest').test(
    'in pytest',
    async () => {
      const command = ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider']
      const { code, text } = await runProgram(command, join(root, 'clients/python/tests/kit'), {
        ...environment(),
        PYTHONPATH: join(clientPackages(), 'python'),
        PYTHONDONTWRITEBYTECODE: '1',
      })
      expect(code, text).toBe(0)
      expect(text).toMatch(/6 passed/)
    },
    240_000,
  )
})
