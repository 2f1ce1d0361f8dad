import { createHmac } from 'node:crypto'
import type { ManualClock } from '../../../src/lib/time/clock.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of another service's interface, which the tests look into field by field
export type Thing = Record<string, any>

export interface Sent {
  raw: string
  signature: string
}

/**
 * A stand-in for the processor's HTTP interface over a real socket, with its own state of customers
 * and subscriptions.
 */
export interface StripeServer {
  url: string
  /** Every request that changed something: method, path, fields, idempotency key. */
  writes: { path: string; fields: Thing; key: string | null }[]
  things: Map<string, Thing>
  /** Gives a customer a card; `declines`: every payment with it is refused. */
  card(customer: string, id: string, declines?: boolean): void
  /** Lets the next period of a subscription begin, paid or not. */
  renew(subscription: string, paid?: boolean): Thing
  /** The payment of an invoice or purchase, as a charge that may be refunded or disputed. */
  chargeOf(paid: Thing): Thing
  /** A message about a thing as it is now, signed. */
  message(type: string, thing: Thing, options?: { secret?: string; id?: string; at?: number }): Sent
  /** Answers nothing but this status, until it is undefined again. */
  broken: number | undefined
  /** As a day later: a repeated request is executed again. */
  forgetKeys(): void
  /** Executes the next request, and cuts the response off, once. */
  losesNextAnswer: boolean
  close(): void
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly error: Thing,
  ) {
    super(error.message)
  }
}

export const webhookSecret = 'whsec_stand_in'

/** `a[b][0]=c` as nested objects; lists are objects with numbers for names. */
function fieldsOf(text: string): Thing {
  const fields: Thing = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const parts = name.replaceAll(']', '').split('[')
    let at = fields
    for (const part of parts.slice(0, -1)) {
      at[part] ??= {}
      at = at[part]
    }
    at[parts.at(-1)!] = value
  }
  return fields
}

