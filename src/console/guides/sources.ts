import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

/** The root of the repository: pages are named by their path from here. */
export const repository = join(import.meta.dir, '../../..')

/** The page that lists all others. */
const indexFile = 'docs/README.md'

/** A page of the documentation, before it is rendered. */
export interface PageSource {
  /** The last part of its address: `/docs/backups`. */
  name: string
  /** From the root of the repository, such as `docs/how-to/backups.md`. */
  file: string
  /** The heading of the index that it is listed under; empty for the index itself. */
  section: string
}

const nameOf = (file: string): string => {
  if (file === indexFile) return 'index'
  const name = basename(file, '.md').toLowerCase()
  return name === 'readme' ? basename(dirname(file)) : name
}

export const readPage = (file: string): string => readFileSync(join(repository, file), 'utf8')

/** A link of a page to another file, from the root of the repository. */
export const linkedFile = (file: string, href: string): string =>
  normalize(join(dirname(file), href))

/** The pages that a list of links leads to, in its order. */
function listedBy(file: string, section: string): PageSource[] {
  let heading = section
  const pages: PageSource[] = []
  for (const [, title, href] of readPage(file).matchAll(/^## (.+)$|\]\(([^)#\s]+\.md)\)/gm)) {
    if (title !== undefined) heading = section || title
    if (href === undefined) continue
    const target = linkedFile(file, href)
    pages.push({ name: nameOf(target), file: target, section: heading })
  }
  return pages
}

/**
 * Every page in the order in which it is read. The index lists them; where it lists the index of a
 * folder, the pages of that folder follow.
 */
export function pageSources(): PageSource[] {
  const pages: PageSource[] = [{ name: 'index', file: indexFile, section: '' }]
  const seen = new Set([indexFile])
  const add = (page: PageSource) => {
    if (seen.has(page.file) || !existsSync(join(repository, page.file))) return
    const other = pages.find(({ name }) => name === page.name)
    if (other) throw new Error(`${page.file} and ${other.file} have the same name`)
    seen.add(page.file)
    pages.push(page)
    if (page.file.startsWith('docs/') && basename(page.file) === 'README.md')
      listedBy(page.file, page.section).forEach(add)
  }
  listedBy(indexFile, '').forEach(add)
  return pages
}
