import { isRecord, type Schema } from './schema.ts'

const samples: Record<string, string> = {
  'date-time': '2024-06-14T12:00:00Z',
  date: '2024-06-14',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  email: 'ada@example.com',
}

/**
 * The example a schema carries, or one made of the examples, defaults and first allowed values of
 * its parts. Undefined where no value can be named: text with a pattern and no example, or a schema
 * that allows anything.
 */
export function exampleOf(schema: Schema): unknown {
  if ('example' in schema) return schema.example
  if ('default' in schema) return schema.default
  const next = (part: unknown) => (isRecord(part) ? exampleOf(part) : undefined)
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map(next).find(value => value !== undefined)
  if (schema.type === 'object') return objectExample(schema, next)
  if (schema.type === 'array') return arrayExample(schema, next)
  return scalarExample(schema)
}

function objectExample(schema: Schema, next: (part: unknown) => unknown): Record<string, unknown> {
  const required = new Set([schema.required].flat())
  const entries = Object.entries(isRecord(schema.properties) ? schema.properties : {}).map(
    ([key, part]) =>
      [key, next(part) ?? (required.has(key) && isFree(part) ? {} : undefined)] as const,
  )
  const value =
    entries.length === 0 && isRecord(schema.additionalProperties)
      ? next(schema.additionalProperties)
      : undefined
  return Object.fromEntries(
    [...entries, ['key', value] as const].filter(([, part]) => part !== undefined),
  )
}

// A part that only has a description allows any value.
const isFree = (part: unknown) =>
  isRecord(part) &&
  Object.keys(part).every(keyword => keyword === 'description' || keyword === 'title')

function arrayExample(schema: Schema, next: (part: unknown) => unknown): unknown[] {
  const item = next(schema.items)
  return item === undefined
    ? []
    : Array.from({ length: Math.max(1, Number(schema.minItems ?? 1)) }, () => item)
}

function scalarExample(schema: Schema): unknown {
  if (schema.type === 'boolean') return true
  if (schema.type === 'number' || schema.type === 'integer') return numberExample(schema)
  if (schema.type !== 'string' || schema.format === 'binary') return undefined
  const sample = typeof schema.format === 'string' ? samples[schema.format] : undefined
  const text =
    sample ??
    'text'.padEnd(Number(schema.minLength ?? 0), '.').slice(0, Number(schema.maxLength ?? Infinity))
  return typeof schema.pattern !== 'string' || new RegExp(schema.pattern).test(text)
    ? text
    : undefined
}

function numberExample({ minimum, maximum, exclusiveMinimum }: Schema): number {
  const low = Number(minimum ?? 1) + (exclusiveMinimum === true ? 1 : 0)
  return Math.min(Math.ceil(Math.max(1, low)), Number(maximum ?? Infinity))
}
