import { describe, expect, test } from 'bun:test'
import { minuteMs, secondMs } from '../../../../src/lib/time/instant.ts'
import { type Answer, openMessageInstance } from '../../../support/topics/messages.ts'

const us = (phone_number = '+15550100002') => ({ phone_number, country_code: 'US' })
const refusal = ({ status, body }: Answer) => [status, body.error_code]
/** Another six digits. */
const wrong = (code: string) => (code === '000000' ? '111111' : '000000')

describe('/v1/phone: a phone number', () => {
  test('a phone number is initially absent, is added unverified, is verified with its code and can be removed', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    expect((await instance.ask('GET', '/v1/phone', token)).body).toEqual({
      phone: null,
      verified: false,
      country_code: null,
      added_at: null,
    })

    const added = await instance.ask('POST', '/v1/phone', token, us())
    const row = {
      phone: '+15550100002',
      verified: false,
      country_code: 'US',
      added_at: '2026-11-20T15:00:00Z',
    }
    expect(added.status).toBe(201)
    expect(added.body).toEqual({
      ...row,
      message: expect.any(String),
      verification: { sent: true, expires_at: '2026-11-20T15:10:00Z' },
    })
    await instance.deliver()
    const [message] = instance.captured('sms')
    expect(message!.to).toBe('+15550100002')
    expect(message!.text).toMatch(/^Wellhead: your code is \d{6}\./)

    const verified = await instance.ask('POST', '/v1/phone/verify', token, {
      verification_code: instance.code(),
    })
    expect({ status: verified.status, body: verified.body }).toEqual({
      status: 200,
      body: { ...row, verified: true, message: expect.any(String) },
    })
    const again = await instance.ask('POST', '/v1/phone/verify', token, {
      verification_code: wrong(instance.code()),
    })
    expect({ status: again.status, verified: again.body.verified }).toEqual({
      status: 200,
      verified: true,
    })
    expect((await instance.ask('POST', '/v1/phone/resend', token)).body).toEqual({
      sent: false,
      message: expect.any(String),
      expires_at: null,
    })

    expect((await instance.ask('DELETE', '/v1/phone', token)).body).toEqual({
      deleted: true,
      message: expect.any(String),
    })
    expect((await instance.ask('GET', '/v1/phone', token)).body.phone).toBeNull()
    for (const [method, path, body] of [
      ['DELETE', '/v1/phone', undefined],
      ['POST', '/v1/phone/resend', undefined],
      ['POST', '/v1/phone/verify', { verification_code: '123456' }],
    ] as const) {
      expect((await instance.ask(method, path, token, body)).status).toBe(404)
    }
  })

  test('that replaces another one takes its verification and its consent away', async () => {
    const instance = openMessageInstance()
    const { id, token } = await instance.reachable()
    expect(instance.services.phones.of(id)!.optedInAt).not.toBeNull()
    await instance.ask('POST', '/v1/phone', token, us('+15550100003'))
    expect(instance.services.phones.of(id)).toMatchObject({
      number: '+15550100003',
      verifiedAt: null,
      optedInAt: null,
    })
  })

  test.each([
    [
      'as it is dialled at home',
      { phone_number: '(212) 555-0123', country_code: 'us' },
      '+12125550123',
      'US',
    ],
    [
      'of a country whose calling code is shared',
      { phone_number: '+14165550123', country_code: 'CA' },
      '+14165550123',
      'CA',
    ],
    [
      'of a dependency',
      { phone_number: '+447911123456', country_code: 'GB' },
      '+447911123456',
      'GB',
    ],
    [
      'kept for examples',
      { phone_number: '+447700900123', country_code: 'GB' },
      '+447700900123',
      'GB',
    ],
    ['of Australia', { phone_number: '0412 345 678', country_code: 'AU' }, '+61412345678', 'AU'],
    ['without a country', { phone_number: '+61412345678' }, '+61412345678', 'AU'],
  ])('%s is taken', async (_, body, number, country) => {
    const instance = openMessageInstance()
    const { token } = instance.account('free')
    const answer = await instance.ask('POST', '/v1/phone', token, body)
    expect({
      status: answer.status,
      phone: answer.body.phone,
      country_code: answer.body.country_code,
    }).toEqual({ status: 201, phone: number, country_code: country })
  })

  test.each([
    ['nothing', {}, 'validation_failed', 'phone_number'],
    ['a list', [], 'validation_failed', 'body'],
    [
      'a number that is JSON',
      { phone_number: 15550100002, country_code: 'US' },
      'validation_failed',
      'phone_number',
    ],
    ['too few digits', us('+1234'), 'validation_failed', 'phone_number'],
    ['words', us('call me'), 'validation_failed', 'phone_number'],
    ['a second number', us('+15550100002,+15550100003'), 'validation_failed', 'phone_number'],
    ['a line break', us('+15550100002\n+15550100003'), 'validation_failed', 'phone_number'],
    ['an extension', us('+12125550123 ext 4'), 'validation_failed', 'phone_number'],
    ['a number at extra cost', us('+19002345678'), 'validation_failed', 'phone_number'],
    ['a number of another country', us('+447911123456'), 'validation_failed', 'phone_number'],
    [
      'a country that is none',
      { ...us(), country_code: 'USA' },
      'validation_failed',
      'country_code',
    ],
    [
      'a country to come',
      { phone_number: '+4915112345678', country_code: 'DE' },
      'country_not_supported',
      'country_code',
    ],
    [
      'a number of a country to come',
      { phone_number: '+4915112345678' },
      'country_not_supported',
      'phone_number',
    ],
    [
      'a number of the Caribbean as one of the US',
      us('+18765550123'),
      'country_not_supported',
      'phone_number',
    ],
  ])('of %s is refused and sends nothing', async (_, body, code, field) => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    const answer = await instance.ask('POST', '/v1/phone', token, body)
    expect([...refusal(answer), answer.body.field]).toEqual([422, code, field])
    await instance.deliver()
    expect(instance.captured('sms')).toEqual([])
    expect((await instance.ask('GET', '/v1/phone', token)).body.phone).toBeNull()
  })

  test('sent again with its Idempotency-Key is the same answer and one message', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    const ask = () => instance.ask('POST', '/v1/phone', token, us(), { 'idempotency-key': 'one' })
    const [first, second] = [await ask(), await ask()]
    await instance.deliver()
    expect(second).toMatchObject({ status: 201, body: first.body })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(instance.captured('sms')).toHaveLength(1)
  })
})

