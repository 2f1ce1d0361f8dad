import { Kind, type Static, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'

TypeRegistry.Set('Serialised', (_schema, value) => typeof value === 'string')

/**
 * The schema of a body that its handler has already turned into JSON text: documented like any
 * other, not walked again at run time. A test checks such answers against the schema.
 */
export const serialised = <T extends TSchema>(schema: T) =>
  Type.Unsafe<string>({ [Kind]: 'Serialised', 'x-serialised': schema as unknown as Static<T> })
