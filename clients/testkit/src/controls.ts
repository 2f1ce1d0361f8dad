/** A moment as ISO 8601 text or a Date. */
export type Moment = string | Date

export type Plan = 'free' | 'developer' | 'starter' | 'professional' | 'scale' | 'enterprise'

export interface AccountOptions {
  email?: string
  /** The plan; `free` when absent. */
  plan?: Plan
  /** Starts the trial of a free account. */
  trial?: boolean
  /** Such as `futures_data`, `well_permits`, `well_production`, `sms`. */
  addOns?: string[]
  /** Leaves the e-mail address unconfirmed. */
  unconfirmed?: boolean
}

export interface Account {
  id: string
  email: string
  plan: Plan
  apiKey: string
}

export interface Fault {
  /** A path as the documentation writes it, `/v1/commodities/{code}`; absent: every path. */
  path?: string
  method?: string
  /** An error code of the documentation, such as `RATE_LIMIT_EXCEEDED`. */
  code?: string
  /** How long the answer takes. */
  delayMs?: number
  /** So many requests meet it; absent: all until the faults end. */
  count?: number
  /** Above 0, at most 1. */
  probability?: number
}

export interface Price {
  code: string
  price: number
  /** Absent: the moment of the copy's clock. */
  observedAt?: Moment
}

export type ScenarioName =
  | 'negative-wti'
  | 'crash'
  | 'outage'
  | 'late-release'
  | 'revision'
  | 'quota-edge'
  | 'dst'

export interface ScenarioOptions {
  /** Of `late-release` and `revision`: the code it is about. */
  code?: string
  /** Of `quota-edge`: how many requests are left. */
  remaining?: number
  /** Of `dst`: an IANA zone. */
  zone?: string
}

export interface Played {
  scenario: ScenarioName
  /** The moment of the copy's clock, which some scenarios move forward. */
  now: string
  /** What was done, and what comes of it, in sentences. */
  done: string
  after: string
  /** Codes, moments and values; of `quota-edge` the account and its `api_key`. */
  details: Record<string, unknown>
}

export interface Message {
  channel: 'email' | 'sms'
  to: string
  subject: string | null
  text: string
  html: string | null
  attachments: { filename: string; content_type: string; content: string; encoding: string }[]
  at: string
}

/** A control was refused; the message is the copy's own. */
export class ControlError extends Error {
  override name = 'ControlError'
  constructor(
    message: string,
    readonly status: number,
    readonly body: unknown,
  ) {
    super(message)
  }
}

/** The development controls of a running evaluation copy. */
export interface Controls {
  /** The moment of the copy's clock. */
  now(): Promise<Date>
  /** Moves the clock forward by an ISO 8601 duration, `PT61S` or `P1D`; every job that falls due on the way has run. */
  advance(duration: string): Promise<Date>
  /** Moves the clock forward to a moment. */
  moveTo(moment: Moment): Promise<Date>
  /** Makes an account with a key. */
  account(options?: AccountOptions): Promise<Account>
  /** Lets a route fail or answer slowly. */
  fault(fault: Fault): Promise<void>
  clearFaults(): Promise<void>
  /** Records prices as the operator does; all or none. */
  record(prices: readonly Price[]): Promise<void>
  /** Brings a situation about; what it leaves is there until a state is restored. */
  scenario(name: ScenarioName, options?: ScenarioOptions): Promise<Played>
  /** Stops the prices of the demo world, or lets them catch up, so that data ages as the clock moves. */
  pauseFeed(paused: boolean): Promise<void>
  /** Keeps the state; `restore` with the same name returns to it. */
  snapshot(name?: string): Promise<void>
  restore(name?: string): Promise<void>
  /** Back to the state of the start. */
  reset(): Promise<void>
  /** Captured e-mail and text messages, oldest first. */
  messages(): Promise<Message[]>
}

const iso = (moment: Moment): string => (typeof moment === 'string' ? moment : moment.toISOString())

function messageOf(body: unknown, status: number): string {
  const { message, error } = (body ?? {}) as { message?: string; error?: { message?: string } }
  return message ?? error?.message ?? `the copy answered ${status}`
}

export function createControls(url: string, adminToken: string): Controls {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer: unknown = text === '' ? undefined : JSON.parse(text)
    if (!response.ok)
      throw new ControlError(messageOf(answer, response.status), response.status, answer)
    return answer as T
  }
  const messages = async () => {
    const inbox = await call<{ messages: Message[] }>('GET', '/_dev/inbox')
    return inbox.messages
  }
  const moveClock = async (body: unknown) => {
    // The inbox answers when what is on its way has ended. A delivery that ended after the clock was
    // moved would be tried again later than the test expects.
    await messages()
    const { now } = await call<{ now: string }>('POST', '/_dev/clock', body)
    return new Date(now)
  }
  /** A test may record what the anomaly checks of a real instance would hold for review. */
  const release = async (batch: number) => {
    const held = await call<{ data: { values: { id: number; batch: number }[] } }>(
      'GET',
      '/admin/v1/review?per_page=100',
    )
    const ids = held.data.values.filter(value => value.batch === batch).map(value => value.id)
    await call('POST', '/admin/v1/review/release', {
      ids,
      replace: true,
      reason: 'recorded by a test',
    })
  }
  const now = async () => new Date((await call<{ now: string }>('GET', '/_dev/clock')).now)
  return {
    now,
    advance: duration => moveClock({ advance: duration }),
    moveTo: moment => moveClock({ now: iso(moment) }),
    async account({ email, plan, trial, addOns, unconfirmed } = {}) {
      const body = { email, plan, trial, add_ons: addOns, unconfirmed }
      const answer = await call<{ account: Omit<Account, 'apiKey'>; api_key: string }>(
        'POST',
        '/_dev/accounts',
        body,
      )
      const { account } = answer
      return { id: account.id, email: account.email, plan: account.plan, apiKey: answer.api_key }
    },
    async fault({ path, method, code, delayMs, count, probability }) {
      await call('POST', '/_dev/faults', {
        path,
        method,
        code,
        delay_ms: delayMs,
        count,
        probability,
      })
    },
    async clearFaults() {
      await call('DELETE', '/_dev/faults')
    },
    async record(prices) {
      const moment = await now()
      const observations = prices.map(({ code, price, observedAt }) => ({
        code,
        price,
        observed_at: iso(observedAt ?? moment),
      }))
      const pushed = await call<{ data: { held: number; batch: number } }>(
        'POST',
        '/admin/v1/observations',
        { observations },
      )
      if (pushed.data.held > 0) await release(pushed.data.batch)
    },
    async scenario(name, options = {}) {
      // As when the clock is moved: what is on its way ends first.
      await messages()
      return await call<Played>('POST', '/_dev/scenario', { name, ...options })
    },
    async pauseFeed(paused) {
      await call('POST', '/_dev/feed', { paused })
    },
    async snapshot(name = 'default') {
      await call('POST', '/_dev/snapshot', { name })
    },
    async restore(name = 'default') {
      await call('POST', '/_dev/restore', { name })
    },
    async reset() {
      await call('POST', '/_dev/reset')
    },
    messages,
  }
}