describe('POST /v1/phone/verify and /v1/phone/resend: a code', () => {
  test('phone verification locks after five wrong codes until a new code is sent', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    await instance.ask('POST', '/v1/phone', token, us())
    await instance.deliver()
    const code = instance.code()
    for (let triesLeft = 4; triesLeft >= 0; triesLeft -= 1) {
      const answer = await instance.ask('POST', '/v1/phone/verify', token, {
        verification_code: wrong(code),
      })
      expect([...refusal(answer), answer.body.field, answer.body.tries_left]).toEqual([
        422,
        'invalid_code',
        'verification_code',
        triesLeft,
      ])
    }
    expect(
      refusal(await instance.ask('POST', '/v1/phone/verify', token, { verification_code: code })),
    ).toEqual([429, 'verification_locked'])
    // The same number again within the minute changes nothing: otherwise five more tries would be
    // one request away.
    const again = await instance.ask('POST', '/v1/phone', token, us())
    expect({ status: again.status, verification: again.body.verification }).toEqual({
      status: 201,
      verification: { sent: false, expires_at: '2026-11-20T15:10:00Z' },
    })
    expect(
      refusal(await instance.ask('POST', '/v1/phone/verify', token, { verification_code: code })),
    ).toEqual([429, 'verification_locked'])

    instance.clock.advance(minuteMs)
    expect((await instance.ask('POST', '/v1/phone/resend', token)).body).toEqual({
      sent: true,
      message: expect.any(String),
      expires_at: '2026-11-20T15:11:00Z',
    })
    await instance.deliver()
    expect(instance.code()).not.toBe(code)
    expect(
      (
        await instance.ask('POST', '/v1/phone/verify', token, {
          verification_code: instance.code(),
        })
      ).status,
    ).toBe(200)
  })

  test.each([
    [10 * minuteMs - 1, 200],
    [10 * minuteMs, 422],
  ])('%i ms old is answered %i', async (ageMs, status) => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    await instance.ask('POST', '/v1/phone', token, us())
    await instance.deliver()
    instance.clock.advance(ageMs)
    const answer = await instance.ask('POST', '/v1/phone/verify', token, {
      verification_code: instance.code(),
    })
    expect(answer.status).toBe(status)
    if (status === 422) expect(answer.body.error_code).toBe('code_expired')
  })

  test.each([[undefined], ['12345'], ['1234567'], ['12345a'], [123456], [null], ['١٢٣٤٥٦']])(
    '%p is refused as a code and uses no attempt',
    async verification_code => {
      const instance = openMessageInstance()
      const { id, token } = instance.account()
      await instance.ask('POST', '/v1/phone', token, us())
      const answer = await instance.ask('POST', '/v1/phone/verify', token, { verification_code })
      expect([...refusal(answer), answer.body.field]).toEqual([
        422,
        'validation_failed',
        'verification_code',
      ])
      expect(instance.services.phones.of(id)!.wrongTries).toBe(0)
    },
  )

  test('of one account is of no use to another that claims the same number', async () => {
    const instance = openMessageInstance()
    const [first, second] = [instance.account(), instance.account()]
    await instance.ask('POST', '/v1/phone', first.token, us())
    await instance.deliver()
    const code = instance.code()
    await instance.ask('POST', '/v1/phone', second.token, us())
    const answer = await instance.ask('POST', '/v1/phone/verify', second.token, {
      verification_code: code,
    })
    expect(refusal(answer)).toEqual([422, 'invalid_code'])
    expect(
      (await instance.ask('POST', '/v1/phone/verify', first.token, { verification_code: code }))
        .status,
    ).toBe(200)
  })

  test('is sent again at most once in 60 seconds', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    await instance.ask('POST', '/v1/phone', token, us())
    instance.clock.advance(59 * secondMs + 1)
    const answer = await instance.ask('POST', '/v1/phone/resend', token)
    expect(refusal(answer)).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
    expect({
      retry_after: answer.body.retry_after,
      limit: answer.body.limit,
      window_seconds: answer.body.window_seconds,
    }).toEqual({ retry_after: 1, limit: 1, window_seconds: 60 })
    expect(answer.headers.get('retry-after')).toBe('1')
    instance.clock.advance(999)
    expect((await instance.ask('POST', '/v1/phone/resend', token)).body.sent).toBe(true)
  })

  test('verification codes are limited to five in 24 hours for each account and each phone number', async () => {
    const instance = openMessageInstance()
    const [first, second] = [instance.account(), instance.account()]
    const add = (token: string, number: string) =>
      instance.ask('POST', '/v1/phone', token, us(number))
    for (let n = 0; n < 5; n += 1) {
      await add(first.token, `+1555010000${n % 2}`)
      instance.clock.advance(minuteMs)
    }
    const full = await add(first.token, '+15550100050')
    expect([...refusal(full), full.body.limit, full.body.retry_after]).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
      5,
      24 * 3600 - 5 * 60,
    ])
    expect(full.body.message).toStartWith('At most 5 codes in 24 hours for an account.')
    for (let n = 0; n < 2; n += 1) {
      expect((await add(second.token, '+15550100000')).status).toBe(201)
      instance.clock.advance(minuteMs)
    }
    const third = instance.account().token
    const rings = await add(third, '+15550100000')
    expect({ status: rings.status, message: rings.body.message }).toEqual({
      status: 429,
      message: expect.stringMatching(/^At most 5 codes in 24 hours for a phone number\./),
    })
    expect((await add(third, '+15550100099')).status).toBe(201)
    instance.clock.advance(24 * 3600 * secondMs)
    expect((await add(first.token, '+15550100050')).status).toBe(201)
  })

  test('verification codes of all accounts together stop at sms.codes_per_day, and the log says so', async () => {
    const instance = openMessageInstance({ flags: { 'sms.codes_per_day': '3' } })
    const add = (n: number) =>
      instance.ask('POST', '/v1/phone', instance.account().token, us(`+1555010001${n}`))
    for (let n = 0; n < 3; n += 1) expect((await add(n)).status).toBe(201)
    const full = await add(4)
    expect([...refusal(full), full.body.message]).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
      expect.stringMatching(/^At most 3 codes in 24 hours for all customers together\./),
    ])
    expect(instance.log.join('')).toContain('verification_codes_used_up')
    instance.clock.advance(24 * 3600 * secondMs)
    expect((await add(5)).status).toBe(201)
  })

  test('is nowhere in the log, in an answer or at rest', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    const added = await instance.ask('POST', '/v1/phone', token, us())
    const { body } = instance.services.outbox.log.page('sms', 'sms', {}, 1, 0).entries[0]!
    // Until it is captured, what the database has of it is the sealed message and the hash.
    const stored =
      JSON.stringify(
        instance.services.phones.of(instance.services.keys.accounts()[0]!.account.id),
      ) + body
    await instance.deliver()
    const code = instance.code()
    await instance.ask('POST', '/v1/phone/verify', token, { verification_code: wrong(code) })
    expect(code).toMatch(/^\d{6}$/)
    for (const text of [JSON.stringify(added.body), stored, instance.log.join('\n')])
      expect(text).not.toContain(code)
    expect(JSON.parse(body)).toEqual({ to: '+15550100002', sealed: expect.any(String) })
  })

  test('is not made where there is no way to send it', async () => {
    const instance = openMessageInstance({ mode: 'serve' })
    const { token } = instance.account()
    const added = await instance.ask('POST', '/v1/phone', token, us())
    expect({ status: added.status, verification: added.body.verification }).toEqual({
      status: 201,
      verification: { sent: false, expires_at: '2026-11-20T15:10:00Z' },
    })
    expect(added.body.message).toContain('no SMS provider')
    await instance.deliver()
    expect(
      refusal(
        await instance.ask('POST', '/v1/phone/verify', token, { verification_code: '000000' }),
      ),
    ).toEqual([422, 'code_expired'])
    expect(instance.log.join('\n')).not.toContain('text_message')
  })
})
