import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packClients } from '../../scripts/release/clients.ts'
import { version } from '../../src/version.ts'
import { type Outcome, root, runProgram } from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'

/** The packages of a release, each installed where nothing else is. */
const work = mkdtempSync(join(tmpdir(), 'wellhead-publishing-'))
const out = join(work, 'packed')
let unpacked: string[] = []
beforeAll(() => {
  mkdirSync(out)
  unpacked = packClients(join(work, 'sources'), out)
}, 300_000)
afterAll(() => rmSync(work, { recursive: true, force: true }))

const packed = (pattern: RegExp): string => {
  const name = readdirSync(out).find(file => pattern.test(file))
  if (name === undefined) throw new Error(`${pattern} is not packed: ${unpacked.join()}`)
  return join(out, name)
}
const ok = ({ code, text }: Outcome) => expect(code, text).toBe(0)

describe('the npm packages', () => {
  needs('node 20.3').test(
    'are installed by npm in a clean directory, and their clients are imported and required',
    async () => {
      const directory = join(work, 'node')
      mkdirSync(directory)
      writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
      const archives = [packed(/^wellhead-client-.*\.tgz$/), packed(/^wellhead-testkit-.*\.tgz$/)]
      ok(await runProgram(['npm', 'install', '--offline', '--no-audit', ...archives], directory))
      const installed = (name: string) =>
        JSON.parse(readFileSync(join(directory, `node_modules/${name}/package.json`), 'utf8')) as {
          version: string
        }
      expect(installed('wellhead-client').version).toBe(version)
      expect(installed('wellhead-testkit').version).toBe(version)
      const asModule =
        "import { createClient } from 'wellhead-client'; import { startWellhead } from 'wellhead-testkit'; console.log(typeof createClient, typeof startWellhead)"
      const asScript =
        "console.log(typeof require('wellhead-client').createClient, typeof require('wellhead-testkit').startWellhead)"
      for (const args of [
        ['--input-type=module', '-e', asModule],
        ['-e', asScript],
      ]) {
        const { text } = await runProgram(['node', ...args], directory)
        expect(text).toBe('function function\n')
      }
    },
    120_000,
  )
})

const build = needs('python build')
build.describe('the Python packages', () => {
  for (const [what, pattern] of [
    ['wheel', /\.whl$/],
    ['source distribution', /\.tar\.gz$/],
  ] as const)
    test(`are installed from the ${what} in a clean environment, with their types and the pytest plugin`, async () => {
      const environment = join(work, what.replace(' ', '-'))
      ok(await runProgram(['python3', '-m', 'venv', environment], work))
      const python = join(environment, 'bin/python')
      const install = [python, '-m', 'pip', 'install', '--no-deps', '--disable-pip-version-check']
      ok(await runProgram([...install, packed(pattern)], work))
      const program = `import importlib.metadata as m, pathlib, wellhead
print(m.version("wellhead-client"), wellhead.Client.__name__,
      pathlib.Path(wellhead.__file__).with_name("py.typed").exists(),
      [p.name for p in m.entry_points(group="pytest11")])`
      const { text } = await runProgram([python, '-c', program], work)
      expect(text).toBe(`${version} Client True ['wellhead']\n`)
    }, 240_000)
})

test('every client has the version of the program and a licence that can be published', () => {
  for (const name of ['typescript', 'testkit']) {
    const manifest = JSON.parse(
      readFileSync(join(root, `clients/${name}/package.json`), 'utf8'),
    ) as Record<string, unknown>
    expect(manifest).toMatchObject({ version, license: 'Apache-2.0' })
    expect(manifest.private).toBeUndefined()
  }
  const project = Bun.TOML.parse(readFileSync(join(root, 'clients/python/pyproject.toml'), 'utf8'))
  expect(project).toMatchObject({ project: { version, license: { text: 'Apache-2.0' } } })
})