export function stripeServer(clock: ManualClock, key = 'sk_test_stand_in'): StripeServer {
  const things = new Map<string, Thing>()
  const replays = new Map<string, { text: string; status: number; request: string }>()
  const writes: StripeServer['writes'] = []
  let count = 0
  const seconds = () => Math.floor(clock.now() / 1000)
  const make = (prefix: string, object: string, fields: Thing): Thing => {
    count += 1
    const thing = { id: `${prefix}_${count}`, object, created: seconds(), metadata: {}, ...fields }
    things.set(thing.id, thing)
    return thing
  }
  const missing = (id: string) =>
    new Refusal(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such thing: '${id}'`,
    })
  const declined = () =>
    new Refusal(402, {
      type: 'card_error',
      code: 'card_declined',
      message: 'Your card was declined.',
    })
  const find = (id: string): Thing => {
    const thing = things.get(id)
    if (!thing) throw missing(id)
    return thing
  }
  const all = (object: string, fits: (thing: Thing) => boolean) =>
    [...things.values()].filter(thing => thing.object === object && fits(thing)).toReversed()
  const list = (data: Thing[]) => ({ object: 'list', data, has_more: false, url: '/' })

  const monthsLater = (from: number, interval: string) =>
    Temporal.Instant.fromEpochMilliseconds(from * 1000)
      .toZonedDateTimeISO('UTC')
      .add({ months: interval === 'year' ? 12 : 1 }).epochMilliseconds / 1000
  const invoice = (subscription: Thing, lines: [string, number][], paid: boolean) => {
    const { current_period_start: start, current_period_end: end } = subscription.items.data[0]
    const total = lines.reduce((sum, [, amount]) => sum + amount, 0)
    const payer = find(subscription.customer)
    const due = Math.max(0, total + payer.balance)
    payer.balance += total - due
    return make('in', 'invoice', {
      customer: subscription.customer,
      currency: 'usd',
      total,
      amount_due: due,
      status: paid ? 'paid' : 'open',
      attempt_count: 1,
      next_payment_attempt: paid ? null : seconds() + 86_400,
      due_date: null,
      period_start: seconds(),
      period_end: seconds(),
      parent: {
        type: 'subscription_details',
        subscription_details: { subscription: subscription.id },
      },
      status_transitions: { paid_at: paid ? seconds() : null },
      lines: list(
        lines.map(([description, amount]) => ({
          description,
          amount,
          period: { start: Math.max(start, seconds()), end },
        })),
      ),
    })
  }
  /** Charges the method of a subscription, or else its customer's default. */
  const charge = ({ customer, default_payment_method: own }: Thing) => {
    if (find(own || find(customer).invoice_settings.default_payment_method).declines)
      throw declined()
  }
  const pay = (invoice: Thing): Thing => {
    const subscription = find(invoice.parent.subscription_details.subscription)
    invoice.attempt_count += 1
    charge(subscription)
    Object.assign(subscription, { status: 'active' })
    return Object.assign(invoice, { status: 'paid', status_transitions: { paid_at: seconds() } })
  }
  const setMetadata = (thing: Thing, fields: Thing = {}) => {
    for (const [name, value] of Object.entries(fields)) {
      if (value === '') delete thing.metadata[name]
      else thing.metadata[name] = value
    }
  }

  const createSubscription = (fields: Thing): Thing => {
    const price = find(fields.items[0].price)
    charge(fields)
    const item = {
      id: `si_${count}`,
      price,
      current_period_start: seconds(),
      current_period_end: monthsLater(seconds(), price.recurring.interval),
    }
    const subscription = make('sub', 'subscription', {
      customer: fields.customer,
      status: 'active',
      cancel_at_period_end: false,
      ended_at: null,
      items: list([item]),
      metadata: fields.metadata ?? {},
      default_payment_method: fields.default_payment_method ?? null,
    })
    invoice(subscription, [['Subscription', price.unit_amount]], true)
    return subscription
  }
  const updateSubscription = (subscription: Thing, fields: Thing): Thing => {
    const item = subscription.items.data[0]
    if (fields.cancel_at_period_end !== undefined)
      subscription.cancel_at_period_end = fields.cancel_at_period_end === 'true'
    if (fields.default_payment_method !== undefined)
      subscription.default_payment_method = fields.default_payment_method || null
    if (fields.items) {
      const price = find(fields.items[0].price)
      if (fields.proration_behavior === 'always_invoice' && price.id !== item.price.id) {
        charge(subscription)
        const { current_period_start: start, current_period_end: end } = item
        const left = (end - seconds()) / (end - start)
        const anew = price.recurring.interval !== item.price.recurring.interval
        if (anew)
          Object.assign(item, {
            current_period_start: seconds(),
            current_period_end: monthsLater(seconds(), price.recurring.interval),
          })
        const credit: [string, number] = ['Unused time', -Math.round(item.price.unit_amount * left)]
        invoice(
          subscription,
          [
            credit,
            ['Remaining time', anew ? price.unit_amount : Math.round(price.unit_amount * left)],
          ],
          true,
        )
      }
      item.price = price
    }
    setMetadata(subscription, fields.metadata)
    return subscription
  }

  const intent = (fields: Thing): Thing => {
    // The default are the methods of the dashboard, of which some lead to another site.
    if (fields.confirm && !fields.payment_method_types && !fields.return_url)
      throw new Refusal(400, {
        type: 'invalid_request_error',
        message: 'A `return_url` must be specified because this Payment Intent is configured to …',
      })
    const failed = find(fields.payment_method).declines
    const intent = make('pi', 'payment_intent', {
      amount: Number(fields.amount),
      currency: fields.currency,
      customer: fields.customer,
      metadata: fields.metadata ?? {},
      status: failed ? 'requires_payment_method' : 'succeeded',
      last_payment_error: failed ? { message: 'Your card was declined.' } : null,
    })
    if (failed) throw declined()
    return intent
  }

  const answer = (method: string, path: string, fields: Thing): unknown => {
    const [resource, id, action] = path.replace('/v1/', '').split('/')
    if (path === '/v1/billing_portal/sessions')
      return make('bps', 'session', {
        url: `https://portal.example.com/${fields.customer}`,
        return_url: fields.return_url,
      })
    if (method === 'GET' && action === 'balance_transactions')
      return list(all('customer_balance_transaction', ({ customer }) => customer === id))
    if (method === 'GET' && id) return find(id)
    if (method === 'GET' && resource === 'invoice_payments')
      return list(
        all('invoice', ({ intent }) => intent && intent === fields.payment.payment_intent).map(
          ({ id: invoice }) => ({ object: 'invoice_payment', invoice }),
        ),
      )
    if (method === 'GET' && resource === 'disputes')
      return list(all('dispute', dispute => dispute.charge === fields.charge))
    if (method === 'GET' && resource === 'payment_methods')
      return list(all('payment_method', method => method.customer === fields.customer))
    if (method === 'GET' && resource === 'prices')
      return list(
        all('price', price => Object.values(fields.lookup_keys).includes(price.lookup_key)),
      )
    if (method === 'GET' && resource === 'subscriptions')
      return list(all('subscription', subscription => subscription.customer === fields.customer))
    if (method === 'GET' && resource === 'invoices') {
      return list(
        all(
          'invoice',
          invoice => invoice.parent.subscription_details.subscription === fields.subscription,
        ).slice(0, Number(fields.limit)),
      )
    }
    if (resource === 'customers' && action === 'balance_transactions') {
      find(id!).balance += Number(fields.amount)
      return make('cbtxn', 'customer_balance_transaction', { ...fields, customer: id })
    }
    if (resource === 'customers' && !id)
      return make('cus', 'customer', {
        ...fields,
        balance: 0,
        invoice_settings: { default_payment_method: null },
      })
    if (resource === 'customers') {
      if (fields.email?.endsWith('@refused.example'))
        throw new Refusal(400, { type: 'invalid_request_error', message: 'Invalid email address.' })
      return Object.assign(find(id!), fields)
    }
    if (resource === 'setup_intents')
      return make('seti', 'setup_intent', {
        ...fields,
        client_secret: 'seti_secret',
        status: 'requires_payment_method',
      })
    if (resource === 'prices')
      return make('price', 'price', { ...fields, unit_amount: Number(fields.unit_amount) })
    if (resource === 'subscriptions' && !id) return createSubscription(fields)
    if (resource === 'subscriptions' && method === 'DELETE')
      return Object.assign(find(id!), { status: 'canceled', ended_at: seconds() })
    if (resource === 'subscriptions') return updateSubscription(find(id!), fields)
    if (resource === 'invoices' && action === 'void')
      return Object.assign(find(id!), { status: 'void', next_payment_attempt: null })
    if (resource === 'invoices' && action === 'pay') return pay(find(id!))
    if (resource === 'payment_intents') return intent(fields)
    throw missing(path)
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const body = await request.text()
      const json = (status: number, value: unknown) =>
        new Response(JSON.stringify(value), {
          status,
          headers: { 'content-type': 'application/json' },
        })
      if (request.headers.get('authorization') !== `Bearer ${key}`)
        return json(401, { error: { type: 'authentication_error', message: 'No such key.' } })
      if (stand.broken !== undefined)
        return json(stand.broken, {
          error: { type: 'api_error', message: 'secret words of the processor' },
        })
      const fields = fieldsOf(request.method === 'GET' ? search.slice(1) : body)
      const name = request.method === 'GET' ? null : request.headers.get('idempotency-key')
      const replay = name === null ? undefined : replays.get(name)
      if (replay && replay.request !== pathname + body)
        return json(400, {
          error: { type: 'idempotency_error', message: 'Keys are for one request.' },
        })
      if (replay)
        return new Response(replay.text, {
          status: replay.status,
          headers: { 'content-type': 'application/json' },
        })
      const reply = (status: number, value: unknown) => {
        const text = JSON.stringify(value)
        if (name !== null) replays.set(name, { text, status, request: pathname + body })
        if (request.method !== 'GET') writes.push({ path: pathname, fields, key: name })
        if (stand.losesNextAnswer && request.method === 'POST') {
          stand.losesNextAnswer = false
          return json(500, { error: { type: 'api_error', message: 'lost' } })
        }
        return new Response(text, { status, headers: { 'content-type': 'application/json' } })
      }
      try {
        return reply(200, answer(request.method, pathname, fields))
      } catch (error) {
        if (error instanceof Refusal) return reply(error.status, { error: error.error })
        throw error
      }
    },
  })

  const stand: StripeServer = {
    url: `http://127.0.0.1:${server.port}`,
    writes,
    things,
    broken: undefined,
    losesNextAnswer: false,
    forgetKeys: () => replays.clear(),
    card(customer, id, declines = false) {
      const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2039 }
      things.set(id, {
        id,
        object: 'payment_method',
        type: 'card',
        customer,
        card,
        declines,
        created: seconds(),
        metadata: {},
      })
    },
    renew(id, paid = true) {
      const subscription = find(id)
      const item = subscription.items.data[0]
      item.current_period_start = item.current_period_end
      item.current_period_end = monthsLater(
        item.current_period_start,
        item.price.recurring.interval,
      )
      subscription.status = paid ? 'active' : 'past_due'
      return invoice(subscription, [['Subscription', item.price.unit_amount]], paid)
    },
    chargeOf(paid) {
      paid.intent ??= paid.object === 'payment_intent' ? paid.id : `pi_of_${paid.id}`
      return make('ch', 'charge', {
        payment_intent: paid.intent,
        customer: paid.customer,
        amount: paid.amount_due ?? paid.amount,
        amount_refunded: 0,
        disputed: false,
        metadata: { ...paid.metadata },
      })
    },
    message(
      type,
      thing,
      { secret = webhookSecret, id = `evt_${type}_${thing.id}_${count}`, at = seconds() } = {},
    ) {
      const raw = JSON.stringify({
        id,
        object: 'event',
        api_version: '2026-10-28',
        created: at,
        type,
        data: { object: thing },
      })
      return {
        raw,
        signature: `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${raw}`).digest('hex')}`,
      }
    },
    close: () => void server.stop(true),
  }
  return stand
}
