import { type Clock, createSystemClock, soon } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { hasFeature } from '../../../plans/plans.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { Ingest } from '../../prices/service/writes/ingest.ts'
import { heatPrices } from '../../units/math/heat-price.ts'
import { type CableLine, type CableSocket, createCableLine } from './cable-line.ts'
import type { CablePrices } from './cable-prices.ts'
import { type Subscription, subscriptionOf } from './cable-subscription.ts'
import type { OpenStream, Streams } from './streams.ts'

export type { CableSocket } from './cable-line.ts'

export interface CableClient {
  accountId: string
  keyId: string
  /** Why the gate would refuse the client now. */
  refusal(): string | undefined
}

/** Events of a connection, from the server that holds it. */
export interface CableConnection {
  opened(socket: CableSocket): void
  receive(text: string): void
  /** Called when no frames wait in memory any more. */
  drained(): void
  closed(): void
}

export interface CableDeps {
  prices: CablePrices
  streams: Streams
  catalogue: Pick<Catalogue, 'isVisible' | 'named' | 'resolve'>
  keys: Pick<Keyring, 'find' | 'account' | 'entitlements'>
  ingest: Pick<Ingest, 'listen'>
  /** Accepted names of channels. */
  channels: readonly string[]
  clock: Pick<Clock, 'now'>
  /** Real time: the intervals of a connection must not stop with the clock of the instance. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

const updateEachMs = secondMs
const subscriptionsMax = 20
/** Frames of a client in a second. */
const framesMax = 200

/** The stream of prices that existing clients speak. */
export function createCable(deps: CableDeps) {
  const { ingest, prices, streams } = deps
  const connections = new Set<Connection>()
  let isFlushQueued = false

  /** Once for everything that is written in one turn of the event loop. */
  const flushSoon = () => {
    if (isFlushQueued) return
    isFlushQueued = true
    soon(() => {
      isFlushQueued = false
      for (const openConnection of connections) openConnection.flush()
    })
  }
  /** Series that another process has written; its own writes the cable is notified of by itself. */
  const changed = (seriesIds: ReadonlySet<number>) => {
    if (connections.size === 0 || seriesIds.size === 0) return
    const isRig = prices.rigCodes().some(code => seriesIds.has(prices.seriesOf(code)?.id ?? 0))
    for (const openConnection of connections) openConnection.touch(seriesIds, isRig)
    flushSoon()
  }
  ingest.listen(changes => changed(new Set(changes.map(change => change.seriesId))))

  return {
    changed,
    /** Takes a client in; updates begin when its connection is open. */
    connect(client: CableClient): CableConnection | 'full' | 'stopped' {
      let release = () => {}
      const newConnection = createConnection(deps, client, () => {
        connections.delete(newConnection)
        release()
      })
      const opened = streams.open('cable', client.keyId, newConnection)
      if (typeof opened === 'string') return opened
      release = opened
      connections.add(newConnection)
      return newConnection
    },
  }
}

/** One connection on all of its sides. */
interface Connection extends CableConnection, OpenStream {
  /** These series have changed, one of them a rig count. */
  touch(seriesIds: ReadonlySet<number>, isRig: boolean): void
  /** Sends changes that are due. */
  flush(): void
}

function createConnection(deps: CableDeps, client: CableClient, onClosed: () => void): Connection {
  const { stopwatch = createSystemClock() } = deps
  const line = createCableLine({ clock: deps.clock, stopwatch, onClosed })
  const subscriptions = new Map<string, Subscription>()
  const news = createPriceNews(deps, line, subscriptions)
  const rigs = createRigNews(deps, client, line, subscriptions)
  const isTooMuch = createFloodGuard(stopwatch)

  const flush = () => {
    if (!line.isReady()) return
    news.flush(stopwatch.monotonic())
    rigs.flush()
  }
  const subscribe = (identifier: string) => {
    const hasRoom = subscriptions.has(identifier) || subscriptions.size < subscriptionsMax
    const subscription = hasRoom ? subscriptionOf(identifier, client, deps) : undefined
    if (!subscription) return line.say({ identifier, type: 'reject_subscription' })
    subscriptions.set(identifier, subscription)
    line.say({ identifier, type: 'confirm_subscription' })
    line.say({ identifier, message: welcomeOf(deps.prices, rigs.counts()) })
  }
  return {
    refusal: client.refusal,
    end: line.end,
    opened: line.opened,
    closed: line.closed,
    flush,
    receive(text) {
      if (isTooMuch()) return line.end({ by: 'overload' })
      const command = commandOf(text)
      if (command?.command === 'subscribe') subscribe(command.identifier)
      if (command?.command === 'unsubscribe') subscriptions.delete(command.identifier)
    },
    drained() {
      line.drained()
      flush()
    },
    touch(seriesIds, isRig) {
      news.touch(seriesIds)
      if (isRig) rigs.touch()
    },
    beat() {
      line.beat()
      flush()
    },
  }
}

/**
 * Changes of the subscribed prices: one update a second, for the subscription that has waited
 * longest.
 */
function createPriceNews(
  { prices }: CableDeps,
  line: CableLine,
  subscriptions: ReadonlyMap<string, Subscription>,
) {
  /** Identifiers whose prices may have changed, the longest waiting first. */
  const waiting = new Set<string>()
  let updatedAt = Number.NEGATIVE_INFINITY
  return {
    touch(seriesIds: ReadonlySet<number>) {
      for (const [identifier, subscription] of subscriptions)
        if (subscription.concerns(seriesIds)) waiting.add(identifier)
    },
    flush(now: number) {
      for (const [identifier, subscription] of subscriptions)
        if (subscription.isDue()) waiting.add(identifier)
      if (waiting.size === 0 || now - updatedAt < updateEachMs) return
      for (const identifier of waiting) {
        waiting.delete(identifier)
        const rows = subscriptions.get(identifier)?.news() ?? []
        if (rows.length === 0) continue
        updatedAt = now
        const updated = rows.map(row => row.code)
        line.say({
          identifier,
          message: { type: 'price_update', ...prices.priced(), updated, price_rows: rows },
        })
        return
      }
    },
  }
}

/** Rig counts, for accounts whose plan has them. */
function createRigNews(
  { prices, keys, clock }: CableDeps,
  { accountId }: CableClient,
  line: CableLine,
  subscriptions: ReadonlyMap<string, unknown>,
) {
  const versions = new Map(prices.rigCodes().map(code => [code, prices.rigCount(code)?.version]))
  let validUntil = prices.validUntil([...versions.keys()])
  let isTouched = false
  const isEntitled = (): boolean => {
    const account = keys.account(accountId)
    return account !== undefined && hasFeature(keys.entitlements(account), 'energy_intelligence')
  }
  return {
    touch() {
      isTouched = true
    },
    counts: () =>
      isEntitled() ? [...versions.keys()].flatMap(code => prices.rigCount(code)?.row ?? []) : [],
    flush() {
      if (!isTouched && clock.now() <= validUntil) return
      isTouched = false
      validUntil = prices.validUntil([...versions.keys()])
      const entitled = isEntitled()
      for (const [code, version] of versions) {
        const count = prices.rigCount(code)
        if (!count || count.version === version) continue
        versions.set(code, count.version)
        const message = {
          type: 'rig_count_update',
          timestamp: prices.priced().timestamp,
          rig_count: count.row,
        }
        // Clients read it alongside the identifier or, as everything else, in the message.
        if (entitled)
          for (const identifier of subscriptions.keys())
            line.say({ identifier, ...message, message })
      }
    },
  }
}

/** Counts the frames of a second; true for those that are too many. */
function createFloodGuard(stopwatch: Pick<Clock, 'monotonic'>): () => boolean {
  let since = Number.NEGATIVE_INFINITY
  let count = 0
  return () => {
    const now = stopwatch.monotonic()
    if (now - since >= secondMs) {
      since = now
      count = 0
    }
    count += 1
    return count > framesMax
  }
}

interface Command {
  command: string
  identifier: string
}

/** Undefined for a frame that is not a command. */
function commandOf(text: string): Command | undefined {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof frame !== 'object' || frame === null) return undefined
  const { command, identifier } = frame as Partial<Record<string, unknown>>
  return typeof command === 'string' && typeof identifier === 'string'
    ? { command, identifier }
    : undefined
}

/** The first message of a subscription: the current prices. */
function welcomeOf(prices: CablePrices, counts: readonly object[]) {
  const priced = prices.priced()
  const isEmpty = heatPrices.every(
    heatPrice => priced.prices[heatPrice.group][heatPrice.name] === null,
  )
  return {
    type: 'welcome',
    data: {
      ...priced,
      ...(counts.length > 0 && { drilling_intelligence: { rig_counts: counts } }),
      ...(isEmpty && { error: 'No prices are available yet.' }),
    },
    ...priced,
  }
}
