import { describe, expect, test } from 'bun:test'
import { dayMs, isoMillis } from '../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'
import { createFollower } from '../../support/topics/follower.ts'

const code = 'MY_SPREAD'
const spread = {
  code,
  name: 'Our spread',
  formula: 'BRENT_CRUDE_USD - WTI_USD',
  unit: 'barrel',
  currency: 'USD',
}

/** An instance with prices and two accounts, each with a way to ask. */
function openAccounts(plans: [string, string] = ['professional', 'professional']) {
  const instance = openTestInstance()
  instance.record('WTI_USD', [60, 61, 62], startAt, dayMs)
  instance.record('BRENT_CRUDE_USD', [64, 65, 69], startAt, dayMs)
  const asks = plans.map(plan => {
    const token = instance.key(plan)
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer =
        method === 'GET'
          ? await instance.get(path, token)
          : await instance.send(method, path, body, token)
      const text = await answer.text()
      return { status: answer.status, text, data: jsonOf(text) }
    }
    return { token, ask, account: instance.services.keys.find(token)!.account.account }
  })
  return { instance, ours: asks[0]!, theirs: asks[1]! }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
const jsonOf = (text: string): any => {
  try {
    const { data, ...rest } = JSON.parse(text)
    return data ?? rest
  } catch {
    return undefined
  }
}

