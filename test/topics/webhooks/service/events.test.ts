import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { transact } from '../../../../src/database/database.ts'
import { type EventType, eventTypes } from '../../../../src/plans/messages/event-types.ts'
import { eventIdOf } from '../../../../src/topics/webhooks/service/event-ids.ts'
import {
  lanedTarget,
  type ServiceEvent,
  targetLane,
} from '../../../../src/topics/webhooks/service/event-messages.ts'
import {
  logLimitReached,
  type SkipReason,
  skipsLoggedPerDay,
} from '../../../../src/topics/webhooks/service/skips.ts'
import type { Endpoint } from '../../../../src/topics/webhooks/store/webhooks.ts'
import { runs } from '../../../support/full.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { openWebhookInstance, type WebhookInstance } from '../../../support/topics/webhooks.ts'

const event = (more: Partial<ServiceEvent> = {}): ServiceEvent => ({
  type: 'price.updated',
  data: { commodity: 'WTI_USD', value: 71 },
  at: startAt,
  dedupe: 'one',
  commodity: 'WTI_USD',
  ...more,
})

const states = (instance: WebhookInstance, endpoint: Pick<Endpoint, 'id'>) =>
  instance.entries(endpoint).map(entry => entry.error ?? entry.state)

const skippedBy = (instance: WebhookInstance, reason: SkipReason) =>
  instance.services.webhookSkips.counts().get(reason)

/** What the log of the process says of skipped events. */
const reports = (instance: WebhookInstance) =>
  instance.log
    .map(line => JSON.parse(line))
    .filter(entry => entry.msg === 'webhook_event_skipped')
    .map(({ endpoint, type, reason }) => ({ ...(endpoint && { endpoint }), type, reason }))

describe('the body of an event', () => {
  test('an event body contains both spellings of its type, is compact and follows the field order of the API', () => {
    const instance = openWebhookInstance()
    const endpoint = instance.endpoint(instance.account())
    expect(instance.services.events.emit(event())).toBe(1)
    const [entry] = instance.entries(endpoint)
    const id = eventIdOf('price.updated\n\none')
    expect(entry!.eventId).toBe(id)
    expect(entry!.body).toBe(
      `{"id":"${id}","type":"price.updated","event":"price.updated","created_at":"2026-11-20T15:00:00Z","data":{"commodity":"WTI_USD","value":71}}`,
    )
  })
  test('an id is evt_ and 26 lower-case characters, the same for the same text and another for another', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(eventIdOf(a)).toMatch(/^evt_[0-9a-z]{26}$/)
        expect(eventIdOf(a) === eventIdOf(b)).toBe(a === b)
      }),
    )
  })
})

describe('the ids of a burst', () => {
  const rank = fc.record({
    at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    number: fc.integer({ min: 1, max: 1_000_000_000 }),
  })
  test('sort by moment and number, whatever their texts are', () => {
    fc.assert(
      fc.property(rank, rank, fc.string(), fc.string(), (a, b, first, second) => {
        const [x, y] = [eventIdOf(first, a), eventIdOf(second, b)]
        expect(x).toMatch(/^evt_[0-9a-z]{26}$/)
        if (a.at !== b.at || a.number !== b.number)
          expect(x < y).toBe(a.at < b.at || (a.at === b.at && a.number < b.number))
        else expect(x === y).toBe(first === second)
      }),
    )
  })
  test('are the same whenever they are made', () => {
    const at = startAt
    const eventIds = () =>
      [1, 2].flatMap(number => ['one', 'two'].map(text => eventIdOf(text, { at, number })))
    expect(eventIds()).toEqual(eventIds())
    expect(new Set(eventIds()).size).toBe(4)
  })
})

