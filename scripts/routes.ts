/**
 * Prints every operation on a line: method, path, permitted callers, cost, and the file that
 * declares it. `bun run routes prices` prints those whose line contains the word.
 */
import { join } from 'node:path'
import { createContext } from '../src/http/operations/context.ts'
import type { Operation } from '../src/http/operations/operation.ts'
import { topics } from '../src/instance/app/topics.ts'
import { servicesOf, usualConfig } from './document.ts'

const root = join(import.meta.dir, '..')
const word = process.argv[2]?.toLowerCase() ?? ''

const sources = await Promise.all(
  [...new Bun.Glob('src/{topics,console}/**/*.ts').scanSync(root)]
    .filter(file => !file.includes('/demo/'))
    .sort()
    .map(async file => ({ file, text: await Bun.file(join(root, file)).text() })),
)

/** Paths that are put together, as patterns. */
const patterns = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/operation\(`\w+ ([^`]+)`/g)].map(([, template]) => ({
    file,
    pattern: new RegExp(`^${template!.replaceAll('.', '\\.').replace(/\$\{[^}]+\}/g, '.+')}$`),
  })),
)

/** The file that names the operation by its id or its path, in which both may be put together. */
function fileOf({ operationId, method, path }: Operation): string {
  const declaring = sources.filter(({ text }) => text.includes('operation('))
  const naming = (some: typeof sources, name: string) =>
    some.find(({ text }) => text.includes(`'${name}'`))?.file
  return (
    (operationId && naming(declaring, operationId)) ??
    naming(declaring, `${method} ${path}`) ??
    patterns.find(({ pattern }) => pattern.test(path))?.file ??
    naming(sources, path) ??
    '-'
  )
}

function accessOf({ access }: Operation): string {
  if ('open' in access) return 'open'
  if ('operator' in access) return `operator:${access.operator}`
  const features = [access.feature ?? []].flat().join('|')
  return `key${access.header ? ':header' : ''}${features === '' ? '' : `:${features}`}`
}

function costOf({ access }: Operation): string {
  const costs = [
    'meter' in access && access.meter ? 'quota' : '',
    'rate' in access && access.rate ? `rate:${access.rate}` : '',
    'heavy' in access && access.heavy ? 'heavy' : '',
  ].filter(cost => cost !== '')
  return costs.length === 0 ? 'free' : costs.join('+')
}

const context = createContext(servicesOf(usualConfig()), {})
const nothing = {
  answer: async () => new Response(),
  document: async () => '',
  pages: {},
}
const lines = topics
  .flatMap(topic => topic.operations(context, nothing))
  .flatMap(operation =>
    [operation.path, ...(operation.aliases ?? [])].map(path =>
      [
        operation.method.padEnd(6),
        path.padEnd(56),
        accessOf(operation).padEnd(30),
        costOf(operation).padEnd(12),
        fileOf(operation),
      ].join(' '),
    ),
  )
for (const line of lines.filter(line => line.toLowerCase().includes(word))) console.log(line)
process.exit(0)
