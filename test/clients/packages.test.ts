import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import {
  clientPackages,
  environmentOf,
  has,
  installedIn,
  type Outcome,
  root,
  runProgram,
  sharedCopy,
} from '../support/packages.ts'

const hasPython = has('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 10))')
const hasNode = has('node', '--version')
const hasMypy = hasPython && has('mypy', '--version')

let copy: Wellhead
beforeAll(async () => {
  clientPackages()
  copy = await sharedCopy()
}, 600_000)

describe('the package for Python', () => {
  const python = (args: string[]) =>
    runProgram(['python3', ...args], join(root, 'clients/python/tests'), {
      ...environmentOf(copy),
      PYTHONPATH: join(clientPackages(), 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
    })

  test.skipIf(!hasPython)(
    'does what it promises against the binary',
    async () => {
      const { code, text } = await python(['-W', 'error::ResourceWarning', '-m', 'unittest', '-v'])
      expect(code, text).toBe(0)
      expect(text).toMatch(/Ran \d\d tests/)
    },
    120_000,
  )

  test.skipIf(!hasMypy)(
    'is typed throughout, as are its tests',
    async () => {
      const packageDir = join(clientPackages(), 'python')
      const { code, text } = await runProgram(
        ['mypy', '--strict', '--no-incremental', '--cache-dir=/dev/null', 'tests/test_client.py'],
        join(root, 'clients/python'),
        { MYPYPATH: packageDir },
      )
      expect(code, text).toBe(0)
    },
    240_000,
  )
})

describe('the package for JavaScript', () => {
  let directory: string
  beforeAll(() => {
    directory = installedIn(join(root, 'clients/typescript/test'))
  })

  test('does what it promises against the binary in Bun', async () => {
    const command = [process.execPath, 'test', './client.test.mjs']
    const { code, text } = await runProgram(command, directory, environmentOf(copy))
    expect(code, text).toBe(0)
    expect(text).toMatch(/\d\d pass/)
  }, 120_000)

  test.skipIf(!hasNode)(
    'does what it promises against the binary in Node',
    async () => {
      const command = ['node', '--test', 'client.test.mjs']
      const { code, text } = await runProgram(command, directory, environmentOf(copy))
      expect(code, text).toBe(0)
      expect(text).toMatch(/pass \d\d/)
    },
    120_000,
  )

  test.skipIf(!hasNode)('can be required', async () => {
    writeFileSync(
      join(directory, 'required.cjs'),
      `const { createClient } = require('wellhead-client')
const client = createClient({ url: process.env.WELLHEAD_URL, apiKey: process.env.WELLHEAD_API_KEY })
client.latest('WTI_USD').then(([price]) => console.log(price.code))
`,
    )
    const outcome = await runProgram(['node', 'required.cjs'], directory, environmentOf(copy))
    expect(outcome).toEqual({ code: 0, text: 'WTI_USD\n' })
  })

  describe('has types', () => {
    const check = (name: string, program: string): Promise<Outcome> => {
      writeFileSync(join(directory, name), program)
      const flags = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext']
      const libraries = ['--lib', 'esnext,dom', '--types', '', '--skipLibCheck', 'false']
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      return runProgram([process.execPath, compiler, ...flags, ...libraries, name], directory)
    }
    const program = `
const client = createClient({ url: 'http://127.0.0.1:1', apiKey: 'key' })
export async function work() {
  const [price] = await client.latest('WTI_USD')
  const value: number | undefined = price?.price
  for await (const row of client.history('WTI_USD', { interval: 'day' })) row.created_at.slice(0, 10)
  for await (const row of client.rows('getFuturesHistory', 'exch-wti', { perPage: 50 })) row.contract.trim()
  for await (const event of client.stream()) event.data.code.trim()
  const { data } = await client.api.getCushingStorage()
  return [value, data.capacity]
}
`
    for (const ending of ['mts', 'cts']) {
      test(`that a program in .${ending} is checked by`, async () => {
        const source = `import { createClient } from 'wellhead-client'\n${program}`
        expect(await check(`program.${ending}`, source)).toEqual({ code: 0, text: '' })
      }, 60_000)
    }

    test('that refuse what is not answered and what is no operation of pages', async () => {
      const { code, text } = await check(
        'wrong.mts',
        `import { createClient } from 'wellhead-client'
const client = createClient()
export const a = (await client.api.getCushingStorage()).data.volume
export const b = client.rows('getAccount')
export const c = client.api.getFuturesCurve()
export const d: string = (await client.latest('WTI_USD'))[0]!.price
`,
      )
      expect(code).not.toBe(0)
      const lines = [...text.matchAll(/wrong\.mts\((\d)/g)].map(match => match[1])
      expect(lines).toEqual(['3', '4', '5', '6'])
    }, 60_000)
  })
})
