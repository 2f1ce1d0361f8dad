/**
 * Compares two OpenAPI documents operation by operation and prints what differs:
 * `bun test/support/interface/compare-documents.ts before.json after.json`. It ends with 1 where
 * anything does.
 */
import { readFileSync } from 'node:fs'

interface Document {
  paths: Record<string, Record<string, unknown>>
  components?: { schemas?: Record<string, unknown> }
}

const [before, after] = process.argv.slice(2).map(path => {
  return JSON.parse(readFileSync(path, 'utf8')) as Document
})
if (!before || !after) throw new Error('Two documents are needed: before.json after.json')

/** Every operation by method and path, with named schemas written instead of their names. */
function operationsOf(document: Document): Map<string, unknown> {
  const operations = new Map<string, unknown>()
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods))
      operations.set(`${method.toUpperCase()} ${path}`, resolved(operation, document, 0))
  return operations
}

const depthMax = 12

function resolved(node: unknown, document: Document, depth: number): unknown {
  if (Array.isArray(node)) return node.map(item => resolved(item, document, depth))
  if (typeof node !== 'object' || node === null) return node
  const reference = (node as { $ref?: unknown }).$ref
  if (typeof reference === 'string' && depth < depthMax) {
    const name = reference.split('/').at(-1)!
    return resolved(document.components?.schemas?.[name], document, depth + 1)
  }
  return Object.fromEntries(
    Object.entries(node)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, resolved(value, document, depth)]),
  )
}

/** The paths of values that differ, with the old and the new value. */
function differences(was: unknown, is: unknown, path: string): string[] {
  if (JSON.stringify(was) === JSON.stringify(is)) return []
  const areObjects = [was, is].every(value => typeof value === 'object' && value !== null)
  if (!areObjects) return [`  ${path}: ${JSON.stringify(was)} -> ${JSON.stringify(is)}`]
  const [left, right] = [was as Record<string, unknown>, is as Record<string, unknown>]
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].flatMap(key => differences(left[key], right[key], `${path}.${key}`))
}

const [operationsBefore, operationsAfter] = [operationsOf(before), operationsOf(after)]
let changed = 0
for (const name of new Set([...operationsBefore.keys(), ...operationsAfter.keys()])) {
  const lines = differences(operationsBefore.get(name), operationsAfter.get(name), '')
  if (lines.length === 0) continue
  changed += 1
  console.log(name)
  for (const line of lines) console.log(line.slice(0, 400))
}
console.log(`${changed} of ${operationsAfter.size} operations differ`)
process.exit(changed > 0 ? 1 : 0)