describe('an event that happens twice', () => {
  test('an event that is emitted repeatedly is created once for each endpoint', () => {
    const instance = openWebhookInstance()
    const account = instance.account()
    const first = instance.endpoint(account)
    instance.services.events.emit(event())
    const second = instance.endpoint(account)
    expect(instance.services.events.emit(event({ at: startAt + 1 }))).toBe(1)
    expect(instance.services.events.emit(event())).toBe(0)
    expect([first, second].map(endpoint => instance.entries(endpoint).length)).toEqual([1, 1])
  })
  test('is another one for another type, account or text', () => {
    const instance = openWebhookInstance()
    const [first, second] = [instance.account(), instance.account()]
    const endpoint = instance.endpoint(first)
    instance.endpoint(second)
    const emit = (more: Partial<ServiceEvent>) =>
      instance.services.events.emit(event({ accountId: first.account.id, ...more }))
    emit({})
    emit({ type: 'price.threshold' })
    emit({ dedupe: 'two' })
    emit({ accountId: second.account.id })
    instance.services.events.emit(event())
    expect(new Set(instance.entries(endpoint).map(entry => entry.eventId)).size).toBe(4)
  })
  test('counts once against the month', () => {
    const instance = openWebhookInstance()
    const account = instance.account()
    instance.endpoint(account)
    for (let i = 0; i < 3; i += 1) instance.services.events.emit(event())
    expect(instance.services.webhookAllowance.used(account.account.id)).toBe(1)
  })
})

describe('who receives an event', () => {
  test('an event that belongs to one account is not sent to other accounts', () => {
    const instance = openWebhookInstance()
    const [first, second] = [instance.account(), instance.account()].map(account => ({
      one: account,
      endpoint: instance.endpoint(account),
    }))
    instance.services.events.emit(event({ type: 'invoice.paid', accountId: first!.one.account.id }))
    expect([first, second].map(owner => instance.entries(owner!.endpoint).length)).toEqual([1, 0])
  })
  test('an account whose plan no longer includes webhooks receives no events, and its log states the reason', () => {
    const instance = openWebhookInstance()
    const account = instance.account('professional')
    const endpoint = instance.endpoint(account)
    instance.services.keys.putAccount({ ...account.account, plan: 'starter' })
    expect(instance.services.events.emit(event())).toBe(0)
    expect(states(instance, endpoint)).toEqual(['feature_not_in_plan'])
    instance.services.keys.putAccount({ ...account.account, plan: 'professional' })
    expect(instance.services.events.emit(event({ dedupe: 'two' }))).toBe(1)
  })
  test('a suspended account receives no webhook events', () => {
    const instance = openWebhookInstance()
    const account = instance.account()
    instance.endpoint(account)
    instance.services.keys.putAccount({ ...account.account, suspendedAt: startAt })
    expect(instance.services.events.emit(event())).toBe(0)
  })
  test('of well permits only who has them, even where everything was subscribed to', () => {
    const instance = openWebhookInstance()
    const [without, withAddOn, scale] = [
      instance.account('professional'),
      instance.account('professional', ['well_permits']),
      instance.account('scale'),
    ]
    const endpoints = [without, withAddOn, scale].map(account => instance.endpoint(account))
    expect(
      instance.services.events.emit(event({ type: 'drilling.well_permit.new', state: 'TX' })),
    ).toBe(2)
    expect(endpoints.map(endpoint => states(instance, endpoint))).toEqual([
      ['feature_not_in_plan'],
      ['pending'],
      ['pending'],
    ])
  })
  test('a disabled endpoint receives no events until it is active again', () => {
    const instance = openWebhookInstance()
    const endpoint = instance.endpoint(instance.account(), { active: false })
    expect(instance.services.events.emit(event())).toBe(0)
    instance.services.webhooks.change(endpoint, { active: true })
    expect(instance.services.events.emit(event())).toBe(1)
  })
  test('who subscribed by another type is not found in its place', () => {
    const instance = openWebhookInstance()
    const endpoint = instance.endpoint(instance.account(), { events: ['invoice.paid'] })
    instance.services.webhooks.change(endpoint, { events: ['price.*'] })
    expect(
      instance.services.events.emit(event({ type: 'invoice.paid', accountId: endpoint.accountId })),
    ).toBe(0)
    expect(instance.services.events.emit(event())).toBe(1)
    instance.services.webhooks.remove(instance.services.webhooks.byId(endpoint.id)!)
    expect(instance.services.events.emit(event({ dedupe: 'two' }))).toBe(0)
  })
  test('emitting an event type that the API does not define throws an error', () => {
    expect(() =>
      openWebhookInstance().services.events.emit(event({ type: 'alert.triggered' })),
    ).toThrow('event.type: "alert.triggered"')
  })
})

