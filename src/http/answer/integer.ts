import { type IntegerOptions, type TInteger, Type } from '@sinclair/typebox'

/**
 * A whole number. Elysia's own takes texts as well, compiles a checker at each mention, which is a
 * tenth of the start, and has every answer with one in it encoded once more.
 */
export const integer = (options?: IntegerOptions): TInteger => Type.Integer(options)
