import { dirname, join } from 'node:path'
import { generatedParts } from '../../scripts/docs/generated.ts'
import { expanded, type RenderedPages, readPages } from '../../src/console/guides/read.ts'
import {
  type PageSource,
  pageSources,
  readPage,
  repository,
} from '../../src/console/guides/sources.ts'

/** Why a sample of the documentation is not run: `sh shown=REASON`. */
export const shownReasons = {
  changes: 'It follows without an end; the test of changes on the binary runs the followers.',
  formulas: 'Two samples add one code; the tests of formulas add such series by both ways.',
  cluster: 'It needs NATS servers and a second machine; test/replication runs such clusters.',
  container: 'It needs a container engine or a Kubernetes cluster.',
  files: 'It needs files of publishers; test/feeds and test/cli import such files.',
  internet: 'It needs the internet.',
  network: 'It needs another host, or an address that does not exist here.',
  program: 'It needs a program that neither Debian nor the repository has.',
  provider: 'It needs an account at a provider; test/send has stand-ins of them.',
  repository: 'It runs the tests or the release of the repository.',
  system: 'It changes the system; test/e2e/documents/package.test.ts installs the package.',
  flow: 'It is imported into another program by hand.',
  upgrade: 'It needs a database of an earlier version; test/database upgrades such databases.',
} as const

export interface Block {
  page: PageSource
  line: number
  language: string
  /** The words behind the language: `answers=400`, `exits=2`, `file=closes.py`, `shown=REASON`. */
  options: Readonly<Record<string, string>>
  text: string
}

const fence = /^( *)```(\w*)([^\n]*)\n([\s\S]*?)^\1```$/gm

/** Every fenced block of a page, from its Markdown; blocks in lists without their indentation. */
export function blocksOf(page: PageSource): Block[] {
  const text = readPage(page.file)
  return [...text.matchAll(fence)].map(
    ([, indentation = '', language = '', words = '', block = ''], i) => ({
      page,
      line: text.slice(0, [...text.matchAll(fence)][i]!.index).split('\n').length,
      language,
      options: Object.fromEntries(
        words
          .trim()
          .split(/\s+/)
          .filter(word => word !== '')
          .map(word => [word.split('=')[0]!, word.split('=').slice(1).join('=')]),
      ),
      text: block.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
    }),
  )
}

export const pages = pageSources()

let rendered: RenderedPages | undefined
export const renderedPages = (): RenderedPages => {
  rendered ??= readPages({ ...generatedParts() })
  return rendered
}

/** The Markdown of a page with the parts that are generated. */
export const wholeText = (page: PageSource): string =>
  expanded(readPage(page.file), { ...generatedParts() })

/** A file that a page names, from the root of the repository. */
export const besidePage = (page: PageSource, path: string): string =>
  join(repository, dirname(page.file), path)