/** Who gets an event and who turns it away, by reading each endpoint on its own. */
function naive(
  endpoint: Endpoint,
  { type, commodity, state, accountId }: ServiceEvent,
): 'sent' | 'skipped' | 'nothing' {
  const names: Record<string, string> = { 'alert.triggered': 'price_alert.triggered' }
  const hears = endpoint.events.some(
    name =>
      (names[name] ?? name) === type ||
      (type !== 'price.corrected' &&
        (name === '*' || (name.endsWith('.*') && type.startsWith(name.replace('*', ''))))),
  )
  if (!hears || !endpoint.active || (accountId !== undefined && accountId !== endpoint.accountId))
    return 'nothing'
  const family = type.split('.')[0]!
  if (
    commodity !== undefined &&
    ['price', 'price_alert', 'analytics_alert', 'drilling'].includes(family)
  ) {
    if (endpoint.commodityFilters.length > 0 && !endpoint.commodityFilters.includes(commodity))
      return 'skipped'
    if (
      family === 'price' &&
      endpoint.conditions.length > 0 &&
      !endpoint.conditions.some(condition => condition.commodity === commodity)
    )
      return 'skipped'
  }
  if (
    state !== undefined &&
    type.includes('well_permit') &&
    endpoint.stateFilters.length > 0 &&
    !endpoint.stateFilters.includes(state)
  )
    return 'skipped'
  return 'sent'
}

