import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { documentationFiles } from './docs/files.ts'

/** Writes the documentation as Markdown, with the parts that are generated, to `dist/docs`. */
const directory = join('dist', 'docs')
rmSync(directory, { recursive: true, force: true })
const files = documentationFiles()
for (const { path, text } of files) {
  const target = join(directory, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
}
console.info(`${directory} has ${files.length} files`)
