import { describe, expect, test } from 'bun:test'
import { type Answer, openMessageInstance } from '../../../support/topics/messages.ts'

const refusal = ({ status, body }: Answer) => [status, body.error_code]
const first = {
  enabled: true,
  quiet_hours: { start: null, end: null, timezone: 'UTC' },
  max_messages_per_day: 10,
  alert_types: ['price_alert', 'analytics_alert'],
}

describe('/v1/sms/settings: SMS settings', () => {
  test('SMS settings have default values on every plan before they are set', async () => {
    const instance = openMessageInstance()
    for (const plan of ['free', 'enterprise']) {
      expect(
        (await instance.ask('GET', '/v1/sms/settings', instance.account(plan).token)).body,
      ).toEqual(first)
    }
  })

  test('change where the body names them, bare or wrapped, and stay where it does not', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    const patch = async (body: unknown) =>
      (await instance.ask('PATCH', '/v1/sms/settings', token, body)).body
    const quiet = { start: '22:00', end: '07:00', timezone: 'America/New_York' }
    expect(
      await patch({ quiet_hours: { start: '22:00', end: '07:00', timezone: 'america/new_york' } }),
    ).toEqual({
      ...first,
      quiet_hours: quiet,
    })
    expect(
      await patch({
        sms_settings: {
          enabled: false,
          max_messages_per_day: 3,
          alert_types: ['price_alert', 'price_alert'],
        },
      }),
    ).toEqual({
      enabled: false,
      quiet_hours: quiet,
      max_messages_per_day: 3,
      alert_types: ['price_alert'],
    })
    expect(await patch({ quiet_hours: { end: '06:30' } })).toMatchObject({
      quiet_hours: { ...quiet, end: '06:30' },
    })
    expect(await patch({ quiet_hours: { start: null, end: null } })).toMatchObject({
      quiet_hours: { ...quiet, start: null, end: null },
    })
    expect(await patch({ quiet_hours: { start: '01:00', end: '02:00' } })).toMatchObject({
      quiet_hours: { start: '01:00', timezone: quiet.timezone },
    })
    expect(await patch({ quiet_hours: null })).toMatchObject({
      quiet_hours: { start: null, end: null },
    })
    expect(await patch({})).toEqual((await instance.ask('GET', '/v1/sms/settings', token)).body)
    expect((await instance.ask('GET', '/v1/sms/settings', instance.account().token)).body).toEqual(
      first,
    )
  })

  test.each([
    [{ enabled: 'yes' }, 'enabled'],
    [{ max_messages_per_day: 0 }, 'max_messages_per_day'],
    [{ max_messages_per_day: 101 }, 'max_messages_per_day'],
    [{ max_messages_per_day: '10' }, 'max_messages_per_day'],
    [{ alert_types: 'price_alert' }, 'alert_types'],
    [{ alert_types: ['Price alert'] }, 'alert_types.0'],
    [{ alert_types: ['price_alert', 'price_alerts'] }, 'alert_types.1'],
    [{ quiet_hours: '22-07' }, 'quiet_hours'],
    [{ quiet_hours: { start: '22:00' } }, 'quiet_hours.end'],
    [{ quiet_hours: { end: '07:00' } }, 'quiet_hours.start'],
    [{ quiet_hours: { start: '24:00', end: '07:00' } }, 'quiet_hours.start'],
    [{ quiet_hours: { start: '7:00', end: '08:00' } }, 'quiet_hours.start'],
    [{ quiet_hours: { start: '07:00', end: '07:00' } }, 'quiet_hours.end'],
    [{ quiet_hours: { timezone: 'EST' } }, 'quiet_hours.timezone'],
    [{ quiet_hours: { timezone: '+05:30' } }, 'quiet_hours.timezone'],
    [{ quiet_hours: { timezone: 'Mars/Olympus' } }, 'quiet_hours.timezone'],
    [{ sms_settings: { enabled: 1 } }, 'sms_settings.enabled'],
  ])('%j is refused at %s and changes nothing', async (body, field) => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    const answer = await instance.ask('PATCH', '/v1/sms/settings', token, body)
    expect([...refusal(answer), answer.body.field]).toEqual([422, 'validation_failed', field])
    expect((await instance.ask('GET', '/v1/sms/settings', token)).body).toEqual(first)
  })
})

