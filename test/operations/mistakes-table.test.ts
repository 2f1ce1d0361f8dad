import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../support/instance/instance.ts'
import { gradeOf, missingIn } from '../support/language/grade.ts'
import {
  type ApiMistake,
  moreApiMistakes,
  readApiMistakes,
} from '../support/language/mistakes-api.ts'

const instance = openTestInstance({})
const keys = { enterprise: instance.key('enterprise'), free: instance.key('free') }
const adminToken = instance.services.adminTokens.rotate()
instance.record('WTI_USD', [70, 71, 72, 73, 74, 75], instance.clock.now(), 86_400_000)
await instance.send(
  'POST',
  '/v1/alerts',
  {
    name: 'first',
    commodity_code: 'WTI_USD',
    condition_operator: 'greater_than',
    condition_value: 80,
  },
  keys.enterprise,
  { 'idempotency-key': 'used' },
)

/** The status and all texts of the response: the message, and each of several faults. */
async function refusalOf({ method = 'GET', path, body, headers = {}, isOperator }: ApiMistake) {
  // Each request a second later, so that no rolling window fills.
  instance.clock.advance(1001)
  const { 'x-plan': plan = 'enterprise', authorization, ...others } = headers
  const token = keys[plan as keyof typeof keys]
  const credential = authorization ?? (isOperator ? `Bearer ${adminToken}` : `Token ${token}`)
  const response = await instance.app.handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(credential !== '' && { authorization: credential }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...others,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  const { errors = [] } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
    errors?: { message: string }[]
  }
  const messages = [response.headers.get('x-error-message') ?? '']
  for (const { message } of errors) if (!messages.includes(message)) messages.push(message)
  return { status: response.status, message: messages.join(' ') }
}

const mistakes = [...readApiMistakes, ...moreApiMistakes]

describe('a mistake of a caller is named with what is right, what came and the nearest value', () => {
  test.each(mistakes.map(one => [one.mistake, one] as const))('%s', async (_, one) => {
    const { mistake, method, path, body, headers, isOperator, status, ...demand } = one
    const refusal = await refusalOf(one)
    const missing = missingIn(refusal.message, demand)
    expect({ ...refusal, missing, grade: gradeOf(refusal.message, demand) }).toEqual({
      ...refusal,
      status,
      missing: [],
      grade: 'A',
    })
  })
})
