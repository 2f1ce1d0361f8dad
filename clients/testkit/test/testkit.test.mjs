import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { ControlError, NotCapturedError, startWellhead } from 'wellhead-testkit'

let copy
let back

before(async () => {
  copy = await startWellhead({
    clock: '2026-11-20T15:00:00Z',
    world: { seed: 7, size: 'small' },
  })
})
after(() => copy.stop())
beforeEach(async () => {
  back = await copy.keep()
})
afterEach(() => back())

const priceOf = async code => {
  const { data } = await (await copy.get('/v1/prices/latest', { by_code: code })).json()
  return data.price
}

/** A webhook for prices that tests record: the world has prices of its own. */
const watched = () => ({
  url: copy.webhooks.url,
  events: ['price.updated'],
  commodity_filters: ['WTI_USD', 'BRENT_CRUDE_USD'],
})

async function post(path, body, apiKey = copy.apiKey) {
  const response = await fetch(`${copy.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Token ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.ok(response.ok, await response.clone().text())
  return await response.json()
}

describe('time', () => {
  test('stands still until it is moved, and everything due on the way has run', async () => {
    assert.equal((await copy.now()).toISOString(), '2026-11-20T15:00:00.000Z')
    assert.equal((await copy.advance('PT61S')).toISOString(), '2026-11-20T15:01:01.000Z')
    const before = await priceOf('WTI_USD')
    await copy.moveTo(new Date('2026-11-23T15:00:00Z'))
    assert.notEqual(await priceOf('WTI_USD'), before)
  })

  test('a moment that is over is refused in the words of the copy', async () => {
    const refusal = await copy.moveTo('2020-01-01T00:00:00Z').catch(error => error)
    assert.ok(refusal instanceof ControlError)
    assert.match(refusal.message, /time only moves forward/)
    assert.equal(refusal.status, 422)
  })

  test('a daily quota is there again on the next day', async () => {
    const { apiKey } = await copy.account({ plan: 'free' })
    const ask = async () => {
      const headers = { authorization: `Token ${apiKey}` }
      return (await fetch(`${copy.url}/v1/prices/latest?by_code=WTI_USD`, { headers })).status
    }
    for (let number = 0; number < 50; number += 1) assert.equal(await ask(), 200)
    assert.equal(await ask(), 402)
    await copy.moveTo('2026-11-21T00:00:01Z')
    assert.equal(await ask(), 200)
  })
})

describe('state', () => {
  test('what one test records', async () => {
    await copy.record([{ code: 'WTI_USD', price: 71.5 }])
    assert.equal(await priceOf('WTI_USD'), 71.5)
    await copy.advance('PT1H')
    await copy.fault({ path: '/v1/prices/latest', code: 'INTERNAL_ERROR' })
  })

  test('the next one does not see', async () => {
    assert.notEqual(await priceOf('WTI_USD'), 71.5)
    assert.equal((await copy.now()).toISOString(), '2026-11-20T15:00:00.000Z')
  })
})

describe('faults', () => {
  test('are met as often as asked for, with everything that the real refusal has', async () => {
    await copy.fault({ path: '/v1/prices/latest', code: 'RATE_LIMIT_EXCEEDED', count: 1 })
    const refusal = await copy.get('/v1/prices/latest', { by_code: 'WTI_USD' })
    assert.equal(refusal.status, 429)
    assert.equal(refusal.headers.get('retry-after'), '12')
    assert.equal((await copy.get('/v1/prices/latest', { by_code: 'WTI_USD' })).status, 200)
  })

  test('that are none are refused with what would be right', async () => {
    await assert.rejects(
      copy.fault({ code: 'NOPE' }),
      /must be one of invalid_code, .*; got "NOPE"/,
    )
  })
})

describe('scenarios', () => {
  test('are brought about by name and gone with the state', async () => {
    const { details } = await copy.scenario('quota-edge', { remaining: 0 })
    const refusal = await fetch(`${copy.url}/v1/prices/latest?by_code=WTI_USD`, {
      headers: { authorization: `Token ${details.api_key}` },
    })
    assert.equal(refusal.status, 402)
    await copy.scenario('negative-wti')
    const answer = await copy.get('/v1/prices/latest', { by_code: 'WTI_USD' })
    assert.equal((await answer.json()).data.price, -37.63)
  })

  test('that are none are refused with those that there are', async () => {
    await assert.rejects(copy.scenario('boom'), /must be negative-wti, crash/)
  })
})

describe('what is captured', () => {
  test('webhooks can be waited for', async () => {
    await post('/v1/webhooks', watched())
    await copy.record([
      { code: 'WTI_USD', price: 71.5 },
      { code: 'BRENT_CRUDE_USD', price: 75.25 },
    ])
    const brent = await copy.webhooks.next(({ data }) => data.commodity_code === 'BRENT_CRUDE_USD')
    assert.deepEqual([brent.type, brent.data.price], ['price.updated', 75.25])
    assert.ok(brent.headers['x-service-signature'])
    const deliveries = await copy.webhooks.count(2)
    assert.equal(new Set(deliveries.map(delivery => delivery.id)).size, 2)
  })

  test('a receiver that fails is tried again when the time has come', async () => {
    await post('/v1/webhooks', watched())
    copy.webhooks.answerWith(503)
    await copy.record([{ code: 'WTI_USD', price: 71.5 }])
    const first = await copy.webhooks.next()
    copy.webhooks.answerWith(200)
    await copy.advance('PT2M')
    assert.equal((await copy.webhooks.next(({ id }) => id === first.id)).id, first.id)
  })

  test('mail can be waited for, each letter once', async () => {
    await post('/v1/auth/link', { email: 'eval@example.com' })
    const isLink = ({ text }) => text.includes('sign-in')
    const letter = await copy.mail.next(isLink)
    assert.deepEqual([letter.channel, letter.to], ['email', 'eval@example.com'])
    await assert.rejects(copy.mail.next(isLink, { timeoutMs: 100 }), NotCapturedError)
  })
})

test('a plan gives the key of an account of that plan', async () => {
  const free = await startWellhead({ plan: 'free' })
  try {
    assert.equal((await free.get('/v1/storage')).headers.get('x-ratelimit-tier'), 'free')
  } finally {
    await free.stop()
  }
  await assert.rejects(fetch(`${free.url}/health`))
})

test('a program that can not be started says so', async () => {
  await assert.rejects(startWellhead({ binary: '/nonexistent/wellhead' }), /could not be started/)
  await assert.rejects(startWellhead({ clock: 'noon' }), /the copy ended with 1: .*clock/s)
})
