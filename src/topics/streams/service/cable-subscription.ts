import { objectIn } from '../../../lib/text/json.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import { heatPrices } from '../../units/math/heat-price.ts'
import type { CablePrices, PriceRow } from './cable-prices.ts'

/** The prices that one identifier of a connection is subscribed to. */
export interface Subscription {
  /** Whether a change of these series may be one of its prices. */
  concerns(seriesIds: ReadonlySet<number>): boolean
  /** Whether one of its prices may have changed without a write since the last call of `news`. */
  isDue(): boolean
  /** The prices that are others than at the last call. */
  news(): PriceRow[]
}

export interface SubscriptionDeps {
  prices: CablePrices
  catalogue: Pick<Catalogue, 'named' | 'resolve' | 'isVisible'>
  keys: Pick<Keyring, 'find'>
  channels: readonly string[]
  clock: { now(): number }
}

const codesMax = 100
const ownCodes = heatPrices.map(heatPrice => heatPrice.code)

/**
 * The subscription of an identifier: a channel of this service, a key of the same account where one
 * is named, and codes, or the five prices of the stream where none are. Undefined: it is refused,
 * as where none of the codes is known.
 */
export function subscriptionOf(
  identifier: string,
  { accountId }: { accountId: string },
  deps: SubscriptionDeps,
): Subscription | undefined {
  const fields = objectIn(identifier)
  if (!fields || typeof fields.channel !== 'string' || !deps.channels.includes(fields.channel))
    return undefined
  const { api_key: token, commodities } = fields
  const isForeign = (key: unknown) =>
    typeof key !== 'string' || deps.keys.find(key)?.account.account.id !== accountId
  if (token !== undefined && token !== null && isForeign(token)) return undefined
  const maySee = (code: string) => {
    const series = deps.catalogue.named(code, accountId)
    return !series || deps.catalogue.isVisible(series, accountId)
  }
  const codes = codesOf(commodities, deps, accountId)?.filter(maySee)
  const prices = {
    seriesOf: (code: string) => deps.prices.seriesOf(code, accountId),
    price: (code: string) => deps.prices.price(code, accountId),
    validUntil: (all: readonly string[]) => deps.prices.validUntil(all, accountId),
  }
  return codes && codes.length > 0 ? watching(codes, prices, maySee, deps.clock) : undefined
}

function codesOf(
  commodities: unknown,
  { catalogue, clock }: SubscriptionDeps,
  accountId: string,
): readonly string[] | undefined {
  if (commodities === undefined || commodities === null) return ownCodes
  if (!Array.isArray(commodities) || commodities.length > codesMax) return undefined
  if (commodities.length === 0) return ownCodes
  const codes = commodities.flatMap(text =>
    typeof text === 'string'
      ? (catalogue.named(text, accountId)?.code ?? catalogue.resolve(text, clock.now())?.code ?? [])
      : [],
  )
  return codes.length > 0 ? [...new Set(codes)] : undefined
}

/** `maySee` is called with every price: an account may lose access to a series at any time. */
function watching(
  codes: readonly string[],
  prices: {
    seriesOf(code: string): ReturnType<CablePrices['seriesOf']>
    price(code: string): ReturnType<CablePrices['price']>
    validUntil(codes: readonly string[]): number
  },
  maySee: (code: string) => boolean,
  clock: SubscriptionDeps['clock'],
): Subscription {
  const versions = new Map(codes.map(code => [code, prices.price(code)?.version]))
  let validUntil = prices.validUntil(codes)
  return {
    concerns: seriesIds => codes.some(code => seriesIds.has(prices.seriesOf(code)?.id ?? 0)),
    isDue: () => clock.now() > validUntil,
    news() {
      validUntil = prices.validUntil(codes)
      return codes.flatMap(code => {
        const price = prices.price(code)
        if (!price || price.version === versions.get(code) || !maySee(code)) return []
        versions.set(code, price.version)
        return [price.row]
      })
    },
  }
}
