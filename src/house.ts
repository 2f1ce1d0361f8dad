import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DevControls } from './api/dev.ts'
import { type App, createApp } from './app.ts'
import { createFixtureFeed, type FixtureFeed } from './feed/fixture.ts'
import { shippedCatalogue } from './feed/shipped.ts'
import { createWorld } from './feed/world.ts'
import type { PeerLookup } from './http/address.ts'
import { faults } from './http/faults.ts'
import type { Job } from './jobs/job.ts'
import { type Runner, runner } from './jobs/runner.ts'
import { usageJob } from './jobs/usage.ts'
import { worldJob } from './jobs/world.ts'
import type { ManualClock } from './lib/clock.ts'
import { type Ground, openServices, type Services } from './services.ts'
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
  ground: Omit<Ground, 'db'>
  dir: string
  peer?: PeerLookup
  local?: WeakSet<Request>
  /** How an evaluation copy keeps its state and goes back to it. */
  keeping?: Pick<DevControls, 'snapshot' | 'restore' | 'reset'>
}

/** Opens the database in a directory, brings the catalogue up to date and builds the interface over it. */
export function openHouse({ ground, dir, peer = null, local, keeping }: HouseOptions): House {
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const db = openDatabase(databasePath(dir), { autocheckpoint: ground.config.sqlite.autocheckpoint })
  const services = openServices({ ...ground, db })
  takeCatalogue(services)
  const feed = ground.config.mode === 'dev' ? fixtureFeed(services) : undefined
  const jobs = runner(jobsOf(services, feed), ground.clock, ground.log)
  const controls = feed && keeping ? controlsOf(services, jobs, feed, keeping) : undefined
  const app = createApp(services, { peer, ...(local && { local }), ...(controls && { dev: controls }) })
  return {
    services,
    app,
    runner: jobs,
    feed,
    stopping: false,
    close() {
      jobs.stop()
      services.meter.flush()
      checkpoint(db)
      db.close()
    },
  }
}

function controlsOf({ clock, ids }: Services, jobs: Runner, feed: FixtureFeed, keeping: NonNullable<HouseOptions['keeping']>): DevControls {
  const manual = clock as ManualClock
  // Thirty-two random bits of a new id, as a part of one.
  const chance = () => Number.parseInt(ids.uuid().slice(0, 8), 16) / 2 ** 32
  return { clock: manual, advance: to => jobs.advance(manual, to), feed, faults: faults(chance), ...keeping }
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

function fixtureFeed({ config, catalogue, series, ingest, settings, clock }: Services): FixtureFeed {
  const listed = catalogue.list().map(one => ({ ...one, available: one.unavailableReason === null }))
  series.markFixture(listed.filter(one => one.available).map(one => one.id))
  catalogue.reload()
  const world = createWorld({ seed: config.dev.seed, series: listed })
  return createFixtureFeed({ world, series: listed, ingest, settings, clock })
}

function jobsOf({ meter, clock }: Services, feed: FixtureFeed | undefined): Job[] {
  return [...(feed ? [worldJob(feed, clock)] : []), usageJob(meter)]
}
