import type { Database } from 'bun:sqlite'
import { transact } from '../database/database.ts'
import type { Scenario, ScenarioFault } from '../http/dev-controls.ts'
import type { Ids } from '../lib/ids.ts'
import type { Clock } from '../lib/time/clock.ts'
import { dayMs, hourMs, isoInstant, minuteMs, parseDay } from '../lib/time/instant.ts'
import { momentAt, nextClockChange, wallTime } from '../lib/time/zone.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Plans } from '../plans/plans.ts'
import type { Billing } from '../topics/billing/service/billing.ts'
import { weekdayOfDay } from '../topics/calendars/math/holidays.ts'
import { generatedSource, isIntraday } from '../topics/catalogue/math/catalogue.ts'
import { calendarDays, dateAfter, dayAt, type MarketDay } from '../topics/delivery/math/days.ts'
import { isOpen, tradingDate } from '../topics/futures/math/contracts.ts'
import { type FamilyCode, familyOf } from '../topics/futures/math/families.ts'
import type { Futures } from '../topics/futures/service/futures.ts'
import { confirmedAccount, type Keyring } from '../topics/keys/service/keyring.ts'
import type { Meter } from '../topics/keys/service/meter.ts'
import { type EventLog, type Spell, shockedValue } from '../topics/prices/demo/events.ts'
import type { StoredSeries } from '../topics/prices/demo/prices.ts'
import type { World } from '../topics/prices/demo/world.ts'
import { roundTo } from '../topics/prices/math/format.ts'
import type { Ingest } from '../topics/prices/service/writes/ingest.ts'
import { eventBody } from '../topics/webhooks/service/event-messages.ts'
import type { Webhooks } from '../topics/webhooks/service/webhooks.ts'
import { defaultSettings } from '../topics/webhooks/store/webhooks.ts'
import type { DemoFeed } from './feed.ts'

export interface ScenarioDeps {
  db: Database
  world: World
  series: readonly StoredSeries[]
  events: EventLog
  feed: DemoFeed
  ingest: Pick<Ingest, 'write'>
  futures: Pick<Futures, 'quotes' | 'recordDays' | 'recordTicks'>
  observations: {
    newest(seriesId: number, before: number): { observedAt: number; value: number } | undefined
  }
  clock: Clock
  ids: Ids
  keys: Keyring
  meter: Meter
  plans: Plans
  billing: Pick<Billing, 'subscriptions' | 'payments' | 'statusOf'>
  webhooks: Pick<Webhooks, 'create'>
  outbox: Pick<Outbox, 'put' | 'log'>
  /** The account whose endpoints fail. */
  evaluationAccountId: string
  /** Moves the clock forward and runs what falls due on the way. */
  advance(to: number): Promise<void>
  /** Sends what is due. */
  settle(): Promise<unknown>
}

const stocksCode = 'US_CRUDE_STORAGE'
const lowestWti = -37.63
const wtiHalfLifeMs = 12 * hourMs
const crashHalfLifeMs = 60 * dayMs
const outageMs = 6 * hourMs
const lateByMs = dayMs
const searchMs = 40 * dayMs
const revisedBy = 0.012
const defaultZone = 'America/New_York'
/** Codes of one release come out within ten minutes of each other. */
const releaseSpreadMs = 11 * minuteMs

/** The factors that a crash multiplies prices of a category by. */
const crashFactors: Readonly<Record<string, number>> = {
  crude_oil: 0.7,
  physical_crude: 0.7,
  futures: 0.72,
  refined_products: 0.76,
  marine_fuels: 0.78,
  ngl: 0.8,
}
/** Not everything that is traded as a future is oil. */
const oilFutures: readonly FamilyCode[] = ['BRENT_FUTURES', 'WTI_FUTURES', 'GASOIL_FUTURES']

/** Situations that clients must cope with, by name. Each is there to be seen when it was played. */
export const createScenarios = (deps: ScenarioDeps): readonly Scenario[] => [
  negativeWti(deps),
  crash(deps),
  outage(deps),
  lateRelease(deps),
  revision(deps),
  quotaEdge(deps),
  paymentFailing(deps),
  receiverFailing(deps),
  clockChange(deps),
  ...powerScenarios(deps),
]

interface Move {
  code: string
  before: number
  after: number
}

