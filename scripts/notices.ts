import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a package says of itself. */
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
 * Writes the licences of all that the binary carries: whoever passes it on must pass them on too. A
 * package that came without the text of its licence is named with what it says of itself.
 */
export function writeNotices(target: string): void {
  const texts = carriedPackages().map(({ name, version, license, dir }) =>
    `${name} ${version} (${license ?? 'no licence named'})\n\n${licencesOf(dir)}`.trim(),
  )
  writeFileSync(target, `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}

const manifestOf = (dir: string): Manifest =>
  JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))

const licencesOf = (dir: string): string =>
  readdirSync(dir, { withFileTypes: true })
    .filter(entry => entry.isFile() && isLicence.test(entry.name))
    .map(entry => readFileSync(join(dir, entry.name), 'utf8').trim())
    .join('\n\n')
