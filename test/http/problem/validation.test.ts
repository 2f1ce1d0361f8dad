import { expect, test } from 'bun:test'
import type { ValidationError } from 'elysia'
import { problemOfValidation } from '../../../src/http/problem/validation.ts'

const low = { path: '/price/low', message: 'Expected a number', value: 'x' }
const errorOf = (type: string, all: unknown[]) => ({ type, all }) as unknown as ValidationError

test('a query that does not fit its schema is 400 with the parameter and the value that was sent', () => {
  const problem = problemOfValidation(errorOf('query', [low]))
  expect(problem).toMatchObject({
    status: 400,
    code: 'INVALID_PARAMETER',
    message: 'price.low: expected a number',
    extra: { parameter: 'price.low', value: 'x' },
  })
})

test('a body that does not fit its schema is 422 with each field once and the value that was sent', () => {
  const again = { ...low, message: 'Expected a union' }
  const missing = { path: '', message: 'Required', value: undefined }
  const problem = problemOfValidation(errorOf('body', [low, again, missing]))
  expect(problem).toMatchObject({
    status: 422,
    code: 'validation_failed',
    extra: {
      field: 'price.low',
      value: 'x',
      errors: [
        { field: 'price.low', message: 'price.low: expected a number', value: 'x' },
        { field: '', message: 'body: required', value: null },
      ],
    },
  })
})

test('a path that does not fit its schema is not found, and names nothing', () => {
  const problem = problemOfValidation(errorOf('params', [low]))
  expect(problem.status).toBe(404)
  expect(problem.message).not.toContain('low')
})