describe('/v1/sms/optin: the consent', () => {
  test('needs a verified number, is given once and can be taken back', async () => {
    const instance = openMessageInstance()
    const { id, token } = instance.account()
    const optIn = () => instance.ask('POST', '/v1/sms/optin', token)
    expect(refusal(await optIn())).toEqual([422, 'phone_not_verified'])
    await instance.ask('POST', '/v1/phone', token, {
      phone_number: '+15550100002',
      country_code: 'US',
    })
    expect(refusal(await optIn())).toEqual([422, 'phone_not_verified'])
    await instance.deliver()
    await instance.ask('POST', '/v1/phone/verify', token, { verification_code: instance.code() })

    const agreed = {
      opted_in: true,
      opted_in_at: '2026-11-20T15:00:00Z',
      phone: '+15550100002',
      message: expect.any(String),
    }
    expect(await optIn()).toMatchObject({ status: 200, body: agreed })
    instance.clock.advance(5000)
    expect((await optIn()).body).toEqual(agreed)
    expect((await instance.ask('DELETE', '/v1/sms/optin', token)).body).toEqual({
      opted_in: false,
      opted_out_at: '2026-11-20T15:00:05Z',
      message: expect.any(String),
    })
    expect(instance.services.phones.of(id)!.optedInAt).toBeNull()
    expect((await instance.ask('DELETE', '/v1/sms/optin', token)).status).toBe(200)
  })

  test('SMS consent ends when the owner of the number opts out with the provider', async () => {
    const provider = Bun.serve({
      port: 0,
      fetch: () =>
        Response.json(
          { code: 21610, message: 'Attempt to send to unsubscribed recipient', status: 400 },
          { status: 400 },
        ),
    })
    const flags = {
      'sms.provider': 'twilio',
      'sms.twilio_account': `AC${'0'.repeat(32)}`,
      'sms.twilio_token': 'token',
      'sms.twilio_from': '+15005550006',
      'sms.twilio_url': `http://127.0.0.1:${provider.port}`,
    }
    const instance = openMessageInstance({ flags })
    const { id, token } = instance.account()
    const { phones, textMessages: texts } = instance.services
    phones.add(id, '+15550100002', 'US')
    const at = instance.clock.now()
    instance.services.db.run('UPDATE phones SET verified_at = ?, opted_in_at = ?', [at, at])
    expect(texts.alertNumber(id, 'price_alert')).toBe('+15550100002')
    expect((await instance.ask('POST', '/v1/sms/test', token)).body).toMatchObject({ sent: true })
    await instance.deliver()
    await provider.stop(true)
    expect(phones.of(id)!.optedInAt).toBeNull()
    expect(texts.alertNumber(id, 'price_alert')).toBeUndefined()
    expect(texts.allowance(id).usedThisMonth).toBe(0)
  })
})