describe('the formulas of an account', () => {
  test('are created, listed, changed and deleted, and computed like any code', async () => {
    const { ours } = openAccounts()
    const made = await ours.ask('POST', '/v1/formulas', spread)
    expect({ status: made.status, formula: made.data.formula }).toEqual({
      status: 201,
      formula: {
        ...spread,
        decimals: 2,
        align: 'last',
        align_limit: null,
        legs: [
          { code: 'BRENT_CRUDE_USD', unit: 'barrel', currency: 'USD' },
          { code: 'WTI_USD', unit: 'barrel', currency: 'USD' },
        ],
        value: 7,
        status: 'ok',
        missing_legs: [],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    })
    const over = { ...spread, code: 'MY_TWICE', formula: `2*${code}` }
    expect((await ours.ask('POST', '/v1/formulas', over)).data.formula.value).toBe(14)
    expect((await ours.ask('GET', '/v1/formulas')).data).toMatchObject({
      formulas: [{ code }, { code: 'MY_TWICE' }],
      count: 2,
      limit: 50,
    })
    const changed = await ours.ask('PATCH', `/v1/formulas/${code}`, {
      formula: 'BRENT_CRUDE_USD - WTI_USD + 1',
    })
    expect({ status: changed.status, value: changed.data.formula.value }).toEqual({
      status: 200,
      value: 8,
    })
    expect((await ours.ask('GET', '/v1/formulas/MY_TWICE')).data.formula.value).toBe(16)
    expect((await ours.ask('DELETE', `/v1/formulas/${code}`)).data).toEqual({ code, deleted: true })
    expect((await ours.ask('GET', `/v1/prices/latest?by_code=${code}`)).status).toBe(400)
    expect((await ours.ask('GET', '/v1/formulas/MY_TWICE')).data.formula).toMatchObject({
      value: null,
      status: 'incomplete',
    })
    expect((await ours.ask('POST', '/v1/formulas', spread)).data.formula.value).toBe(7)
  })

  test('have a record in the feed of changes when a formula that they use is deleted, or another one', async () => {
    const { ours } = openAccounts()
    const over = { ...spread, code: 'MY_TWICE', formula: `2*${code}` }
    const follower = createFollower()
    let since = 'start'
    const follow = async () => {
      const { data } = await ours.ask('GET', `/v1/changes?since=${since}&derived=true`)
      since = data.cursor
      follower.take(data.changes)
      const lines = follower.stateAt(isoMillis(startAt + dayMs))
      return lines.filter(line => line.startsWith('MY_'))
    }
    const exported = async () => {
      const codes = (await ours.ask('GET', '/v1/formulas')).data.formulas
        .map((formula: { code: string }) => formula.code)
        .join()
      const query = `codes=${codes}&columns=code,observed_at,price`
      const { text } = await ours.ask('GET', `/v1/export/prices?${query}`)
      return text.trim().split('\n').slice(1).sort()
    }
    await ours.ask('POST', '/v1/formulas', spread)
    await ours.ask('POST', '/v1/formulas', over)
    expect(await follow()).toHaveLength(6)
    await ours.ask('PATCH', `/v1/formulas/${code}`, {
      formula: 'BRENT_CRUDE_USD / WTI_USD * EUR_USD',
      currency: 'EUR',
      unit: 'gallon',
    })
    expect(await follow()).toEqual(await exported())
    await ours.ask('PATCH', `/v1/formulas/${code}`, spread)
    expect(await follow()).toHaveLength(6)
    await ours.ask('DELETE', `/v1/formulas/${code}`)
    const { data } = await ours.ask('GET', `/v1/changes?since=${since}&derived=true`)
    expect(data.changes).toMatchObject([
      { kind: 'deleted', code, observed_at: null, retroactive: true, derived: true },
      { kind: 'deleted', code: 'MY_TWICE', observed_at: null, retroactive: true, derived: true },
    ])
    expect(await follow()).toEqual([])
    await ours.ask('POST', '/v1/formulas', spread)
    expect(await follow()).toEqual(await exported())
  })

  test('are refused with a cadence, which is that of their legs', async () => {
    const { ours } = openAccounts()
    await ours.ask('POST', '/v1/formulas', spread)
    const given = { ...spread, code: 'MY_OTHER', cadence: 'daily' }
    for (const [method, path, body] of [
      ['POST', '/v1/formulas', given],
      ['POST', '/v1/formulas/preview', given],
      ['PATCH', `/v1/formulas/${code}`, { cadence: 'daily' }],
    ] as const) {
      const { status, data } = await ours.ask(method, path, body)
      expect({ status, errors: data.errors }).toMatchObject({
        status: 422,
        errors: [{ field: 'cadence' }],
      })
    }
  })

  test('are refused with one fault for each field that does not go with a template', async () => {
    const { ours } = openAccounts()
    const { code: _code, ...given } = spread
    const faults = async (body: object) => {
      const { data } = await ours.ask('POST', '/v1/formulas/preview', body)
      return data.errors?.map((fault: { field: string; message: string; value: unknown }) => [
        fault.message,
        fault.value,
      ])
    }
    const unknown = await faults({ template: 'nope' })
    expect({ unknown: unknown.length, first: unknown[0][0] }).toEqual({
      unknown: 1,
      first: expect.stringContaining('template must be crack_321, crack_211'),
    })
    expect(await faults({ ...given, template: 'crack_321' })).toEqual([
      [`formula must be absent with a template; got "${spread.formula}".`, spread.formula],
      ['unit must be absent with a template; got "barrel".', 'barrel'],
      ['currency must be absent with a template; got "USD".', 'USD'],
    ])
    expect(await faults({ ...given, parameters: { crude: 'WTI_USD' } })).toEqual([
      ['parameters must be absent without a template; got an object.', null],
    ])
    expect(await faults({ template: 'crack_321', parameters: { crude: 'NOPE' } })).toEqual([
      [
        'formula must name known codes; got NOPE (column 68).',
        '(2*unit(GASOLINE_USD, barrel) + unit(HEATING_OIL_USD, barrel))/3 - NOPE',
      ],
    ])
  })

  test('are previewed with the newest 10,000 values of a long range', async () => {
    const { instance, ours } = openAccounts()
    const values = Array.from({ length: 25_000 }, (_, i) => 60 + (i % 100) / 10)
    instance.record('URALS_CRUDE_USD', values, startAt, 60_000)
    const { data } = await ours.ask('POST', '/v1/formulas/preview', {
      formula: 'round(2*URALS_CRUDE_USD, 1)',
      unit: 'barrel',
      currency: 'USD',
      start_date: '1990-01-01',
    })
    const shown = data.values as { observed_at: string; value: number }[]
    const times = shown.map(row => Date.parse(row.observed_at))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(new Set(times).size).toBe(10_000)
    expect(shown.map(row => row.value)).toEqual(
      values.slice(-10_000).map(value => Math.round(20 * value) / 10),
    )
  })

  test('are previewed with their values, legs and missing legs, and nothing is saved', async () => {
    const { instance, ours, theirs } = openAccounts()
    const days = (n: number) => new Date(startAt + (n - 2) * dayMs).toISOString()
    const { code: _code, name: _name, ...terms } = spread
    const range = { start_date: days(0), end_date: days(2) }
    const preview = (body: object, { ask } = ours) =>
      ask('POST', '/v1/formulas/preview', { ...terms, ...range, ...body })
    const shown = await preview({})
    expect([shown.status, shown.data.values.map((row: { value: number }) => row.value)]).toEqual([
      200,
      [4, 4, 7],
    ])
    expect(shown.data).toMatchObject({
      unit: 'barrel',
      currency: 'USD',
      status: 'ok',
      missing_legs: [],
      legs: [
        { code: 'BRENT_CRUDE_USD', price: 69, status: 'ok' },
        { code: 'WTI_USD', price: 62, status: 'ok' },
      ],
    })
    const [, second] = shown.data.values
    expect((await preview({ start_date: second.observed_at })).data.values).toHaveLength(2)
    expect((await preview({ end_date: second.observed_at })).data.values).toHaveLength(2)
    const lacking = (await preview({ formula: 'WTI_USD - URALS_CRUDE_USD' })).data
    expect({
      values: lacking.values,
      status: lacking.status,
      missing_legs: lacking.missing_legs,
    }).toEqual({
      values: [],
      status: 'incomplete',
      missing_legs: [{ code: 'URALS_CRUDE_USD', reason: 'incomplete' }],
    })
    const reasonOf = async (body: object) => (await preview(body)).data.no_value_reason
    const zero = 'WTI_USD / (BRENT_CRUDE_USD - BRENT_CRUDE_USD)'
    expect(await reasonOf({})).toBe(null)
    expect(await reasonOf({ formula: zero })).toBe('division_by_zero')
    expect(await reasonOf({ formula: `if(WTI_USD > 0, WTI_USD, ${zero})` })).toBe(null)
    expect(await reasonOf({ formula: 'WTI_USD - URALS_CRUDE_USD' })).toBe('no_value')
    expect(await reasonOf({ start_date: '2020-01-01', end_date: '2020-01-02' })).toBe('no_times')
    const wrong = async (body: object) => {
      const { status, data } = await preview(body)
      return [status, data.errors?.[0]?.field, data.errors?.[0]?.column ?? null]
    }
    expect(await wrong({ formula: 'WTI_USD + NOWHERE' })).toEqual([422, 'formula', 11])
    expect(await wrong({ formula: `1 + ${code}`, code })).toEqual([422, 'formula', 5])
    expect(await wrong({ start_date: days(3) })).toEqual([422, 'start_date', null])
    expect((await ours.ask('GET', '/v1/formulas')).data.count).toBe(0)

    instance.clock.advance(60_000)
    const before = instance.clock.now()
    instance.clock.advance(60_000)
    instance.record('BRENT_CRUDE_USD', [70], startAt, dayMs)
    const newest = async (body: object) => (await preview(body)).data.values.at(-1).value
    expect(await newest({})).toBe(8)
    expect(await newest({ as_of: new Date(before).toISOString() })).toBe(7)
    await ours.ask('POST', '/v1/formulas', spread)
    expect(await newest({ formula: `2*${code}` })).toBe(16)
    expect((await preview({ formula: `2*${code}` }, theirs)).status).toBe(422)
  })

  test('are previewed in the unit and currency of the formula where none is given', async () => {
    const { ours } = openAccounts()
    const preview = async (body: object) => {
      const { status, data } = await ours.ask('POST', '/v1/formulas/preview', body)
      return [status, data.unit, data.currency, data.errors?.[0].length]
    }
    const { formula } = spread
    const plain = 'BRENT_CRUDE_USD / WTI_USD'
    expect(await preview({ formula })).toEqual([200, 'barrel', 'USD', undefined])
    expect(await preview({ formula, currency: 'EUR' })).toEqual([200, 'barrel', 'EUR', undefined])
    expect(await preview({ formula: plain })).toEqual([200, '', null, undefined])
    expect(await preview({ formula: plain, unit: 'ratio' })).toEqual([
      200,
      'ratio',
      null,
      undefined,
    ])
    const gas = { formula: 'avg(DUTCH_TTF_EUR, 1 month)' }
    expect(await preview(gas)).toEqual([200, 'mwh', 'EUR', undefined])
    // The whole text is what cannot be converted.
    const refused = await preview({ ...gas, unit: 'barrel', currency: 'USD' })
    expect(refused).toEqual([422, undefined, undefined, gas.formula.length])
    const created = await ours.ask('POST', '/v1/formulas', { code, name: 'Ours', formula })
    expect(created.data.errors.map((fault: { field: string }) => fault.field)).toEqual([
      'unit',
      'currency',
    ])
  })

  test('may have the name that another account has, with other values', async () => {
    const { ours, theirs } = openAccounts()
    await ours.ask('POST', '/v1/formulas', spread)
    await theirs.ask('POST', '/v1/formulas', { ...spread, formula: 'WTI_USD - 1' })
    const priceOf = async ({ ask }: typeof ours) =>
      (await ask('GET', `/v1/prices/latest?by_code=${code}`)).data.price
    expect({ ours: await priceOf(ours), theirs: await priceOf(theirs) }).toEqual({
      ours: 7,
      theirs: 61,
    })
    await theirs.ask('DELETE', `/v1/formulas/${code}`)
    expect(await priceOf(ours)).toBe(7)
  })

  test('are refused at the column of their text, by their name and by the plan', async () => {
    const { instance, ours, theirs } = openAccounts(['developer', 'free'])
    const wrong = async (body: object) => {
      const { status, data } = await ours.ask('POST', '/v1/formulas', { ...spread, ...body })
      return [status, data.errors?.[0]?.field, data.errors?.[0]?.column ?? null]
    }
    expect(await wrong({ formula: 'WTI_USD + NOWHERE' })).toEqual([422, 'formula', 11])
    expect(await wrong({ formula: '' })).toEqual([422, 'formula', 1])
    expect(await wrong({ formula: '  ' })).toEqual([422, 'formula', 3])
    expect(await wrong({ code: 'DESK_SPREAD' })).toEqual([422, 'code', null])
    expect(await wrong({ formula: undefined })).toEqual([422, 'formula', null])
    expect(await wrong({ formula: `1 + ${code}` })).toEqual([422, 'formula', 5])
    const operator = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
    const desk = await instance.send('POST', '/admin/v1/series', spread, undefined, operator)
    expect(desk.status).toBe(422)
    expect(await theirs.ask('POST', '/v1/formulas', spread)).toMatchObject({
      status: 403,
      data: { error: { code: 'INSUFFICIENT_PLAN', required_plan: 'developer' } },
    })
    for (const n of [1, 2, 3])
      expect((await ours.ask('POST', '/v1/formulas', { ...spread, code: `MY_${n}` })).status).toBe(
        201,
      )
    expect(await ours.ask('POST', '/v1/formulas', spread)).toMatchObject({
      status: 422,
      data: { code: 'formula_limit_reached', limit: 3, current_count: 3 },
    })
  })

  test('beyond the limit of a smaller plan are suspended, the oldest continue', async () => {
    const { instance, ours } = openAccounts(['starter', 'free'])
    for (const n of [1, 2, 3, 4])
      await ours.ask('POST', '/v1/formulas', { ...spread, code: `MY_${n}` })
    const { keys } = instance.services
    keys.putAccount({ ...ours.account, plan: 'developer' })
    expect((await ours.ask('GET', '/v1/prices/latest?by_code=MY_3')).data.price).toBe(7)
    expect(await ours.ask('GET', '/v1/prices/latest?by_code=MY_4')).toMatchObject({
      status: 404,
      data: { error: { code: 'DATA_NOT_AVAILABLE', status: 'suspended' } },
    })
    expect((await ours.ask('GET', '/v1/formulas/MY_4')).data.formula).toMatchObject({
      status: 'suspended',
      value: null,
    })
  })

  test('have another export where a deletion or another formula changes values alone', async () => {
    const { instance, ours } = openAccounts()
    const { batches, catalogue, observations } = instance.services
    const { id } = catalogue.named('WTI_USD')!
    await ours.ask('POST', '/v1/formulas', spread)
    const etags: (string | null)[] = []
    const exported = async () => {
      const known = { 'if-none-match': etags.at(-1) ?? '""' }
      const path = `/v1/export/prices?codes=${code}&columns=price&format=csv`
      const answer = await instance.get(path, ours.token, known)
      etags.push(answer.headers.get('etag'))
      return [answer.status, (await answer.text()).trim().split('\n').slice(1)]
    }
    expect(await exported()).toEqual([200, ['4', '4', '7']])
    expect(await exported()).toEqual([304, []])
    // The formula has a value at this time all the same: that of Brent and the price before.
    const { observedAt } = observations.newest(id, Number.MAX_SAFE_INTEGER)!
    batches.remove({ kind: 'correction', actor: 'test', reason: 'test' }, id, [observedAt])
    expect(await exported()).toEqual([200, ['4', '4', '8']])
    await ours.ask('PATCH', `/v1/formulas/${code}`, { formula: 'WTI_USD - BRENT_CRUDE_USD' })
    expect(await exported()).toEqual([200, ['-4', '-4', '-8']])
    expect(new Set(etags).size).toBe(3)
  })

  test('are made of templates with parameters', async () => {
    const { ours } = openAccounts()
    const make = (parameters: object) =>
      ours.ask('POST', '/v1/formulas', {
        code: 'MY_WINDOW',
        name: 'Cargo of the 16th',
        template: 'pricing_window',
        parameters,
      })
    for (const [parameters, message] of [
      [
        { oill: 'WTI_USD' },
        'parameters must be oil, date, before or after; got "oill". Did you mean oil?',
      ],
      [{ before: 'two' }, 'parameters.before must be a number such as 2; got "two".'],
      [{ before: 2 }, 'parameters.before must be text; got 2.'],
      [
        { date: '16.11.2026' },
        'parameters.date must be a date such as 2026-11-10; got "16.11.2026".',
      ],
      [
        { date: '2026-13-99' },
        'parameters.date must be a date such as 2026-11-10; got "2026-13-99".',
      ],
    ] as const) {
      const { status, data } = await make(parameters)
      expect({ status, message: data.errors[0].message }).toEqual({ status: 422, message })
    }
    const made = await make({ oil: 'WTI_USD', before: '1' })
    expect({ status: made.status, formula: made.data.formula.formula }).toEqual({
      status: 201,
      formula: 'around(WTI_USD, 2026-11-10, 1, 2)',
    })
  })

  test('are seen by their account alone, everywhere codes are read', async () => {
    const { ours, theirs } = openAccounts()
    const mentions = (text: string) => text.includes('Our spread') || text.includes(code)
    const reads: [method: string, path: string, body?: unknown][] = [
      ['GET', `/v1/prices/latest?by_code=${code}`],
      ['GET', `/v1/prices/past_week?by_code=${code}&interval=raw`],
      ['GET', `/v1/prices/past_month?by_code=${code}&interval=day`],
      ['GET', `/v1/export/prices?codes=${code}`],
      ['GET', `/v1/changes?since=start&codes=${code}`],
      ['GET', `/udf/symbols?symbol=${code}`],
      ['GET', `/udf/history?symbol=${code}&resolution=D&from=1&to=1900000000`],
      ['GET', `/v1/commodities/${code}`],
      ['POST', '/v1/prices/batch', { codes: [code] }],
      ['GET', `/v1/formulas/${code}`],
    ]
    const answersOf = async ({ ask }: typeof ours) => {
      const answers: [path: string, status: number, text: string][] = []
      for (const [method, path, body] of reads) {
        const { status, text } = await ask(method, path, body)
        answers.push([path, status, text.replaceAll(/"(request_id|[a-z_]+_at)":"[^"]*"/g, '')])
      }
      return answers
    }
    const before = await answersOf(theirs)
    expect((await ours.ask('POST', '/v1/formulas', spread)).status).toBe(201)
    for (const [path, status] of await answersOf(ours))
      expect({ path, status }).toEqual({ path, status: 200 })
    // To others it is as unknown as before it was made.
    expect(await answersOf(theirs)).toEqual(before)
    const lists = [
      '/v1/commodities',
      '/v1/prices/latest',
      '/v1/export/prices?codes=*',
      '/v1/changes?since=start&derived=true',
      `/udf/search?query=${code}&limit=30`,
      '/v1/formulas',
    ]
    for (const path of lists) {
      expect(mentions((await ours.ask('GET', path)).text), path).toBe(true)
      expect(mentions((await theirs.ask('GET', path)).text), path).toBe(false)
    }
  })

  test('fire alerts and webhooks of their account, and none of another that has the name', async () => {
    const { instance, ours, theirs } = openAccounts()
    const alert = (bound: number) => ({
      price_alert: {
        name: 'Spread',
        commodity_code: code,
        condition_operator: 'greater_than',
        condition_value: bound,
      },
    })
    const hook = { url: 'https://example.com/hook', events: ['price.updated'] }
    for (const { ask } of [ours, theirs]) {
      expect((await ask('POST', '/v1/webhooks', hook)).status).toBe(201)
      expect((await ask('POST', '/v1/alerts', alert(5))).status).toBeGreaterThanOrEqual(400)
    }
    await ours.ask('POST', '/v1/formulas', spread)
    await theirs.ask('POST', '/v1/formulas', { ...spread, formula: 'BRENT_CRUDE_USD - 75' })
    for (const { ask } of [ours, theirs])
      expect((await ask('POST', '/v1/alerts', alert(10))).status).toBe(201)
    instance.clock.advance(60_000)
    instance.record('BRENT_CRUDE_USD', [80], instance.clock.now(), dayMs)
    const fired = async ({ ask }: typeof ours) =>
      JSON.parse((await ask('GET', '/v1/alerts')).text)[0].trigger_count
    expect({ ours: await fired(ours), theirs: await fired(theirs) }).toEqual({ ours: 1, theirs: 0 })
    const sent = (id: string) =>
      instance.services.db
        .query<{ body: string }, [string]>(
          `SELECT b.body FROM outbox o JOIN outbox_bodies b ON b.id = o.body_id
           WHERE o.account_id = ?`,
        )
        .all(id)
        .map(({ body }) => JSON.parse(body))
        .filter(event => event.type === 'price.updated' && event.data.commodity === code)
        .map(({ data }) => [data.value, data.derived, data.source])
    expect([ours, theirs].map(({ account }) => sent(account.id))).toEqual([
      [[18, true, 'formula']],
      [[5, true, 'formula']],
    ])
  })

  test('go with their account', async () => {
    const { instance, ours } = openAccounts()
    await ours.ask('POST', '/v1/formulas', spread)
    instance.services.ownFormulas
      .list(ours.account.id)
      .forEach(instance.services.ownFormulas.remove)
    const stored = instance.services.db
      .query<{ terms: string }, []>('SELECT terms FROM series_terms')
      .all()
    expect(JSON.stringify(stored)).not.toContain('BRENT_CRUDE_USD')
  })
})

describe('a formula over a code of every five minutes', () => {
  const days = 700
  const nested = (times: number) => `${'round('.repeat(times)}WTI_USD${', 2)'.repeat(times)}`
  const open = () => {
    const made = openAccounts()
    const values = Array.from({ length: days * 288 }, (_, i) => 60 + ((i * 7919) % 1000) / 100)
    made.instance.record('WTI_USD', values, startAt, 300_000)
    return made
  }

  test('is refused where its values would take too many operations', async () => {
    const { ours } = open()
    const body = { ...spread, formula: `${nested(90)}+${nested(90)}` }
    const { status, data } = await ours.ask('POST', '/v1/formulas', body)
    expect(status).toBe(422)
    expect(data.errors[0]).toMatchObject({
      field: 'formula',
      reason: 'too_long',
      column: 1,
      message:
        'formula must take at most 138 operations a value, because a code has many values a day; it takes 183 with the formulas that it names. Use fewer codes and functions (column 1).',
    })
    const half = await ours.ask('POST', '/v1/formulas', { ...spread, formula: nested(90) })
    expect(half.status).toBe(201)
    const second = { ...spread, code: 'MY_SECOND', formula: `${code} + ${nested(60)}` }
    const added = await ours.ask('POST', '/v1/formulas', second)
    expect({ status: added.status, reason: added.data.errors[0].reason }).toEqual({
      status: 422,
      reason: 'too_long',
    })
  })

  test('has its closes under 27 levels of formulas for an alert on volatility', async () => {
    const { instance, ours } = open()
    const nest = Array.from({ length: 27 }, (_, level) => `MY_LEVEL_${level}`)
    for (const [level, name] of nest.entries()) {
      const formula = `${nest[level - 1] ?? 'WTI_USD'} + 1`
      const made = await ours.ask('POST', '/v1/formulas', { ...spread, code: name, formula })
      expect(made.status).toBe(201)
    }
    const made = await ours.ask('POST', '/v1/alerts', {
      price_alert: {
        name: 'Volatility',
        commodity_code: nest.at(-1),
        analytics_type: 'volatility_spike',
        analytics_period_days: 30,
        analytics_config: { multiplier: 1.2 },
      },
    })
    expect(made.status).toBe(201)
    const series = instance.services.catalogue.named(nest.at(-1)!, ours.account.id)!
    const leg = instance.services.catalogue.named('WTI_USD')!
    const closesOf = ({ id }: typeof leg) =>
      instance.services.closes.of(id, { days: 395, before: startAt - (startAt % dayMs) })
    expect(closesOf(series).map(({ day, value }) => [day, Math.round(100 * value)])).toEqual(
      closesOf(leg)
        .slice(-closesOf(series).length)
        .map(({ day, value }) => [day, Math.round(100 * (value + nest.length))]),
    )
  }, 60_000)

  test('holds up no request of others, whatever is read of its newest values', async () => {
    const { instance, ours } = open()
    const never = `table(${nested(90)}, [1000, 2000, 1])`
    const made = [
      { ...spread, formula: nested(98) },
      { ...spread, code: 'MY_MEAN', formula: 'avg(WTI_USD, 600 days) - WTI_USD' },
      { ...spread, code: 'MY_NEVER', formula: never },
    ]
    const asOf = new Date(startAt + 1000).toISOString()
    const reads = made.flatMap(({ code: name }) => [
      `/v1/prices/latest?by_code=${name}`,
      `/v1/prices/latest?by_code=${name}&as_of=${asOf}`,
      `/udf/quotes?symbols=${name}`,
    ])
    // The least of both rounds: the first also compiles the code, while other tests run.
    const spent = new Map<string, number>()
    const timed = async (name: string, work: () => unknown) => {
      const began = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(began)
      spent.set(name, Math.min(spent.get(name) ?? Number.POSITIVE_INFINITY, (user + system) / 1000))
    }
    const series = instance.services.catalogue.named('WTI_USD')!
    for (const body of made)
      await timed(body.code, async () =>
        expect((await ours.ask('POST', '/v1/formulas', body)).status).toBe(201),
      )
    for (let round = 0; round < 2; round += 1) {
      for (const path of reads) await timed(path, () => ours.ask('GET', path))
      const observedAt = startAt + (round + 1) * 300_000
      instance.clock.set(observedAt)
      const point = { seriesId: series.id, observedAt, value: 66 + round }
      await timed('push', () => instance.services.ingest.write([point]))
    }
    // Half a second to several seconds where whole histories are read.
    expect([...spent].filter(([, ms]) => ms > 400)).toEqual([])
    expect((await ours.ask('GET', reads[0]!)).data.price).toBe(67)
  })
})
