import { isPlain } from './text.ts'

/** A JSON object: neither a list nor null, nor the bytes of a body. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : {}

/** The object that a JSON text is; undefined for any other text. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether every text and every name in a JSON text is plain. */
export function isPlainJson(json: string): boolean {
  let plain = true
  JSON.parse(json, (name: string, value: unknown) => {
    for (const text of [name, value]) plain &&= typeof text !== 'string' || isPlain(text)
    return value
  })
  return plain
}

/** The fields that have a value. */
export const withoutAbsent = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** The fields of an object as one line: `plan=free inserted=3`. */
export const fieldsText = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