/** Records the shock and gives codes that are quoted all day their price of this moment. */
function strike(
  { series, observations, events, ingest, clock }: ScenarioDeps,
  codes: readonly string[],
  halfLifeMs: number,
  to: { factor: number } | { price: number },
): Move[] {
  const at = clock.now()
  const shock = { codes, at, halfLifeMs, to }
  const moves = series
    .filter(({ code, cadence }) => codes.includes(code) && isIntraday(cadence))
    .flatMap(({ id, code, decimals }) => {
      const before = observations.newest(id, at)?.value
      if (before === undefined) return []
      return { id, code, before, after: roundTo(shockedValue(before, at, [shock]), decimals) }
    })
  events.add({ shocks: [shock] })
  ingest.write(moves.map(({ id, after }) => ({ seriesId: id, observedAt: at, value: after })))
  return moves.map(({ code, before, after }) => ({ code, before, after }))
}

/** A day of a contract whose other values stay as they are recorded. */
const otherValues = {
  open: null,
  high: null,
  low: null,
  close: null,
  volume: null,
  openInterest: null,
}

/**
 * Trades every contract of the open exchanges at its last price times `factor`, one lot each. Curves
 * show the settlement of the day once it is published, so that is corrected too.
 */
function strikeContracts({ series, futures, clock }: ScenarioDeps, factor: number): void {
  const at = clock.now()
  for (const family of oilFutures.filter(code => isOpen(familyOf(code), at))) {
    const { decimals } = series.find(({ code }) => code === family)!
    const today = tradingDate(familyOf(family), at)
    const lower = (price: number) => roundTo(price * factor, decimals)
    const quotes = futures.quotes(family).map(({ day: { month, close, ...day } }) => ({
      contract: { family, month, source: generatedSource },
      price: lower(close),
      settlement: day.tradedOn === today && day.settlement !== null ? lower(day.settlement) : null,
    }))
    futures.recordTicks(
      quotes.map(({ contract, price }) => ({ ...contract, tradedAt: at, price, volume: 1 })),
      at,
    )
    futures.recordDays(
      quotes
        .filter(({ settlement }) => settlement !== null)
        .map(({ contract, settlement }) => ({
          ...contract,
          ...otherValues,
          tradedOn: today,
          settlement,
        })),
      at,
    )
  }
}

const negativeWti = (deps: ScenarioDeps): Scenario => ({
  name: 'negative-wti',
  description: `WTI_USD drops to ${lowestWti} now. Futures are not affected.`,
  options: [],
  async play() {
    const moves = strike(deps, ['WTI_USD'], wtiHalfLifeMs, { price: lowestWti })
    await deps.advance(deps.clock.now())
    return {
      done: `WTI_USD is now ${lowestWti} USD.`,
      after:
        'As the clock advances, the price recovers: the gap halves every twelve trading hours.',
      details: { moves },
    }
  },
})

const crash = (deps: ScenarioDeps): Scenario => ({
  name: 'crash',
  description:
    'Crude oil drops 30%, futures 28%, refined products 24% and marine fuels 22%. Codes with intraday prices and contracts of open exchanges drop at once, the others at their next publication or session.',
  options: [],
  async play() {
    const moves = Object.entries(crashFactors).flatMap(([category, factor]) => {
      const codes = deps.series
        .filter(series => series.category === category)
        .map(series => series.code)
        .filter(code => category !== 'futures' || oilFutures.some(family => family === code))
      return strike(deps, codes, crashHalfLifeMs, { factor })
    })
    strikeContracts(deps, crashFactors.futures!)
    await deps.advance(deps.clock.now())
    return {
      done: `Crude oil is 30% lower; prices of ${moves.length} codes have dropped so far.`,
      after:
        'Daily and weekly codes drop with their next publication, contracts of closed exchanges when these open. Half of the loss is recovered in sixty days.',
      details: { moves },
    }
  },
})

const outage = ({ feed, clock, advance }: ScenarioDeps): Scenario => ({
  name: 'outage',
  description: 'Moves the clock six hours ahead, during which no source publishes anything.',
  options: [],
  async play() {
    const from = clock.now()
    feed.paused = true
    await advance(from + outageMs)
    return {
      done: 'No source has published for six hours.',
      after:
        'The outage lasts until POST /_dev/feed {"paused":false}. The missed prices then arrive at once.',
      details: { silent_since: isoInstant(from) },
    }
  },
})

