import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import {
  clientPackages,
  environmentOf,
  installedIn,
  type Outcome,
  root,
  runProgram,
  sharedInstance,
} from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'
import { chromiumPath } from '../support/requirements.ts'

let copy: Wellhead
beforeAll(async () => {
  clientPackages()
  copy = await sharedInstance()
}, 600_000)

describe('the package for Python', () => {
  const python = (args: string[]) =>
    runProgram(['python3', ...args], join(root, 'clients/python/tests'), {
      ...environmentOf(copy),
      PYTHONPATH: join(clientPackages(), 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
    })

  needs('python 3.10').test(
    'does what it promises against the binary',
    async () => {
      const { code, text } = await python(['-W', 'error::ResourceWarning', '-m', 'unittest', '-v'])
      expect(code, text).toBe(0)
      expect(text).toMatch(/Ran \d\d tests/)
    },
    120_000,
  )

  needs('mypy').test(
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

  needs('node 20.3').test(
    'does what it promises against the binary in Node',
    async () => {
      const command = ['node', '--test', 'client.test.mjs']
      const { code, text } = await runProgram(command, directory, environmentOf(copy))
      expect(code, text).toBe(0)
      expect(text).toMatch(/pass \d\d/)
    },
    120_000,
  )

  needs('node 20.3').test('can be required', async () => {
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

  /**
   * The work that each runtime does with the package: a price, paging over two pages, an error by
   * its class.
   */
  const work = (imported: string, settings: string) => `
import { createClient, InvalidRequest } from '${imported}'
const client = createClient(${settings})
const lines = [(await client.latest('WTI_USD'))[0].code]
let closes = 0
const range = { start: '2026-01-01', end: '2026-10-31', interval: 'day' }
for await (const row of client.history('WTI_USD', range)) closes += row.price > 0 ? 1 : 0
lines.push(closes > 150 ? 'closes' : 'too few')
lines.push(await client.latest('NOPE_USD').catch(error => error instanceof InvalidRequest && error.code))
`

  needs('deno').test(
    'works in Deno',
    async () => {
      const settings =
        "{ url: Deno.env.get('WELLHEAD_URL'), apiKey: Deno.env.get('WELLHEAD_API_KEY') }"
      const imported = './node_modules/wellhead-client/esm/client.js'
      const program = `${work(imported, settings)}console.log(lines.join(' '))`
      writeFileSync(join(directory, 'program.deno.js'), program)
      // No type check and nothing to be fetched: the file is run as it stands.
      const flags = ['--no-check', '--no-remote', '--allow-net', '--allow-env', '--allow-read']
      const outcome = await runProgram(
        ['deno', 'run', '--quiet', ...flags, 'program.deno.js'],
        directory,
        environmentOf(copy),
      )
      expect(outcome).toEqual({ code: 0, text: 'WTI_USD closes invalid_code\n' })
    },
    120_000,
  )

  needs('chromium').test(
    'works in a page of another origin',
    async () => {
      const settings = JSON.stringify({ url: copy.url, apiKey: copy.apiKey })
      const program = `${work('/client/client.js', settings)}document.title = lines.join(' ')`
      const modules = join(clientPackages(), 'typescript/esm')
      const site = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch(request) {
          const { pathname } = new URL(request.url)
          if (pathname.startsWith('/client/')) {
            return new Response(Bun.file(join(modules, pathname.slice('/client/'.length))))
          }
          const page = `<!doctype html><title>-</title><script type="module">${program}</script>`
          return new Response(page, { headers: { 'content-type': 'text/html' } })
        },
      })
      const browser = await chromium.launch({
        executablePath: chromiumPath,
        args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
      })
      try {
        const page = await browser.newPage()
        await page.goto(`http://127.0.0.1:${site.port}/`)
        await page.waitForFunction("document.title !== '-'")
        expect(await page.title()).toBe('WTI_USD closes invalid_code')
      } finally {
        await browser.close()
        await site.stop(true)
      }
    },
    120_000,
  )

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

    test('the JavaScript types reject fields that are not returned and paging on operations without pages', async () => {
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
