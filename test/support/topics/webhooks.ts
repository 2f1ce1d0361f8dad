import { dayMs, parseDay } from '../../../src/lib/time/instant.ts'
import type { LogEntry } from '../../../src/outbox/outbox.ts'
import type { Series } from '../../../src/topics/catalogue/store/series.ts'
import { contractCode } from '../../../src/topics/futures/math/families.ts'
import type { AccountState } from '../../../src/topics/keys/service/keyring.ts'
import type { EndpointWithSecret } from '../../../src/topics/webhooks/service/webhooks.ts'
import {
  defaultSettings,
  type Endpoint,
  type EndpointSettings,
} from '../../../src/topics/webhooks/store/webhooks.ts'
import { openTestInstance, type TestInstance } from '../instance/instance.ts'

/** An instance with accounts whose endpoints a test makes itself, past the checks of the API. */
export interface WebhookInstance extends TestInstance {
  account(plan?: string, addOns?: string[]): AccountState
  endpoint(account: AccountState, settings?: Partial<EndpointSettings>): Endpoint
  create(
    account: AccountState,
    settings?: Partial<EndpointSettings>,
    secret?: string,
  ): EndpointWithSecret
  /** The entries of an endpoint's log, oldest first. */
  entries(endpoint: Pick<Endpoint, 'id'>): LogEntry[]
  /** Records one price, at `at` or now. */
  price(code: string, value: number, at?: number): void
  /** A futures family with its front contract and one that is listed behind it. */
  futures(): { family: string; front: Series; later: Series }
}

export function openWebhookInstance(flags: Record<string, string> = {}): WebhookInstance {
  const whole = openTestInstance(flags)
  const { services, clock } = whole
  const create: WebhookInstance['create'] = (account, settings = {}, secret) => {
    const all = {
      ...defaultSettings,
      url: 'https://hooks.example.com/a',
      events: ['*'],
      ...settings,
    }
    const result = services.webhooks.create(account, all, secret === undefined ? {} : { secret })
    if ('refused' in result) throw new Error('no room for another endpoint')
    return result
  }
  return {
    ...whole,
    account(plan = 'enterprise', addOns = []) {
      return services.keys.find(whole.key(plan, { addOns }))!.account
    },
    create,
    endpoint: (account, settings) => create(account, settings).endpoint,
    entries: ({ id }) => services.outbox.log.page('webhook', id, {}, 1000, 0).entries.toReversed(),
    price(code, value, at = clock.now()) {
      services.ingest.write([
        { seriesId: services.catalogue.named(code)!.id, observedAt: at, value },
      ])
    },
    futures() {
      const { catalogue } = services
      const family = 'BRENT_FUTURES'
      const { code } = catalogue.resolve(family, clock.now())!
      const month = parseDay(`${code.slice(-7).replace('_', '-')}-01`)!
      const [front, later] = [
        code,
        contractCode(family, new Date(month + 40 * dayMs).toISOString().slice(0, 7)),
      ].map(code => {
        catalogue.resolve(code, clock.now())
        return catalogue.named(code)!
      })
      return { family, front: front!, later: later! }
    },
  }
}
