import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The fields of a `package.json` that are read here. */
interface Manifest {
  name: string
  version: string
  license?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const modules = 'node_modules'
const isLicence = /^(licen[cs]e|copying|notice)(\.|-|$)/i

/** A package that the binary carries. */
export interface Carried {
  name: string
  version: string
  license: string | undefined
  /** Where it lies. */
  dir: string
}

/** Every package that ours need at run time, and those that theirs need, by name. */
export function carriedPackages(): Carried[] {
  const seen = new Map<string, Carried>()
  const add = (name: string, from: string) => {
    const dir = [join(from, modules, name), join(modules, name)].find(path =>
      existsSync(join(path, 'package.json')),
    )
    if (!dir) return
    const manifest = manifestOf(dir)
    const { version, license } = manifest
    const title = `${manifest.name} ${version}`
    if (seen.has(title)) return
    seen.set(title, { name: manifest.name, version, license, dir })
    for (const next of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
      add(next, dir)
  }
  for (const name of Object.keys(manifestOf('.').dependencies ?? {})) add(name, '.')
  return [...seen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, carried]) => carried)
}

/**
 * A part that the runtime brings into the binary under a licence that differs from the runtime's.
 */
export interface EnginePart {
  name: string
  version: string
  license: string
  purl: string
  /** The notices that a distributor of the binary must pass on. */
  terms: string
}

const { versions } = process

/** The runtime first, of the version that builds and so is in the binary. */
export function engineParts(): EnginePart[] {
  const [bun, webkit, sqlite] = [versions.bun!, versions.webkit!, versions.sqlite!]
  return [
    {
      name: 'bun',
      version: bun,
      license: 'MIT',
      purl: `pkg:npm/bun@${bun}`,
      terms: [
        readFileSync(join(modules, 'bun-types/docs/project/license.mdx'), 'utf8'),
        'The MIT License:',
        mitTerms,
        textOf('Apache-2.0'),
        textOf('LGPL-2.1'),
      ].join('\n\n'),
    },
    {
      name: 'JavaScriptCore',
      version: webkit,
      license: 'LGPL-2.0-or-later',
      purl: `pkg:github/oven-sh/WebKit@${webkit}`,
      terms: [
        'Of WebKit, linked statically into bun. Its source: https://github.com/oven-sh/WebKit, at the commit that',
        'is its version here. How bun is linked again with a changed one is said under bun, in the section',
        'JavaScriptCore; a binary of this service is made with such a bun by the build command of its sources.',
        '',
        textOf('LGPL-2'),
      ].join('\n'),
    },
    {
      name: 'SQLite',
      version: sqlite,
      license: 'blessing',
      purl: `pkg:generic/sqlite@${sqlite}`,
      terms: [
        'Linked statically into bun. The authors disclaim copyright to its source code (https://sqlite.org/copyright.html).',
        'In place of a legal notice, here is a blessing:',
        '',
        '   May you do good and not evil.',
        '   May you find forgiveness for yourself and forgive others.',
        '   May you share freely, never taking more than you give.',
      ].join('\n'),
    },
  ]
}

const textOf = (licence: string) =>
  readFileSync(join(import.meta.dir, 'licences', `${licence}.txt`), 'utf8').trim()

const mitTerms = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/**
 * Writes the licences of everything in the binary, which must be passed on with it. A package
 * without the text of its licence is listed with the licence that it declares.
 */
export function writeNotices(target: string): void {
  const engine = engineParts().map(
    ({ name, version, license, terms }) => `${name} ${version} (${license})\n\n${terms}`,
  )
  const texts = carriedPackages().map(({ name, version, license, dir }) =>
    `${name} ${version} (${license ?? 'no licence named'})\n\n${licencesOf(dir)}`.trim(),
  )
  writeFileSync(target, `${[...engine, ...texts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}

const manifestOf = (dir: string): Manifest =>
  JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))

const licencesOf = (dir: string): string =>
  readdirSync(dir, { withFileTypes: true })
    .filter(entry => entry.isFile() && isLicence.test(entry.name))
    .map(entry => readFileSync(join(dir, entry.name), 'utf8').trim())
    .join('\n\n')
