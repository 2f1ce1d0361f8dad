import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expanded, readPages } from '../../src/console/guides/read.ts'
import { repository } from '../../src/console/guides/sources.ts'
import { generatedParts } from './generated.ts'

export interface DocumentationFile {
  /** From the directory of the documentation, such as `how-to/backups.md`. */
  path: string
  text: string | Uint8Array
}

/** A page of a folder outside `docs` goes to the folder of its name. */
const placeOf = (file: string): string =>
  file.startsWith('docs/')
    ? file.slice('docs/'.length)
    : join('more', dirname(file) === '.' ? '' : basename(dirname(file)), basename(file))

/** Every page as Markdown with the parts that are generated, and the files that pages link to. */
export function documentationFiles(): DocumentationFile[] {
  const generated = { ...generatedParts() }
  const { pages, attached } = readPages(generated)
  return [
    ...pages.map(({ file }) => ({
      path: placeOf(file),
      text: expanded(readFileSync(join(repository, file), 'utf8'), generated),
    })),
    ...attached.map(({ file }) => ({
      path: placeOf(file),
      text: new Uint8Array(readFileSync(join(repository, file))),
    })),
  ]
}