const lateRelease = (deps: ScenarioDeps): Scenario => ({
  name: 'late-release',
  description:
    'Delays the next release of a code by a day, and moves the clock past the time at which it was due. Default: weekly US crude stocks.',
  options: ['code'],
  async play({ code = stocksCode }) {
    const { world, series, events, clock, advance } = deps
    const now = clock.now()
    const named = seriesNamed(deps, code)
    if ('fault' in named) return named
    if (isIntraday(named.cadence))
      return {
        field: 'code',
        fault: 'must be of a code that has releases; this one is quoted all day.',
      }
    const due = world.observations(code, now, now + searchMs)[0]
    if (!due) return { field: 'code', fault: 'has no release in the next forty days.' }
    const [from, to] = [due.recordedAt - releaseSpreadMs, due.recordedAt + releaseSpreadMs]
    const together = series
      .filter(({ category, cadence }) => category === named.category && cadence === named.cadence)
      .map(series => series.code)
      .filter(series => world.observations(series, from, to).length > 0)
    events.add({ delays: [{ codes: together, from, to, byMs: lateByMs }] })
    await advance(to)
    return {
      done: `The release due at ${isoInstant(due.recordedAt)} has not arrived.`,
      after: `It arrives at ${isoInstant(due.recordedAt + lateByMs)}.`,
      details: {
        codes: together,
        expected_at: isoInstant(due.recordedAt),
        arrives_at: isoInstant(due.recordedAt + lateByMs),
      },
    }
  },
})

const revision = (deps: ScenarioDeps): Scenario => ({
  name: 'revision',
  description:
    'Corrects the newest value of a code by 1.2%. A read with as_of still returns the earlier value. Default: weekly US crude stocks.',
  options: ['code'],
  async play({ code = stocksCode }) {
    const { ingest, clock, advance } = deps
    const named = seriesNamed(deps, code)
    if ('fault' in named) return named
    const { id, decimals } = named
    const newest = deps.observations.newest(id, clock.now() + 1)
    if (!newest) return { field: 'code', fault: 'has no data.' }
    const stoodAt = clock.now()
    // A correction is made after what it corrects was there to be read.
    await advance(stoodAt + minuteMs)
    const step = Math.max(Math.abs(newest.value) * revisedBy, 10 ** -decimals)
    const value = roundTo(newest.value + step, decimals)
    ingest.write([{ seriesId: id, observedAt: newest.observedAt, value }])
    await advance(clock.now())
    return {
      done: `${code} at ${isoInstant(newest.observedAt)} was corrected from ${newest.value} to ${value}.`,
      after: `A read with as_of=${isoInstant(stoodAt)} returns ${newest.value}.`,
      details: {
        code,
        observed_at: isoInstant(newest.observedAt),
        before: newest.value,
        after: value,
        as_of: isoInstant(stoodAt),
      },
    }
  },
})

const quotaEdge = (deps: ScenarioDeps): Scenario => ({
  name: 'quota-edge',
  description:
    'Creates an account on the free plan that has almost used up its daily quota. Default: one request left.',
  options: ['remaining'],
  async play({ remaining = 1 }) {
    const { keys, meter, clock, plans } = deps
    const at = clock.now()
    const limit = plans.tiers[0]?.requestQuota ?? 0
    if (!Number.isInteger(remaining) || remaining < 0 || remaining > limit)
      return { field: 'remaining', fault: `must be a whole number from 0 to ${limit}.` }
    const { account, email, token } = newAccount(deps, 'quota')
    const { id } = account.account
    const key = keys.find(token)!
    for (let used = 0; used < limit - remaining; used += 1) {
      meter.reserve(key, at)
      meter.record(key, '/v1/prices/latest', 200, true, 1, at)
    }
    const { window } = meter.quotaUsage(key, at)
    return {
      done: `The new account has ${remaining} of its ${limit} requests left.`,
      after: `Its quota resets at ${isoInstant(window.endsAt)}.`,
      details: {
        account: { id, email, plan: 'free', trial: false, add_ons: [] },
        api_key: token,
        limit,
        remaining,
        resets_at: isoInstant(window.endsAt),
      },
    }
  },
})

const failingPlan = 'professional'
const failingCard = 'pm_fail'

