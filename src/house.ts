import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DevControls } from './api/dev.ts'
import { aloneVitals } from './api/health.ts'
import { type App, createApp } from './app.ts'
import { type Filler, withFillers } from './feed/filler.ts'
import { createFixtureFeed, type FixtureFeed } from './feed/fixture.ts'
import { annotationFiller } from './feed/fixture-annotations.ts'
import { cotFiller } from './feed/fixture-cot.ts'
import { futuresFiller } from './feed/fixture-futures.ts'
import { storageFixture } from './feed/fixture-storage.ts'
import { surchargeFiller } from './feed/fixture-surcharge.ts'
import { shippedCatalogue } from './feed/shipped.ts'
import { createWorld, type World } from './feed/world.ts'
import type { PeerLookup } from './http/address.ts'
import { faults } from './http/faults.ts'
import type { Job } from './jobs/job.ts'
import { type Runner, runner } from './jobs/runner.ts'
import { surchargeJob } from './jobs/surcharges.ts'
import { usageJob } from './jobs/usage.ts'
import { worldJob } from './jobs/world.ts'
import { takeUpRates } from './kept-rates.ts'
import type { ManualClock } from './lib/clock.ts'
import { contractCode, familyOf } from './market/families.ts'
import { masterKeyOf } from './master-key.ts'
import { contractOf } from './service/contract-book.ts'
import { type Bare, openServices, type Services } from './services.ts'
import { checkpoint, openDatabase } from './store/database.ts'

export const databasePath = (dir: string): string => join(dir, 'wellhead.db')

/** One running copy: a database with everything that stands on it. */
export interface House {
  services: Services
  app: App
  runner: Runner
  /** The fixture world's feed, in an evaluation copy. */
  feed: FixtureFeed | undefined
  /** Asked to stop: nothing new is begun. */
  stopping: boolean
  close(): void
}

export interface HouseOptions {
  ground: Bare
  dir: string
  /** The house is opened to be served, not for one command. */
  serving?: boolean
  peer?: PeerLookup
  local?: WeakSet<Request>
  /** How an evaluation copy keeps its state and goes back to it. */
  keeping?: Pick<DevControls, 'snapshot' | 'restore' | 'reset'>
}

/** Opens the database in a directory, brings the catalogue up to date and builds the interface over it. */
export function openHouse({ ground, dir, serving = false, peer = null, local, keeping }: HouseOptions): House {
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const db = openDatabase(databasePath(dir), { autocheckpoint: ground.config.sqlite.autocheckpoint })
  const services = openServices({ ...ground, db, masterKey: masterKeyOf(dir, ground.config.secrets.masterKey.reveal(), ground.ids) })
  takeCatalogue(services)
  const conflict = serving ? claimDirectory(services) : undefined
  if (conflict) {
    db.close()
    throw new Error(`${dir} can not be used: ${conflict}; name another directory with --data.`)
  }
  const feed = ground.config.mode === 'dev' ? fixtureFeed(services) : undefined
  const jobs = runner(jobsOf(services, feed), ground.clock, ground.log)
  const controls = feed && keeping ? controlsOf(services, jobs, feed, keeping) : undefined
  const vitals = { ...aloneVitals, lastPassAt: jobs.lastPassAt, isStopping: () => opened.stopping }
  const rates = serving ? takeUpRates(dir, services) : undefined
  const app = createApp(services, { peer, vitals, ...(rates && { rates }), ...(local && { local }), ...(controls && { dev: controls }) })
  const opened: House = {
    services,
    app,
    runner: jobs,
    feed,
    stopping: false,
    close() {
      jobs.stop()
      services.meter.flush()
      rates?.keep()
      checkpoint(db)
      db.close()
    },
  }
  return opened
}

function controlsOf({ clock, ids }: Services, jobs: Runner, feed: FixtureFeed, keeping: NonNullable<HouseOptions['keeping']>): DevControls {
  const manual = clock as ManualClock
  // Thirty-two random bits of a new id, as a part of one.
  const chance = () => Number.parseInt(ids.uuid().slice(0, 8), 16) / 2 ** 32
  return { clock: manual, advance: to => jobs.advance(manual, to), feed, faults: faults(chance), ...keeping }
}