test('the endpoints that an event reaches, and those whose filters turn it away, are those that reading each one finds', () => {
  const code = fc.constantFrom('WTI_USD', 'BRENT_CRUDE_USD', 'GOLD_USD')
  const endpoints = fc.array(
    fc.record({
      events: fc.uniqueArray(
        fc.constantFrom<string>(
          '*',
          'price.*',
          'drilling.*',
          'alert.triggered',
          'made.up',
          ...eventTypes,
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      commodityFilters: fc.uniqueArray(code, { maxLength: 2 }),
      stateFilters: fc.uniqueArray(fc.constantFrom('TX', 'NM'), { maxLength: 2 }),
      conditions: fc.array(
        code.map(commodity => ({ commodity, operator: 'greater_than' as const, value: 1 })),
        { maxLength: 1 },
      ),
      active: fc.boolean(),
      account: fc.nat(1),
    }),
    { maxLength: 6 },
  )
  const happened = fc.array(
    fc.record({
      type: fc.constantFrom<EventType>(...eventTypes),
      commodity: fc.option(code, { nil: undefined }),
      state: fc.option(fc.constantFrom('TX', 'NM', 'OK'), { nil: undefined }),
      account: fc.option(fc.nat(1), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  const instance = openWebhookInstance()
  const accounts = [instance.account(), instance.account()]
  fc.assert(
    fc.property(endpoints, happened, (specs, list) => {
      const endpoints = specs.map(({ account, ...settings }) =>
        instance.endpoint(accounts[account]!, settings),
      )
      for (const [i, { account, commodity, state, type }] of list.entries()) {
        const eventRow = event({
          type,
          dedupe: `${i}`,
          ...(account !== undefined && { accountId: accounts[account]!.account.id }),
        })
        delete eventRow.commodity
        Object.assign(eventRow, commodity && { commodity }, state && { state })
        const expected = endpoints.map(endpoint => naive(endpoint, eventRow))
        const before = endpoints.map(endpoint => instance.entries(endpoint).length)
        expect(instance.services.events.emit(eventRow)).toBe(
          expected.filter(outcome => outcome === 'sent').length,
        )
        const logged = endpoints.map((endpoint, at) => instance.entries(endpoint).slice(before[at]))
        expect(
          logged.map(entries =>
            entries[0] ? (entries[0].state === 'skipped' ? 'skipped' : 'sent') : 'nothing',
          ),
        ).toEqual(expected)
      }
      for (const endpoint of endpoints) instance.services.webhooks.remove(endpoint)
    }),
    { numRuns: runs(60) },
  )
})

describe('what a filter turns away', () => {
  test('a filtered event is logged with its reason and does not count against the monthly quota', () => {
    const instance = openWebhookInstance()
    const account = instance.account()
    const brent = instance.endpoint(account, { commodityFilters: ['BRENT_CRUDE_USD'] })
    const texas = instance.endpoint(account, { stateFilters: ['TX'] })
    const conditioned = instance.endpoint(account, {
      conditions: [{ commodity: 'GOLD_USD', operator: 'less_than', value: 1 }],
    })
    instance.services.events.emit(event())
    instance.services.events.emit(
      event({ type: 'drilling.well_permit.new', state: 'NM', commodity: 'BRENT_CRUDE_USD' }),
    )
    expect([brent, texas, conditioned].map(endpoint => states(instance, endpoint))).toEqual([
      ['commodity_filter', 'pending'],
      ['pending', 'state_filter'],
      ['conditions', 'pending'],
    ])
    expect(instance.services.webhookAllowance.used(account.account.id)).toBe(3)
  })
  test('is not a contract whose futures family it lets through', () => {
    const instance = openWebhookInstance()
    const { family, front } = instance.futures()
    const endpoint = instance.endpoint(instance.account(), { commodityFilters: [family] })
    expect(instance.services.events.emit(event({ commodity: front.code }))).toBe(1)
    expect(states(instance, endpoint)).toEqual(['pending'])
  })
  test('filtered events are logged up to one hundred a day, and one entry reports that the log is full', () => {
    const instance = openWebhookInstance()
    const endpoint = instance.endpoint(instance.account(), {
      commodityFilters: ['BRENT_CRUDE_USD'],
    })
    for (let i = 0; i < skipsLoggedPerDay + 20; i += 1)
      instance.services.events.emit(event({ dedupe: `${i}` }))
    const logged = states(instance, endpoint)
    expect(logged.length).toBe(skipsLoggedPerDay + 1)
    expect(logged.filter(reason => reason === 'commodity_filter').length).toBe(skipsLoggedPerDay)
    expect(logged.at(-1)).toBe(logLimitReached)
    expect(skippedBy(instance, 'commodity_filter')).toBe(skipsLoggedPerDay + 20)
    expect(instance.log.filter(line => line.includes(logLimitReached)).length).toBe(1)
    instance.clock.advance(86_400_000)
    instance.services.events.emit(event({ dedupe: 'tomorrow' }))
    expect(states(instance, endpoint).at(-1)).toBe('commodity_filter')
  })
})

describe('an event without a receiver does not end silently', () => {
  const restrict = ({ services }: WebhookInstance, code: string, accountId: string) => {
    services.series.putTerms([{ code, own: false, terms: { visibleTo: [accountId] } }], startAt)
    services.catalogue.reload()
  }

  test('an endpoint that names a series which its account does not see gets one entry a day, without data', () => {
    const instance = openWebhookInstance()
    const [owner, other] = [instance.account(), instance.account()]
    const naming = instance.endpoint(other, { commodityFilters: ['WTI_USD'] })
    const everything = instance.endpoint(other)
    restrict(instance, 'WTI_USD', owner.account.id)
    for (const dedupe of ['one', 'two']) instance.services.events.emit(event({ dedupe }))
    expect(states(instance, naming)).toEqual(['series_not_visible'])
    expect(JSON.parse(instance.entries(naming)[0]!.body).data).toEqual({})
    // That there is such a series is hidden from an endpoint that does not name it.
    expect(instance.entries(everything)).toEqual([])
    expect(skippedBy(instance, 'series_not_visible')).toBe(4)
    expect(reports(instance)).toEqual([
      { endpoint: naming.id, type: 'price.updated', reason: 'series_not_visible' },
      { endpoint: everything.id, type: 'price.updated', reason: 'series_not_visible' },
    ])
  })

  test('an endpoint whose plan has no webhooks gets entries without the data of the events', () => {
    const instance = openWebhookInstance()
    const account = instance.account('professional')
    const endpoint = instance.endpoint(account)
    instance.services.keys.putAccount({ ...account.account, plan: 'starter' })
    for (const dedupe of ['one', 'two']) instance.services.events.emit(event({ dedupe }))
    expect(states(instance, endpoint)).toEqual(['feature_not_in_plan', 'feature_not_in_plan'])
    expect(JSON.parse(instance.entries(endpoint)[0]!.body).data).toEqual({})
    expect(skippedBy(instance, 'feature_not_in_plan')).toBe(2)
    expect(reports(instance)).toEqual([
      { endpoint: endpoint.id, type: 'price.updated', reason: 'feature_not_in_plan' },
    ])
  })

  test('an alert whose own URL gets no event, because the month is used up, is logged under the URL', () => {
    const instance = openWebhookInstance()
    const { id: accountId } = instance.account('professional').account
    instance.services.webhookAllowance.count(accountId, 250_000)
    const url = 'https://hooks.example.com/alerts?token=secret'
    instance.services.events.emitTo(url, { ...event({ type: 'price_alert.triggered' }), accountId })
    const { entries } = instance.services.outbox.log.page(
      'webhook',
      targetLane(accountId, url),
      {},
      10,
      0,
    )
    expect(entries.map(entry => entry.error)).toEqual(['monthly_event_limit_reached'])
    expect(entries[0]!.state).toBe('skipped')
    expect(skippedBy(instance, 'monthly_event_limit_reached')).toBe(1)
    expect(reports(instance)).toEqual([
      { type: 'price_alert.triggered', reason: 'monthly_event_limit_reached' },
    ])
    expect(instance.log.join()).not.toContain('token=secret')
  })

  test('the metric counts skipped events by reason', async () => {
    const instance = openWebhookInstance()
    instance.endpoint(instance.account(), { commodityFilters: ['BRENT_CRUDE_USD'] })
    instance.services.events.emit(event())
    const token = instance.services.adminTokens.rotate()
    const response = await instance.get('/metrics', undefined, { authorization: `Bearer ${token}` })
    const lines = (await response.text()).split('\n')
    const name = 'wellhead_webhook_events_skipped_total'
    expect(lines).toContain(`${name}{reason="commodity_filter"} 1`)
    expect(lines).toContain(`${name}{reason="series_not_visible"} 0`)
  })
})

describe("the plan's events of a month", () => {
  const full = () => {
    const instance = openWebhookInstance()
    const account = instance.account('professional')
    const { id } = account.account
    instance.services.webhookAllowance.count(id, 249_999)
    return { instance, account, id }
  }
  test('past the last of them events are skipped with the reason', () => {
    const { instance, account } = full()
    const [first, second] = [instance.endpoint(account), instance.endpoint(account)]
    expect(instance.services.events.emit(event())).toBe(1)
    expect(instance.services.events.emit(event({ dedupe: 'two' }))).toBe(0)
    expect(states(instance, first)).toEqual(['pending', 'monthly_event_limit_reached'])
    expect(states(instance, second)).toEqual([
      'monthly_event_limit_reached',
      'monthly_event_limit_reached',
    ])
  })
  test('another month begins with all of them', () => {
    const { instance, account } = full()
    const endpoint = instance.endpoint(account)
    instance.services.events.emit(event())
    instance.clock.set(Date.parse('2026-12-01T00:00:00Z'))
    instance.services.events.emit(event({ dedupe: 'two' }))
    expect(states(instance, endpoint)).toEqual(['pending', 'pending'])
  })
  test('are remembered over a restart once they are written', () => {
    const { instance, id } = full()
    instance.services.webhookAllowance.flush()
    const count = instance.services.db
      .query('SELECT events FROM webhook_months WHERE account_id = ?')
      .get(id)
    expect(count).toEqual({ events: 249_999 })
  })
  test('are written for all accounts in one transaction, and again where it failed', () => {
    const instance = openWebhookInstance()
    const { db, webhookAllowance } = instance.services
    const ids = [1, 2, 3].map(() => instance.account().account.id)
    for (const id of ids) webhookAllowance.count(id, 7)
    db.run(`CREATE TRIGGER full BEFORE INSERT ON webhook_months WHEN NEW.account_id = '${ids[1]}'
      BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
    const written = () => db.query('SELECT events FROM webhook_months').values()
    expect(webhookAllowance.flush).toThrow('the disk is full')
    expect(written()).toEqual([])
    db.run('DROP TRIGGER full')
    webhookAllowance.flush()
    expect(written()).toEqual([[7], [7], [7]])
  })
  test('without a limit none is skipped', () => {
    const instance = openWebhookInstance({ plans: 'unlimited' })
    const account = instance.account()
    instance.endpoint(account)
    instance.services.webhookAllowance.count(account.account.id, 10_000_000)
    expect(instance.services.events.emit(event())).toBe(1)
  })
})

describe('an event to a target URL', () => {
  const url = 'https://hooks.example.com/alerts?token=a b'
  const target = (instance: WebhookInstance, accountId: string) =>
    instance.services.outbox.log.page('webhook', targetLane(accountId, url), {}, 10, 0).entries

  test('goes to the target, once, and counts', () => {
    const instance = openWebhookInstance()
    const account = instance.account()
    const { id: accountId } = account.account
    for (let i = 0; i < 2; i += 1)
      instance.services.events.emitTo(url, {
        ...event({ type: 'price_alert.triggered' }),
        accountId,
      })
    expect(target(instance, accountId).length).toBe(1)
    expect(lanedTarget(targetLane(accountId, url))).toEqual({ accountId, url })
    expect(instance.services.webhookAllowance.used(accountId)).toBe(1)
  })
  test('that is an active endpoint of the account goes there, and only once when it subscribed too', () => {
    const instance = openWebhookInstance()
    const account = instance.account()
    const { id: accountId } = account.account
    const endpoint = instance.endpoint(account, { url })
    const alert = { ...event({ type: 'price_alert.triggered' }), accountId }
    instance.services.events.emit(alert)
    instance.services.events.emitTo(url, alert)
    expect(instance.entries(endpoint).length).toBe(1)
    expect(target(instance, accountId)).toEqual([])
  })
  test('is not sent where the plan has no webhooks', () => {
    const instance = openWebhookInstance()
    const { id: accountId } = instance.account('starter').account
    instance.services.events.emitTo(url, {
      ...event({ type: 'analytics_alert.triggered' }),
      accountId,
    })
    expect(target(instance, accountId).map(entry => entry.error)).toEqual(['feature_not_in_plan'])
  })
})

test('many events at once are what each of them alone would be, to the last of the month', () => {
  const urls = ['https://hooks.example.com/a', 'https://hooks.example.com/b']
  const endpoints = fc.array(
    fc.record({
      url: fc.constantFrom(...urls),
      commodityFilters: fc.constantFrom([], ['WTI_USD']),
      active: fc.boolean(),
    }),
    { maxLength: 3 },
  )
  const eventLists = fc.array(
    fc.record({
      type: fc.constantFrom(
        'price_alert.triggered',
        'analytics_alert.triggered',
        'drilling.well_permit.new',
      ),
      account: fc.nat(2),
      number: fc.nat(3),
      url: fc.constantFrom(null, ...urls),
      commodity: fc.constantFrom('WTI_USD', 'GOLD_USD'),
    }),
    { maxLength: 14 },
  )
  fc.assert(
    fc.property(endpoints, eventLists, fc.nat(30), (specs, list, room) => {
      const ways = [false, true].map(isTogether => {
        const instance = openWebhookInstance()
        const { services } = instance
        const accounts = [
          instance.account('professional'),
          instance.account('enterprise'),
          instance.account('starter'),
        ]
        const limit = services.keys.entitlements(accounts[0]!).webhookEventsPerMonth ?? 0
        services.webhookAllowance.count(accounts[0]!.account.id, Math.max(0, limit - room))
        const created = specs.map((settings, i) => instance.endpoint(accounts[i % 2]!, settings))
        const events = list.map(({ type, account, number, url, commodity }) => ({
          ...event({ type, commodity, rank: { at: startAt, number } }),
          accountId: accounts[account]!.account.id,
          url,
        }))
        const each = (ownEvent: (typeof events)[number]) => {
          const count = services.events.emit(ownEvent)
          if (ownEvent.url !== null) services.events.emitTo(ownEvent.url, ownEvent)
          return count
        }
        const counts = transact(services.db, () =>
          isTogether ? services.events.emitEach(events) : events.map(each),
        )
        const rows = services.db.query(
          `SELECT lane, account_id, event_id, event_type, state, last_error, body FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id
           JOIN outbox_bodies ON outbox_bodies.id = body_id ORDER BY event_id, lane`,
        )
        const used = accounts.map(({ account }) => services.webhookAllowance.used(account.id))
        const knownIds = [
          ...created.map(endpoint => endpoint.id),
          ...accounts.map(account => account.account.id),
        ]
        const named = (text: unknown) =>
          knownIds.reduce((rest, id, i) => rest.replaceAll(id, `<${i}>`), String(text))
        return { counts, used, rows: rows.values().map(row => row.map(named)) }
      })
      expect(ways[1]).toEqual(ways[0]!)
    }),
    { numRuns: 15 },
  )
})

test('an event is rolled back with the transaction that emitted it', () => {
  const instance = openWebhookInstance()
  const endpoint = instance.endpoint(instance.account())
  expect(() =>
    transact(instance.services.db, () => {
      instance.services.events.emit(event())
      throw new Error('undone')
    }),
  ).toThrow('undone')
  expect(instance.entries(endpoint)).toEqual([])
  expect(instance.services.events.emit(event())).toBe(1)
})