const paymentFailing = (deps: ScenarioDeps): Scenario => ({
  name: 'payment-failing',
  description:
    'Creates a customer whose card is declined at the first renewal: the subscription becomes past due, e-mails go out, and the grace period starts.',
  options: [],
  async play() {
    const { keys, billing, ids, clock, feed, advance, settle } = deps
    const { account, token, email } = newAccount(deps, 'payment')
    const sold = await billing.subscriptions.subscribe(account, failingPlan, 'monthly', ids.uuid())
    const begun = sold()
    if ('refused' in begun)
      throw new Error(`the scenario's subscription is refused: ${begun.refused}`)
    await billing.payments.use(account, failingCard)
    const endsAt = begun.subscription.endsAt
    await passQuietly(feed, advance, endsAt + minuteMs)
    await settle()
    const { status } = billing.statusOf(keys.account(account.account.id)!)
    return {
      done: `The card of ${email} was declined at ${isoInstant(endsAt)}, and the subscription is past due.`,
      after:
        'The payment is retried as the clock advances. When the grace period ends, the account moves to the free plan. To pay, send POST /billing/payment_methods/update with pm_0001.',
      details: {
        account: { id: account.account.id, email, plan: failingPlan, trial: false, add_ons: [] },
        api_key: token,
        declined_at: isoInstant(endsAt),
        subscription_status: status,
        now: isoInstant(clock.now()),
      },
    }
  },
})

/** Nothing listens at the discard port: the connection is refused at once. */
const deadReceiver = 'http://127.0.0.1:9/does-not-answer'

const receiverFailing = (deps: ScenarioDeps): Scenario => ({
  name: 'receiver-failing',
  description:
    'Adds a webhook endpoint whose receiver is down. Its first delivery fails and is scheduled for a retry.',
  options: [],
  async play() {
    const { db, keys, webhooks, outbox, ids, clock, evaluationAccountId, advance, settle } = deps
    const account = keys.account(evaluationAccountId)
    if (!account) throw new Error('a demo instance has its account')
    const creation = webhooks.create(account, {
      ...defaultSettings,
      url: deadReceiver,
      events: ['price.updated'],
      commodityFilters: ['BRENT_CRUDE_USD'],
      description: 'receiver-failing',
      debugMode: true,
    })
    if ('refused' in creation) throw new Error('the evaluation account may have endpoints')
    const { id } = creation.endpoint
    const at = clock.now()
    const eventId = ids.event(at)
    const type = 'webhook.test'
    transact(db, () =>
      outbox.put({
        kind: 'webhook',
        accountId: evaluationAccountId,
        lane: id,
        eventId,
        eventType: type,
        body: eventBody(eventId, type, at, { webhook_id: id, message: 'receiver-failing' }),
      }),
    )
    await advance(at)
    await settle()
    const entry = outbox.log.find('webhook', id, eventId)
    return {
      done: 'The first delivery to the new endpoint failed.',
      after:
        'The delivery is retried five times as the clock advances, and each new BRENT_CRUDE_USD price fails as well. After ten consecutive failures the endpoint is disabled and its owner gets an e-mail.',
      details: {
        webhook_id: id,
        url: deadReceiver,
        event_id: eventId,
        attempts: entry?.attempts ?? 0,
        last_error: entry?.error ?? null,
        next_attempt_at: entry?.nextAttemptAt ? isoInstant(entry.nextAttemptAt) : null,
      },
    }
  },
})

const clockChange = ({ feed, clock, advance }: ScenarioDeps): Scenario => ({
  name: 'dst',
  description: `Moves the clock to one hour before the next daylight-saving change. Default zone: ${defaultZone}.`,
  options: ['zone'],
  async play({ zone = defaultZone }) {
    const changesAt = nextClockChange(clock.now() + hourMs, zone)
    if (changesAt === undefined)
      return {
        field: 'zone',
        fault: 'must be an IANA zone whose clocks change, such as Europe/London.',
      }
    await passQuietly(feed, advance, changesAt - hourMs)
    await advance(clock.now())
    return {
      done: `The clocks in ${zone} change in one hour.`,
      after: 'Advance by PT2H to pass the change. The local day has 23 or 25 hours.',
      details: { zone, changes_at: isoInstant(changesAt) },
    }
  },
})

const powerZone = 'Europe/Berlin'
/** After the auction and the minutes that its results take. */
const auctionMinute = 12 * 60 + 55