/** A directory holds real data or an evaluation copy, never both: a served fixture would be a lie, a filled-in real series a worse one. */
export function claimDirectory({ settings, catalogue, config }: Pick<Services, 'settings' | 'catalogue' | 'config'>): string | undefined {
  const held = settings.get('directory.mode')
  if (held === config.mode) return undefined
  if (held === 'dev') return 'it is an evaluation copy with generated data, which the command serve does not serve'
  if (held !== undefined) return 'it holds real data, into which the command dev would mix generated data'
  if (config.mode === 'dev' && catalogue.list().some(one => catalogue.extent(one))) {
    return 'it holds observations already, into which the command dev would mix generated data'
  }
  settings.set('directory.mode', config.mode)
  return undefined
}

/** Writes the shipped catalogue when it is not the one the database has: a new version may bring new codes. */
function takeCatalogue({ settings, series, catalogue }: Services) {
  const shipped = shippedCatalogue()
  const version = Bun.hash.wyhash(JSON.stringify(shipped)).toString(36)
  if (settings.get('catalogue.version') === version) return
  series.put(shipped.series, shipped.aliases)
  settings.set('catalogue.version', version)
  catalogue.reload()
}

function fixtureFeed(services: Services): FixtureFeed {
  const { config, catalogue, series, ingest, settings, clock } = services
  const listed = catalogue.list().map(one => ({ ...one, available: one.unavailableReason === null }))
  series.markFixture(listed.filter(one => one.available).map(one => one.id))
  catalogue.reload()
  const world = createWorld({ seed: config.dev.seed, series: listed })
  const prices = createFixtureFeed({ world, series: listed, ingest, settings, clock })
  const capacities = storageFixture(services.storageCapacities, code => catalogue.named(code)?.id)
  return withFillers(prices, [
    ...[futuresFixture(services, world), capacities, surchargeFixture(services, prices)],
    ...[cotFixture(services, prices), annotationFixture(services, prices)],
  ])
}

function futuresFixture({ config, catalogue, series, futures, settings, clock }: Services, world: World): Filler {
  return futuresFiller({
    ...{ world, futures, settings, clock, seed: config.dev.seed },
    decimals: code => catalogue.named(code)!.decimals,
    open(contracts) {
      catalogue.addContracts(contracts.map(({ family, month }) => contractOf(familyOf(family), month)))
      series.markFixture(contracts.map(({ family, month }) => catalogue.named(contractCode(family, month))!.id))
      catalogue.reload()
    },
  })
}

const surchargeFixture = ({ config, surcharges, catalogue, closes, clock }: Services, prices: FixtureFeed): Filler =>
  surchargeFiller({
    ...{ seed: config.dev.seed, surcharges, clock },
    indexOf(code) {
      const series = prices.filled().has(code) ? catalogue.named(code) : undefined
      return series && { cadence: series.cadence, decimals: series.decimals, closes: closes.of(series.id) }
    },
  })

/** A series of which the whole history is there. */
const filledSeries = ({ catalogue }: Services, prices: FixtureFeed, code: string) =>
  prices.filled().has(code) ? catalogue.named(code) : undefined

const cotFixture = (services: Services, prices: FixtureFeed): Filler =>
  cotFiller({
    ...{ seed: services.config.dev.seed, cot: services.cot, clock: services.clock },
    closesOf(code) {
      const series = filledSeries(services, prices, code)
      return series && services.closes.of(series.id)
    },
  })

const annotationFixture = (services: Services, prices: FixtureFeed): Filler =>
  annotationFiller({
    ...{ annotations: services.annotations, clock: services.clock },
    seriesOf(code) {
      const series = filledSeries(services, prices, code)
      return series && { ...series, closes: services.closes.of(series.id) }
    },
  })

function jobsOf({ meter, surchargeMatching, clock }: Services, feed: FixtureFeed | undefined): Job[] {
  return [...(feed ? [worldJob(feed, clock)] : []), surchargeJob(surchargeMatching, clock), usageJob(meter)]
}
