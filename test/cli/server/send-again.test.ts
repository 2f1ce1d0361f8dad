import { describe, expect, test } from 'bun:test'
import { sendAgain } from '../../../src/cli/send-again.ts'

const refused = (body: unknown, headers: Record<string, string> = {}) =>
  Response.json(body, { status: 503, headers })
const retryable = { error: { code: 'OVERLOADED', retry: { retryable: true } } }

async function sent(answers: (() => Response)[]) {
  const [lines, waits]: [string[], number[]] = [[], []]
  let requests = 0
  const response = await sendAgain(
    async () => {
      const answer = answers[Math.min(requests, answers.length - 1)]!
      requests += 1
      return answer()
    },
    { notify: line => void lines.push(line), wait: async ms => void waits.push(ms) },
  )
  return { status: response.status, requests, lines, waits, body: await response.text() }
}

describe('a request that the server refuses for now', () => {
  test('is sent again after the seconds that the answer names', async () => {
    const outcome = await sent([
      () => refused(retryable, { 'retry-after': '2' }),
      () => new Response('done'),
    ])
    expect(outcome).toMatchObject({ status: 200, requests: 2, waits: [2000], body: 'done' })
    expect(outcome.lines).toEqual(['The server answers OVERLOADED: trying again, up to 5 times.'])
  })

  test('is given up after five more trials, with the last answer whole', async () => {
    const outcome = await sent([() => refused(retryable)])
    expect(outcome).toMatchObject({ status: 503, requests: 6, body: JSON.stringify(retryable) })
    expect(outcome.lines).toHaveLength(1)
  })

  test('does not wait longer than fifteen seconds, whatever the answer names', async () => {
    const outcome = await sent([
      () => refused(retryable, { 'retry-after': '3600' }),
      () => refused(retryable, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }),
      () => new Response(),
    ])
    expect(outcome.waits).toEqual([15_000, 15_000])
  })
})

test.each([
  ['that is final', { error: { code: 'DATA_TOO_STALE', retry: { retryable: false } } }],
  ['of another service', 'upstream connect error'],
])('a request answered 503 with %s is not sent again', async (_, body) => {
  expect(await sent([() => refused(body)])).toMatchObject({ status: 503, requests: 1, lines: [] })
})
