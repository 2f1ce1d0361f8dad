import { Kind, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import type { Text } from './own-text.ts'

TypeRegistry.Set(
  'Serialised',
  (_schema, value) => typeof value === 'string' || value instanceof Uint8Array,
)

/**
 * The schema of a body that its handler has already turned into JSON text, or into its bytes: documented like any
 * other, not walked again at run time. A test checks such answers against the schema.
 */
export const serialised = (schema: TSchema) =>
  Type.Unsafe<Text>({ [Kind]: 'Serialised', 'x-serialised': schema })
