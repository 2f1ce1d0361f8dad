import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json'

/** Sets the version of the program, its clients, its packaging and its documentation. */
const [next = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(next)) {
  console.error(`The version must be three numbers, such as 0.3.0; got "${next}".`)
  process.exit(1)
}

const before = manifest.version
const below = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => join(directory, name))
    .filter(path => statSync(path).isFile() && !/\.(png|webp)$/.test(path))
const files = [
  'package.json',
  'README.md',
  'clients/python/pyproject.toml',
  'clients/python/wellhead/version.py',
  'clients/testkit/package.json',
  'clients/typescript/package.json',
  ...below('packaging'),
  // The changelog has every version, and examples of a next version stay examples.
  ...below('docs').filter(path => !/releasing\.md|decisions|nats\/asyncapi/.test(path)),
]
let changed = 0
for (const path of files) {
  const text = readFileSync(path, 'utf8')
  const replaced = text.replaceAll(before, next)
  if (replaced === text) continue
  writeFileSync(path, replaced)
  changed += 1
}
console.info(`${before} is ${next} in ${changed} files; now write its section of CHANGELOG.md`)