const coupledCodes = ({ series }: ScenarioDeps): string[] =>
  series.filter(({ code }) => code.startsWith('POWER_DA_')).map(({ code }) => code)

/** The first day from tomorrow on whose auction is ahead and that is wanted; and when it is over. */
function nextAuction(now: number, isWanted: (day: MarketDay) => boolean) {
  const days = calendarDays(powerZone)
  for (let day = dayAt(days, dayAt(days, now).to); ; day = dayAt(days, day.to)) {
    const publishedAt = momentAt(dateAfter(day.date, -1), auctionMinute, powerZone)
    if (publishedAt > now && isWanted(day)) return { day, publishedAt }
  }
}

/** Situations of a market that sells tomorrow by its quarters. */
function powerScenarios(deps: ScenarioDeps): Scenario[] {
  const { events, feed, clock, advance } = deps
  const playDay = async (
    isWanted: (day: MarketDay) => boolean,
    spellsOf: (day: MarketDay) => Omit<Spell, 'codes'>[],
  ) => {
    const codes = coupledCodes(deps)
    const { day, publishedAt } = nextAuction(clock.now(), isWanted)
    events.add({ spells: spellsOf(day).map(spell => ({ codes, ...spell })) })
    await passQuietly(feed, advance, publishedAt)
    await advance(clock.now())
    return { date: day.date, zone: powerZone, codes, now: isoInstant(clock.now()) }
  }
  return [
    {
      name: 'dunkelflaute',
      description:
        'Three days without wind or sun begin tomorrow or the day after. Moves the clock past the auction for the first of them: power is expensive at every hour.',
      options: [],
      async play() {
        const details = await playDay(
          () => true,
          ({ from }) => [{ from, to: from + 3 * dayMs, factor: 1.7, add: 140 }],
        )
        return {
          done: `Day-ahead power for ${details.date} is expensive at every hour.`,
          after: 'So are the next two days, once the clock passes their auctions.',
          details,
        }
      },
    },
    {
      name: 'negative-sunday',
      description:
        'The coming Sunday is sunny and windy. Moves the clock past its auction: power prices are negative from 10:00 to 16:00.',
      options: [],
      async play() {
        const details = await playDay(
          ({ from }) => isSunday(from),
          ({ date }) => [
            {
              from: momentAt(date, 10 * 60, powerZone),
              to: momentAt(date, 16 * 60, powerZone),
              factor: 0.2,
              add: -55,
            },
          ],
        )
        return {
          done: `Day-ahead power is negative around midday on Sunday, ${details.date}.`,
          after: 'Alerts on negative_tomorrow have fired, so devices can plan to charge on Sunday.',
          details,
        }
      },
    },
    {
      name: 'clock-change',
      description:
        'Moves the clock to the day before the daylight-saving change in Europe/Berlin, past the auction for a day of 92 or 100 quarter-hours.',
      options: [],
      async play() {
        const details = await playDay(
          ({ from, to }) => to - from !== dayMs,
          () => [],
        )
        return {
          done: `The clocks change on ${details.date}, and the prices of that day are published.`,
          after: 'GET /v1/delivery/POWER_DA_DE_LU_EUR for that date returns 92 or 100 periods.',
          details,
        }
      },
    },
  ]
}

const isSunday = (at: number): boolean =>
  weekdayOfDay(Math.floor(parseDay(wallTime(at, powerZone).day)! / dayMs)) === 7

/** Prices of months are written at once at the end, not hour by hour on the way. */
async function passQuietly(
  feed: DemoFeed,
  advance: ScenarioDeps['advance'],
  to: number,
): Promise<void> {
  const wasPaused = feed.paused
  feed.paused = true
  await advance(to)
  feed.paused = wasPaused
}

function newAccount({ keys, ids, clock }: ScenarioDeps, name: string) {
  const at = clock.now()
  const id = ids.uuid()
  const email = `${name}-${id.slice(0, 8)}@example.com`
  const account = keys.putAccount(confirmedAccount({ id, email, plan: 'free' }, at))
  return { account, email, token: keys.addKey(account).token }
}

const seriesNamed = ({ series }: ScenarioDeps, code: string): StoredSeries | ScenarioFault =>
  series.find(series => series.code === code && series.available) ?? {
    field: 'code',
    fault: `must be a code with data, such as ${stocksCode}.`,
  }
