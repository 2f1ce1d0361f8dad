import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { documentText } from '../../../scripts/clients/document.ts'
import { needs } from '../../support/needs.ts'

/**
 * Generators need a hundred packages and a compiler, so they are not dependencies of the project:
 * they are installed here, in the versions of their lockfile.
 */
const packages = resolve(import.meta.dir, '../../support/generators')
const dir = mkdtempSync(join(tmpdir(), 'wellhead-generators-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const run = (command: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd: dir,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return { code: exitCode, text: `${stdout}${stderr}` }
}
const runBin = (name: string, ...options: string[]) =>
  run([join(dir, 'node_modules/.bin', name), ...options])

const full = needs('test:full')
const registry = full.isMet ? needs('npm registry') : full

interface Generator {
  name: string
  generate(): { code: number; text: string }
  /** A valid program, with an unknown interval on line 4 and no code on line 5. */
  program: string
}

const calls = (from: string, week: string, statistics: string) => `import * as api from '${from}'
export const week = api.getPricesPastWeek(${week.replace('%', 'day')})
export const statistics = api.getStatistics(${statistics.replace('%', "code: 'WTI_USD', ")})
export const wrongWeek = api.getPricesPastWeek(${week.replace('%', 'fortnight')})
export const wrongStatistics = api.getStatistics(${statistics.replace('%', '')})
`

const generators: Generator[] = [
  {
    name: 'openapi-typescript',
    generate: () => runBin('openapi-typescript', 'openapi.json', '-o', 'types/schema.ts'),
    program: `import type { operations as api } from './types/schema'
export const week: api['getPricesPastWeek']['parameters']['query'] = { interval: 'day' }
export const statistics: api['getStatistics']['parameters']['query'] = { code: 'WTI_USD', period: 30 }
export const wrongWeek: api['getPricesPastWeek']['parameters']['query'] = { interval: 'fortnight' }
export const wrongStatistics: api['getStatistics']['parameters']['query'] = { period: 30 }
export const body: NonNullable<api['createAlert']['requestBody']>['content']['application/json'] = {
  price_alert: {
    name: 'high',
    commodity_code: 'WTI_USD',
    condition_operator: 'greater_than',
    condition_value: 90,
  },
}
`,
  },
  {
    name: 'hey-api',
    generate: () =>
      runBin('openapi-ts', '-i', 'openapi.json', '-o', 'hey', '--client', '@hey-api/client-fetch'),
    program: calls('./hey', "{ query: { interval: '%' } }", '{ query: { %period: 30 } }'),
  },
  {
    name: 'orval',
    generate() {
      const settings = {
        prices: {
          input: { target: './openapi.json' },
          output: { target: './orval/index.ts', client: 'fetch', mode: 'single' },
        },
      }
      writeFileSync(join(dir, 'orval.config.mjs'), `export default ${JSON.stringify(settings)}\n`)
      return runBin('orval', '--config', 'orval.config.mjs')
    },
    program: calls('./orval', "{ interval: '%' }", '{ %period: 30 }'),
  },
]

beforeAll(async () => {
  if (!registry.isMet) return
  cpSync(packages, dir, { recursive: true })
  const installed = run([process.execPath, 'install', '--frozen-lockfile'])
  expect(installed.code, installed.text).toBe(0)
  writeFileSync(join(dir, 'openapi.json'), await documentText(undefined))
})

test.skipIf(!registry.isMet).each(generators.map(one => [one.name, one] as const))(
  `a client of %s refuses an unknown interval, and statistics without a code${registry.why}`,
  (name, { generate, program }) => {
    const generated = generate()
    expect(generated.code, generated.text).toBe(0)
    writeFileSync(join(dir, `program-${name}.ts`), program)
    const compilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2023', 'dom', 'dom.iterable'],
    }
    writeFileSync(
      join(dir, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: [`program-${name}.ts`] }),
    )
    const { text } = runBin('tsc', '-p', '.')
    const lines = [...text.matchAll(/^(\S+)\((\d+),\d+\): error/gm)].map(
      ([, file, line]) => `${file}:${line}`,
    )
    expect(lines, text).toEqual([`program-${name}.ts:4`, `program-${name}.ts:5`])
  },
  240_000,
)