describe('GET /v1/sms/eligibility: eligibility', () => {
  test.each([
    ['free', {}, ['plan', 'phone_missing'], 0],
    ['starter', { addOns: ['sms'] }, ['phone_missing'], 10],
    ['free', { addOns: ['sms'], trial: true }, ['phone_missing'], 10],
    ['professional', {}, ['phone_missing'], 50],
    ['scale', {}, ['phone_missing'], 200],
    ['enterprise', {}, ['phone_missing'], null],
  ])(
    'on %s with %j without a number is refused for %j of %p messages',
    async (plan, options, reasons, limit) => {
      const instance = openMessageInstance()
      const { body } = await instance.ask(
        'GET',
        '/v1/sms/eligibility',
        instance.account(plan, options).token,
      )
      expect(body).toEqual({
        eligible: false,
        reasons,
        plan,
        feature: !reasons.includes('plan'),
        phone_verified: false,
        opted_in: false,
        country_supported: false,
        monthly_limit: limit,
        used_this_month: 0,
        remaining: limit,
        supported_countries: ['US', 'CA', 'GB', 'AU'],
        coming_soon: ['DE', 'FR'],
      })
    },
  )

  test('is there with a verified number, until the month is used up', async () => {
    const instance = openMessageInstance()
    const { token } = await instance.reachable('professional')
    const eligibility = async () => (await instance.ask('GET', '/v1/sms/eligibility', token)).body
    expect(await eligibility()).toMatchObject({
      eligible: true,
      reasons: [],
      phone_verified: true,
      opted_in: true,
      remaining: 50,
      used_this_month: 0,
    })
    for (let n = 0; n < 50; n += 1)
      expect((await instance.ask('POST', '/v1/sms/test', token)).body.remaining).toBe(49 - n)
    expect(await eligibility()).toMatchObject({
      eligible: false,
      reasons: ['monthly_limit_reached'],
      remaining: 0,
      used_this_month: 50,
    })

    const refused = await instance.ask('POST', '/v1/sms/test', token)
    expect([...refusal(refused), refused.body.limit, refused.body.resets_at]).toEqual([
      429,
      'sms_limit_reached',
      50,
      '2026-12-01T00:00:00Z',
    ])
    expect(refused.headers.get('retry-after')).toBe(
      String((Date.parse('2026-12-01T00:00:00Z') - instance.clock.now()) / 1000),
    )
    await instance.deliver()
    expect(instance.captured('sms')).toHaveLength(51)
    instance.clock.set(Date.parse('2026-12-01T00:00:00Z'))
    expect(await eligibility()).toMatchObject({ eligible: true, remaining: 50 })
  })
})

describe('POST /v1/sms/test: a test message', () => {
  test('goes to the number that is opted in, at any hour, and is captured', async () => {
    const instance = openMessageInstance()
    const { token } = await instance.reachable()
    await instance.ask('PATCH', '/v1/sms/settings', token, {
      quiet_hours: { start: '00:00', end: '23:59' },
      max_messages_per_day: 1,
    })
    for (const n of [1, 2]) {
      const { status, body } = await instance.ask('POST', '/v1/sms/test', token)
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          sent: true,
          message_id: expect.any(String),
          to: '+15550100001',
          status: 'sent',
          message: expect.any(String),
          remaining: null,
        },
      })
      await instance.deliver()
      expect(instance.captured('sms')).toHaveLength(1 + n)
    }
    expect(instance.captured('sms').at(-1)).toMatchObject({
      to: '+15550100001',
      text: expect.stringContaining('test message'),
    })
  })

  test('is refused without consent', async () => {
    const instance = openMessageInstance()
    const { id, token } = await instance.reachable()
    instance.services.phones.optOut(id)
    expect(refusal(await instance.ask('POST', '/v1/sms/test', token))).toEqual([
      422,
      'not_opted_in',
    ])
    expect(refusal(await instance.ask('POST', '/v1/sms/test', instance.account().token))).toEqual([
      422,
      'not_opted_in',
    ])
  })

  test('ends in the log where there is no provider, without the whole number', async () => {
    const instance = openMessageInstance({ mode: 'serve' })
    const { id, token } = instance.account()
    instance.services.phones.add(id, '+15550100002', 'US')
    const at = instance.clock.now()
    instance.services.db.run('UPDATE phones SET verified_at = ?, opted_in_at = ?', [at, at])
    expect((await instance.ask('POST', '/v1/sms/test', token)).body).toMatchObject({
      sent: false,
      status: 'logged',
      to: '+15550100002',
    })
    await instance.deliver()
    const lines = instance.log
      .filter(line => line.includes('text_message'))
      .map(line => JSON.parse(line))
    expect(lines).toEqual([
      expect.objectContaining({ to: '…0002', text: expect.stringContaining('test message') }),
    ])
  })
})
